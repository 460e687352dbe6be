"""A benchmark of any size and a store in which everything is made: manifests only, written in bulk, without media.

SYNTHETIC, for load and shape: tasks are copies of the starter benchmark's under other ids, systems and panels are the
paper's, data versions are digests of names. Manifests have the size and fields of real ones.
"""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import polars as pl

from vvb_assets.expected import expected_inputs, slots_of
from vvb_assets.graph import Node, Workspace
from vvb_resources.media.blinding import RECORD
from vvb_resources.store.artifacts import MANIFEST, Manifest
from vvb_resources.store.digests import digest_value
from vvb_resources.store.home import CHECKOUT
from vvb_resources.store.views import RUN_VIEWS

MADE_AT = "2026-01-01T00:00:00.000+00:00"
VERSIONS_SUMMARY: dict[str, Any] = {"seconds of agent": 1234.5, "video": "playable", "bytes": 12_345_678, "usd": 3.25}
MEDIA = {"duration_s": 14.0, "width": 1280, "height": 720, "fps": 30.0, "has_audio": True}
CHECK = {"passed": True, "severity": "WARN", "description": "every applicable check passes"}


def write_benchmark(folder: Path, tasks: int) -> Path:
    """Write a benchmark folder: the paper's nine systems and three panels, `tasks` copies of the starter's tasks.

    The task ids are T0000, T0001, ...; the folder must not exist. Raises OSError when it cannot be written.
    """
    shutil.copytree(CHECKOUT / "task_data" / "paper", folder)
    models = sorted((CHECKOUT / "task_data" / "starter" / "tasks").iterdir())
    for number in range(tasks):
        model, task_id = models[number % len(models)], f"T{number:04d}"
        target = folder / "tasks" / task_id
        shutil.copytree(model, target)
        rubric = target / "rubric.yaml"
        rubric.write_text(f"# {task_id}: no two files are alike\n" + rubric.read_text())
        spec = target / "task.yaml"
        spec.write_text(re.sub(r"(?m)^id: .*$", f"id: {task_id}", spec.read_text(), count=1))
    return folder


def fill_store(workspace: Workspace) -> int:
    """Write a fresh manifest for each partition of each asset of the graph; return how many.

    Files are written without fsync: the store is thrown away.
    """
    versions: dict[str, dict[str | None, str]] = {}
    written = 0
    for node in workspace.graph.nodes.values():
        made: dict[str | None, Manifest] = {}
        for manifest in _manifests(workspace, node, versions):
            made[manifest.partition] = manifest
            folder = workspace.store.folder(manifest.asset, manifest.partition)
            folder.mkdir(parents=True)
            text = json.dumps(asdict(manifest), ensure_ascii=False, indent=1, sort_keys=True)
            (folder / MANIFEST).write_text(text + "\n")
            if node.key == "blinded_media":  # what an estimate reads of a video
                (folder / manifest.payload).mkdir()
                record = MEDIA | {"digest": manifest.data_version}
                (folder / manifest.payload / RECORD).write_text(json.dumps(record))
            written += 1
        versions |= slots_of(node, made)
    return written


def fill_payloads(workspace: Workspace, only: list[str] | None = None) -> int:
    """Write the files that SQL views read into each payload (of the runs `only`), all alike; return how many.

    A judged run has 54 verdicts and five scores. Written without fsync.
    """
    checks = [f"V{number:02d}" for number in range(54)]
    verdict = {"core": True, "modality": "visual", "judge": "J", "verdict": "pass", "start_s": 1.0, "end_s": 2.0}
    reason = "the bus reaches the far bank before the cut"
    verdicts = [verdict | {"check": check, "channel": "visual", "reason": reason, "reply_key": "k"} for check in checks]
    score = {"judge": "J", "score": 4, "reason": reason, "strengths": reason, "defects": reason, "reply_key": "k"}
    run = {"delivered": True, "spec_pass": True, "usd": 3.25}
    statistics = {"delivered": True, "n_checks": 54, "strict": True, "run_overall": 4.0}
    tables = {
        "verdicts.parquet": pl.DataFrame(verdicts),
        "scores.parquet": pl.DataFrame([score | {"dim": dim} for dim in ("VQ", "VA", "CL", "TM", "AQ")]),
        "runs.parquet": pl.DataFrame([run]),
        "statistics.parquet": pl.DataFrame([statistics | {"panel": panel} for panel in workspace.benchmark.panels]),
    }
    program_check = {"applies": True, "verdict": "pass", "measured": 30.0, "required": "30", "why": ""}
    content = {
        "checks.json": json.dumps({"checks": dict.fromkeys(("fps", "frames", "duration"), program_check)}).encode()
    }
    for name, table in tables.items():
        buffer = io.BytesIO()
        table.write_parquet(buffer, compression="zstd")
        content[name] = buffer.getvalue()
    wanted = {view.file: view.asset for view in RUN_VIEWS} | {"checks.json": "l1_checks"}
    written = 0
    for node in workspace.graph.nodes.values():
        files = [file for file, asset in wanted.items() if node.key.split("/")[-1] == asset]
        if not files:
            continue
        for manifest in workspace.store.manifests(node.key, only or workspace.graph.partitions(node)).values():
            folder = workspace.store.payload(manifest)
            folder.mkdir(exist_ok=True)
            for file in files:
                (folder / file).write_bytes(content[file])
                written += 1
    return written


def _manifests(workspace: Workspace, node: Node, versions: dict[str, dict[str | None, str]]) -> Iterator[Manifest]:
    for partition in workspace.graph.partitions(node):
        if node.version_of is not None:
            version = node.version_of(workspace.benchmark, partition)
        else:
            version = digest_value([node.key, partition])
        counting = expected_inputs(workspace.graph, node, partition, versions)
        whole = expected_inputs(workspace.graph, replace(node, uses={}), partition, versions)
        yield Manifest(
            asset=node.key,
            partition=partition,
            data_version=version,
            code_version=node.code_version,
            inputs=whole,
            facets={key: counting[key] for key in node.uses},
            payload=f"{version[:8]}-00000000",
            made_at=MADE_AT,
            seconds=0.5,
            summary={**VERSIONS_SUMMARY, "delivered": True},
            checks={name: CHECK for name, _ in node.checks},
        )
