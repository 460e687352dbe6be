"""Rules of systems and panels: every price known to the price list, names of keys but never keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vvb_resources.benchmark.folder import Folder
from vvb_resources.benchmark.models import SystemConfig
from vvb_resources.benchmark.problems import Problem
from vvb_resources.benchmark.yaml_source import YamlSource
from vvb_resources.errors import SandboxError

_VARIABLE = re.compile(r"^[A-Z_][A-Z0-9_]*$")
_SECRET = re.compile(r"(?:API_?KEY|TOKEN|SECRET|PASSWORD)$")


def config_rules(folder: Folder) -> Iterator[Problem]:
    """Problems of systems/*.yaml and panels/*.yaml beyond their structure."""
    for system_id, system in folder.systems.items():
        source = folder.sources[folder.files["system", system_id]]
        yield from _price(folder, source, ("price",), system.price)
        yield from _harness(source, system)
        for place, key in enumerate(system.keys):
            yield from _key(source, ("keys", place), key)
            if key == system.key:
                what = f"{key} is the gateway's key and would be given to the agent as well"
                yield source.problem(("keys", place), what, "remove it from keys: the agent needs only the gateway")
        if system.key is not None:
            yield from _key(source, ("key",), system.key)
        for name, value in system.env.items():
            if _SECRET.search(name) and value != "{token}":  # the token of a run is not a key
                what = f"env sets {name}: a key's value does not belong in a file"
                yield source.problem(("env", name), what, f"remove it and list {name} under keys")
    for panel_id, panel in folder.panels.items():
        source = folder.sources[folder.files["panel", panel_id]]
        for place, judge in enumerate(panel.judges):
            yield from _price(folder, source, ("judges", place, "price"), judge.price)
            if judge.key is not None:
                yield from _key(source, ("judges", place, "key"), judge.key)


def _harness(source: YamlSource, system: SystemConfig) -> Iterator[Problem]:
    """The harness is one of those that are there, and knows the options and the parser that the file names."""
    from vvb_resources.harnesses.base import get_harness, harness_ids, read_options  # they import the models in turn
    from vvb_resources.harnesses.trajectory.reading import parser_ids

    if system.harness not in harness_ids():
        known = ", ".join(harness_ids())
        yield source.problem(("harness",), f"there is no harness {system.harness!r}", f"use one of: {known}")
        return
    try:
        read_options(get_harness(system.harness).options, system)
    except SandboxError as error:
        yield source.problem(("options",), error.what, error.remedy)
    if system.parser is not None and system.parser not in parser_ids():
        what = f"there is no harness {system.parser!r} whose log can be read"
        yield source.problem(("parser",), what, f"use one of: {', '.join(parser_ids())}")


def _price(folder: Folder, source: YamlSource, where: tuple[str | int, ...], price: str | None) -> Iterator[Problem]:
    prices = folder.newest_prices
    if price is None or (prices is not None and price in prices.models):
        return
    newest = folder.files["prices", prices.date.isoformat()] if prices else None
    what = f"the price entry {price!r} is not in {newest}" if newest else f"no price list holds {price!r}"
    yield source.problem(where, what, f"add it to {newest or 'prices/<date>.yaml'} (null where it is unknown)")


def _key(source: YamlSource, where: tuple[str | int, ...], key: str) -> Iterator[Problem]:
    if not _VARIABLE.match(key):
        # The text is not shown: it may be the key itself.
        yield source.problem(
            where, "is not the name of an environment variable", "write a name such as EXAMPLE_API_KEY"
        )
