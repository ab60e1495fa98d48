"""A generated package as its files have it, and its server as it answers; and both compared.

Needs `pytest`. The definitions are read from their files here, not by the registry, so that an
edit of either side shows; number spellings and the order of keys count.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ..core.definitions.tool import Tool
from ..core.registry import Registry
from ..core.safe_file import read_regular_file
from ..core.validation import protocol

_MAX_FILE_BYTES = 8 * 1024 * 1024
"""Size of a generated file."""
_MODERN = "2026-07-28"
_CLIENT = {"name": "snapshot-checks", "version": "1"}


class GeneratedPackage:
    """A generated package's files, and its registry.

    Args:
        registry: the module `registry`.

    Attributes:
        definitions: what each tool's definition says, by its name.
        spelled: the same with numbers as they are written.
        types: the module with the types of each tool.
    """

    def __init__(self, registry: ModuleType) -> None:
        self.registry: Registry = registry.REGISTRY
        self.name = registry.__name__.rpartition(".")[0]
        self.folder = Path(registry.__file__ or "").parent
        self.definitions: dict[str, dict[str, Any]] = {}
        self.spelled: dict[str, dict[str, Any]] = {}
        self.types: dict[str, Path] = {}
        for path in sorted((self.folder / "tools").glob("*.json")):
            text = read_text(path)
            definition = json.loads(text)
            name = definition["mcp"]["name"]
            self.definitions[name] = definition
            self.spelled[name] = parse_exact_json(text)
            self.types[name] = path.with_suffix(".py")

    @property
    def clients(self) -> tuple[str | None, ...]:
        """The toolset's clients; None for the one caller of a toolset without clients."""
        return self.registry.clients or (None,)

    @property
    def each_client(self) -> pytest.MarkDecorator:
        """Runs a test for each client."""
        return pytest.mark.parametrize("client", self.clients)

    @property
    def each_tool(self) -> pytest.MarkDecorator:
        """Runs a test for each definition."""
        return pytest.mark.parametrize("tool", self.definitions)

    @cached_property
    def blocks(self) -> dict[str, str]:
        """The prompt files' texts without their signatures, by file name."""
        return {
            path.name: read_text(path).partition("\n")[2]
            for path in sorted((self.folder / "prompts").glob("*.md"))
        }

    def offers(self, folder: str, client: str | None) -> list[dict[str, Any]]:
        """The resources or MCP prompts of a client, as MCP lists them."""
        files = sorted((self.folder / folder).glob("*.json"))
        values = [json.loads(read_text(path)) for path in files]
        return [
            value["mcp"]
            for value in values
            if client is None or client in value.get("clients", ())
        ]

    def tool(self, name: str) -> Tool:
        """The registry's tool of a definition."""
        found = {tool.name: tool for tool in self.registry.local_tools}
        ensure(name in found, f"{name}: the registry lacks it")
        return found[name]

    def offered(self, client: str | None, target: str) -> list[str]:
        """The names of the definitions that a client gets in a target, in their order."""
        access = self.registry.access()
        return [
            tool.name
            for tool in self.registry.local_tools
            if access.is_allowed(client, tool.name)
            and target not in self.definitions[tool.name].get("exclusions", {})
        ]

    def a_client_of(self, name: str) -> str | None:
        """A client that may have a tool; skips the test when nobody may."""
        access = self.registry.access()
        for client in self.clients:
            if access.is_allowed(client, name):
                return client
        pytest.skip(f"no client may have {name}")

    def skip_unless_in(self, name: str, target: str) -> None:
        """Skips the test of a tool that is declared not to be in a target."""
        reason = self.definitions[name].get("exclusions", {}).get(target)
        if reason is not None:
            pytest.skip(f"{name} is excluded from {target}: {reason}")

    def spelled_of(self, names: Iterable[str]) -> dict[str, Any]:
        """The tools of definitions, as MCP lists them, with numbers as they are written."""
        return {name: self.spelled[name]["mcp"] for name in names}

    def check_refused_by(self, name: str, *, is_served: bool) -> None:
        """Compare a definition's `refused_by` with what clients refuse of it.

        Args:
            name: the tool's name.
            is_served: whether the toolset has an MCP server.

        Raises:
            AssertionError: they differ.
        """
        definition = self.definitions[name]
        old, new = protocol.REVISIONS
        shown = {
            old: protocol.downgrade_definition(definition["mcp"]),
            new: definition["mcp"],
        }
        refused: dict[str, list[str]] = {}
        for revision, tool in shown.items():
            refusals = protocol.check_tool_definition(tool, revision)
            if refusals and is_served and "mcp" not in definition.get("exclusions", {}):
                refused[revision] = sorted({refusal.path_text for refusal in refusals})
        assert_same(f"{name}: `refused_by`", definition.get("refused_by", {}), refused)

    def taken_by_strict_clients(
        self, listed: Iterable[Mapping[str, Any]], revision: str
    ) -> None:
        """Holds a list to MCP's schema of a revision, and to what its authors were told.

        A definition's `refused_by` says what clients refuse of it; `toolcast check` warned
        of that. There may be nothing else, and nothing less.
        """
        for tool in listed:
            name = tool["name"]
            refusals = protocol.check_tool_definition(tool, revision)
            told = self.definitions[name].get("refused_by", {}).get(revision, [])
            what = f"{name}: what clients refuse by MCP {revision}"
            assert_same(what, sorted({refusal.path_text for refusal in refusals}), told)


def build_expected_list(
    server: Any, packages: Iterable[GeneratedPackage], client: str | None
) -> dict[str, Any]:
    """What a server has to list, as `spelled_of` has it: all that a client is offered, or, where
    tools are searched for, those of every turn and the server's own two.
    """
    listed: dict[str, Any] = {}
    for one in packages:
        names = one.offered(client, "mcp")
        always = (n for n in names if one.definitions[n].get("always"))
        listed |= one.spelled_of(always if server.search else names)
    tools = (
        replace(server, external=False).list_directly_listed(client)
        if server.search
        else ()
    )
    own = (tool for tool in tools if not server.has_tool(tool.name))
    return listed | {tool.name: parse_exact_json(tool.to_mcp_json()) for tool in own}


def read_text(path: Path) -> str:
    """The text of a generated file."""
    data = read_regular_file(str(path), _MAX_FILE_BYTES)
    return data.decode("utf-8").replace("\r\n", "\n")


def parse_exact_json(text: str | bytes) -> Any:
    """A JSON value whose numbers are kept as they are written."""

    def number(digits: str) -> dict[str, str]:
        return {"number": digits}

    return json.loads(text, parse_int=number, parse_float=number)


def assert_same_tools(
    what: str,
    live: str | bytes,
    expected: Mapping[str, Any],
    *,
    before_2026: bool = False,
) -> None:
    """Holds a list of MCP tools, as JSON text, to definitions by their names.

    `before_2026`: it is for clients of a revision before 2026-07-28.
    """
    listed = parse_exact_json(live)
    assert_same(
        f"{what}: the names", [tool.get("name") for tool in listed], list(expected)
    )
    for tool, (name, definition) in zip(listed, expected.items(), strict=True):
        shown = protocol.downgrade_definition(definition) if before_2026 else definition
        assert_same(f"{what}: {name}", tool, shown)


def assert_same(
    what: str, live: Any, expected: Any, source: str = "definition"
) -> None:
    """Fails with a diff when two JSON values, or texts, are not the same in every detail.

    `source` is where what is expected comes from.
    """
    one, other = (
        value if isinstance(value, str) else json.dumps(value, indent=2)
        for value in (expected, live)
    )
    if one != other:
        diff = difflib.unified_diff(
            one.split("\n"), other.split("\n"), source, "live", lineterm="", n=2
        )
        raise AssertionError(f"{what} differs from the {source}s\n" + "\n".join(diff))


def ensure(holds: bool, message: str) -> None:
    """Fails with a message, under `python -O` too."""
    if not holds:
        raise AssertionError(message)


def request_tools_list(
    command: Sequence[str], folder: Path, revision: str, *, timeout: float = 60.0
) -> bytes:
    """The bytes of the `tools` array in a server's answer to `tools/list`, over stdio.

    It is asked in raw JSON-RPC, to see the bytes that it sends.

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
