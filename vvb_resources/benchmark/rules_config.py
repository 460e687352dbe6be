"""Rules of systems and panels: every price known to the price list, names of keys but never keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vvb_resources.benchmark.folder import Folder
from vvb_resources.benchmark.problems import Problem
from vvb_resources.benchmark.yaml_source import YamlSource

_VARIABLE = re.compile(r"^[A-Z_][A-Z0-9_]*$")
_SECRET = re.compile(r"(?:API_?KEY|TOKEN|SECRET|PASSWORD)$")


def config_rules(folder: Folder) -> Iterator[Problem]:
    """Problems of systems/*.yaml and panels/*.yaml beyond their structure."""
    for system_id, system in folder.systems.items():
        source = folder.sources[folder.files["system", system_id]]
        yield from _price(folder, source, ("price",), system.price)
        for place, key in enumerate(system.keys):
            yield from _key(source, ("keys", place), key)
        for name in system.env:
            if _SECRET.search(name):
                what = f"env sets {name}: a key's value does not belong in a file"
                yield source.problem(("env", name), what, f"remove it and list {name} under keys")
    for panel_id, panel in folder.panels.items():
        source = folder.sources[folder.files["panel", panel_id]]
        for place, judge in enumerate(panel.judges):
            yield from _price(folder, source, ("judges", place, "price"), judge.price)
            if judge.key is not None:
                yield from _key(source, ("judges", place, "key"), judge.key)


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
