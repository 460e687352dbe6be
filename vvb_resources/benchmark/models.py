"""The shapes of a benchmark folder's files. Unknown fields are refused everywhere.

`task.yaml` -> `TaskSpec`, `rubric.yaml` -> `Rubric`, `systems/*.yaml` -> `SystemConfig`, `panels/*.yaml` ->
`PanelConfig`, `prices/*.yaml` -> `PriceList`, `benchmark.yaml` -> `BenchmarkConfig`. Probes are in `probes.py`. Names
follow the paper (VibeVideoBench, sections 3 and 4, appendices A to D). Rules that need more than one file are the
linter's.
"""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from vvb_resources.benchmark.probes import Probe

Category = Literal["C01", "C02", "C03", "C04", "C05", "C06", "C07", "C08", "C09", "C10", "C11", "C12"]
Modality = Literal["visual", "audio", "audio_visual"]
Dimension = Literal["VQ", "VA", "CL", "TM", "AQ"]
Wire = Literal["anthropic", "openai_chat", "openai_responses", "gemini"]
Network = Literal["none", "gateway", "gateway_and_mirrors", "open"]
ChannelUse = Literal["required", "optional", "not_used"]
TaskKind = Literal["core", "lesson", "paper"]

DIMENSIONS: tuple[Dimension, ...] = ("VQ", "VA", "CL", "TM", "AQ")
MODALITIES: tuple[Modality, ...] = ("visual", "audio", "audio_visual")

# '|', ',', '[' and ']' are illegal in partition keys, '/' and '..' in paths: ids use none of them.
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=64)]
Text = Annotated[str, Field(min_length=1)]


class Model(BaseModel):
    """Strict and immutable: a typo in a field's name is an error, never ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


# ---------------------------------------------------------------- task.yaml


class DurationRange(Model):
    """Seconds; the target range of the finished video, before the tolerance of L1."""

    min: float = Field(gt=0)
    max: float = Field(gt=0)

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.max < self.min:
            raise ValueError(f"max ({self.max:g}) is less than min ({self.min:g})")
        return self


class DeliverySpec(Model):
    """The machine-readable delivery spec d: pixels, frames a second, seconds, and frames where exact."""

    width: int = Field(gt=0, le=16384)
    height: int = Field(gt=0, le=16384)
    fps: float = Field(gt=0, le=240)
    duration: DurationRange
    frames: int | None = Field(default=None, gt=0, description="exact frame count; core tasks only")


class AudioPolicy(Model):
    """The four channels of the audio policy a, and whether the audible check is applied."""

    narration: ChannelUse
    music: ChannelUse
    effects: ChannelUse
    ambience: ChannelUse
    check: bool | None = Field(default=None, description="default: true when a channel is required")

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the required channels."""
        return tuple(c for c in ("narration", "music", "effects", "ambience") if getattr(self, c) == "required")

    @property
    def audible_check(self) -> bool:
        """Does the audible check count for this task."""
        return bool(self.required) if self.check is None else self.check


class TaskFacts(Model):
    """What L1 needs of a task: `vvb l1 --spec` accepts a file with just these."""

    id: Id
    kind: TaskKind
    language: Literal["en", "zh"]
    delivery: DeliverySpec
    audio: AudioPolicy


class TaskSpec(TaskFacts):
    """`task.yaml`, whole."""

    title: Text
    category: Category
    subcategories: tuple[Annotated[str, Field(pattern=r"^([SDE]\d\d|CG)$")], ...] = Field(min_length=1)
    freedom: Text


# ---------------------------------------------------------------- rubric.yaml


class Goal(Model):
    id: Id
    title: Text


class Requirement(Model):
    """A sentence of the prompt and the checks that enforce it (or where it is enforced instead)."""

    id: Id
    quote: Text
    checks: tuple[Id, ...] = ()
    l1: bool = Field(default=False, description="enforced by the program checks of the delivery spec")

    @model_validator(mode="after")
    def _enforced(self) -> Self:
        if not self.checks and not self.l1:
            raise ValueError(f"requirement {self.id} has no check: name at least one, or set l1: true")
        return self


class Check(Model):
    """One atomic L2 check. `pass` and `fail` are both needed; `basis` quotes what it enforces."""

    id: Id
    goal: Id
    title: Text
    pass_: Text = Field(alias="pass")
    fail: Text
    scope: Text
    basis: Text
    criticality: Literal["core", "detail"]
    modality: Modality
    probe: Probe | None = None

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, str_strip_whitespace=True)

    @property
    def core(self) -> bool:
        return self.criticality == "core"


class Anchors(Model):
    """Descriptions of a score of 1, 3 and 5, written for the task."""

    one: Text = Field(alias="1")
    three: Text = Field(alias="3")
    five: Text = Field(alias="5")

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, str_strip_whitespace=True)


class Quality(Model):
    """The L3 rubric: anchors of the five dimensions."""

    VQ: Anchors
    VA: Anchors
    CL: Anchors
    TM: Anchors
    AQ: Anchors

    def __getitem__(self, dim: Dimension) -> Anchors:
        return getattr(self, dim)  # type: ignore[no-any-return]


class Rubric(Model):
    """`rubric.yaml`: goals, requirements, checks (L2) and quality anchors (L3)."""

    goals: tuple[Goal, ...] = Field(min_length=1)
    requirements: tuple[Requirement, ...] = Field(min_length=1)
    checks: tuple[Check, ...] = Field(min_length=1)
    quality: Quality


# ---------------------------------------------------------------- systems/*.yaml


class SystemConfig(Model):
    """An agent system: a model in its harness. `family` and `model` name who made it (self-preference)."""

    id: Id
    name: Text
    lab: Text
    harness: Id = Field(description="a file of vvb_resources/harnesses, or 'generic'")
    harness_version: str | None = None
    model: str | None = None
    family: str | None = Field(default=None, description="model family, for self-preference")
    effort: str | None = None
    price: str | None = Field(default=None, description="entry of the price list; none = costs nothing to call")
    command: tuple[Text, ...] = Field(
        default=(), description="generic harness: argument list; {python}, {agent}, {prompt} are filled in"
    )
    agent: tuple[Text, ...] = Field(
        default=(),
        description="files or folders of the benchmark folder, shown read-only to the agent as {agent}/<name>",
    )
    log: str | None = Field(default=None, description="generic harness: the agent's own log, relative to its folder")
    parser: Id | None = Field(default=None, description="generic harness: parser of that log")
    env: dict[str, str] = Field(default_factory=dict, description="variables set for the agent (never a key's value)")
    keys: tuple[str, ...] = Field(default=(), description="names of environment variables passed through to the agent")
    options: dict[str, Any] = Field(default_factory=dict, description="the harness's own typed options")
    wire: Wire | None = Field(default=None, description="generic harness: wire format in which it calls its model")
    models: tuple[str, ...] = Field(default=(), description="further models that the harness may call")
    hosted_tools: tuple[str, ...] = Field(
        default=(), description="tools that the model's service runs itself and that the agent may use: web_search ..."
    )
    endpoint: str | None = Field(default=None, description="where the gateway sends its calls; default: the maker's")
    key: str | None = Field(default=None, description="environment variable with the API key; only the gateway has it")
    sandbox: Literal["local", "docker"] | None = Field(default=None, description="default: the benchmark's")

    @model_validator(mode="after")
    def _generic_has_command(self) -> Self:
        if self.harness == "generic" and not self.command:
            raise ValueError("harness generic needs a command")
        return self


# ---------------------------------------------------------------- panels/*.yaml


class Sampling(Model):
    """How a judge sees a video: frames a second, bounds on their number, longest side in pixels."""

    fps: float = Field(gt=0, le=60)
    min_frames: int = Field(default=1, ge=1)
    max_frames: int = Field(default=600, ge=1)
    max_side: int = Field(default=1280, ge=64)


class JudgeLimits(Model):
    """Limits of a judge's calls: seconds, tokens, calls at once, calls a minute, USD a run. None changes a reply's key.

    `tries` counts calls for one reply, of which all but the last met a passing fault; the pause before the next grows
    from `backoff_s` by doubling. A service that asks to wait longer than `patience_s` ends the call instead.
    """

    timeout_s: float = Field(default=600, gt=0)
    upload_s: float = Field(default=300, gt=0, description="seconds until an uploaded video has to be ready")
    tries: int = Field(default=8, ge=1)
    backoff_s: float = Field(default=2, ge=0)
    patience_s: float = Field(default=900, ge=0)
    max_output_tokens: int = Field(default=16_384, gt=0)
    concurrency: int = Field(default=4, ge=1)
    per_minute: float | None = Field(default=None, gt=0)
    usd: float | None = Field(default=None, ge=0)


class JudgeConfig(Model):
    """One judge of a panel: who it is, what it perceives, and which checks and dimensions are routed to it."""

    id: Id
    provider: Id = Field(description="a file of vvb_resources/judges/providers")
    model: Text
    family: str | None = None
    system: Id | None = Field(default=None, description="the system id of the same model, for self-preference")
    sees: Literal["video", "frames", "nothing"]
    hears: bool
    checks: tuple[Modality, ...]
    dims: tuple[Dimension, ...]
    sampling: Sampling | None = None
    observations_from: Id | None = Field(
        default=None, description="a judge asked first; its observations are handed on"
    )
    endpoint: str | None = None
    key: str | None = Field(default=None, description="name of the environment variable that holds the API key")
    price: str | None = None
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="provider's own: effort, temperature, seed ..."
    )
    limits: JudgeLimits = JudgeLimits()
    batch: bool = Field(default=False, description="ask through the service's batch interface, where it has one")

    @model_validator(mode="after")
    def _routing(self) -> Self:
        deaf = [m for m in self.checks if m != "visual"]
        if deaf and not self.hears:
            raise ValueError(f"judge {self.id} cannot hear but is given {', '.join(deaf)} checks")
        if "AQ" in self.dims and not self.hears:
            raise ValueError(f"judge {self.id} cannot hear but is given AQ")
        blind: list[str] = [m for m in self.checks if m != "audio"] or [d for d in self.dims if d != "AQ"]
        if blind and self.sees == "nothing":
            raise ValueError(f"judge {self.id} sees nothing but is given {', '.join(blind)}")
        if self.sees != "nothing" and self.sampling is None:
            raise ValueError(f"judge {self.id} sees the video but has no sampling")
        return self


class PanelConfig(Model):
    """A panel: every modality and every dimension is routed to exactly one of its judges."""

    id: Id
    title: Text
    judges: tuple[JudgeConfig, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        ids = [j.id for j in self.judges]
        if len(set(ids)) != len(ids):
            raise ValueError(f"panel {self.id} names a judge twice")
        routes: tuple[tuple[str, tuple[str, ...], list[str]], ...] = (
            ("modality", MODALITIES, [m for j in self.judges for m in j.checks]),
            ("dimension", DIMENSIONS, [d for j in self.judges for d in j.dims]),
        )
        for what, wanted, routed in routes:
            for item in wanted:
                if routed.count(item) != 1:
                    raise ValueError(
                        f"panel {self.id} routes {what} {item} to {routed.count(item)} judges; exactly one is needed"
                    )
        for place, judge in enumerate(self.judges):
            if judge.observations_from and judge.observations_from not in ids[:place]:
                raise ValueError(
                    f"judge {judge.id} takes observations from {judge.observations_from}, not listed before it"
                )
        return self


# ---------------------------------------------------------------- prices/*.yaml


class Price(Model):
    """List price of a model, USD a million tokens. `null` is unknown, never free."""

    input: float | None
    cached: float | None = None
    cache_write: float | None = None
    output: float | None
    long_context: float | None = Field(default=None, description="input tokens above which `long_factor` applies")
    long_factor: float = 1.0
    tier: float = 1.0
    batch: float = Field(default=1.0, ge=0, description="factor of a request through the batch interface: 0.5 = half")


class PriceList(Model):
    """Prices of one day."""

    date: dt.date
    source: Text
    models: dict[str, Price]


# ---------------------------------------------------------------- benchmark.yaml


class L1Limits(Model):
    """Tolerances and limits of L1; the defaults are the paper's, black and frozen those of the design."""

    fps_tolerance: float = Field(default=0.01, ge=0)
    duration_tolerance_s: float = Field(default=0.5, ge=0)
    audible_peak_dbfs: float = Field(default=-50.0, le=0)
    black_s: float = Field(default=2.0, gt=0)
    frozen_s: float = Field(default=8.0, gt=0)
    narration_share: float = Field(default=0.5, ge=0, le=1)
    narration_gap_s: float = Field(default=20.0, gt=0)
    language_share: float = Field(default=0.9, ge=0, le=1)
    language_p: float = Field(default=0.5, ge=0, le=1)


class SpeechConfig(Model):
    """The model that names the language of narration: a multilingual Whisper by name or path (docs/l1.md)."""

    model: Text | None = None


class SandboxPolicy(Model):
    """What a rollout may use. Seconds, MiB, counts."""

    kind: Literal["local", "docker"] = "local"
    deadline_s: float = Field(default=3600, gt=0, description="wall-clock budget of a rollout")
    network: Network = Field(
        default="gateway",
        description="what the agent reaches: nothing; its model; also package mirrors; everything",
    )
    usd: float | None = Field(default=None, ge=0, description="most that the model calls of a rollout may cost")
    memory_mb: int = Field(default=4096, gt=0)
    processes: int = Field(default=512, gt=0)
    file_mb: int = Field(default=2048, gt=0, description="largest file the agent may write")
    cpus: int | None = Field(default=None, gt=0, description="default: all for kind local, 8 for kind docker")
    image: str | None = None
    files: int = Field(default=20_000, gt=0, description="most files of a delivery that are kept")
    mirrors: tuple[Text, ...] = Field(
        default=(),
        description="hosts that gateway_and_mirrors allows, beside the model; a leading dot allows all below",
    )
    tts: tuple[Text, ...] = Field(
        default=(),
        description="program that speaks in place of espeak-ng: {voice}, {speed}, {out}; the text is its input",
    )

    @model_validator(mode="after")
    def _mirrors_are_named(self) -> SandboxPolicy:
        if self.network == "gateway_and_mirrors" and not self.mirrors:
            raise ValueError("network gateway_and_mirrors needs mirrors: the hosts of your package registries")
        return self

    @model_validator(mode="before")
    @classmethod
    def _size_by_kind(cls, values: Any) -> Any:
        """A container is by default as large as the paper's (appendix on sandbox and protocol): 8 CPUs, 32 GB."""
        if isinstance(values, dict) and values.get("kind") == "docker":
            return {"cpus": 8, "memory_mb": 32_768, **values}
        return values


class Budgets(Model):
    """How much of this machine and of money a run may use."""

    workers: int = Field(default=2, ge=1, description="rollouts and measurements at once")
    usd_run: float | None = Field(default=None, ge=0)
    usd_benchmark: float | None = Field(default=None, ge=0)


class Automation(Model):
    """What the UI's sensors may do by themselves (docs/automation.md); the sensor that makes things is off at first."""

    interval_s: int = Field(default=30, ge=5, description="the sensors look every so many seconds")
    usd_day: float = Field(default=0.0, ge=0, description="estimated cost of judging it may ask for in a day (UTC)")
    rollouts: Literal["none", "missing"] = Field(default="none", description="may it make rollouts that are missing")
    attempts: int = Field(default=3, ge=1, description="tries of the same partition from the same inputs")


class StudyDesign(Model):
    """The human study: pairs of systems shown on each task, and the seed of design and bootstrap."""

    pairs_per_task: int = Field(default=1, ge=1)
    seed: int = 0


class BenchmarkConfig(Model):
    """`benchmark.yaml`."""

    name: Id
    title: Text
    version: Text
    limits: L1Limits = L1Limits()
    speech: SpeechConfig = SpeechConfig()
    sandbox: SandboxPolicy = SandboxPolicy()
    budgets: Budgets = Budgets()
    automation: Automation = Automation()
    study: StudyDesign = StudyDesign()
    bootstrap: int = Field(default=10_000, ge=100, description="resamples of the uncertainty table")
    seed: int = 20_260_101
