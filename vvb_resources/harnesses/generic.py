"""The generic harness: any program, described by its system's YAML file alone (command, log, parser, env, wire)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from vvb_resources.benchmark.models import SystemConfig, Wire
from vvb_resources.harnesses.base import Launch, LaunchContext, Options

PLACEHOLDER = re.compile(r"\{(python|agent|prompt|work|model|base_url|token)\}")


@dataclass(frozen=True)
class GenericHarness:
    """Fills `{python}`, `{agent}`, `{work}`, `{prompt}` and `{model}`, `{base_url}`, `{token}` into command and env.

    Other braces stay as they are. The last two are those of the gateway, and stay where the system names no `wire`.
    """

    id: str = "generic"
    options: type[Options] = Options

    def wire(self, system: SystemConfig) -> Wire | None:
        """The one that the system's file names."""
        return system.wire

    def launch(self, context: LaunchContext) -> Launch:
        """See `Harness.launch`. Each argument is filled in one pass, so that a filled-in text is never read again."""
        system, view = context.system, context.view
        values = {"python": view.python, "agent": view.agent, "work": view.work, "prompt": context.instruction}
        if system.model is not None:
            values["model"] = system.model
        if context.access is not None and system.wire is not None:
            values |= {"base_url": context.access.url(system.wire), "token": context.access.token}

        def fill(text: str) -> str:
            return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)

        return Launch(
            argv=tuple(fill(part) for part in system.command),
            env={name: fill(text) for name, text in system.env.items()},
            log=system.log,
            parser=system.parser,
        )


HARNESS = GenericHarness()
