"""Options that several commands share, and shell completion of their values."""

from __future__ import annotations

import functools
import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from ..project import WORKSPACE_FILE, find_root
from .exit_codes import fail

if TYPE_CHECKING:
    from toolcast_runtime.core.server_settings import ExternalServer

_Function = TypeVar("_Function", bound=Callable[..., Any])

project_option = click.option(
    "--project",
    metavar="FOLDER",
    help="Folder of toolcast.yaml. Default: here or above.",
)
all_option = click.option(
    "--all",
    "every",
    is_flag=True,
    help="Print similar findings one by one.",
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print the change as a diff, and write nothing."
)


def format_option(*formats: str) -> Callable[[_Function], _Function]:
    """Return the option `--format`, whose value is the parameter `format_`.

    Args:
        formats: the allowed values; defaults to `text` and `json`.
    """
    return click.option(
        "--format",
        "format_",
        type=click.Choice(formats or ("text", "json")),
        default="text",
        help="Output format. Default: text.",
    )


findings_format_option = format_option("text", "json", "github", "sarif", "markdown")
changes_format_option = format_option("text", "json", "markdown", "github", "sarif")


def toolset_option(help_: str, **settings: Any) -> Callable[[_Function], _Function]:
    """Return the option `--toolset` with shell completion.

    Args:
        help_: the help text of the option.
        settings: further arguments of `click.option`.
    """
    return click.option(
        "--toolset",
        metavar="NAME",
        help=help_,
        shell_complete=complete_toolsets,
        **settings,
    )


def client_option(help_: str) -> Callable[[_Function], _Function]:
    """Return the option `--client` with shell completion."""
    return click.option(
        "--client", metavar="NAME", help=help_, shell_complete=complete_clients
    )


def find_command_project(arguments: Sequence[str]) -> str | None:
    """Return the project folder of a command line that click has not parsed yet.

    The command itself may be defined by an extension of this project.

    Args:
        arguments: the command line; `--project` in it selects the folder. Without this
            option, the current folder and its parents are searched.

    Returns:
        The folder of toolcast.yaml; None if there is no toolcast.yaml.
    """
    project = None
    for argument, following in pairwise([*arguments, ""]):
        if argument == "--project":
            project = following
        elif argument.startswith("--project="):
            project = argument.removeprefix("--project=")
    if project is None:
        return find_root(os.getcwd())
    root = os.path.abspath(project.removesuffix(WORKSPACE_FILE))
    return root if os.path.lexists(os.path.join(root, WORKSPACE_FILE)) else None


def list_extensions(root: str | None) -> tuple[str, ...]:
    """Return the names of the project's extensions, as listed in toolcast.yaml.

    Empty without a project, or if toolcast.yaml has errors.
    """
    if root is None:
        return ()
    from ..model.loading import read_workspace

    workspace = read_workspace(root).workspace
    return () if workspace is None else workspace.extensions


_DEFAULT_TIMEOUT_S = 60.0
_SERVER_OPTIONS = (
    click.option(
        "--mcp-stdio", metavar="COMMAND", help="Start an MCP server with this command."
    ),
    click.option(
        "--mcp-url", metavar="URL", help="Connect to the MCP server at this URL."
    ),
    click.option(
        "--header",
        "headers",
        metavar="NAME:VALUE",
        multiple=True,
        help="HTTP header for the URL; `${NAME}` is an environment variable.",
    ),
    click.option(
        "--timeout",
        "seconds",
        metavar="SECONDS",
        type=click.FloatRange(min=0, min_open=True),
        default=_DEFAULT_TIMEOUT_S,
        help=f"Time limit for start, list and call. Default: {_DEFAULT_TIMEOUT_S:g}.",
    ),
)


def server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Decorate a command function with options that define an MCP server.

    The function receives the keyword argument `option_servers`: a tuple with a server for each
    of `--mcp-stdio` and `--mcp-url`, empty without these options. Invalid values end the
    program with exit code 2.
    """

    @functools.wraps(command)
    def with_servers(
        *,
        mcp_stdio: str | None,
        mcp_url: str | None,
        headers: tuple[str, ...],
        seconds: float,
        **parameters: Any,
    ) -> None:
        servers = _build_servers(mcp_stdio, mcp_url, headers, seconds)
        command(option_servers=servers, **parameters)

    wrapped: Callable[..., None] = with_servers
    for option in reversed(_SERVER_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def python_options(command: _Function) -> _Function:
    """Decorate a command function with the options `--python` and `--interpreter`.

    The function receives them as the parameters `python` and `interpreter`.
    """
    command = click.option(
        "--interpreter",
        metavar="PATH",
        help="Python that imports the module. Default: the one that runs Toolcast.",
    )(command)
    return click.option(
        "--python",
        metavar="MODULE[:OBJECT]",
        help="Import this module in a separate process, and use its FastMCP or SDK server.",
    )(command)


def _build_servers(
    command_line: str | None, url: str | None, headers: tuple[str, ...], seconds: float
) -> tuple[ExternalServer, ...]:
    if command_line is None and url is None and not headers:
        return ()
    from dataclasses import replace

    from ..mcp_client.declared_servers import (
        parse_command_server,
        parse_headers,
        parse_url_server,
    )
    from ..mcp_client.server_listing import ListingError

    if headers and url is None:
        fail("--header requires --mcp-url")
    servers = []
    # An error is prefixed with its option. Messages about headers already contain `--header`.
    prefix = ""
    try:
        prefix = "--mcp-stdio: "
        if command_line is not None:
            servers.append(parse_command_server(command_line))
        prefix = "--mcp-url: "
        if url is not None:
            servers.append(parse_url_server(url))
        prefix = ""
        parsed_headers = parse_headers(headers)
    except ListingError as error:
        fail(f"{prefix}{error}")
    return tuple(
        replace(
            server,
            headers=parsed_headers if server.command is None else {},
            connect_timeout=seconds,
            list_timeout=seconds,
            call_timeout=seconds,
        )
        for server in servers
    )


# Names with other characters are not completed: a shell inserts a completion into the command
# line unquoted, and would execute `$(...)` in the name of a file.
_SAFE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_TOOLSET_FILE = "toolset.yaml"
_OTHER_SPEC_FILES = (_TOOLSET_FILE, "definitions.yaml")


# Completion must be fast, because a shell runs it each time that the user presses the Tab key.
# Therefore it reads only file names and single YAML files, and loads no workspace.
def complete_tools(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return tool names for shell completion; the help of each is its toolset's folder.

    The names are those of spec files; specs are not read.
    """
    tools = [
        (name.removesuffix(".yaml"), os.path.basename(folder))
        for folder in _list_toolset_folders(ctx)
        for name in glob.glob("*.yaml", root_dir=folder)
        if name not in _OTHER_SPEC_FILES
    ]
    return _build_completions(tools, incomplete)


def complete_toolsets(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return toolset names for shell completion; the help of each is its title."""
    toolsets = []
    for folder in _list_toolset_folders(ctx):
        spec = _read_yaml_object(os.path.join(folder, _TOOLSET_FILE))
        if "name" in spec:
            toolsets.append((str(spec["name"]), str(spec.get("title", ""))))
    return _build_completions(toolsets, incomplete)


def complete_clients(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return client names for shell completion; the help of each is its toolset's name."""
    names = []
    for folder in _list_toolset_folders(ctx):
        spec = _read_yaml_object(os.path.join(folder, _TOOLSET_FILE))
        clients = spec.get("clients")
        for name in clients if isinstance(clients, dict) else ():
            names.append((str(name), str(spec.get("name", ""))))
    return _build_completions(names, incomplete)


def complete_kinds(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return client kinds for shell completion; the help of each is the product's name."""
    from ..analysis.client_kinds import CLIENT_KINDS

    kinds = [(kind.name, kind.title) for kind in CLIENT_KINDS.values()]
    return _build_completions(kinds, incomplete)


def complete_rules(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return ids of all rules for shell completion; the help of each is its purpose."""
    from ..diff.comparison import load_change_rules as change_rules
    from ..rules.table import load_rules

    extensions = list_extensions(_find_root(ctx))
    items = [(rule.id, rule.text.purpose) for rule in load_rules(extensions).values()]
    items += [(rule.id, rule.meaning) for rule in change_rules(extensions).values()]
    return _build_completions(items, incomplete)


def _build_completions(
    items: Iterable[tuple[str, str]], incomplete: str
) -> list[CompletionItem]:
    """Return the safe names that begin with the typed text, sorted, with their help."""
    return [
        CompletionItem(name, help=help_ if help_.isprintable() else None)
        for name, help_ in sorted(items)
        if name.startswith(incomplete) and _SAFE_NAME.fullmatch(name)
    ]


def _find_root(ctx: click.Context) -> str | None:
    project = ctx.params.get("project")
    return find_root(project if project and os.path.isdir(project) else os.getcwd())


def _list_toolset_folders(ctx: click.Context) -> Iterator[str]:
    root = _find_root(ctx)
    if root is None:
        return
    folders = _read_yaml_object(os.path.join(root, WORKSPACE_FILE)).get("toolsets")
    for folder in folders if isinstance(folders, list) else ():
        # Specs can be untrusted: completion reads no folders outside of the project.
        if isinstance(folder, str) and not folder.startswith(("/", "..")):
            yield os.path.join(root, folder)


def _read_yaml_object(path: str) -> dict[str, Any]:
    """Return the object in a YAML file; empty if the file is missing or invalid."""
    from toolcast_runtime.core.safe_file import read_regular_file

    from ..parsing.yaml_reader import MAX_BYTES, read_yaml

    try:
        # Read one byte more than the limit, so that the parser rejects a larger file.
        document, _ = read_yaml(path, read_regular_file(path, MAX_BYTES + 1))
    except OSError:
        return {}
    if document is None or not isinstance(document.value, dict):
        return {}
    return document.value
