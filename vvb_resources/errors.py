"""Typed errors: each says what was wrong, where, and what to do, in one line for a person."""

from __future__ import annotations


class VvbError(Exception):
    """Base of every error a user can cause or mend.

    `what` is the fault, `where` a file (with line), task, run or setting, `remedy` the next step.
    The command line prints `str(error)` and exits with 2.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        parts = [f"{where}: {what}" if where else what]
        if remedy:
            parts.append(remedy)
        super().__init__(" -- ".join(parts))


class BenchmarkError(VvbError):
    """A benchmark folder breaks its format or its authoring rules."""


class StoreError(VvbError):
    """An artifact cannot be read or written."""


class SandboxError(VvbError):
    """The sandbox itself failed: an infrastructure fault, never the agent's result."""


class MediaError(VvbError):
    """A media tool is missing or failed on our side (a broken delivery is a result, not this)."""


class JudgeError(VvbError):
    """A judge could not be asked, or is configured wrongly."""


class PausedError(VvbError):
    """Work stopped before a limit of money: not a fault. What is left is made by the next run with a higher limit."""


class ResultsError(VvbError):
    """Results that were handed in are inconsistent."""
