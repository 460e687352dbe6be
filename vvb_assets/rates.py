"""How long making an artifact takes: measured when it or others of its kind were made (the manifests say)."""

from __future__ import annotations

from collections.abc import Mapping

from vvb_assets.graph import Node, split_run
from vvb_resources.store.artifacts import Manifest


class Rates:
    """Seconds a partition of one asset takes.

    The artifact's own time when it was made before; else the mean of its system's; else the mean of all. The means are
    taken when they are first asked for: mostly nothing is stale.
    """

    def __init__(self, node: Node, manifests: Mapping[str | None, Manifest]) -> None:
        self.node, self.manifests = node, manifests
        self._means: dict[str | None, float] | None = None

    def seconds_of(self, partition: str | None) -> float | None:
        """Expected seconds of work (not of waiting for a free worker); None while nothing of the kind was made."""
        known = self.manifests.get(partition)
        if known is not None:
            return known.seconds
        if self._means is None:
            self._means = self._take_means()
        return self._means.get(self._kind(partition), self._means.get(None))

    def _kind(self, partition: str | None) -> str | None:
        return split_run(partition)[0] if self.node.dims == "run" and partition is not None else None

    def _take_means(self) -> dict[str | None, float]:
        sums: dict[str | None, list[float]] = {}
        for partition, manifest in self.manifests.items():
            for kind in {self._kind(partition), None}:
                sums.setdefault(kind, []).append(manifest.seconds)
        return {kind: sum(seconds) / len(seconds) for kind, seconds in sums.items()}
