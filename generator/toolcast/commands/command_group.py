"""The `toolcast` command; each subcommand is imported when it is asked for."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import click
from click.shell_completion import CompletionItem

from .. import __version__

_GROUPS = {
    "Start": {
        "init": "Create a project that generates, checks and tests.",
        "import": "Write specs for existing tools.",
        "new": "Create a tool spec with a typed handler stub.",
    },
    "Develop": {
        "generate": "Generate the outputs from the specs.",
        "dev": "Serve a toolset on localhost, and reload on changes.",
        "check": "Check specs and rules, and that the outputs are up to date.",
        "diff": "Compare specs, and grade each change.",
        "explain": "Print what a rule checks, the reason, and how to fix it.",
    },
    "Verify servers": {
        "verify": "Compare a running MCP server with the definitions.",
        "lock": "Compare external servers with their lock files.",
    },
    "Inspect": {
        "call": "Call a tool of a toolset or of any MCP server.",
        "catalog": "Write one HTML file with all tools.",
        "select": "Rank tools for a message, and run the selection cases.",
        "tokens": "Count the tokens of the tools.",
    },
    "Rename and remove": {
        "rename": "Rename a tool; calls to the old name keep working.",
        "remove": "Remove a tool after its announced date.",
    },
    "Package": {
        "package": "Build an installable archive of a toolset.",
    },
    "Customize": {
        "templates": "List the templates of the outputs, or copy one.",
    },
    "Editors": {
        "schema": "Print the JSON Schema of spec files.",
    },
}
_COMMANDS = {name: text for group in _GROUPS.values() for name, text in group.items()}
# Where a command is that has no module of its own name here.
_PLACES = {
    "init": "init.init:command",
    "new": "init.new:command",
    "templates": "init.templates:command",
    "import": "import_:command",
    "dev": "generate.dev:command",
    "generate": "generate.generate:command",
    "call": "call.call:command",
    "diff": "diff.diff:command",
    "lock": "diff.live_servers:lock",
    "verify": "diff.live_servers:verify",
    "catalog": "catalog:command",
    "rename": "editing:rename",
    "remove": "editing:remove",
}


_FAILURES = (
    ("toolcast.extensions", "ExtensionError"),
    ("toolcast.rendering.renderer", "TemplateRenderError"),
    ("toolcast.rendering.output_shape", "OutputShapeError"),
)
"""Errors of a project's extensions and templates, which end a command with their text."""


class _LazyCommand(click.Group):
    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            for module, name in _FAILURES:
                # A module that is not loaded cannot have raised its error.
                loaded = sys.modules.get(module)
                if loaded and isinstance(error, getattr(loaded, name)):
                    from .exit_codes import fail

                    fail(str(error))
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *_of_extensions(ctx.meta.get(__name__, []))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return _of_extension(cmd_name, ctx.meta.get(__name__, []))
        place = _PLACES.get(cmd_name, f"{cmd_name}:command")
        path, _, attribute = place.partition(":")
        module = importlib.import_module(f".{path}", __package__)
        command: click.Command = getattr(module, attribute)
        return command

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        # Click would import every command for the first line of its help.
        added = _of_extensions(ctx.meta.get(__name__, []))
        rows = _COMMANDS | {n: one.get_short_help_str() for n, one in added.items()}
        items = [
            CompletionItem(name, help=help_)
            for name, help_ in rows.items()
            if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # Those of an extension are there when the project lists it, which they may name.
        ctx.meta[__name__] = args
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            if not near:
                from .options import find_command_project

                if find_command_project(args) is None:
                    hint = (
                        "Commands of extensions are there in a project that lists them."
                    )
                    raise click.UsageError(f"{error.message} {hint}", ctx) from error
                raise
            hint = f"{error.message} Did you mean `{near[0]}`?"
            raise click.UsageError(hint, ctx) from error

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        # One column for all groups, so that they read as one list.
        width = max(map(len, _COMMANDS))
        for title, group in _GROUPS.items():
            with formatter.section(title):
                rows = [(name.ljust(width), text) for name, text in group.items()]
                formatter.write_dl(rows)
        added = _of_extensions(ctx.meta.get(__name__, []))
        if added:
            rows = [(name, one.get_short_help_str(200)) for name, one in added.items()]
            with formatter.section("Commands of extensions"):
                formatter.write_dl(rows)


def _of_extensions(arguments: list[str]) -> dict[str, click.Command]:
    """The commands of the extensions that the project lists.

    `arguments` are the command line's; they may name the project.
    """
    from ..extensions import COMMANDS, ExtensionError, load_contributions
    from .options import find_command_project, list_extensions

    found: dict[str, click.Command] = {}
    for name in list_extensions(find_command_project(arguments)):
        for where, value in load_contributions([name], COMMANDS):
            if not isinstance(value, click.Command):
                raise ExtensionError(f"{where} is not a click command")
            if name in _COMMANDS:
                raise ExtensionError(
                    f"the command `{name}` of {where} is there already"
                )
            found[name] = value
    return found


def _of_extension(name: str, arguments: list[str]) -> click.Command | None:
    """One of those commands; None when no listed extension has it.

    Ends the program with exit code 2 where it might be missing because of what is wrong
    with toolcast.yaml, an extension that is not installed for one.
    """
    found = _of_extensions(arguments).get(name)
    if found is None:
        from .options import find_command_project

        root = find_command_project(arguments)
        if root is not None:
            from ..model.loading import read_workspace
            from .exit_codes import USAGE, print_findings

            loaded = read_workspace(root)
            if loaded.workspace is None:
                print_findings(loaded.findings, "text")
                sys.exit(USAGE)
        return None
    from ..extensions import guard_function

    # A reader that has gone, and all that click ends a command with, is for click to tell.
    passes = (click.ClickException, click.Abort, click.exceptions.Exit, BrokenPipeError)
    what = f"the command `{name}` of the extension `{name}`"
    found.invoke = guard_function(what, found.invoke, passes)  # type: ignore[method-assign]
    return found


@click.command(
    cls=_LazyCommand, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="toolcast")
def main() -> None:
    """Generate MCP servers, LangChain tools, commands, prompts and tests from YAML specs."""
