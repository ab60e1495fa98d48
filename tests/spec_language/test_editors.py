"""The YAML language server completes, explains and checks specs by the one schema file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.node_setup import installed
from toolcast.model.spec_schema import DEFAULT_SCHEMA_PATTERN
from toolcast.spec_language.spec_language import render_schema

OWN = {"yaml": {"schemaStore": {"enable": False}}}
# A file of each kind with a mistake, what is said of it, and a key that is offered.
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
    """A client of the language server, in a folder that it has open."""

    def __init__(self, command: tuple[str, ...], folder: Path) -> None:
        self._server = subprocess.Popen(
            [*command, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._told: dict[str, list[str]] = {}
        self._number = 0
        where = {"uri": folder.as_uri(), "name": "project"}
        client = {"workspace": {"configuration": True}}
        self.ask(
            "initialize",
            processId=None,
            rootUri=folder.as_uri(),
            workspaceFolders=[where],
            capabilities=client,
        )
        self.tell("initialized")

    def tell(self, method: str, **params: Any) -> None:
        self._send({"method": method, "params": params})

    def ask(self, method: str, **params: Any) -> Any:
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        for message in self._messages():
            if message.get("id") == number and "method" not in message:
                return message["result"]
        raise AssertionError(f"no answer to {method}")

    def problems(self, uri: str) -> list[str]:
        """What the server says of an open file."""
        messages = self._messages()
        while uri not in self._told:
            next(messages)
        return self._told[uri]

    def close(self) -> None:
        self._server.kill()
        self._server.communicate()

    def _send(self, message: Mapping[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._server.stdin is not None
        self._server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self._server.stdin.flush()

    def _messages(self) -> Iterator[dict[str, Any]]:
        """The server's messages; its own questions are answered on the way."""
        assert self._server.stdout is not None
        while line := self._server.stdout.readline():
            length = int(line.partition(b":")[2])
            while self._server.stdout.readline().strip():
                pass
            message = json.loads(self._server.stdout.read(length))
            method = message.get("method")
            if method == "textDocument/publishDiagnostics":
                params = message["params"]
                self._told[params["uri"]] = [
                    d["message"] for d in params["diagnostics"]
                ]
            elif method is not None and "id" in message:
                asked = (
                    message["params"].get("items", ()) if "params" in message else ()
                )
                result = [OWN.get(item.get("section"), {}) for item in asked]
                self._send({"id": message["id"], "result": result or None})
            yield message


@pytest.fixture
def editor(tmp_path: Path) -> Iterator[Editor]:
    node = installed()
    if node is None:
        pytest.skip("the Node.js programs are not set up: make test-node does it")
    schemas = tmp_path / "specs" / "schemas"
    schemas.mkdir(parents=True)
    (schemas / "toolcast.schema.json").write_text(render_schema("project"))
    opened = Editor(node.yaml_language_server, tmp_path)
    yield opened
    opened.close()


@pytest.mark.node
@pytest.mark.parametrize("kind", SPECS)
def test_a_spec_of_each_kind(editor: Editor, tmp_path: Path, kind: str) -> None:
    name, body, said, offered = SPECS[kind]
    file = tmp_path / name
    up = "../" * (len(Path(name).parts) - 2) if "/" in name else "specs/"
    line = f"# yaml-language-server: $schema={up}schemas/{DEFAULT_SCHEMA_PATTERN.format(kind)}\n"
    document = {"uri": file.as_uri()}
    opened = {"languageId": "yaml", "version": 1, "text": f"{line}{body}\n"}

    editor.tell("textDocument/didOpen", textDocument={**document, **opened})
    problems = editor.problems(file.as_uri())
    start, end = {"line": 1, "character": 1}, {"line": 3, "character": 0}
    hover = editor.ask("textDocument/hover", textDocument=document, position=start)
    offers = editor.ask("textDocument/completion", textDocument=document, position=end)
    labels = [item["label"] for item in offers["items"]]

    assert any(said in problem for problem in problems), problems
    assert "Toolcast" in json.dumps(hover)
    assert offered in labels or not offered
