"""Names and labels of what a run makes at the engine: its container, volumes and network, all found again by label.

A killed parent leaves a labelled container whose owner (the data home's sandbox folder) and run (the name of its folder
there) say to whom it belongs.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

OWNER, RUN = "org.vibevideobench.owner", "org.vibevideobench.run"
VOLUMES = ("work", "inputs", "agent", "control")


@dataclass(frozen=True)
class Names:
    """What one run is called. `run` is its folder's name, `owner` the folder of all runs of a data home."""

    run: str
    owner: str

    @staticmethod
    def of(root: Path) -> Names:
        """Names of the run in the folder `root`."""
        return Names(run=root.name, owner=str(root.resolve().parent))

    @property
    def base(self) -> str:
        """Unique on the engine: two data homes may have a run of the same name."""
        return f"vvb-{hashlib.sha256(self.owner.encode()).hexdigest()[:8]}-{self.run}"

    @property
    def container(self) -> str:
        return self.base

    @property
    def filler(self) -> str:
        """The container through which the volumes are filled; it is never started."""
        return f"{self.base}-filler"

    @property
    def lister(self) -> str:
        """The container that lists what an ended run left, where the run itself did not come to it."""
        return f"{self.base}-lister"

    @property
    def network(self) -> str:
        return self.base

    def volume(self, kind: str) -> str:
        """Name of one of VOLUMES."""
        return f"{self.base}-{kind}"

    @property
    def labels(self) -> dict[str, str]:
        return {OWNER: self.owner, RUN: self.run}
