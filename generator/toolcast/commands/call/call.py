"""The command `toolcast call`."""

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
@click.argument("assignments", metavar="[NAME=TEXT | NAME:=JSON]...", nargs=-1)
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
    assignments: tuple[str, ...],
    json_text: str | None,
    toolset: str | None,
    client: str | None,
    server: str | None,
    option_servers: tuple[ExternalServer, ...],
    is_json: bool,
    folder: str,
    project: str | None,
) -> None:
    """Call a tool of a toolset or of any MCP server; without TOOL, list the tools.

    \b
    toolcast call add a=2 b=3
    toolcast call search query='lost keys' filter:='{"tag": "home"}'
    toolcast call echo text=hello --mcp-stdio 'npx my-server'

    Values are converted by the parameter's schema and validated before the call. Exit codes:
    1 if the tool failed, 2 if it was not called.
    """  # noqa: D301 - click needs the control character \b
    from .arguments import Request

    if len(option_servers) + (server is not None) > 1:
        fail("--server, --mcp-stdio and --mcp-url cannot be combined")
    request = Request(tool, assignments, json_text, client, is_json, folder)
    if option_servers:
        if client is not None or toolset is not None:
            fail(
                "--client and --toolset cannot be combined with --mcp-stdio and --mcp-url"
            )
        sys.exit(_call_on_server(option_servers[0], request))
    workspace = load_workspace_or_exit(project)
    if server is not None:
        declared = _find_declared_server(workspace, toolset, server)
        sys.exit(_call_on_server(declared, request))
    selected = _select_toolset(workspace, toolset, tool)
    sys.exit(_call_in_toolset(workspace, selected, request))


def _find_declared_server(
    workspace: Workspace, toolset_name: str | None, name: str
) -> ExternalServer:
    """Return the entry of `mcp_servers` with a name.

    Ends the program with exit code 2 if no toolset, or more than one, has such an entry.
    """
    from ..exit_codes import require_known_name, select_toolsets_or_exit

    servers: dict[str, McpServer] = {}
    for toolset in select_toolsets_or_exit(workspace, toolset_name, None):
        for server in toolset.mcp_servers:
            if servers.setdefault(server.name, server) is not server:
                fail(
                    f"several toolsets have a server `{name}`\n"
                    "  help: add `--toolset NAME`"
                )
    require_known_name("server", name, servers)
    return servers[name]


def _select_toolset(
    workspace: Workspace, toolset_name: str | None, tool: str | None
) -> Toolset:
    """Return the named toolset, the only toolset, or the only toolset with the tool.

    Previous names of tools count as well. Ends the program with exit code 2 if not exactly one
    toolset matches.
    """
    from ...suggestions import suggest_name
    from ..exit_codes import select_toolsets_or_exit

    toolsets = select_toolsets_or_exit(workspace, toolset_name, None)
    if len(toolsets) == 1:
        return toolsets[0]
    tool_names = {
        toolset.name: {
            name for spec in toolset.tools for name in (spec.name, *spec.renamed_from)
        }
        for toolset in toolsets
    }
    matches = [toolset for toolset in toolsets if tool in tool_names[toolset.name]]
    if len(matches) == 1:
        return matches[0]
    if tool is None or matches:
        names = ", ".join(toolset.name for toolset in matches or toolsets)
        problem = f"several toolsets have a tool `{tool}`"
        if tool is None:
            problem = f"there are {len(toolsets)} toolsets"
        fail(f"{problem}\n  help: add `--toolset` with one of {names}")
    suggestion = suggest_name(tool, sorted(set().union(*tool_names.values())))
    return fail(
        f"no toolset has a tool `{tool}`\n  help: {suggestion}; for a tool of an external"
        " server, add `--toolset NAME`"
    )


def _call_on_server(server: ExternalServer, request: Request) -> int:
    """Make a call to an MCP server, and return the exit code.

    Ends the program with exit code 2 if the call cannot be made or the MCP SDK is missing.
    """
    from .arguments import CallError

    try:
        from .server_call import call_on_server
    except ImportError:
        fail(
            "calling MCP servers requires a package that is not installed\n"
            "  help: pip install 'toolcast-runtime[mcp]'"
        )
    try:
        return call_on_server(server, request)
    except CallError as error:
        fail(str(error))


def _call_in_toolset(workspace: Workspace, toolset: Toolset, request: Request) -> int:
    """Run a handler of the toolset in a new process, and return the exit code.

    A new process is needed because the generator itself imports no generated code and no
    handlers.
    """
    from ...import_check import build_environment

    package = ".".join(filter(None, (workspace.package, toolset.name)))
    arguments = [package, json.dumps(dataclasses.asdict(request))]
    # With `-P`, Python imports modules from the project, not from the current folder.
    module = "toolcast.commands.call.local_call"
    program = [sys.executable, "-P", "-m", module, *arguments]
    # Output that is still buffered must precede the output of the new process.
    sys.stdout.flush()
    try:
        process = subprocess.run(  # noqa: S603  # our own module, without a shell
            program,
            env=build_environment(workspace),
            check=False,
        )
    except KeyboardInterrupt:
        # 130 is the exit code of shells for a process that Ctrl-C interrupted.
        return 130
    code = process.returncode
    # `subprocess` returns the negative number of the signal that ended a process; shells use
    # 128 plus the number as the exit code.
    return code if code >= 0 else 128 - code
