"""The YAML language server completes, explains and checks specs with the schema file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.node_setup import find_node_tools
from toolcast.model.spec_schema import DEFAULT_SCHEMA_PATTERN
from toolcast.spec_language.spec_language import render_schema

SETTINGS = {"yaml": {"schemaStore": {"enable": False}}}
# For each kind of file: its path, a text with a mistake, a part of the expected message, and a
# key that the server must suggest.
SPECS = {
    "workspace": ("toolcast.yaml", "version: 1\noutpt: x\n", "outpt", "toolsets"),
    "toolset": (
        "specs/toy/toolset.yaml",
        "name: toy\ntimeout: soon\n",
        "number",
        "title",
    ),
    "tool": (
        "specs/toy/ping.yaml",
        "name: ping\nalways: maybe\n",
        "boolean",
        "summary",
    ),
    "definitions": ("specs/toy/definitions.yaml", "money: 5\n", "object", ""),
    "mcp_resource": (
        "specs/toy/mcp_resources/r.yaml",
        "name: r\nfil: x\n",
        "fil",
        "file",
    ),
    "mcp_prompt": (
        "specs/toy/mcp_prompts/p.yaml",
        "name: p\ntitel: x\n",
        "titel",
        "title",
    ),
    "accept": ("toolcast.accept.yaml", "version: 1\nacept: []\n", "acept", "accept"),
}


class Editor:
    """A client of the language server with an open folder."""

    def __init__(self, command: tuple[str, ...], folder: Path) -> None:
        self._server = subprocess.Popen(
            [*command, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._diagnostics: dict[str, list[str]] = {}
        self._number = 0
        workspace_folder = {"uri": folder.as_uri(), "name": "project"}
        client = {"workspace": {"configuration": True}}
        self.request(
            "initialize",
            processId=None,
            rootUri=folder.as_uri(),
            workspaceFolders=[workspace_folder],
            capabilities=client,
        )
        self.notify("initialized")

    def notify(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def request(self, method: str, **params: Any) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        for message in self._messages():
            if message.get("id") == number and "method" not in message:
                return message["result"]
        raise AssertionError(f"no response to {method}")

    def get_diagnostics(self, uri: str) -> list[str]:
        """Wait for the diagnostics of an open file, and return their messages."""
        messages = self._messages()
        while uri not in self._diagnostics:
            next(messages)
        return self._diagnostics[uri]

    def close(self) -> None:
        self._server.kill()
        self._server.communicate()

    def _send(self, message: Mapping[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._server.stdin.flush()

    def _messages(self) -> Iterator[dict[str, Any]]:
        """Yield the messages of the server, and answer its requests for settings."""
        assert self._server.stdout is not None
        while line := self._server.stdout.readline():
            length = int(line.partition(b":")[2])
            while self._server.stdout.readline().strip():
                pass
            message = json.loads(self._server.stdout.read(length))
            method = message.get("method")
            if method == "textDocument/publishDiagnostics":
                params = message["params"]
                messages = [d["message"] for d in params["diagnostics"]]
                self._diagnostics[params["uri"]] = messages
            elif method is not None and "id" in message:
                items = message.get("params", {}).get("items", ())
                result = [SETTINGS.get(item.get("section"), {}) for item in items]
                self._send({"id": message["id"], "result": result or None})
            yield message


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    node = find_node_tools()
    if node is None:
        pytest.skip("the Node.js programs are not set up: make test-node does it")
    schemas = tmp_path / "specs" / "schemas"
    schemas.mkdir(parents=True)
    (schemas / "toolcast.schema.json").write_text(render_schema("project"))
    client = Editor(node.yaml_language_server, tmp_path)
    yield client
    client.close()


@pytest.mark.node
@pytest.mark.parametrize("kind", SPECS)
def test_yaml_language_server_reports_errors_and_completes_keys_in_each_spec_kind(
    editor: Editor, tmp_path: Path, kind: str
) -> None:
    name, body, expected_message, expected_key = SPECS[kind]
    file = tmp_path / name
    prefix = "../" * (len(Path(name).parts) - 2) if "/" in name else "specs/"
    line = f"# yaml-language-server: $schema={prefix}schemas/{DEFAULT_SCHEMA_PATTERN.format(kind)}\n"
    document = {"uri": file.as_uri()}
    content = {"languageId": "yaml", "version": 1, "text": f"{line}{body}\n"}

    editor.notify("textDocument/didOpen", textDocument={**document, **content})
    messages = editor.get_diagnostics(file.as_uri())
    start, end = {"line": 1, "character": 1}, {"line": 3, "character": 0}
    hover = editor.request("textDocument/hover", textDocument=document, position=start)
    completion = editor.request(
        "textDocument/completion", textDocument=document, position=end
    )
    labels = [item["label"] for item in completion["items"]]

    assert any(expected_message in message for message in messages), messages
    assert "Toolcast" in json.dumps(hover)
    assert expected_key in labels or not expected_key
