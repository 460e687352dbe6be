"""`vvb`: the command line.

Exit 0: done and good; 1: done, and something failed its check; 2: wrong use or unreadable input.
"""

from __future__ import annotations

import gc
import importlib
import sys

import click

from vvb_resources.errors import VvbError

# Command -> module that defines it under `command`. Modules are loaded when asked for: --help need not import Dagster.
COMMANDS = {
    "run": "run",
    "plan": "plan",
    "clean": "clean",
    "ui": "ui",
    "leaderboard": "leaderboard",
    "explain": "explain",
    "lint": "lint",
    "l1": "l1",
    "import": "import_",
    "score": "score",
    "judges": "judges",
    "sql": "sql",
    "fit": "fit",
    "trajectory": "trajectory",
    "pairs": "pairs",
    "doctor": "doctor",
}


class Lazy(click.Group):
    """A group whose commands are imported one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"vvb_assets.commands.{COMMANDS[cmd_name]}")
        command: click.Command = module.command
        return command


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="vibevideobench")
def cli() -> None:
    """VibeVideoBench: agents make videos by code; programs, judge panels and people grade them.

    \b
    vvb run            make what is missing or stale, to a leaderboard
    vvb leaderboard    show it
    vvb ui             the same graph in the Dagster UI
    """


def main() -> None:
    """Entry point: a typed error is one line on stderr and exit code 2, never a traceback."""
    gc.set_threshold(
        100_000, 50, 50
    )  # a plan holds a hundred thousand small objects: the default walks them over again
    try:
        code = cli.main(standalone_mode=False)  # click hands an Exit's code back as the result
    except click.exceptions.Abort:
        click.echo("stopped; what was finished is kept, and the next run goes on from there", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except VvbError as error:
        click.echo(f"vvb: {error}", err=True)
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(0)
    sys.exit(code if isinstance(code, int) else 0)


if __name__ == "__main__":
    main()
