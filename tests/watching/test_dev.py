"""`toolcast dev`: a toolset served, and again after every change."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.http.serving import Server
from tests.mcp.node_setup import find_node_tools
from toolcast.commands.generate.watch import find_watched_paths

PING = "summary: Answer at once.\nparameters: {type: object}\nhandler: handlers.toy:ping\ncli: {keyword: ping}\n"
HANDLERS = "from shop.texts import PONG\ndef ping() -> str:\n    return PONG\n"
INSPECTOR = "npx @modelcontextprotocol/inspector@2 --transport http --server-url"


class Developing:
    """The real process, and what it has said."""

    def __init__(self, root: Path, token: str = "") -> None:
        self._log = root.parent / "dev.log"
        self._at = 0
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "toolcast", "dev", "--port", "0"],
                cwd=root,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TOY_TOKEN": token},
            )

    def says(self, text: str) -> str:
        """What it has printed from the last text on to this one."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            said = self._log.read_text("utf-8")[self._at :]
            if text in said:
                said = said[: said.index(text) + len(text)]
                self._at += len(said)
                return said
            assert self.process.poll() is None, said
            time.sleep(0.02)
        raise AssertionError(f"never said {text!r}: {said}")


@contextlib.contextmanager
def developing(root: Path, token: str = "") -> Iterator[Developing]:
    dev = Developing(root, token)
    try:
        yield dev
    finally:
        dev.process.terminate()
        dev.process.wait()


@pytest.mark.slow
def test_edit_break_mend_and_end(make_project: Callable[..., Any]) -> None:
    project = make_project({"ping": PING}, handlers=HANDLERS)
    project.write("shop/__init__.py", "")
    project.write("shop/texts.py", "PONG = 'pong'\n")
    with developing(project.root) as dev:
        said = dev.says("/mcp/\n\n")
        found = re.search(rf"{re.escape(INSPECTOR)} http://127.0.0.1:(\d+)/mcp/", said)
        assert found, said
        served = Server(dev.process, int(found[1]))

        def summary() -> str:
            listed = served.request("/mcp/", "tools/list", modern=True).message
            return str(listed["result"]["tools"][0]["description"])

        def answer() -> str:
            params = {"name": "ping", "arguments": {}}
            called = served.request("/mcp/", "tools/call", params, modern=True).message
            return str(called["result"]["content"][0]["text"])

        assert (summary(), answer()) == ("Answer at once.", "pong")
        project.edit("specs/toy/ping.yaml", "at once", "with pong")
        dev.says("serving the tools at")
        assert summary() == "Answer with pong."

        # With an error in a spec, or in what a handler imports, it goes on as it was.
        project.edit("specs/toy/ping.yaml", "type: object", "type: [")
        said = dev.says("the old server is still running")
        assert "specs/toy/ping.yaml:" in said and "yaml/syntax" in said
        project.write("shop/texts.py", "PONG = pong\n")
        project.edit("specs/toy/ping.yaml", "type: [", "type: object")
        said = dev.says("NameError") + dev.says("the old server is still running")
        assert "handler/import-error" in said
        assert (summary(), answer()) == ("Answer with pong.", "pong")
        project.write("shop/texts.py", "PONG = 'new pong'\n")
        dev.says("serving the tools at")
        assert answer() == "new pong"

        server = children(dev.process.pid)
        assert server
        dev.process.send_signal(signal.SIGINT)
        assert dev.process.wait(20) == 0
        assert not any(Path(f"/proc/{pid}").exists() for pid in server)
        with socket.socket() as tried:
            assert tried.connect_ex(("127.0.0.1", served.port)) != 0


@pytest.mark.slow
def test_a_kill_of_it_ends_the_server_too(make_project: Callable[..., Any]) -> None:
    project = make_project(
        {"ping": PING}, handlers="def ping() -> str: return 'pong'\n"
    )
    with developing(project.root) as dev:
        found = re.search(r"http://127.0.0.1:(\d+)/mcp/\n\n", dev.says("/mcp/\n\n"))
        assert found
        dev.process.kill()
        dev.process.wait()
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", int(found[1]))) != 0:
                return
        time.sleep(0.05)
    raise AssertionError("the server serves on")


@pytest.mark.node
@pytest.mark.parametrize("token", ["", "a-token-of-a-team"])
def test_the_line_that_it_prints_opens_the_inspector(
    make_project: Callable[..., Any], token: str, tmp_path: Path
) -> None:
    node = find_node_tools()
    if node is None:
        pytest.skip("the Inspector is not set up: make test-node does it")
    # What npx would install is there already.
    npx = tmp_path / "bin/npx"
    npx.parent.mkdir()
    npx.write_text(f'#!/bin/sh\nshift\nexec {shlex.join(node.inspector)} "$@"\n')
    npx.chmod(0o755)
    env = {
        **os.environ,
        "PATH": f"{npx.parent}{os.pathsep}{os.environ['PATH']}",
        "TOY_TOKEN": token,
        "MCP_AUTO_OPEN_ENABLED": "false",
        "CLIENT_PORT": str(free_port()),
    }
    project = make_project(
        {"ping": PING}, handlers="def ping() -> str: return 'pong'\n"
    )
    with developing(project.root, token) as dev:
        dev.says("To open the MCP Inspector, run:\n")
        line = dev.says("\n\n").strip()
        assert line.startswith(INSPECTOR) and ("$TOY_TOKEN" in line) == bool(token)
        lists = line.replace("@2", "@2 --cli") + " --format json --method tools/list"
        listed = subprocess.run(
            ["sh", "-c", lists], env=env, capture_output=True, text=True
        )
        assert listed.returncode == 0, listed.stderr
        assert '"ping"' in listed.stdout
        page = subprocess.Popen(
            ["sh", "-c", f"exec {line}"],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            assert page.stdout is not None
            assert any("is up and running" in said for said in page.stdout)
        finally:
            page.terminate()
            page.communicate()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def children(pid: int) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [child for task in tasks for child in task.read_text().split()]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--toolset", "tay"], "help: use `toy`"),
        (["--client", "x"], "no client of the toolset toy"),
        (["--port", "{taken}"], "use another port, or `--port 0` for a free one"),
    ],
)
def test_what_cannot_be_served(
    make_project: Callable[..., Any], words: list[str], says: str
) -> None:
    project = make_project({"ping": PING}, toolset="targets: {mcp: {}, registry: {}}\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = project.toolcast("dev", *(w.format(taken=port) for w in words))
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_python_packages_beside_the_handlers_count(
    make_project: Callable[..., Any],
) -> None:
    project = make_project({"ping": PING})
    for path in ("shop/deep/b.py", "shop/a.py", "notes/a.txt", ".venv/lib/c.py"):
        project.write(path, "")
    root = os.path.realpath(project.root)
    counted = {
        path: find_watched_paths(root, with_code=True).is_relevant(
            os.path.join(root, path)
        )
        for path in ("shop/a.py", "shop/deep/b.py", "notes/a.txt", ".venv/lib/c.py")
    }
    assert counted == {
        "shop/a.py": True,
        "shop/deep/b.py": True,
        "notes/a.txt": False,
        ".venv/lib/c.py": False,
    }
    assert not find_watched_paths(root).is_relevant(os.path.join(root, "shop/a.py"))
