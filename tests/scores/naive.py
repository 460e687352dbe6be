"""The figures again, by dicts and loops over plain rows: independent of the columnar code, slow and obvious."""

from __future__ import annotations

from typing import Any

DIMS = ["VQ", "VA", "CL", "TM", "AQ"]
Rows = dict[str, list[dict[str, Any]]]


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


def pct(part: float, whole: float) -> float | None:
    return 100 * part / whole if whole else None


def panel_row(rows: Rows, panel: str, system: str) -> dict[str, Any]:
    """Figures of one panel for one system. Every run row is there; verdict or score rows of a run may be wanting."""
    passed = failed = unknown = missing_checks = checks_judged = errors = 0
    strict: list[bool | None] = []
    all_core: list[bool | None] = []
    known: dict[str, list[float]] = {d: [] for d in DIMS}
    run_overall: list[float] = []
    undelivered = unjudged_l2 = unjudged_l3 = 0
    for run in rows["runs"]:
        if run["system"] != system:
            continue
        task = run["task"]
        checks = {c["check"]: c["core"] for c in rows["checks"] if c["task"] == task}
        if not run["delivered"]:
            undelivered += 1
            missing_checks += len(checks)
            strict.append(False)
            all_core.append(False)
            run_overall.append(0.0)
            continue
        same = {"panel": panel, "system": system, "task": task}
        found = [v for v in rows["verdicts"] if all(v[k] == x for k, x in same.items())]
        verdict = {v["check"]: v["verdict"] for v in found}
        if checks and not verdict:
            unjudged_l2 += 1
        else:
            checks_judged += len(checks)
        values = list(verdict.values())
        passed += values.count("pass")
        failed += values.count("fail")
        unknown += values.count("unknown")
        errors += values.count("judge_error")
        core = [verdict.get(c, "absent") for c, is_core in checks.items() if is_core]
        is_open = "judge_error" in values or len(values) < len(checks)
        if "fail" in core:
            strict.append(False)
        else:
            strict.append(None if is_open else "pass" in values)
        if "fail" in core or "unknown" in core:
            all_core.append(False)
        else:
            all_core.append(None if is_open else "pass" in core)
        given = [s for s in rows["scores"] if all(s[k] == x for k, x in same.items())]
        unjudged_l3 += not given
        mine = [s["score"] for s in given if s["score"] is not None]
        for s in given:
            if s["score"] is not None:
                known[s["dim"]].append(s["score"])
        if mine:
            run_overall.append(sum(mine) / len(mine))
    dims = {d: mean(known[d]) for d in DIMS}
    nv0 = [sum(known[d]) / n if (n := len(known[d]) + undelivered) else None for d in DIMS]
    whole_l3 = unjudged_l3 == 0
    return {
        "l2_pass_deliv_pct": pct(passed, passed + failed),
        "l2_pass_nv0_pct": None if unjudged_l2 else pct(passed, passed + failed + missing_checks),
        "strict_pct": None if None in strict else pct(strict.count(True), len(strict)),
        "strict_low_pct": pct(strict.count(True), len(strict)),
        "strict_high_pct": pct(len(strict) - strict.count(False), len(strict)),
        "all_core_pct": None if None in all_core else pct(all_core.count(True), len(all_core)),
        "unknown_pct": pct(unknown, checks_judged),
        "judge_errors": errors,
        **dims,
        "overall_deliv": None if None in dims.values() else mean(list(dims.values())),  # type: ignore[arg-type]
        "overall_nv0": None if None in nv0 or not whole_l3 else mean(nv0),  # type: ignore[arg-type]
        "run_overall": mean(run_overall) if whole_l3 else None,
        "whole": not unjudged_l2 and whole_l3,
    }


def board(rows: Rows) -> dict[str, dict[str, Any]]:
    """Leaderboard figures by system: means over the panels that have judged anything, ranks by overall_nv0."""
    made = {(r["system"], r["task"]) for r in rows["runs"] if r["delivered"]}
    with_checks = {c["task"] for c in rows["checks"]}
    panels = sorted({v["panel"] for v in rows["verdicts"]} | {s["panel"] for s in rows["scores"]})
    systems = list(dict.fromkeys(r["system"] for r in rows["runs"]))
    assert with_checks or not rows["verdicts"]
    at_work = panels if made else []
    table: dict[str, dict[str, Any]] = {}
    for system in systems:
        per = [panel_row(rows, p, system) for p in at_work]
        runs = [r for r in rows["runs"] if r["system"] == system]
        row: dict[str, Any] = {"delivery_pct": pct(sum(r["delivered"] for r in runs), len(runs))}
        spec = [False if not r["delivered"] else r["spec_pass"] for r in runs]
        row["spec_pct"] = None if None in spec else pct(spec.count(True), len(spec))
        usd = [r["usd"] for r in runs]
        row["usd_per_task"] = None if None in usd else mean(usd)
        for name in [k for k in (per[0] if per else ()) if k not in ("whole", "judge_errors")]:
            values = [p[name] for p in per]
            row[name] = None if None in values else mean(values)
        row["judge_errors"] = sum(p["judge_errors"] for p in per)
        table[system] = row
    for row in table.values():
        score = row.get("overall_nv0")
        scores = [r["overall_nv0"] for r in table.values() if r.get("overall_nv0") is not None]
        row["rank"] = None if score is None else 1 + sum(s > score + 5e-10 for s in scores)
    return table
