"""Servers that others wrote are imported, generated, and listed as they list themselves."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.external.third_party_setup import NODE_PACKAGES, PYTHON_PACKAGES, installed
from tests.program import toolcast

pytestmark = [
    pytest.mark.servers,
    pytest.mark.skipif(installed() is None, reason="not set up: make test-servers"),
]
NAMES = [p.partition("==")[0] for p in PYTHON_PACKAGES]
NAMES += [p.rpartition("@")[0] for p in NODE_PACKAGES]
_OLDER, _NEWEST = "2025-11-25", "2026-07-28"
_NOBODY = {"name": "test", "version": "1"}


def spelled(text: str) -> Any:
    """JSON with the order of its keys, and its numbers as they are spelled."""
    return json.loads(
        text,
        object_pairs_hook=lambda pairs: ("object", pairs),
        parse_int=lambda digits: ("number", digits),
        parse_float=lambda digits: ("number", digits),
    )


def raw_list(command: list[str], folder: Path, revision: str) -> list[Any] | None:
    """What a server lists, read line by line; None where it does not speak the revision."""
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
    )
    to_server, from_server = process.stdin, process.stdout
    assert to_server is not None and from_server is not None
    in_time = threading.Timer(60, process.kill)
    in_time.start()
    number = 0

    def ask(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        nonlocal number
        number += 1
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        to_server.write(f"{json.dumps(message)}\n")
        to_server.flush()
        for line in from_server:
            try:
                answer = json.loads(line)
            except ValueError:
                continue
            if answer.get("id") == number:
                pairs = dict(spelled(line)[1])
                return dict(pairs["result"][1]) if "result" in pairs else None
        raise AssertionError(f"{command} ended")

    meta: dict[str, Any] = {}
    try:
        if revision == _OLDER:
            hello = {"protocolVersion": _OLDER, "capabilities": {}}
            ask("initialize", {**hello, "clientInfo": _NOBODY})
            to_server.write(
                '{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
            )
            to_server.flush()
            # One of them adds a tool when it has seen this, and has no time set for it.
            time.sleep(1)
        else:
            prefix = "io.modelcontextprotocol/"
            meta = {
                "_meta": {
                    f"{prefix}protocolVersion": _NEWEST,
                    f"{prefix}clientInfo": _NOBODY,
                    f"{prefix}clientCapabilities": {},
                }
            }
            # Some answer without having been greeted, with less than they list otherwise.
            if ask("server/discover", meta) is None:
                return None
        tools: list[Any] = []
        cursor: dict[str, Any] = {}
        while True:
            page = ask("tools/list", {**cursor, **meta})
            if page is None:
                return None
            tools += page["tools"]
            if page.get("nextCursor") is None:
                return tools
            cursor = {"cursor": page["nextCursor"]}
    finally:
        in_time.cancel()
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", NAMES)
def test_a_server_is_listed_as_it_lists_itself(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRECRAWL_API_KEY", "none")
    there = installed()
    assert there is not None
    words = [*there.all[name]]
    project = tmp_path / "project"
    project.mkdir()
    command = ("import", "--mcp-stdio", shlex.join(words), "--toolset", "theirs")
    done = toolcast(project, *command)
    assert done.returncode == 0, done.stdout + done.stderr
    generated = toolcast(project, "generate")
    assert generated.returncode == 0, generated.stdout + generated.stderr
    newest = raw_list(words, tmp_path, _NEWEST)
    older = raw_list(words, tmp_path, _OLDER)
    own = [sys.executable, "-m", "generated.theirs.mcp_server"]
    # A server is read in the newest revision that it speaks: some list the keys of a schema
    # in another order to clients of an older one.
    source = older if newest is None else newest
    assert source
    assert raw_list(own, project, _NEWEST) == source
    assert raw_list(own, project, _OLDER) == source
    before = {path: path.read_bytes() for path in project.rglob("*.yaml")}
    again = toolcast(project, *command)
    assert f"0 changed, {len(source)} unchanged" in again.stderr
    assert {path: path.read_bytes() for path in project.rglob("*.yaml")} == before
