"""The `toolcast` command group, which imports each command on first use."""

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
"""Short help of each command, by section of `toolcast --help` and command name.

The short helps repeat the first line of the commands, so that `--help` need not import the
modules of all commands.
"""
_COMMANDS = {name: text for group in _GROUPS.values() for name, text in group.items()}
_LOCATIONS = {
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
"""Module and attribute of a command, by command name.

The default for other commands is the attribute `command` of the module with their name.
"""
_REPORTED_ERRORS = (
    ("toolcast.extensions", "ExtensionError"),
    ("toolcast.rendering.renderer", "TemplateRenderError"),
    ("toolcast.rendering.output_shape", "OutputShapeError"),
)
"""Module and class of the errors that are printed without a traceback.

The project's extensions and templates cause these errors, not a defect of Toolcast.
"""


class _LazyGroup(click.Group):
    """Group of the built-in commands and of the commands of the project's extensions."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            for module_name, class_name in _REPORTED_ERRORS:
                # Do not import the module: if it is not loaded, its error was not raised.
                module = sys.modules.get(module_name)
                if module and isinstance(error, getattr(module, class_name)):
                    from .exit_codes import fail

                    fail(str(error))
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*_COMMANDS, *_load_extension_commands(ctx.meta.get(__name__, []))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return _find_extension_command(cmd_name, ctx.meta.get(__name__, []))
        location = _LOCATIONS.get(cmd_name, f"{cmd_name}:command")
        path, _, attribute = location.partition(":")
        module = importlib.import_module(f".{path}", __package__)
        command: click.Command = getattr(module, attribute)
        return command

    def shell_complete(
        self, ctx: click.Context, incomplete: str
    ) -> list[CompletionItem]:
        # The method of `click.Group` would import every command to get its short help.
        extension_commands = _load_extension_commands(ctx.meta.get(__name__, []))
        short_helps = dict(_COMMANDS)
        for name, command in extension_commands.items():
            short_helps[name] = command.get_short_help_str()
        items = [
            CompletionItem(name, help=help_)
            for name, help_ in short_helps.items()
            if name.startswith(incomplete)
        ]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # Store the arguments for `get_command`: `--project` in them selects the project whose
        # extensions add commands.
        ctx.meta[__name__] = args
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            matches = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
            if not matches:
                from .options import find_command_project

                if find_command_project(args) is None:
                    hint = (
                        "Commands of extensions are available only in projects that list"
                        " the extension."
                    )
                    raise click.UsageError(f"{error.message} {hint}", ctx) from error
                raise
            message = f"{error.message} Did you mean `{matches[0]}`?"
            raise click.UsageError(message, ctx) from error

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        # Click aligns the columns of one section only. Padded names align all sections.
        width = max(map(len, _COMMANDS))
        for title, group in _GROUPS.items():
            with formatter.section(title):
                rows = [(name.ljust(width), text) for name, text in group.items()]
                formatter.write_dl(rows)
        extension_commands = _load_extension_commands(ctx.meta.get(__name__, []))
        if extension_commands:
            rows = [
                (name, command.get_short_help_str(200))
                for name, command in extension_commands.items()
            ]
            with formatter.section("Commands of extensions"):
                formatter.write_dl(rows)


def _load_extension_commands(arguments: list[str]) -> dict[str, click.Command]:
    """Load the commands of the project's extensions, by extension name.

    Without a project, or with an invalid toolcast.yaml, the result is empty.

    Args:
        arguments: the command line, whose `--project` selects the project.

    Raises:
        ExtensionError: an extension provides an invalid command, or the name of a built-in
            command.
    """
    from ..extensions import COMMANDS, ExtensionError, load_contributions
    from .options import find_command_project, list_extensions

    commands: dict[str, click.Command] = {}
    for name in list_extensions(find_command_project(arguments)):
        for entry_point, value in load_contributions([name], COMMANDS):
            if not isinstance(value, click.Command):
                raise ExtensionError(f"{entry_point} is not a click command")
            if name in _COMMANDS:
                raise ExtensionError(
                    f"the command `{name}` of {entry_point} has the name of a built-in"
                    " command"
                )
            commands[name] = value
    return commands


def _find_extension_command(name: str, arguments: list[str]) -> click.Command | None:
    """Return the command of one of the project's extensions; None if none provides it.

    Without such a command, errors in toolcast.yaml are printed and end the program with exit
    code 2: a missing extension can be the reason for a missing command.
    """
    command = _load_extension_commands(arguments).get(name)
    if command is None:
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

    # Click itself handles these exceptions, with which commands end: an error message, Ctrl-C,
    # an exit code, and a closed stdout. They are not errors of the extension.
    handled_by_click = (
        click.ClickException,
        click.Abort,
        click.exceptions.Exit,
        BrokenPipeError,
    )
    label = f"the command `{name}` of the extension `{name}`"
    command.invoke = guard_function(  # type: ignore[method-assign]
        label, command.invoke, handled_by_click
    )
    return command


@click.command(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="toolcast")
def main() -> None:
    """Generate MCP servers, LangChain tools, commands, prompts and tests from YAML specs."""
