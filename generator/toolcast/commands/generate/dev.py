"""The command `toolcast dev`."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from ...encoders.plain_text import encode_shell_argument
from ...reports.escaping import printable
from ...suggestions import format_quoted_list
from ..exit_codes import (
    fail,
    load_workspace_or_exit,
    print_findings,
    project_root,
    require_known_name,
)
from ..options import client_option, project_option, toolset_option

if TYPE_CHECKING:
    from ...model.model import Workspace

_HOST = "127.0.0.1"
_INSPECTOR = "npx @modelcontextprotocol/inspector@2 --transport http --server-url"
# With `-P`, Python imports no modules from the current folder.
_SERVER_PROGRAM = (sys.executable, "-P", "-m", f"{__package__}.server_process")
_GRACE_S = 2
"""Grace time: seconds in which running calls can end before the server stops."""
_STOP_TIMEOUT_S = 5
"""Seconds after which a terminated server is killed; longer than the grace time."""
_START_TIMEOUT_S = 30
"""Seconds in which a started server must accept connections."""
_POLL_INTERVAL_S = 0.05
"""Seconds between two attempts to connect to a started server."""


@click.command(name="dev")
@toolset_option("Toolset; required if there are several.")
@client_option("Serve only this client.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port on 127.0.0.1; 0 selects a free one.",
)
@project_option
def command(
    toolset: str | None, client: str | None, port: int, project: str | None
) -> None:
    """Serve a toolset on localhost, and reload on changes.

    After a change of specs, templates or Python packages, generates, imports every handler
    and restarts the server. With an error, prints the findings and keeps the old server
    running. Prints the URL of each client and the command that opens the MCP Inspector. Runs
    until Ctrl-C. Exit codes: 2 if nothing can be served.
    """
    from ...model.loading import KnownTools, load_workspace
    from .watch import GenerateRuns, watch_changes

    known: KnownTools = {}
    root = project_root(project)
    name = _select_toolset_or_exit(project, toolset, client)
    server = _DevServer(_reserve_port(port))
    runs = GenerateRuns(["generate", "--project", root])
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        # Closing the terminal sends SIGHUP. Handle it like SIGTERM, so that the server stops.
        signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
    try:
        for reason in watch_changes(
            root, runs.ended, "dev", with_code=True, known=known
        ):
            is_generated = runs.run(reason) == 0
            if not runs.ended.is_set():
                workspace = None
                if is_generated:
                    workspace = load_workspace(root, known=known).workspace
                _restart(server, workspace, name, client)
                click.echo(err=True)
    finally:
        server.stop()


def _select_toolset_or_exit(
    project: str | None, name: str | None, client: str | None
) -> str:
    """Return the name of the toolset to serve.

    Ends the program with exit code 2 if the toolset or its client does not exist, the toolset
    has no target `mcp`, or several toolsets have it and none is named.
    """
    workspace = load_workspace_or_exit(project)
    toolsets = {
        toolset.name: toolset
        for toolset in workspace.toolsets
        if "mcp" in toolset.targets
    }
    if not toolsets:
        fail(
            "no toolset has the target `mcp`, which the server needs\n"
            "  help: add `mcp: {}` to `targets` of a toolset.yaml"
        )
    if name is None and len(toolsets) > 1:
        help_ = f"add `--toolset` with one of {format_quoted_list(list(toolsets))}"
        fail(f"there are {len(toolsets)} toolsets\n  help: {help_}")
    name = name or next(iter(toolsets))
    require_known_name("toolset with the target `mcp` named", name, toolsets)
    if client is not None:
        names = [client.name for client in toolsets[name].clients]
        require_known_name(f"client of the toolset {name}", client, names)
    return name


def _reserve_port(port: int) -> int:
    """Return the port, or a free port for 0.

    Ends the program with exit code 2 if the port is in use. The port is not kept open, so
    another program could still take it before the server starts.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HOST, port))
        except OSError as error:
            fail(
                f"--port: port {port} is not available: {error.strerror}\n"
                "  help: use another port, or `--port 0` for a free one"
            )
        return int(probe.getsockname()[1])


def _restart(
    server: _DevServer, workspace: Workspace | None, name: str, client: str | None
) -> None:
    """Restart the server if generation and the import of all handlers succeeded.

    Otherwise prints the errors and lets the old server run.

    Args:
        server: the server.
        workspace: the project; None if generation failed.
        name: the toolset.
        client: the client to serve; None for all.
    """
    from ...findings import has_errors
    from ...import_check import check_imports
    from ...model.endpoints import list_endpoints

    if workspace is None:
        server.report_not_restarted()
        return
    toolset = next(
        (toolset for toolset in workspace.toolsets if toolset.name == name), None
    )
    if toolset is None or "mcp" not in toolset.targets:
        server.report_not_restarted(
            f"the toolset `{name}` no longer exists or has no target `mcp`; "
        )
        return
    # Warnings are about settings that only a production server needs, so only errors count.
    findings = check_imports(replace(workspace, toolsets=(toolset,)))
    errors = [finding for finding in findings if has_errors([finding])]
    if errors:
        print_findings(errors, "text")
        server.report_not_restarted()
        return
    package = ".".join(filter(None, (workspace.package, name)))
    options = ["--client", client] if client else []
    is_started = server.start(workspace, f"{package}.mcp_server", options)
    if not is_started or server.has_printed_commands:
        return
    server.has_printed_commands = True
    click.echo("\nTo open the MCP Inspector, run:", err=True)
    for plan in list_endpoints(toolset):
        if client in (None, plan.client):
            path = "/mcp/" if client else plan.path
            url = encode_shell_argument(f"http://{_HOST}:{server.port}{path}")
            line = f"{_INSPECTOR} {url!s}"
            # Print the name of the variable, not its value, which is a secret.
            if os.environ.get(plan.token_variable):
                line += f' --header "Authorization: Bearer ${plan.token_variable}"'
            click.echo(printable(f"  {line}"), err=True)


class _DevServer:
    """An MCP server in a process of its own, which each restart replaces.

    Attributes:
        port: the port on 127.0.0.1.
        has_printed_commands: whether the commands for the MCP Inspector were printed; this
            happens once.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.has_printed_commands = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, workspace: Workspace, module: str, options: Sequence[str]) -> bool:
        """Stop the running server and start a new one.

        Returns True when the new server accepts connections. Returns False, after printing a
        message, if the server ends or does not accept connections in time.
        """
        from ...import_check import build_environment
        from .watch import OWN_PROCESS_GROUP

        self.stop()
        arguments = ["--http", "--host", _HOST, "--port", str(self.port), *options]
        self._process = subprocess.Popen(  # noqa: S603  # the project's own server
            [*_SERVER_PROGRAM, module, *arguments, "--grace", str(_GRACE_S)],
            cwd=workspace.root,
            env=build_environment(workspace),
            # The server stops when this pipe is closed. The operating system closes the pipe
            # even if this process is killed.
            stdin=subprocess.PIPE,
            **OWN_PROCESS_GROUP,
        )
        deadline = time.monotonic() + _START_TIMEOUT_S
        while self._process.poll() is None and time.monotonic() < deadline:
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as connection:
                if connection.connect_ex((_HOST, self.port)) == 0:
                    return True
            time.sleep(_POLL_INTERVAL_S)
        message = "the server did not start; the next change starts it again"
        click.echo(message, err=True)
        return False

    def report_not_restarted(self, reason: str = "") -> None:
        """Print, after an optional reason, whether the old server is still running."""
        is_running = self._process is not None and self._process.poll() is None
        if is_running:
            message = "the old server is still running; fix the errors to restart it"
        else:
            message = "no server is running; fix the errors to start it"
        click.echo(f"{reason}{message}", err=True)

    def stop(self) -> None:
        """Terminate the server, and kill it if it does not end in time.

        Without a running server, does nothing.
        """
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        process.terminate()
        try:
            process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        finally:
            if process.stdin is not None:
                process.stdin.close()
