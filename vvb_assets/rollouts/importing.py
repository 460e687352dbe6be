"""Deliveries made elsewhere become rollouts: copied, bounded and checked as if they had been made here."""

from __future__ import annotations

from pathlib import Path

from vvb_assets.rollouts.harbor import Trial
from vvb_assets.rollouts.record import Origin, RolloutRecord, file_records, video_record
from vvb_resources.errors import SandboxError
from vvb_resources.sandbox.base import Isolation
from vvb_resources.sandbox.collect import collect
from vvb_resources.store.atomic import write_json

MAX_BYTES = 8 << 30
MAX_LOG_BYTES = 256 << 20
STATEMENT = "imported: made elsewhere, nothing is known of its walls, times and cost"


def import_trial(trial: Trial, system_id: str, out: Path) -> RolloutRecord:
    """Import a trial of a Harbor job: its delivery, and the agent's logs under logs/harness/. See `import_delivery`."""
    record = import_delivery(trial.delivery, system_id, trial.task, out, trial.origin)
    record = record.model_copy(
        update={
            "ended": trial.ended,
            "kind": trial.ended,
            "started_at": trial.started_at,
            "seconds": trial.seconds,
            "usd": trial.origin.reported_usd,
        }
    )
    logs = out / "logs" / "harness"
    logs.mkdir(parents=True)
    if (trial.folder / "agent").is_dir():
        collect(trial.folder / "agent", logs, max_bytes=MAX_LOG_BYTES)
    write_json(out / "record.json", record.model_dump(mode="json"))
    return record


def import_delivery(
    source: Path, system_id: str, task_id: str, out: Path, origin: Origin | None = None
) -> RolloutRecord:
    """Copy the delivery folder `source` into the existing empty folder `out` (delivery/, record.json).

    `source` is never changed, and recorded as the origin unless another is given. A delivery that is odd or lacks
    its video is a result. Raises SandboxError when `source` is no folder that can be read, or holds `out`.
    """
    if source.is_symlink() or not source.is_dir():
        raise SandboxError(
            "is not a folder", where=str(source), remedy="give a folder that holds one delivery folder a task"
        )
    if out.resolve().is_relative_to(source.resolve()):
        raise SandboxError(
            "would be copied into itself", where=str(source), remedy="import from outside the data folder"
        )
    delivery = out / "delivery"
    delivery.mkdir()
    files, left, digest = file_records(collect(source, delivery, max_bytes=MAX_BYTES))
    record = RolloutRecord(
        system=system_id,
        task=task_id,
        ended=None,
        exit_code=None,
        signal=None,
        limit=None,
        started_at=None,
        seconds=None,
        deadline_s=None,
        cpu_s=None,
        peak_rss_mb=None,
        attempts=1,
        isolation=Isolation(network="open", filesystem="open", statement=STATEMENT),
        video=video_record(delivery),
        files=files,
        left_out=left,
        delivery_digest=digest,
        usage=None,
        usd=None,
        imported=True,
        origin=origin or Origin(kind="folder", path=str(source.resolve())),
    )
    write_json(out / "record.json", record.model_dump(mode="json"))
    return record
