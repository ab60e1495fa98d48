"""Hostile text in resources and MCP prompts: only data in definitions, never code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.project_files import write_toolset
from toolcast.pipeline import generate

TEXTS = [
    '"""\nimport os\nos.system("date")\n"""',
    "'; import os #",
    "\\",
    "{{ view.header }} {% include 'x' %}",
    "# type: ignore\n# fmt: off",
    "</script><!-- \u2028",
    "\\u0022 \\N{BULLET} %s {0} $HOME",
    "<<<<<<< HEAD",
]


def generate_files(root: Path, text: str) -> dict[str, bytes]:
    specs = {
        "toolset": {"name": "x", "title": "X", "targets": {"mcp": {}, "registry": {}}},
        "note": {"name": "note", "summary": "x", "parameters": {"type": "object"}},
        "mcp_resources/guide": {
            "name": "guide",
            "listed_name": text,
            "title": text,
            "description": text,
            "uri": "guide://a",
            "text": text,
        },
        "mcp_resources/page": {
            "name": "page",
            "description": text,
            "uri": "page://a",
            "file": "page.txt",
        },
        "mcp_prompts/ask": {
            "name": "ask",
            "title": text,
            "description": text,
            "arguments": [{"name": "a", "description": text, "enum": [text]}],
            "messages": [{"text": "{{a}}"}, {"role": "assistant", "text": "x"}],
        },
    }
    # Escaped: YAML would fold an unescaped line separator.
    write_toolset(root, "x", {name: json.dumps(spec) for name, spec in specs.items()})
    (root / "specs/x/page.txt").write_bytes(text.encode())
    files = dict(generate(str(root)).files)
    assert files
    return files


@pytest.mark.parametrize("text", TEXTS)
def test_hostile_resource_text_is_only_in_json_files(tmp_path: Path, text: str) -> None:
    hostile = generate_files(tmp_path / "a", text)
    harmless = generate_files(tmp_path / "b", "x")
    assert hostile.keys() == harmless.keys()
    changed = {path for path in hostile if hostile[path] != harmless[path]}
    guide, page = "x/mcp_resources/guide.json", "x/mcp_resources/page.json"
    ask = "x/mcp_prompts/ask.json"
    assert changed == {guide, page, ask}
    definitions = {path: json.loads(hostile[path]) for path in changed}
    assert definitions[guide]["text"] == text
    members = ("name", "title", "description")
    assert [definitions[guide]["mcp"][key] for key in members] == [text] * 3
    assert definitions[guide]["name"] == "guide"
    assert definitions[page]["text"] == text
    assert definitions[ask]["mcp"]["arguments"][0]["description"] == text
    assert definitions[ask]["values"] == {"a": [text]}
