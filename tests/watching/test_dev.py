"""Restarts of the server of `toolcast dev` after changes."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.forked_servers import start
from tests.http.serving import Server
from tests.mcp.node_setup import find_node_tools
from tests.ports import find_free_port
from toolcast.commands.generate.watch import find_watched_paths

PING = "summary: Answer at once.\nparameters: {type: object}\nhandler: handlers.toy:ping\ncli: {keyword: ping}\n"
HANDLERS = "from shop.texts import PONG\ndef ping() -> str:\n    return PONG\n"
PLAIN_HANDLERS = "def ping() -> str: return 'pong'\n"
INSPECTOR = "npx @modelcontextprotocol/inspector@2 --transport http --server-url"


class DevProcess:
    """A process of `toolcast dev` and its output."""

    def __init__(self, root: Path, token: str = "") -> None:
        self._log = root.parent / "dev.log"
        self._at = 0
        self.stdout_log = root.parent / "stdout.log"
        with self._log.open("wb") as log, self.stdout_log.open("wb") as stdout_log:
            self.process = start(
                root,
                *("toolcast", "dev", "--port", "0"),
                env={**os.environ, "TOY_TOKEN": token},
                stdout=stdout_log.fileno(),
                stderr=log.fileno(),
                loaded=("toolcast.commands.main", "toolcast.pipeline", "watchfiles"),
            )

    def wait_for(self, text: str) -> str:
        """Wait for a text; return the output from the previous text up to this one."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            output = self._log.read_text("utf-8")[self._at :]
            if text in output:
                output = output[: output.index(text) + len(text)]
                self._at += len(output)
                return output
            assert self.process.poll() is None, output
            time.sleep(0.02)
        raise AssertionError(f"no text {text!r}: {output}")


def can_connect(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@contextlib.contextmanager
def run_dev(root: Path, token: str = "") -> Iterator[DevProcess]:
    dev = DevProcess(root, token)
    try:
        yield dev
    finally:
        dev.process.terminate()
        dev.process.wait()
    # Only the summaries of `toolcast generate` are on stdout.
    assert all(
        " files in generated/ (" in line
        for line in dev.stdout_log.read_text("utf-8").splitlines()
    )


@pytest.mark.slow
def test_dev_server_restarts_after_edits_and_keeps_running_after_errors(
    make_project: Callable[..., Any],
) -> None:
    project = make_project({"ping": PING}, handlers=HANDLERS)
    project.write("shop/__init__.py", "")
    project.write("shop/texts.py", "PONG = 'pong'\n")
    with run_dev(project.root) as dev:
        output = dev.wait_for("/mcp/\n\n")
        # The server prints its line in its own process, possibly after the commands.
        if "serving the tools at" not in output:
            dev.wait_for("serving the tools at")
        url = rf"{re.escape(INSPECTOR)} http://127.0.0.1:(\d+)/mcp/"
        found = re.search(url, output)
        assert found, output
        served = Server(dev.process, int(found[1]))

        def summary() -> str:
            listing = served.request("/mcp/", "tools/list", modern=True).message
            return str(listing["result"]["tools"][0]["description"])

        def answer() -> str:
            params = {"name": "ping", "arguments": {}}
            response = served.request("/mcp/", "tools/call", params, modern=True)
            return str(response.message["result"]["content"][0]["text"])

        assert (summary(), answer()) == ("Answer at once.", "pong")
        project.edit("specs/toy/ping.yaml", "at once", "with pong")
        dev.wait_for("serving the tools at")
        assert summary() == "Answer with pong."

        # After an error in a spec or in an import of a handler, the old server keeps running.
        project.edit("specs/toy/ping.yaml", "type: object", "type: [")
        output = dev.wait_for("the old server is still running")
        assert "specs/toy/ping.yaml:" in output and "yaml/syntax" in output
        project.write("shop/texts.py", "PONG = pong\n")
        project.edit("specs/toy/ping.yaml", "type: [", "type: object")
        output = dev.wait_for("NameError")
        output += dev.wait_for("the old server is still running")
        assert "handler/import-error" in output
        assert (summary(), answer()) == ("Answer with pong.", "pong")
        project.write("shop/texts.py", "PONG = 'new pong'\n")
        dev.wait_for("serving the tools at")
        assert answer() == "new pong"

        server = list_child_processes(dev.process.pid)
        assert server
        dev.process.send_signal(signal.SIGINT)
        assert dev.process.wait(20) == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in server)
        assert not can_connect(served.port)


@pytest.mark.slow
def test_killing_the_dev_command_ends_its_server(
    make_project: Callable[..., Any],
) -> None:
    project = make_project({"ping": PING}, handlers=PLAIN_HANDLERS)
    with run_dev(project.root) as dev:
        found = re.search(r"http://127.0.0.1:(\d+)/mcp/\n\n", dev.wait_for("/mcp/\n\n"))
        assert found
        dev.process.kill()
        dev.process.wait()
    end = time.monotonic() + 10
    while can_connect(int(found[1])):
        assert time.monotonic() < end, "the server still runs"
        time.sleep(0.05)


@pytest.mark.node
@pytest.mark.parametrize("token", ["", "a-token-of-a-team"])
def test_command_printed_by_dev_starts_the_mcp_inspector_and_lists_the_tools(
    make_project: Callable[..., Any], token: str, tmp_path: Path
) -> None:
    node = find_node_tools()
    if node is None:
        pytest.skip("the Inspector is not set up: make test-node does it")
    # A program `npx` that runs the installed Inspector, so that nothing is downloaded.
    npx = tmp_path / "bin/npx"
    npx.parent.mkdir()
    npx.write_text(f'#!/bin/sh\nshift\nexec {shlex.join(node.inspector)} "$@"\n')
    npx.chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{npx.parent}{os.pathsep}{os.environ['PATH']}",
        "TOY_TOKEN": token,
        "MCP_AUTO_OPEN_ENABLED": "false",
        "CLIENT_PORT": str(find_free_port()),
    }
    project = make_project({"ping": PING}, handlers=PLAIN_HANDLERS)
    with run_dev(project.root, token) as dev:
        dev.wait_for("To open the MCP Inspector, run:\n")
        line = dev.wait_for("\n\n").strip()
        assert line.startswith(INSPECTOR) and ("$TOY_TOKEN" in line) == bool(token)
        lists = line.replace("@2", "@2 --cli") + " --format json --method tools/list"
        listing = subprocess.run(
            ["sh", "-c", lists], env=env, capture_output=True, text=True
        )
        assert listing.returncode == 0, listing.stderr
        assert '"ping"' in listing.stdout
        page = subprocess.Popen(
            ["sh", "-c", f"exec {line}"],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert page.stdout is not None
            assert any("is up and running" in output for output in page.stdout)
        finally:
            page.terminate()
            page.communicate()


def list_child_processes(pid: int) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--toolset", "tay"], "help: use `toy`"),
        (["--client", "x"], "no client of the toolset toy"),
        (["--port", "{taken}"], "use another port, or `--port 0` for a free one"),
    ],
)
def test_dev_command_with_invalid_toolset_client_or_used_port_exits_with_2_and_help(
    make_project: Callable[..., Any], arguments: list[str], error: str
) -> None:
    project = make_project({"ping": PING}, toolset="targets: {mcp: {}, registry: {}}\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        process = project.toolcast("dev", *(w.format(taken=port) for w in arguments))
    assert (process.returncode, process.stdout) == (2, "")
    assert error in process.stderr


def test_python_files_next_to_the_handlers_are_watched_only_with_code(
    make_project: Callable[..., Any],
) -> None:
    """The dev server imports them; `generate --watch` does not read them."""
    project = make_project({"ping": PING})
    for path in ("shop/deep/b.py", "shop/a.py", "notes/a.txt", ".venv/lib/c.py"):
        project.write(path, "")
    root = os.path.realpath(project.root)
    watched = find_watched_paths(root, with_code=True)
    for path, is_watched in {
        "shop/a.py": True,
        "shop/deep/b.py": True,
        "notes/a.txt": False,
        ".venv/lib/c.py": False,
    }.items():
        assert watched.is_relevant(os.path.join(root, path)) is is_watched, path
    assert not find_watched_paths(root).is_relevant(os.path.join(root, "shop/a.py"))
