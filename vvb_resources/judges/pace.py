"""The pace of one judge's calls in this process: how many at once, how many a minute, and a pause that all share.

When a service says that it is overloaded, asking with every thread on its own clock prolongs the storm; so a pause
(`cool`) stops all calls to the same model until it is over. A judge that cannot succeed (key, quota) is stopped.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from vvb_resources.benchmark.models import JudgeConfig, JudgeLimits
from vvb_resources.errors import JudgeError

LONGEST_BACKOFF_S = 120.0


class Gate:
    """Calls to one model pass here. `clock` and `sleep` are the real ones outside tests."""

    def __init__(
        self,
        limits: JudgeLimits,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.plain = False
        """Has the service refused the schema: then it is asked in words."""
        self._places = threading.BoundedSemaphore(limits.concurrency)
        self._interval = 60.0 / limits.per_minute if limits.per_minute else 0.0
        self._lock = threading.Lock()
        self._cool_until = 0.0
        self._next = 0.0
        self._streak = 0
        self._stopped: str | None = None
        self._clock, self._sleep = clock, sleep

    @contextmanager
    def turn(self) -> Iterator[None]:
        """A place among the calls at once, at a moment the rate and the pause allow. Raises JudgeError if stopped."""
        with self._places:
            self._wait()
            yield

    def _wait(self) -> None:
        while True:
            with self._lock:
                if self._stopped:
                    raise JudgeError(self._stopped, where="judge", remedy="mend this and run again")
                now = self._clock()
                ready = max(self._cool_until, self._next)
                if ready <= now:
                    self._next = now + self._interval
                    return
            self._sleep(ready - now)

    def cool(self, seconds: float) -> None:
        """Let no call start for `seconds` from now."""
        with self._lock:
            self._cool_until = max(self._cool_until, self._clock() + seconds)

    def overloaded(self, base_s: float) -> float:
        """One more overload in a row: seconds to pause, growing from `base_s` by doubling, with jitter."""
        with self._lock:
            self._streak += 1
            return backoff_s(base_s, self._streak)

    def succeeded(self) -> None:
        """A call went through: the next overload starts from the shortest pause again."""
        with self._lock:
            self._streak = 0

    def stop(self, why: str) -> None:
        """No call of this judge can succeed: fail the waiting ones too, before they cost anything."""
        with self._lock:
            self._stopped = why


def backoff_s(base_s: float, tries: int) -> float:
    """Seconds before another try after `tries` failed ones: base x 2^(tries - 1), capped, times 0.5 to 1.5."""
    longest: float = min(LONGEST_BACKOFF_S, base_s * 2.0 ** (min(tries, 32) - 1))
    return longest * random.uniform(0.5, 1.5)


class Gates:
    """The gates of a process, one for each model at an endpoint, whichever panels it sits in."""

    def __init__(self) -> None:
        self._gates: dict[tuple[str, str | None, str], Gate] = {}
        self._lock = threading.Lock()

    def of(self, judge: JudgeConfig) -> Gate:
        """The judge's gate; the limits of the first judge that asks hold for all of the same model."""
        name = (judge.provider, judge.endpoint, judge.model)
        with self._lock:
            return self._gates.setdefault(name, Gate(judge.limits))
