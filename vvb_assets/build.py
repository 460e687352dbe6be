"""The whole graph of a benchmark, from the nodes of its stages in their order."""

from __future__ import annotations

from vvb_assets.graph import Graph, Node
from vvb_assets.human import make as human
from vvb_assets.l1 import make as l1
from vvb_assets.leaderboards import make as leaderboards
from vvb_assets.panels import make as panels
from vvb_assets.panels.costs import cost_nodes
from vvb_assets.rollouts import make as rollouts
from vvb_assets.scores import make as scores
from vvb_assets.tasks import make as tasks
from vvb_resources.benchmark.loader import Benchmark

STAGES = ("tasks", "rollouts", "l1", "media", "panels", "scores", "human", "leaderboards")


def build_graph(benchmark: Benchmark) -> Graph:
    """Nodes in topological order; a panel's family follows from its file alone."""
    nodes: list[Node] = [*tasks.nodes(benchmark), *rollouts.nodes(benchmark), *l1.nodes(benchmark)]
    nodes += panels.media_nodes(benchmark)
    for panel in benchmark.panels.values():
        nodes += panels.panel_nodes(panel)
    nodes += human.vote_nodes(benchmark)
    nodes += scores.nodes(benchmark)
    nodes += human.nodes(benchmark)
    nodes += leaderboards.nodes(benchmark)
    nodes += cost_nodes(benchmark)
    seen: set[str] = set()
    for node in nodes:
        missing = set(node.inputs) - seen
        assert not missing, f"{node.key} comes before its inputs {sorted(missing)}"
        seen.add(node.key)
    return Graph({node.key: node for node in nodes}, tuple(benchmark.systems), tuple(benchmark.tasks))
