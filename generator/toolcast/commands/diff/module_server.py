"""Comparison of a Python module's FastMCP or SDK server with the generated server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ..exit_codes import CLEAN, FINDINGS, fail, format_count

if TYPE_CHECKING:
    from toolcast_runtime.core.server_settings import ExternalServer

    from ...diff.change import Change
    from ...model.model import Toolset, Workspace


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
        ListingError: the module cannot be imported, or has no single server.
    """
    from ...importing.python_server import build_python_server, describe_python_server

    sources = [os.path.join(workspace.root, source) for source in workspace.sources]
    server = build_python_server(reference, interpreter, sources, seconds)
    describe_python_server(server)
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


def compare_lists(
    original: ExternalServer, generated: ExternalServer, toolset: Toolset
) -> Iterator[Change]:
    """Yield the differences between the listings of two servers, each once.

    Both servers are read in the stateless and in the handshake versions of MCP.

    Raises:
        ListingError: a server cannot be read.
    """
    from ...diff.listing_changes import compare_listings
    from ...diff.listing_workspace import ListingOwner
    from ...mcp_client.read_server import read_server

    files = {tool.name: tool.source.file for tool in toolset.tools}
    owner = ListingOwner(toolset.name, toolset.source.file, files)
    reported = set()
    for handshake_only in (False, True):
        # The original server is started twice, to recognize values that change on every start.
        expected = read_server(original, twice=True, handshake_only=handshake_only)
        actual = read_server(generated, handshake_only=handshake_only)
        for change in compare_listings(actual, expected, owner).changes:
            key = (change.rule.id, change.tool, change.path, change.message)
            if key not in reported:
                reported.add(key)
                yield change


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
