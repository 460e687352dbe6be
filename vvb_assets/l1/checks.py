"""L1: program checks of a delivery against its task's delivery spec and audio policy. Cheap, exact, repeatable.

Verdicts come from facts alone, so that a changed tolerance never decodes again. Whatever was measured is judged,
whether or not the task asks for it; `applies` says whether it counts. Rates, durations and their tolerances are
compared as fractions: a value on the edge is inside. The policy for each disputable file is in docs/l1.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from vvb_resources.benchmark.models import L1Limits, TaskFacts
from vvb_resources.media.facts import MediaFacts

L1Verdict = Literal["pass", "fail", "na", "unmeasured"]

CHECKS = (
    "container",
    "decode",
    "resolution",
    "fps",
    "duration",
    "frames",
    "audible",
    "source_project",
    "narration_coverage",
    "narration_language",
    "black",
    "frozen",
)
# How checks are counted in tables: container with decode is one, black with frozen is one.
COUNTED = {"decode": "container", "frozen": "black"}


@dataclass(frozen=True)
class L1Check:
    """One check: does it count for the task, its verdict, what was measured and required (JSON values), why."""

    applies: bool
    verdict: L1Verdict
    measured: Any
    required: Any
    why: str

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "applies": self.applies,
            "verdict": self.verdict,
            "measured": self.measured,
            "required": self.required,
            "why": self.why,
        }


@dataclass(frozen=True)
class L1Result:
    """The checks by name, in the order of `CHECKS`."""

    checks: Mapping[str, L1Check]

    @property
    def delivered(self) -> bool:
        """Is there a playable video: container and decode pass."""
        return all(self.checks[name].verdict == "pass" for name in ("container", "decode"))

    @property
    def passed(self) -> bool | None:
        """Does every check that applies pass (`na` fails). None while one of them is unmeasured."""
        verdicts = [check.verdict for check in self.checks.values() if check.applies]
        return None if "unmeasured" in verdicts else all(verdict == "pass" for verdict in verdicts)

    def counted(self) -> dict[str, L1Verdict]:
        """Verdicts of the checks that apply, as tables count them: container with decode, black with frozen."""
        order: tuple[L1Verdict, ...] = ("pass", "unmeasured", "na", "fail")
        merged: dict[str, L1Verdict] = {}
        for name, check in self.checks.items():
            if check.applies:
                key = COUNTED.get(name, name)
                merged[key] = max(merged.get(key, "pass"), check.verdict, key=order.index)
        return merged

    def to_json(self) -> dict[str, Any]:
        """`{"checks": {name: ...}, "delivered": bool, "passed": bool or null}`."""
        return {
            "checks": {name: check.to_json() for name, check in self.checks.items()},
            "delivered": self.delivered,
            "passed": self.passed,
        }


def applicable(spec: TaskFacts) -> dict[str, bool]:
    """Which checks count for a task. Needs no video, so that counts over a benchmark are known beforehand."""
    core = spec.kind == "core"
    return {
        **dict.fromkeys(("container", "decode", "resolution", "fps", "duration"), True),
        "frames": core and spec.delivery.frames is not None,
        "audible": spec.audio.audible_check,
        "source_project": core,
        **dict.fromkeys(("narration_coverage", "narration_language", "black", "frozen"), not core),
    }


def check_l1(facts: MediaFacts, spec: TaskFacts, limits: L1Limits) -> L1Result:
    """Judge the facts of a delivery by the task's spec and the benchmark's limits.

    Source: the paper's L1 (section 4): rate within 0.01, duration within half a second of its range, peak above
    -50 dBFS, speech in at least half of a narrated video with no gap over 20 s, at least 90% of decided windows in the
    language.
    """
    applies = applicable(spec)
    outcomes = {
        "container": _container(facts),
        "decode": _decode(facts),
        "resolution": _resolution(facts, spec),
        "fps": _fps(facts, spec, limits),
        "duration": _duration(facts, spec, limits),
        "frames": _frames(facts, spec),
        "audible": _audible(facts, limits),
        "source_project": _source_project(facts),
        "narration_coverage": _coverage(facts, limits),
        "narration_language": _language(facts, spec, limits),
        "black": _stretch(facts, "black", limits.black_s),
        "frozen": _stretch(facts, "frozen", limits.frozen_s),
    }
    return L1Result({name: L1Check(applies[name], *outcomes[name]) for name in CHECKS})


Outcome = tuple[L1Verdict, Any, Any, str]  # verdict, measured, required, why


def decimal(value: float) -> Fraction:
    """A number as its author wrote it: 0.01 is one hundredth, not the float next to it."""
    return Fraction(str(value))


def _verdict(good: bool) -> L1Verdict:
    return "pass" if good else "fail"


def _no_picture(required: Any) -> Outcome:
    return "na", None, required, "no picture was decoded"


def _container(facts: MediaFacts) -> Outcome:
    container = facts.container
    measured = container.major_brand.strip() or container.fault
    if not container.sound:
        return "fail", measured, "ISO-BMFF", container.message
    extra = f", {container.trailing_bytes} stray bytes at its end" if container.trailing_bytes else ""
    return "pass", measured, "ISO-BMFF", f"an MP4 (brand {container.major_brand.strip()}){extra}"


def _decode(facts: MediaFacts) -> Outcome:
    frames = facts.timing.frames if facts.timing else 0
    if facts.decode.ok:
        return "pass", frames, "no errors", f"{frames} frames, no error"
    more = f" (and {len(facts.decode.errors) - 1} more)" if len(facts.decode.errors) > 1 else ""
    return "fail", frames, "no errors", (facts.decode.errors[0] if facts.decode.errors else "not decoded") + more


def _resolution(facts: MediaFacts, spec: TaskFacts) -> Outcome:
    wanted = [spec.delivery.width, spec.delivery.height]
    if facts.video is None or (facts.timing is None and not facts.decode.refused):
        return _no_picture(wanted)
    shown = [facts.video.width, facts.video.height]
    coded = f"{facts.video.coded_width}x{facts.video.coded_height}"
    turned = f", rotated by {facts.video.rotation} degrees" if facts.video.rotation else ""
    why = f"displayed {shown[0]}x{shown[1]} (coded {coded}, pixel aspect {facts.video.sar}{turned})"
    if changed := [f"{wide}x{high}" for wide, high in facts.video.changes]:
        return "fail", shown, wanted, f"{why}; changes to {', '.join(changed)} in mid-stream"
    return _verdict(shown == wanted), shown, wanted, why


def _fps(facts: MediaFacts, spec: TaskFacts, limits: L1Limits) -> Outcome:
    wanted, tolerance = spec.delivery.fps, limits.fps_tolerance
    required = {"fps": wanted, "tolerance": tolerance, "constant": True}
    if facts.timing is None:
        return _no_picture(required)
    timing = facts.timing
    measured = {"fps": timing.fps, "value": timing.fps_value, "constant": timing.constant}
    if timing.fps is None:
        return "fail", measured, required, f"{timing.frames} frame(s) have no rate"
    if not timing.constant:
        return "fail", measured, required, f"frames are not evenly spaced ({timing.fps_value:g} fps on average)"
    near = abs(Fraction(timing.fps) - decimal(wanted)) <= decimal(tolerance)
    return _verdict(near), measured, required, f"{timing.fps_value:g} fps, constant"


def _duration(facts: MediaFacts, spec: TaskFacts, limits: L1Limits) -> Outcome:
    low = decimal(spec.delivery.duration.min) - decimal(limits.duration_tolerance_s)
    high = decimal(spec.delivery.duration.max) + decimal(limits.duration_tolerance_s)
    required = [float(low), float(high)]
    if facts.timing is None or facts.duration is None:
        return _no_picture(required)
    whole = Fraction(facts.duration)
    picture = Fraction(facts.timing.end) - Fraction(facts.timing.start)
    measured = {"presentation_s": round(float(whole), 6), "picture_s": round(float(picture), 6)}
    good = low <= picture <= high and low <= whole <= high
    why = f"{float(whole):.3f} s in all, {float(picture):.3f} s of picture"
    return _verdict(good), measured, required, why


def _frames(facts: MediaFacts, spec: TaskFacts) -> Outcome:
    wanted = spec.delivery.frames
    if facts.timing is None:
        return _no_picture(wanted)
    frames = facts.timing.frames
    if wanted is None:
        return "na", frames, None, "the task asks for no exact number of frames"
    return _verdict(frames == wanted), frames, wanted, f"{frames} frames decoded"


def _audible(facts: MediaFacts, limits: L1Limits) -> Outcome:
    required = {"peak_dbfs_above": limits.audible_peak_dbfs}
    if facts.timing is None:
        return _no_picture(required)
    if facts.sound is None:
        silent = facts.streams is not None and facts.streams.audio
        return "fail", None, required, "no sound was decoded" if silent else "there is no sound stream"
    peak = facts.sound.peak_dbfs
    if peak is None:
        return "fail", None, required, "digital silence"
    return _verdict(peak > limits.audible_peak_dbfs), peak, required, f"peak {peak:.2f} dBFS in the loudest channel"


def _source_project(facts: MediaFacts) -> Outcome:
    required = "project/ with a file that is not empty"
    if facts.timing is None:
        return "na", facts.delivery.project, required, "there is no video that this would be the source of"
    if facts.delivery.project is None:
        return "na", None, required, "only a file was given: give the delivery folder"
    why = "an editable project is there" if facts.delivery.project else "no project/ with a file that is not empty"
    return _verdict(facts.delivery.project), facts.delivery.project, required, why


def _coverage(facts: MediaFacts, limits: L1Limits) -> Outcome:
    required = {"share_at_least": limits.narration_share, "gap_s_at_most": limits.narration_gap_s}
    if facts.timing is None:
        return _no_picture(required)
    if facts.speech is None:
        return "fail", {"share": 0.0, "longest_gap_s": facts.duration_s}, required, "there is no sound"
    if not facts.speech.measured or facts.speech.share is None or facts.speech.longest_gap_s is None:
        return "unmeasured", None, required, facts.speech.reason or "not measured"
    share, gap = facts.speech.share, facts.speech.longest_gap_s
    good = share >= limits.narration_share and gap <= limits.narration_gap_s
    why = f"speech in {share:.1%} of the video, longest gap {gap:.1f} s"
    return _verdict(good), {"share": share, "longest_gap_s": gap}, required, why


def _language(facts: MediaFacts, spec: TaskFacts, limits: L1Limits) -> Outcome:
    required = {"language": spec.language, "share_at_least": limits.language_share, "p_at_least": limits.language_p}
    if facts.timing is None:
        return _no_picture(required)
    if facts.speech is None or (facts.speech.measured and not facts.speech.segments):
        return "na", None, required, "there is no speech"
    if facts.language is None or not facts.language.measured:
        missing = facts.language.reason if facts.language else facts.speech.reason
        return "unmeasured", None, required, missing or "not measured"
    decided = [window for window in facts.language.windows if window.p >= limits.language_p]
    if not decided:
        return "fail", {"decided": 0}, required, "no window of speech has a language beyond doubt"
    right = sum(window.language == spec.language for window in decided)
    good = Fraction(right, len(decided)) >= decimal(limits.language_share)
    measured = {"decided": len(decided), "share": round(right / len(decided), 6)}
    return _verdict(good), measured, required, f"{right} of {len(decided)} decided windows are {spec.language}"


def _stretch(facts: MediaFacts, kind: Literal["black", "frozen"], limit: float) -> Outcome:
    required = {"at_most_s": limit}
    if facts.picture is None:
        return _no_picture(required)
    longest = facts.picture.longest_black_s if kind == "black" else facts.picture.longest_frozen_s
    return _verdict(longest <= limit), longest, required, f"longest {kind} stretch {longest:.2f} s"
