"""The generic harness: any program, described by its system's YAML file alone (command, log, parser, env)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vvb_resources.benchmark.models import SystemConfig
from vvb_resources.harnesses.base import Launch
from vvb_resources.sandbox.base import SandboxView

PLACEHOLDER = re.compile(r"\{(python|agent|prompt|work)\}")


@dataclass(frozen=True)
class GenericHarness:
    """Fills `{python}`, `{agent}`, `{work}` and `{prompt}` into the system's command; other braces stay as they are."""

    id: str = "generic"

    def launch(self, system: SystemConfig, instruction: str, view: SandboxView) -> Launch:
        """See `Harness.launch`. Each argument is filled in one pass, so that a filled-in text is never read again."""
        values = {"python": view.python, "agent": view.agent, "work": view.work, "prompt": instruction}
        argv = tuple(PLACEHOLDER.sub(lambda match: values[match[1]], part) for part in system.command)
        env = {name: PLACEHOLDER.sub(lambda match: values[match[1]], text) for name, text in system.env.items()}
        return Launch(argv=argv, env=env, log=system.log, parser=system.parser)


HARNESS = GenericHarness()
