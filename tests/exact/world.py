"""A benchmark of any number of tasks in which everything can be made in seconds, and every making is counted.

Nine systems, three panels of instruments, real files, the real graph, plan, maker, reply store and judging stage. What
would render, decode or look at a video is replaced by makers whose result is a digest of what they are made from, and
the judges answer without looking. Some runs have no video.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.standin.answers import score_of, status_of
from vvb_assets.graph import Graph, Made, Node, Workspace, split_run
from vvb_assets.making import make_partition
from vvb_assets.panels.make import UNDELIVERED
from vvb_assets.plan import Plan, make_plan
from vvb_assets.settings import Settings
from vvb_resources.judges.types import JudgeRequest, RawReply
from vvb_resources.media.blinding import BlindedMedia
from vvb_resources.store.digests import digest_value
from vvb_resources.store.home import CHECKOUT

Slot = tuple[str, str | None]
STARTER, PAPER = CHECKOUT / "task_data" / "starter", CHECKOUT / "task_data" / "paper"


def write_benchmark(folder: Path, tasks: int) -> Path:
    """The paper's nine systems, the starter's three panels, and `tasks` copies of the starter's tasks."""
    folder.mkdir(parents=True)
    text = (PAPER / "benchmark.yaml").read_text()
    (folder / "benchmark.yaml").write_text(text.replace("bootstrap: 10000", "bootstrap: 100"))
    shutil.copytree(PAPER / "systems", folder / "systems")
    shutil.copytree(STARTER / "panels", folder / "panels")
    for number in range(tasks):
        add_task(folder, number)
    return folder


def add_task(folder: Path, number: int) -> str:
    """Add a copy of one of the starter's tasks under an id of its own; returns the id."""
    models = sorted((STARTER / "tasks").iterdir())
    task = f"T{number:04d}"
    target = folder / "tasks" / task
    shutil.copytree(models[number % len(models)], target)
    spec = target / "task.yaml"
    spec.write_text(re.sub(r"(?m)^id: .*$", f"id: {task}", spec.read_text(), count=1))
    return task


@dataclass
class World:
    """The benchmark folder, its data home, and what was made and asked so far.

    `retakes`: how often a run's video was made anew; `made` counts each artifact, `asked` each call of a judge.
    """

    benchmark: Path
    home: Path
    retakes: Counter[str] = field(default_factory=Counter)
    made: Counter[Slot] = field(default_factory=Counter)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)

    # ------------------------------------------------------------ what there is, told without the platform

    def names(self, kind: str) -> list[str]:
        """Ids of the systems or panels of the folder, from the names of its files."""
        return sorted(path.stem for path in (self.benchmark / kind).glob("*.yaml"))

    @property
    def tasks(self) -> list[str]:
        return sorted(path.name for path in (self.benchmark / "tasks").iterdir())

    @staticmethod
    def delivered(system: str, task: str) -> bool:
        """One run in nine or so has no video."""
        return (len(system) + int(task[1:])) % 9 != 0

    # ------------------------------------------------------------ the platform on it

    def workspace(self) -> Workspace:
        """Read the folder as it is now; the graph is the real one, with cheap makers."""
        opened = Settings(self.benchmark, None, self.home).open()
        nodes = {key: self._cheap(node) for key, node in opened.graph.nodes.items()}
        return Workspace(opened.benchmark, opened.home, Graph(nodes, opened.graph.systems, opened.graph.tasks))

    def plan(self) -> Plan:
        return make_plan(self.workspace())

    def make(self) -> set[Slot]:
        """What `vvb run` does, without Dagster: op by op, planned anew before each. Returns what was made."""
        before = Counter(self.made)
        workspace = self.workspace()
        for nodes in workspace.graph.ops():
            plan = make_plan(workspace)
            todo = dict.fromkeys(p for node in nodes for p in plan.of(node.key))
            for partition in todo:
                for node in nodes:
                    if make_partition(workspace, node, partition).made:
                        self.made[node.key, partition] += 1
        return set(self.made - before)

    def retake(self, run: str) -> None:
        """Another video for one run, as `vvb import --replace` or a run with --rerun-rollouts would leave it."""
        self.retakes[run] += 1
        workspace = self.workspace()
        assert make_partition(workspace, workspace.graph.nodes["rollout"], run, force=True).made

    # ------------------------------------------------------------ makers

    def _cheap(self, node: Node) -> Node:
        if node.version_of is not None or node.stage == "panels":
            return node
        makers: Mapping[str, Callable[[Workspace, Node, str | None, Path], Made]] = {
            "rollout": self._film,
            "l1_checks": self._check,
            "blinded_media": self._blind,
        }
        return replace(node, make=makers.get(node.key, self._derive))

    def _film(self, workspace: Workspace, node: Node, run: str | None, out: Path) -> Made:
        assert run is not None
        return Made(digest_value(["video", run, self.retakes[run]]))

    def _derive(self, workspace: Workspace, node: Node, partition: str | None, out: Path) -> Made:
        """A result that is another as soon as anything it is made from is."""
        read = {}
        for key in node.inputs:
            upstream = workspace.graph.upstream(node, partition, workspace.graph.nodes[key])
            found = workspace.store.manifests(key, upstream)
            read[key] = {str(p): m.data_version for p, m in found.items()}
        return Made(digest_value([node.key, node.code_version, read]))

    def _check(self, workspace: Workspace, node: Node, run: str | None, out: Path) -> Made:
        assert run is not None
        made = self._derive(workspace, node, run, out)
        return replace(made, summary={"delivered": self.delivered(*split_run(run))})

    def _blind(self, workspace: Workspace, node: Node, run: str | None, out: Path) -> Made:
        assert run is not None
        if not self.delivered(*split_run(run)):
            return Made(UNDELIVERED, summary={"delivered": False})
        video, _ = workspace.payload("rollout", run)
        media = BlindedMedia(out, out / "video.mp4", digest_value(["blind", video.data_version]), 8, 640, 360, 30, True)
        media.save()
        return Made(media.digest, summary={"delivered": True})


@dataclass
class Judge:
    """A judge that answers everything without looking, and counts: stands in for the instruments."""

    world: World

    def answer(self, request: JudgeRequest) -> RawReply:
        self.world.asked[request.judge.id, request.judge.model] += 1
        checks = [{"id": c, "status": status_of(c), "reason": "unseen", "channel": None} for c in request.check_ids]
        scores = [{"name": d, "score": score_of(d), "reason": "unseen"} for d in request.dim_names]
        times = {"start_s": None, "end_s": None}
        body = {"checks": [c | times for c in checks], "scores": scores}
        return RawReply(request.key, "instrument", json.dumps(body).encode(), "ok", usd=0.0, made_at="2026-01-01")

    def close(self) -> None:
        """Nothing was left anywhere."""
