"""What Dagster loads: the benchmark that the environment names (VVB_BENCHMARK, VVB_PANELS, VVB_HOME)."""

from __future__ import annotations

from vvb_assets.assembly import build_definitions
from vvb_assets.settings import Settings

defs = build_definitions(Settings.resolve())
