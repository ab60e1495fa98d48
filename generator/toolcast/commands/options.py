"""Options that several commands have, and what a shell completes of them."""

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
    "--project", metavar="FOLDER", help="Folder of toolcast.yaml."
)
all_option = click.option(
    "--all", "every", is_flag=True, help="Print each of many similar findings."
)
dry_run_option = click.option(
    "--dry-run", is_flag=True, help="Print the change as a diff, and write nothing."
)


def format_option(what: str, *words: str) -> Callable[[_Function], _Function]:
    """The option `--format`, given as `format_`: its words, or text and JSON."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(words or ("text", "json")),
        default="text",
        help=f"How {what} printed.",
    )


findings_format_option = format_option(
    "findings are", "text", "json", "github", "sarif", "markdown"
)
changes_format_option = format_option(
    "changes are", "text", "json", "markdown", "github", "sarif"
)


def toolset_option(help_: str, **more: Any) -> Callable[[_Function], _Function]:
    """The option `--toolset`, whose names a shell completes."""
    return click.option(
        "--toolset",
        metavar="NAME",
        help=help_,
        shell_complete=complete_toolsets,
        **more,
    )


def client_option(help_: str) -> Callable[[_Function], _Function]:
    """The option `--client`, whose names a shell completes."""
    return click.option(
        "--client", metavar="NAME", help=help_, shell_complete=complete_clients
    )


def named_project(arguments: Sequence[str]) -> str | None:
    """The folder of the project that a command line is about; None without one."""
    given = None
    for word, following in pairwise([*arguments, ""]):
        if word == "--project":
            given = following
        elif word.startswith("--project="):
            given = word.removeprefix("--project=")
    if given is None:
        return find_root(os.getcwd())
    root = os.path.abspath(given.removesuffix(WORKSPACE_FILE))
    return root if os.path.lexists(os.path.join(root, WORKSPACE_FILE)) else None


def listed_extensions(root: str | None) -> tuple[str, ...]:
    """The extensions that a project lists; none where its toolcast.yaml has errors."""
    if root is None:
        return ()
    from ..model.loading import read_workspace

    workspace = read_workspace(root).workspace
    return () if workspace is None else workspace.extensions


_SECONDS = 60.0
_OPTIONS = (
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
        default=_SECONDS,
        help=f"Time limit for start, list and call. Default: {_SECONDS:g}.",
    ),
)


def server_options(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options, and their servers as the keyword `given`.

    That is a tuple of `ExternalServer`: of none, one or both of a command and a URL. What
    is wrong with an option ends the program with exit code 2.
    """

    @functools.wraps(command)
    def with_servers(
        *,
        mcp_stdio: str | None,
        mcp_url: str | None,
        headers: tuple[str, ...],
        seconds: float,
        **others: Any,
    ) -> None:
        given = _servers(mcp_stdio, mcp_url, headers, seconds)
        command(given=given, **others)

    wrapped: Callable[..., None] = with_servers
    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped


def _servers(
    line: str | None, url: str | None, headers: tuple[str, ...], seconds: float
) -> tuple[ExternalServer, ...]:
    if line is None and url is None and not headers:
        return ()
    from dataclasses import replace

    from ..mcp_client.declared_servers import (
        parse_command_server,
        parse_headers,
        parse_url_server,
    )
    from ..mcp_client.server_listing import ListingError

    if headers and url is None:
        fail("--header goes with --mcp-url")
    servers = []
    option = ""
    try:
        option = "--mcp-stdio: "
        if line is not None:
            servers.append(parse_command_server(line))
        option = "--mcp-url: "
        if url is not None:
            servers.append(parse_url_server(url))
        option = ""
        named = parse_headers(headers)
    except ListingError as error:
        fail(f"{option}{error}")
    return tuple(
        replace(
            server,
            headers=named if server.command is None else {},
            connect_timeout=seconds,
            list_timeout=seconds,
            call_timeout=seconds,
        )
        for server in servers
    )


# Names are read from folders and first lines of files, since a shell asks at each press of
# a key. Source: Click, "Shell Completion".
#
# A shell puts a name into the command line as it is, where `$(...)` would be run.
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")
_TOOLSET_FILE = "toolset.yaml"
_NO_TOOLS = (_TOOLSET_FILE, "definitions.yaml")


def complete_tools(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The names of tools, each with its toolset's folder; a file is called as its tool."""
    found = [
        (name.removesuffix(".yaml"), os.path.basename(folder))
        for folder in _folders(ctx)
        for name in glob.glob("*.yaml", root_dir=folder)
        if name not in _NO_TOOLS
    ]
    return _items(found, incomplete)


def complete_toolsets(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The names of toolsets, each with its title."""
    trees = [_tree(os.path.join(folder, _TOOLSET_FILE)) for folder in _folders(ctx)]
    found = [
        (str(one["name"]), str(one.get("title", ""))) for one in trees if "name" in one
    ]
    return _items(found, incomplete)


def complete_clients(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The names of clients, each with its toolset."""
    found = []
    for folder in _folders(ctx):
        tree = _tree(os.path.join(folder, _TOOLSET_FILE))
        clients = tree.get("clients")
        for name in clients if isinstance(clients, dict) else ():
            found.append((str(name), str(tree.get("name", ""))))
    return _items(found, incomplete)


def complete_kinds(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The kinds of clients, each with what people call it."""
    from ..analysis.client_kinds import CLIENT_KINDS

    return _items([(one.name, one.title) for one in CLIENT_KINDS.values()], incomplete)


def complete_rules(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The ids of findings and of changes, each with what it is about."""
    from ..diff.comparison import load_change_rules as change_rules
    from ..rules.table import load_rules

    extensions = listed_extensions(_root(ctx))
    found = [(one.id, one.text.purpose) for one in load_rules(extensions).values()]
    found += [(one.id, one.meaning) for one in change_rules(extensions).values()]
    return _items(found, incomplete)


def _items(found: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(name, help=help_ if help_.isprintable() else None)
        for name, help_ in sorted(found)
        if name.startswith(incomplete) and _NAME.fullmatch(name)
    ]


def _root(ctx: click.Context) -> str | None:
    given = ctx.params.get("project")
    return find_root(given if given and os.path.isdir(given) else os.getcwd())


def _folders(ctx: click.Context) -> Iterator[str]:
    """The folders of the project's toolsets."""
    root = _root(ctx)
    listed = _tree(os.path.join(root, WORKSPACE_FILE)).get("toolsets") if root else ()
    for folder in listed if isinstance(listed, list) else ():
        if root and isinstance(folder, str) and not folder.startswith(("/", "..")):
            yield os.path.join(root, folder)


def _tree(path: str) -> dict[str, Any]:
    """The mapping that a file holds; an empty one where it has errors."""
    from toolcast_runtime.core.safe_file import read_regular_file

    from ..parsing.yaml_reader import MAX_BYTES, read_yaml

    try:
        document, _ = read_yaml(path, read_regular_file(path, MAX_BYTES + 1))
    except OSError:
        return {}
    is_mapping = document is not None and isinstance(document.value, dict)
    return document.value if document is not None and is_mapping else {}
