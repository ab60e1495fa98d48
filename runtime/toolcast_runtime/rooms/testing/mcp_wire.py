"""Asks an MCP server over stdio in raw JSON-RPC, to see the bytes that it sends."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_MODERN = "2026-07-28"
_CLIENT = {"name": "snapshot-checks", "version": "1"}


def raw_tools_list(
    command: Sequence[str], folder: Path, revision: str, *, timeout: float = 60.0
) -> bytes:
    """The bytes of the `tools` array in a server's answer to `tools/list`.

    Args:
        command: starts the server; `sys.executable` is put before it.
        folder: where it starts.
        revision: the protocol revision to speak; 2026-07-28 needs no handshake.

    Raises:
        RuntimeError: the server gave no such answer; with what it wrote to stderr.
    """
    with subprocess.Popen(  # noqa: S603 - the caller's own server
        [sys.executable, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    ) as server:
        # A server that hangs is ended, which ends the reading below.
        watchdog = threading.Timer(timeout, server.kill)
        watchdog.start()
        try:
            return _ask(server, revision)
        finally:
            watchdog.cancel()
            server.kill()


def _ask(server: subprocess.Popen[bytes], revision: str) -> bytes:
    if server.stdin is None or server.stdout is None or server.stderr is None:
        raise RuntimeError("the server has no pipes")
    seen = b""
    try:
        server.stdin.write(b"".join(_line(message) for message in _messages(revision)))
        # It stays open until the answer is here: a server may end when it closes.
        server.stdin.flush()
        for line in server.stdout:
            seen += line[:200]
            if json.loads(line).get("id") == "tools" and b'"tools":[' in line:
                return _array(line)
    except (BrokenPipeError, ValueError) as error:
        seen += f" ({error})".encode()
    server.kill()
    log = server.stderr.read()[-2000:].decode(errors="replace")
    raise RuntimeError(f"no tools/list answer\nstdout: {seen!r}\nstderr: {log}")


def _messages(revision: str) -> list[dict[str, Any]]:
    if revision == _MODERN:
        meta = {
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientInfo": _CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        return [_request("tools", "tools/list", {"_meta": meta})]
    hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": _CLIENT}
    return [
        _request("hello", "initialize", hello),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _request("tools", "tools/list", {}),
    ]


def _request(number: str, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _array(line: bytes) -> bytes:
    text = line.decode("utf-8")
    start = text.index('"tools":[') + len('"tools":')
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[start:end].encode("utf-8")
