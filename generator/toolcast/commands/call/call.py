"""`toolcast call`."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import click

from ..exit_codes import fail, load_workspace_or_exit
from ..options import client_option, project_option, server_options, toolset_option

if TYPE_CHECKING:
    from toolcast_runtime.core.server_settings import ExternalServer

    from ...model.mcp_servers import McpServer
    from ...model.model import Toolset, Workspace
    from .arguments import Request


@click.command(name="call")
@click.argument("tool", required=False)
@click.argument("words", metavar="[NAME=TEXT | NAME:=JSON]...", nargs=-1)
@click.option(
    "--arguments",
    "json_text",
    metavar="JSON",
    help="Arguments as one JSON object, combined with NAME=TEXT; `-` reads stdin, `@FILE` a file.",
)
@toolset_option("Toolset of the tool.")
@client_option("Client of the toolset to call as.")
@click.option(
    "--server", metavar="NAME", help="Call a server of the toolset's `mcp_servers`."
)
@server_options
@click.option(
    "--json", "is_json", is_flag=True, help="Print the unformatted result as JSON."
)
@click.option(
    "--save",
    "folder",
    metavar="FOLDER",
    type=click.Path(exists=True, file_okay=False),
    default=".",
    help="Folder for images, audio and files of the result. Default: current folder.",
)
@project_option
def command(
    tool: str | None,
    words: tuple[str, ...],
    json_text: str | None,
    toolset: str | None,
    client: str | None,
    server: str | None,
    given: tuple[ExternalServer, ...],
    is_json: bool,
    folder: str,
    project: str | None,
) -> None:
    """Call a tool of a generated toolset or of any MCP server; without TOOL, list the tools.

    \b
    toolcast call add a=2 b=3
    toolcast call search query='lost keys' filter:='{"tag": "home"}'
    toolcast call echo text=hello --mcp-stdio 'npx my-server'

    Values are converted by the parameter's schema and validated before the call.
    """
    from .arguments import Request

    if len(given) + (server is not None) > 1:
        fail("give one of --server, --mcp-stdio and --mcp-url")
    request = Request(tool, words, json_text, client, is_json, folder)
    if given:
        if client is not None or toolset is not None:
            fail("--client and --toolset are about the project's own toolsets")
        sys.exit(_on_server(given[0], request))
    workspace = load_workspace_or_exit(project)
    if server is not None:
        sys.exit(_on_server(_declared(workspace, toolset, server), request))
    chosen = _toolset(workspace, toolset, tool)
    sys.exit(_in_toolset(workspace, chosen, request))


def _declared(workspace: Workspace, toolset: str | None, name: str) -> ExternalServer:
    """The server of the `mcp_servers` of a toolset, as that has it."""
    from ..exit_codes import require_known_name, select_toolsets_or_exit

    there: dict[str, McpServer] = {}
    for one in select_toolsets_or_exit(workspace, toolset, None):
        for server in one.mcp_servers:
            if there.setdefault(server.name, server) is not server:
                fail(f"several toolsets have a server `{name}`\n  help: --toolset NAME")
    require_known_name("server", name, there)
    return there[name]


def _toolset(workspace: Workspace, named: str | None, tool: str | None) -> Toolset:
    """The toolset that is called: the named one, or the only one that has the tool."""
    from ...suggestions import suggest_name
    from ..exit_codes import select_toolsets_or_exit

    toolsets = select_toolsets_or_exit(workspace, named, None)
    if len(toolsets) == 1:
        return toolsets[0]
    names = {
        one.name: {n for t in one.tools for n in (t.name, *t.renamed_from)}
        for one in toolsets
    }
    having = [one for one in toolsets if tool in names[one.name]]
    if len(having) == 1:
        return having[0]
    if tool is None or having:
        among = ", ".join(one.name for one in having or toolsets)
        message = f"name the toolset: --toolset NAME, one of {among}"
    else:
        instead = suggest_name(tool, sorted(set().union(*names.values())))
        message = (
            f"no toolset has a tool `{tool}`\n  help: {instead}; one of a toolset's"
            " servers is called with --toolset NAME"
        )
    return fail(message)


def _on_server(server: ExternalServer, request: Request) -> int:
    from .arguments import CallError

    try:
        from .server_call import call_on_server
    except ImportError:
        fail(
            "MCP servers need a package that is not installed\n"
            "  help: pip install 'toolcast-runtime[mcp]'"
        )
    try:
        return call_on_server(server, request)
    except CallError as error:
        fail(str(error))


def _in_toolset(workspace: Workspace, toolset: Toolset, request: Request) -> int:
    """Calls in a process of its own: no generated code and no handler is imported here."""
    from ...import_check import build_environment

    package = ".".join(filter(None, (workspace.package, toolset.name)))
    words = [package, json.dumps(dataclasses.asdict(request))]
    # The folder of a person who calls from elsewhere is not on the path; the project's is.
    program = [sys.executable, "-P", "-m", "toolcast.commands.call.local_call", *words]
    sys.stdout.flush()
    try:
        done = subprocess.run(  # noqa: S603  # our own module, without a shell
            program,
            env=build_environment(workspace),
            check=False,
        )
    except KeyboardInterrupt:
        return 130
    return done.returncode if done.returncode >= 0 else 128 - done.returncode
