"""Files of a generated package, responses of its server, and comparisons of both.

Definitions are read from their files, not from the registry, so that an edit of either is found.
Comparisons include the spelling of numbers and the order of keys. Needs `pytest`.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
"""Maximum size of a generated file in bytes."""
_STATELESS_VERSION = "2026-07-28"
_CLIENT_INFO = {"name": "snapshot-checks", "version": "1"}


class GeneratedPackage:
    """Files of a generated package, and its registry.

    Args:
        registry: the package's module `registry`.

    Attributes:
        definitions: each tool's definition, by tool name.
        exact_definitions: the same definitions, parsed with `parse_exact_json`.
        types: the path of each tool's module with its types, by tool name.
    """

    def __init__(self, registry: ModuleType) -> None:
        self.registry: Registry = registry.REGISTRY
        self.name = registry.__name__.rpartition(".")[0]
        self.folder = Path(registry.__file__ or "").parent
        self.definitions: dict[str, dict[str, Any]] = {}
        self.exact_definitions: dict[str, dict[str, Any]] = {}
        self.types: dict[str, Path] = {}
        for path in sorted((self.folder / "tools").glob("*.json")):
            text = read_text(path)
            definition = json.loads(text)
            name = definition["mcp"]["name"]
            self.definitions[name] = definition
            self.exact_definitions[name] = parse_exact_json(text)
            self.types[name] = path.with_suffix(".py")

    @property
    def clients(self) -> tuple[str | None, ...]:
        """The toolset's clients; only None in a toolset without clients."""
        return self.registry.clients or (None,)

    @property
    def each_client(self) -> pytest.MarkDecorator:
        """Decorator that runs a test for each client."""
        return pytest.mark.parametrize("client", self.clients)

    @property
    def each_tool(self) -> pytest.MarkDecorator:
        """Decorator that runs a test for each definition."""
        return pytest.mark.parametrize("tool", self.definitions)

    @cached_property
    def blocks(self) -> dict[str, str]:
        """Text of the prompt files without the first line, a signature, by file name."""
        return {
            path.name: read_text(path).partition("\n")[2]
            for path in sorted((self.folder / "prompts").glob("*.md"))
        }

    def list_text_files(self) -> Iterator[Path]:
        """Yield the paths of `registry.py` and of the JSON and Markdown files of the package."""
        yield self.folder / "registry.py"
        for pattern in ("tools/*.json", "prompts/*.md", "skills/**/*.md"):
            yield from sorted(self.folder.glob(pattern))

    def list_mcp_definitions(
        self, folder: str, client: str | None
    ) -> list[dict[str, Any]]:
        """Return the MCP definitions of a client's resources or prompts, in listed order.

        Entries with an `order` come first; entries with the same `order` are sorted by file name.

        Args:
            folder: `mcp_resources` or `mcp_prompts`.
            client: the client that requests the list.
        """
        files = sorted((self.folder / folder).glob("*.json"))
        values = [json.loads(read_text(path)) for path in files]
        values.sort(key=lambda value: ("order" not in value, value.get("order", 0)))
        return [
            value["mcp"]
            for value in values
            if client is None or client in value.get("clients", ())
        ]

    def get_tool(self, name: str) -> Tool:
        """Return the registry's tool with a name.

        Raises:
            AssertionError: the registry has no such tool.
        """
        tools = {tool.name: tool for tool in self.registry.local_tools}
        ensure(name in tools, f"{name}: the registry lacks it")
        return tools[name]

    def list_tool_names(self, client: str | None, target: str) -> list[str]:
        """Return the names of a client's tools that a target includes, in registry order."""
        access = self.registry.access()
        return [
            tool.name
            for tool in self.registry.local_tools
            if access.is_allowed(client, tool.name)
            and target not in self.definitions[tool.name].get("exclusions", {})
        ]

    def get_client(self, tool_name: str) -> str | None:
        """Return the first client that may call a tool; skip the test if none may."""
        access = self.registry.access()
        for client in self.clients:
            if access.is_allowed(client, tool_name):
                return client
        pytest.skip(f"no client may call {tool_name}")

    def skip_if_excluded(self, name: str, target: str) -> None:
        """Skip the test if a tool is excluded from a target."""
        reason = self.definitions[name].get("exclusions", {}).get(target)
        if reason is not None:
            pytest.skip(f"{name} is excluded from {target}: {reason}")

    def get_exact_mcp_definitions(self, names: Iterable[str]) -> dict[str, Any]:
        """Return the MCP definitions of tools by name, parsed with `parse_exact_json`."""
        return {name: self.exact_definitions[name]["mcp"] for name in names}

    def check_refused_by(self, name: str, *, is_served: bool) -> None:
        """Compare a definition's `refused_by` with the result of validating the definition.

        `refused_by` lists, by protocol version, the paths in the MCP definition that violate
        MCP's schema, so that strict clients reject the tool.

        Args:
            name: the tool's name.
            is_served: whether the toolset has an MCP server.

        Raises:
            AssertionError: they differ.
        """
        definition = self.definitions[name]
        handshake_version, stateless_version = protocol.REVISIONS
        definitions = {
            handshake_version: protocol.downgrade_definition(definition["mcp"]),
            stateless_version: definition["mcp"],
        }
        rejected: dict[str, list[str]] = {}
        for version, mcp_definition in definitions.items():
            problems = protocol.check_tool_definition(mcp_definition, version)
            if problems and is_served and "mcp" not in definition.get("exclusions", {}):
                rejected[version] = sorted({problem.path_text for problem in problems})
        assert_same(f"{name}: `refused_by`", definition.get("refused_by", {}), rejected)

    def check_strict_clients(
        self, listed: Iterable[Mapping[str, Any]], version: str
    ) -> None:
        """Check listed tools against MCP's schema of a protocol version.

        The violations must be exactly the paths in a definition's `refused_by`, which
        `toolcast check` reports.

        Raises:
            AssertionError: the violations differ from `refused_by`.
        """
        for tool in listed:
            name = tool["name"]
            problems = protocol.check_tool_definition(tool, version)
            expected = self.definitions[name].get("refused_by", {}).get(version, [])
            subject = f"{name}: what clients refuse by MCP {version}"
            rejected = sorted({problem.path_text for problem in problems})
            assert_same(subject, rejected, expected)


def build_expected_list(
    server: Any, packages: Iterable[GeneratedPackage], client: str | None
) -> dict[str, Any]:
    """Return the MCP definitions that a server must list for a client, by tool name.

    With tool search, only tools marked `always` and the two search tools are listed; without it,
    all tools that the client may call. Numbers are parsed with `parse_exact_json`.
    """
    expected: dict[str, Any] = {}
    for package in packages:
        names = package.list_tool_names(client, "mcp")
        if server.search:
            names = [name for name in names if package.definitions[name].get("always")]
        expected |= package.get_exact_mcp_definitions(names)
    if server.search:
        local_server = replace(server, external=False)
        for tool in local_server.list_directly_listed(client):
            if not server.has_tool(tool.name):
                expected[tool.name] = parse_exact_json(tool.to_mcp_json())
    return expected


def read_text(path: Path) -> str:
    """Return the text of a generated file, with LF line breaks."""
    return read_bytes(path).decode("utf-8").replace("\r\n", "\n")


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a generated file of at most 8 MiB."""
    return read_regular_file(str(path), _MAX_FILE_BYTES)


def parse_exact_json(text: str | bytes) -> Any:
    """Parse JSON; each number becomes an object with its spelling, `{"number": "1.0"}`."""

    def parse_number(digits: str) -> dict[str, str]:
        return {"number": digits}

    return json.loads(text, parse_int=parse_number, parse_float=parse_number)


def assert_same_tools(
    subject: str,
    live: str | bytes,
    expected: Mapping[str, Any],
    *,
    has_handshake: bool = False,
) -> None:
    """Compare a JSON list of MCP tools with definitions.

    Args:
        subject: the compared list, for the message.
        live: the list, as JSON text.
        expected: the definitions by tool name.
        has_handshake: whether the list is for a handshake version.

    Raises:
        AssertionError: they differ.
    """
    listed = parse_exact_json(live)
    names = [tool.get("name") for tool in listed]
    assert_same(f"{subject}: the names", names, list(expected))
    for tool, (name, definition) in zip(listed, expected.items(), strict=True):
        if has_handshake:
            definition = protocol.downgrade_definition(definition)
        assert_same(f"{subject}: {name}", tool, definition)


def assert_same(
    subject: str, live: Any, expected: Any, source: str = "definition"
) -> None:
    """Compare two JSON values or texts, including the order of keys.

    Args:
        subject: the compared value, for the message.
        live: the value to check.
        expected: the expected value.
        source: the origin of the expected value, in the singular.

    Raises:
        AssertionError: they differ; the message contains a diff.
    """
    expected_text, live_text = (
        value if isinstance(value, str) else json.dumps(value, indent=2)
        for value in (expected, live)
    )
    if expected_text != live_text:
        diff = difflib.unified_diff(
            expected_text.split("\n"),
            live_text.split("\n"),
            source,
            "live",
            lineterm="",
            n=2,
        )
        raise AssertionError(
            f"{subject} differs from the {source}s\n" + "\n".join(diff)
        )


def ensure(condition: bool, message: str) -> None:
    """Raise AssertionError if a condition is false, even with `python -O`."""
    if not condition:
        raise AssertionError(message)


def request_tools_list(
    command: Sequence[str], folder: Path, version: str, *, timeout: float = 60.0
) -> bytes:
    """Start a server over stdio and return its `tools/list` array as raw JSON.

    The request is raw JSON-RPC, because a client library would parse the answer and lose the
    spelling of numbers.

    Args:
        command: the arguments of the Python interpreter that start the server.
        folder: the server's working directory.
        version: the protocol version; 2026-07-28 has no handshake.
        timeout: seconds until the server is killed.

    Raises:
        RuntimeError: the server did not answer; the message has the end of its stderr.
    """
    with subprocess.Popen(  # noqa: S603 - the command is the caller's own server
        [sys.executable, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
    ) as server:
        # Reading the server's output has no timeout of its own: killing a server that hangs
        # closes its stdout and so ends the read.
        watchdog = threading.Timer(timeout, server.kill)
        watchdog.start()
        try:
            return _exchange(server, version)
        finally:
            watchdog.cancel()
            server.kill()


def _exchange(server: subprocess.Popen[bytes], version: str) -> bytes:
    if server.stdin is None or server.stdout is None or server.stderr is None:
        raise RuntimeError("the server has no pipes")
    output = b""
    try:
        messages = _build_messages(version)
        server.stdin.write(b"".join(_encode_line(message) for message in messages))
        # Flush instead of closing stdin: a server may exit when its stdin is closed.
        server.stdin.flush()
        for line in server.stdout:
            # The beginning of each line is for the error message.
            output += line[:200]
            if json.loads(line).get("id") == "tools" and b'"tools":[' in line:
                return _extract_array(line)
    except (BrokenPipeError, ValueError) as error:
        output += f" ({error})".encode()
    # End the server first: reading stderr lasts until the server closes it.
    server.kill()
    log = server.stderr.read()[-2000:].decode(errors="replace")
    raise RuntimeError(f"no tools/list answer\nstdout: {output!r}\nstderr: {log}")


def _build_messages(version: str) -> list[dict[str, Any]]:
    if version == _STATELESS_VERSION:
        meta = {
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": _CLIENT_INFO,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        return [_build_request("tools", "tools/list", {"_meta": meta})]
    params = {
        "protocolVersion": version,
        "capabilities": {},
        "clientInfo": _CLIENT_INFO,
    }
    return [
        _build_request("initialize", "initialize", params),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        _build_request("tools", "tools/list", {}),
    ]


def _build_request(
    request_id: str, method: str, params: Mapping[str, Any]
) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}


def _encode_line(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message).encode() + b"\n"


def _extract_array(line: bytes) -> bytes:
    text = line.decode("utf-8")
    start = text.index('"tools":[') + len('"tools":')
    # Decode only to find the end of the array: the raw text is compared.
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[start:end].encode("utf-8")
