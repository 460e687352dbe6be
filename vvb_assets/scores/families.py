"""Which systems are a panel's own: the same model as one of its judges, or of the same family."""

from __future__ import annotations

from dataclasses import dataclass

from vvb_assets.scores.arrays import VISUAL_DIMENSIONS
from vvb_assets.scores.results import Results


@dataclass(frozen=True)
class Kinship:
    """Per panel, the systems that are the model of one of its judges, and those of a judge's family (own included).

    `models` and `families` are over all judges of the panel, `visual_*` over those that score a visual dimension. A
    panel without a named judge has empty sets.
    """

    models: dict[str, frozenset[str]]
    families: dict[str, frozenset[str]]
    visual_models: dict[str, frozenset[str]]
    visual_families: dict[str, frozenset[str]]


def kinship(results: Results) -> Kinship:
    """Kinship from `panels.judge_system`, `panels.judge_family` and the systems' families.

    A system's family is `systems.family`; where that is absent, the family of the judge that is the same model, else of
    a judge whose own system is of the same lab.
    """
    judges = [] if results.panels is None else results.panels.to_dicts()
    family = system_families(results)
    known = set(results.system_ids)
    tables: list[dict[str, frozenset[str]]] = []
    for visual in (False, True):
        heads = [j for j in judges if not visual or _scores_pictures(j)]
        models: dict[str, set[str]] = {p: set() for p in results.panel_ids}
        kin: dict[str, set[str]] = {p: set() for p in results.panel_ids}
        for judge in heads:
            panel, own = str(judge["panel"]), judge.get("judge_system")
            if own in known:
                models[panel].add(str(own))
            name = judge.get("judge_family") or family.get(str(own))
            kin[panel] |= {s for s in known if name is not None and family.get(s) == name} | models[panel]
        tables += [{p: frozenset(s) for p, s in table.items()} for table in (models, kin)]
    return Kinship(*tables)


def system_families(results: Results) -> dict[str, str]:
    """Family of each system that has a known one."""
    judges = [] if results.panels is None else results.panels.to_dicts()
    systems = [] if results.systems is None else results.systems.to_dicts()
    found = {str(r["system"]): str(r["family"]) for r in systems if r.get("family")}
    heads = [(j.get("judge_system"), j.get("judge_family")) for j in judges]
    named = {str(system): str(name) for system, name in heads if system and name}
    for system, family in named.items():
        found.setdefault(system, family)
    labs = {str(r["system"]): r.get("lab") for r in systems}
    by_lab = {labs[s]: f for s, f in named.items() if labs.get(s)}
    for system, lab in labs.items():
        if lab in by_lab:
            found.setdefault(system, by_lab[lab])
    return found


def _scores_pictures(judge: dict[str, object]) -> bool:
    dims = judge.get("dims")
    return not isinstance(dims, list) or not dims or any(d in VISUAL_DIMENSIONS for d in dims)
