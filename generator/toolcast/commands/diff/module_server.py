"""Comparison of a Python module's FastMCP or SDK server with the generated server."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import click

from toolcast_runtime.core.calls.untrusted_text import escape_excerpt

from ...suggestions import format_first
from ..exit_codes import CLEAN, FINDINGS, fail, format_count, require_known_name

if TYPE_CHECKING:
    from toolcast_runtime.core.server_settings import ExternalServer

    from ...diff.change import Change
    from ...mcp_client.contents import ContentDifference
    from ...mcp_client.server_listing import ContentKey, ServerListing
    from ...model.model import Toolset, Workspace

_MAX_NAMES_SHOWN = 5
"""Maximum number of resources and prompts in a note."""


def build_module_server(
    workspace: Workspace, reference: str, interpreter: str | None, seconds: float
) -> ExternalServer:
    """Return the settings that start the MCP server of a Python module.

    The module is imported once in a separate process, to check that it has a server.

    Args:
        workspace: the project, from whose source folders the module is imported.
        reference: the module, or `MODULE:OBJECT`.
        interpreter: the path of the Python that imports the module; None for this one.
        seconds: the time limit.

    Raises:
        ListingError: the module cannot be imported, has no single server, or its library
            cannot be installed together with the generated server.
    """
    from ...importing.python_server import build_python_server, describe_python_server
    from ...mcp_client.server_listing import ListingError

    sources = [os.path.join(workspace.root, source) for source in workspace.sources]
    server = build_python_server(reference, interpreter, sources, seconds)
    description = describe_python_server(server)
    if not description.is_supported:
        raise ListingError(
            f"`{description.module}` uses {description.title}, which needs mcp 1: the"
            " generated server cannot run in its environment\n"
            "  help: compare only the lists, with `--mcp-stdio COMMAND`"
        )
    return server


def build_generated_server(
    workspace: Workspace, toolset: Toolset, interpreter: str | None, seconds: float
) -> ExternalServer:
    """Return the settings that start a toolset's generated MCP server over stdio.

    The toolset must have the target `mcp`.
    """
    from ...importing.python_server import build_python_server

    sources = [os.path.join(workspace.root, source) for source in workspace.sources]
    package = ".".join(filter(None, (workspace.package, toolset.name)))
    server = build_python_server("", interpreter, [*sources, workspace.root], seconds)
    args = ("-m", f"{package}.mcp_server")
    return replace(server, name=f"the server of {toolset.name}", args=args)


def compare_servers(
    original: ExternalServer,
    listing: ServerListing,
    generated: ExternalServer,
    toolset: Toolset,
    excluded: Collection[str],
) -> tuple[list[Change], int]:
    """Compare the lists, resources and prompts of two servers.

    Both servers are read in the stateless and in the handshake versions of MCP. Differences of
    contents are printed to stderr, those that a restart explains as notes. Ends the program
    with exit code 2 if an excluded name does not exist.

    Args:
        original: the server whose lists and contents are expected.
        listing: its two readings in the stateless version, with contents.
        generated: the server of the project.
        toolset: the toolset of the generated server.
        excluded: URIs of resources and names of prompts whose contents are not compared.

    Returns:
        The differences between the lists, each once, and `FINDINGS` if contents differ,
        otherwise `CLEAN`.

    Raises:
        ListingError: a server cannot be read.
    """
    from ...diff.listing_changes import compare_listings
    from ...diff.listing_workspace import ListingOwner
    from ...mcp_client.contents import compare_contents
    from ...mcp_client.read_server import read_server

    names = sorted({name for _, name in listing.contents})
    for name in excluded:
        require_known_name("resource or prompt", name, names)
    files = {tool.name: tool.source.file for tool in toolset.tools}
    owner = ListingOwner(toolset.name, toolset.source.file, files)
    changes: dict[tuple[object, ...], Change] = {}
    contents: dict[ContentKey, str | None] = {}
    differences: dict[ContentKey, ContentDifference] = {}
    for handshake_only in (False, True):
        read = partial(read_server, handshake_only=handshake_only, with_contents=True)
        # The original server is started twice, to recognize values that change on every start.
        expected = read(original, twice=True) if handshake_only else listing
        actual = read(generated)
        for change in compare_listings(actual, expected, owner).changes:
            key = (change.rule.id, change.tool, change.path, change.message)
            changes.setdefault(key, change)
        contents |= expected.contents
        for difference in compare_contents(expected, actual, excluded):
            known = differences.get(difference.key)
            if known is None or known.is_permitted:
                differences[difference.key] = difference
    compared = {key: text for key, text in contents.items() if key[1] not in excluded}
    return list(changes.values()), _print_contents(compared, differences)


def _print_contents(
    contents: Mapping[ContentKey, str | None],
    differences: Mapping[ContentKey, ContentDifference],
) -> int:
    """Print the differences between contents, and return the exit code.

    Args:
        contents: the compared contents of the original server.
        differences: the differences, by resource or prompt.
    """
    failures = 0
    for (kind, name), message, is_permitted in differences.values():
        failures += not is_permitted
        label = "note" if is_permitted else "error"
        click.echo(f"{label}: {kind} `{escape_excerpt(name)}`: {message}", err=True)
    errors = [
        f"`{escape_excerpt(name, 60)}`"
        for (kind, name), text in contents.items()
        if text is None and (kind, name) not in differences
    ]
    if errors:
        listed = format_first(errors, _MAX_NAMES_SHOWN)
        click.echo(f"note: both servers return an error for {listed}", err=True)
    if contents:
        equal = len(contents) - len(differences) - len(errors)
        permitted = len(differences) - failures
        click.echo(
            f"{format_count(len(contents), 'content')}:"
            f" {equal} equal, {permitted} with permitted differences, {failures} different",
            err=True,
        )
    return FINDINGS if failures else CLEAN


def verify_calls(
    path: str, original: ExternalServer, generated: ExternalServer, toolset: Toolset
) -> int:
    """Make the calls of a file on both servers, and print the differences of their results.

    Permitted differences are printed as notes. Ends the program with exit code 2 if the file
    or a server cannot be read.

    Returns:
        `FINDINGS` if a difference is not permitted, otherwise `CLEAN`.
    """
    from ...analysis.mcp_definitions import build_mcp_definition
    from ...mcp_client.recorded_calls import compare_calls, read_calls
    from ...mcp_client.server_listing import ListingError

    tools = [build_mcp_definition(tool) for tool in toolset.tools]
    try:
        calls = read_calls(path)
        differences = list(compare_calls(original, generated, calls, tools))
    except ListingError as error:
        fail(str(error))
    failures = 0
    for call, message, is_permitted in differences:
        label = "note" if is_permitted else "error"
        failures += not is_permitted
        click.echo(f"{call.location}: {label}: `{call.tool}`: {message}")
    equal = len(calls) - len(differences)
    permitted = len(differences) - failures
    click.echo(
        f"{format_count(len(calls), 'call')}: {equal} equal, {permitted} with permitted"
        f" differences, {failures} different",
        err=True,
    )
    return FINDINGS if failures else CLEAN
