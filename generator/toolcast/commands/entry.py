"""The `toolcast` command; each subcommand is imported when it is asked for."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click

from .. import __version__

__all__ = ["main"]

_COMMANDS = {
    "init": "Lay out a project that generates, checks and tests at once.",
    "new": "Write a tool spec and a typed handler stub.",
    "generate": "Generate the outputs of all specs.",
    "check": "Check specs, rules, and that the outputs are what the specs give.",
    "route": "Show which tools the router chooses for a message, and what that saves.",
    "explain": "Tell what a rule checks, why, and how to mend it.",
    "letta": "Plan, apply, verify and roll back what Letta's agents have.",
    "schema": "Print the JSON Schema of a kind of spec file.",
}


class _Lazy(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            # Who has not looked for extensions cannot have failed with one.
            extensions = sys.modules.get("toolcast.extensions")
            if extensions and isinstance(error, extensions.ExtensionFailure):
                from .exit_codes import fail

                fail(str(error))
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        package = "toolcast_letta" if cmd_name == "letta" else "toolcast"
        module = importlib.import_module(f"{package}.commands.{cmd_name}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], _COMMANDS, 1)
            if not near:
                raise
            hint = f"{error.message} Did you mean `{near[0]}`?"
            raise click.UsageError(hint, ctx) from error

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="toolcast")
def main() -> None:
    """One YAML spec per tool, generated into everything an agent platform shows or runs."""
