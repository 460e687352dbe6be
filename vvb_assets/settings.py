"""Which benchmark, which panels, which data home: from options, else from the environment, else the defaults."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from vvb_assets.build import build_graph
from vvb_assets.graph import Workspace
from vvb_resources.benchmark.loader import load_benchmark
from vvb_resources.benchmark.parse_cache import ParseCache, parsing_through
from vvb_resources.benchmark.yaml_source import parser_version
from vvb_resources.store.home import Home, default_benchmark, default_home, parsed_file


@dataclass(frozen=True)
class Settings:
    """Paths of a session. Environment: VVB_BENCHMARK, VVB_PANELS, VVB_HOME."""

    benchmark: Path
    panels: Path | None
    home: Path

    @classmethod
    def resolve(cls, benchmark: Path | None = None, panels: Path | None = None) -> Settings:
        """Settings of this process; an option wins over the environment."""
        from_environment = os.environ.get("VVB_PANELS")
        chosen = panels or (Path(from_environment) if from_environment else None)
        return cls((benchmark or default_benchmark()).resolve(), chosen.resolve() if chosen else None, default_home())

    def environment(self) -> dict[str, str]:
        """The variables that make another process (the UI's code server) see the same."""
        variables = {"VVB_BENCHMARK": str(self.benchmark), "VVB_HOME": str(self.home)}
        return variables | ({"VVB_PANELS": str(self.panels)} if self.panels else {})

    def open(self) -> Workspace:
        """Read the benchmark's files as they are now. Raises BenchmarkError with every problem found."""
        with parsing_through(ParseCache(parsed_file(self.home, self.benchmark), parser_version())):
            benchmark = load_benchmark(self.benchmark, self.panels)
        return Workspace(benchmark, Home(self.home, benchmark.config.name), build_graph(benchmark))
