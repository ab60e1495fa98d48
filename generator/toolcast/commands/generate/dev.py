"""`toolcast dev`."""

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

from ...encoders.plain_text import encode_shell_word
from ...reports.escaping import printable
from ...suggestions import format_quoted_list
from ..exit_codes import (
    fail,
    known_or_end,
    print_findings,
    project_root,
    workspace_or_end,
)
from ..options import client_option, project_option, toolset_option

if TYPE_CHECKING:
    from ...model.model import Workspace

_HOST = "127.0.0.1"
_INSPECTOR = "npx @modelcontextprotocol/inspector@2 --transport http --server-url"
_PROGRAM = (sys.executable, "-P", "-m", f"{__package__}.server_process")
# How long running calls have when the server is to end, and it has to end after them.
_GRACE = 2
_STOP_TIMEOUT_S = 5
"""Time that the server has to stop."""
_START_TIMEOUT_S = 30
"""Time that the server has to start."""


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
    running. Prints the URL of each client and the command that opens the MCP Inspector.
    """
    from .watch import Runs, changes_of

    root = project_root(project)
    name = _toolset_or_end(project, toolset, client)
    server = _Server(_free_port(port))
    runs = Runs(["generate", "--project", root])
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) == signal.SIG_DFL:
        # A terminal that is closed ends the server, too.
        signal.signal(signal.SIGHUP, signal.getsignal(signal.SIGTERM))
    try:
        for reason in changes_of(root, runs.ended, "dev", with_code=True):
            is_sound = runs.run(reason) == 0
            if not runs.ended.is_set():
                _serve(server, root, name, client, is_sound=is_sound)
                click.echo(err=True)
    finally:
        server.end()


def _toolset_or_end(project: str | None, name: str | None, client: str | None) -> str:
    """The name of the toolset to serve.

    Ends the program with exit code 2 when it is not there, or not served over MCP.
    """
    workspace = workspace_or_end(project)
    found = {one.name: one for one in workspace.toolsets if "mcp" in one.targets}
    if not found:
        fail("no toolset has the target `mcp`, which is what is served")
    if name is None and len(found) > 1:
        help_ = f"add `--toolset` with one of {format_quoted_list(list(found))}"
        fail(f"there are {len(found)} toolsets\n  help: {help_}")
    name = name or next(iter(found))
    known_or_end("toolset that is served", name, found)
    if client is not None:
        names = [one.name for one in found[name].clients]
        known_or_end(f"client of the toolset {name}", client, names)
    return name


def _free_port(wanted: int) -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((_HOST, wanted))
        except OSError as error:
            fail(
                f"port {wanted} cannot be had: {error.strerror}\n"
                "  help: `--port` with another one, or `--port 0` for any"
            )
        return int(tried.getsockname()[1])


def _serve(
    server: _Server, root: str, name: str, client: str | None, *, is_sound: bool
) -> None:
    """Starts the server anew, where its outputs are made and its handlers can be imported."""
    from ...findings import has_errors
    from ...import_check import check_imports
    from ...model.endpoints import list_endpoints
    from ...model.loading import load_workspace

    workspace = load_workspace(root).workspace if is_sound else None
    toolset = next(
        (t for t in (workspace.toolsets if workspace else ()) if t.name == name), None
    )
    if workspace is None or toolset is None or "mcp" not in toolset.targets:
        server.tell_kept(
            "" if not is_sound else f"`{name}` is no toolset with `mcp` now; "
        )
        return
    # On this machine alone, what a server needs elsewhere may be missing.
    failed = [
        one
        for one in check_imports(replace(workspace, toolsets=(toolset,)))
        if has_errors([one])
    ]
    if failed:
        print_findings(failed, "text")
        server.tell_kept()
        return
    package = ".".join(filter(None, (workspace.package, name)))
    options = ["--client", client] if client else []
    if not server.start(workspace, f"{package}.mcp_server", options) or server.is_told:
        return
    server.is_told = True
    click.echo("\nIn the MCP Inspector:", err=True)
    for plan in list_endpoints(toolset):
        if client in (None, plan.client):
            path = "/mcp/" if client else plan.path
            line = f"{_INSPECTOR} {encode_shell_word(f'http://{_HOST}:{server.port}{path}')!s}"
            if os.environ.get(plan.token_variable):
                line += f' --header "Authorization: Bearer ${plan.token_variable}"'
            click.echo(printable(f"  {line}"), err=True)


class _Server:
    """The server's process, and its successors.

    Attributes:
        port: the port of all of them.
        is_told: the lines that are told once have been told.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.is_told = False
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, workspace: Workspace, module: str, options: Sequence[str]) -> bool:
        """Ends the one that runs, and starts another one; whether it listens."""
        from ...import_check import build_environment
        from .watch import OWN_GROUP

        self.end()
        words = ["--http", "--host", _HOST, "--port", str(self.port), *options]
        self._process = subprocess.Popen(  # noqa: S603  # the project's own server
            [*_PROGRAM, module, *words, "--grace", str(_GRACE)],
            cwd=workspace.root,
            env=build_environment(workspace),
            # Closed by the system when this process is gone, however it went.
            stdin=subprocess.PIPE,
            **OWN_GROUP,
        )
        end = time.monotonic() + _START_TIMEOUT_S
        while self._process.poll() is None and time.monotonic() < end:
            with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tried:
                if tried.connect_ex((_HOST, self.port)) == 0:
                    return True
            time.sleep(0.05)
        click.echo("the server did not start: a change starts it again", err=True)
        return False

    def tell_kept(self, why: str = "") -> None:
        """Tells that nothing changes for who is served."""
        runs = self._process is not None and self._process.poll() is None
        what = "the server goes on as it was" if runs else "no server yet"
        click.echo(f"{why}{what}: mend it, and it starts anew", err=True)

    def end(self) -> None:
        """Ends the server; its running calls have a moment."""
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
