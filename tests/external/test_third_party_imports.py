"""Third-party servers that are imported, generated and listed by the generated server."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.external.third_party_setup import (
    NEEDS_SERVERS,
    NODE_PACKAGES,
    PYTHON_PACKAGES,
    get_commands,
)
from tests.mcp.servers import CLIENT, LEGACY, MODERN, meta
from tests.program import toolcast

pytestmark = NEEDS_SERVERS
NAMES = [p.partition("==")[0] for p in PYTHON_PACKAGES]
NAMES += [p.rpartition("@")[0] for p in NODE_PACKAGES]


def parse_exact_json(text: str) -> Any:
    """Parse JSON with the order of its keys and the spelling of its numbers."""
    return json.loads(
        text,
        object_pairs_hook=lambda pairs: ("object", pairs),
        parse_int=lambda digits: ("number", digits),
        parse_float=lambda digits: ("number", digits),
    )


def read_raw_list(command: list[str], folder: Path, version: str) -> list[Any] | None:
    """Return the tools that a server lists, or None if it does not support the version."""
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(
        command, cwd=folder, stderr=subprocess.DEVNULL, encoding="utf-8", **streams
    )
    to_server, from_server = process.stdin, process.stdout
    assert to_server is not None and from_server is not None
    timer = threading.Timer(60, process.kill)
    timer.start()
    number = 0

    def send(message: dict[str, Any]) -> None:
        to_server.write(f"{json.dumps(message)}\n")
        to_server.flush()

    def request(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        nonlocal number
        number += 1
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        send(message)
        for line in from_server:
            try:
                response = json.loads(line)
            except ValueError:
                continue
            if response.get("id") == number:
                pairs = dict(parse_exact_json(line)[1])
                return dict(pairs["result"][1]) if "result" in pairs else None
        raise AssertionError(f"{command} ended")

    common: dict[str, Any] = {}
    try:
        if version == LEGACY:
            params = {"protocolVersion": LEGACY, "capabilities": {}}
            request("initialize", {**params, "clientInfo": CLIENT})
            send({"jsonrpc": "2.0", "method": "notifications/initialized"})
            # One server adds a tool some time after this notification.
            time.sleep(1)
        else:
            common = {"_meta": meta()}
            # Without discovery, some servers list fewer tools.
            if request("server/discover", common) is None:
                return None
        tools: list[Any] = []
        cursor: dict[str, Any] = {}
        while True:
            page = request("tools/list", {**cursor, **common})
            if page is None:
                return None
            tools += page["tools"]
            if page.get("nextCursor") is None:
                return tools
            cursor = {"cursor": page["nextCursor"]}
    finally:
        timer.cancel()
        process.kill()
        process.wait()


@pytest.mark.parametrize("name", NAMES)
def test_imported_server_tools_list_equals_the_original_server_tools_list(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIRECRAWL_API_KEY", "none")
    program = [*get_commands().all[name]]
    project = tmp_path / "project"
    project.mkdir()
    command = ("import", "--mcp-stdio", shlex.join(program), "--toolset", "theirs")
    imported = toolcast(project, *command)
    # Some resource templates have a name with spaces or a URI without a scheme.
    rejected = [line for line in imported.stdout.splitlines() if "not imported" in line]
    assert imported.returncode == bool(rejected), imported.stdout + imported.stderr
    for line in rejected:
        assert re.search(r"`resourceTemplates: .*`(name|uri_template)` does not", line)
    generated = toolcast(project, "generate")
    assert generated.returncode == 0, generated.stdout + generated.stderr
    stateless = read_raw_list(program, tmp_path, MODERN)
    with_handshake = read_raw_list(program, tmp_path, LEGACY)
    own = [sys.executable, "-m", "generated.theirs.mcp_server"]
    # The import uses the newest version of a server: some servers order the keys of a schema
    # otherwise in an older version.
    source = with_handshake if stateless is None else stateless
    assert source
    assert read_raw_list(own, project, MODERN) == source
    assert read_raw_list(own, project, LEGACY) == source
    before = {path: path.read_bytes() for path in project.rglob("*.yaml")}
    again = toolcast(project, *command)
    assert "0 new tools, 0 changed, " in again.stderr
    assert {path: path.read_bytes() for path in project.rglob("*.yaml")} == before
