"""Benign twins: toolsets without text, whose generated code has the same structure."""

from __future__ import annotations

import ast
import copy
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import ANY
from zlib import crc32

from tests.package.conftest import PYPROJECT
from tests.project_files import write_files, write_toolset
from tests.repository import EXTENSIONS
from toolcast.findings import Severity
from toolcast.pipeline import generate

Specs = dict[str, dict[str, Any]]
"""Values of the files of a toolset by stem: `toolset`, and one for each tool."""

_TEXTS = ("title", "summary", "description", "when_to_use", "guidance", "service")
_SCHEMA_TEXTS = ("title", "description", "$comment", "x-note")
_TOOLSET_TEXTS = ("title", "version", "instructions")


def write_project(root: Path, specs: Specs) -> None:
    """Write a workspace with JSON as YAML, so that all strings stay exact."""
    write_toolset(root, "x", specs, extensions=list(EXTENSIONS))
    write_files(root, {"pyproject.toml": PYPROJECT})


def make_twin(specs: Specs) -> Specs:
    """Return a copy of the toolset with every free text replaced by `x`."""
    result = copy.deepcopy(specs)
    toolset = result["toolset"]
    for key in _TOOLSET_TEXTS:
        if isinstance(toolset.get(key), str):
            toolset[key] = "x"
    for section in toolset.get("sections", {}).values():
        for key in section:
            section[key] = "x"
    for option in ("preamble", "skill"):
        for key in toolset.get(option, {}):
            toolset[option][key] = _blank_strings(toolset[option][key])
    cli = (toolset.get("targets") or {}).get("cli") or {}
    for key in ("program", "heading", "intro"):
        if key in cli:
            cli[key] = "x"
    if "closing" in cli:
        cli["closing"] = ["x" for _ in cli["closing"]]
    package = (toolset.get("targets") or {}).get("package") or {}
    for variable in package.get("environment", {}).values():
        variable["description"] = "x"
    agents = toolset.get("letta", {}).get("agents", {})
    for agent in agents.values():
        for entry in agent.get("forbids", ()):
            entry["reason"] = "x"
    for name, tool in result.items():
        if name != "toolset":
            _blank_tool(tool)
    return result


def _blank_tool(tool: dict[str, Any]) -> None:
    # The value that selects an action is a name that other fields repeat.
    router = tool.get("actions", {}).get("parameter")
    properties = tool["parameters"].get("properties", {})
    kept = copy.deepcopy(properties.get(router)) if router else None
    for key in _TEXTS:
        if isinstance(tool.get(key), str) and tool[key]:
            # Guidance that only repeats the summary is a finding.
            tool[key] = "x y z w" if key in ("when_to_use", "guidance") else "x"
    for key in ("parameters", "returns"):
        if isinstance(tool.get(key), dict):
            _blank_schema(tool[key])
    if kept is not None:
        blank = {"description": "x"} if "description" in kept else {}
        properties[router] = {**kept, **blank}
    for action in tool.get("actions", {}).get("values", {}).values():
        if action.get("summary"):
            action["summary"] = "x"
    for example in tool.get("examples", ()):
        for key in ("title", "error"):
            if example.get(key):
                example[key] = "x"
        for key in ("arguments", "result"):
            if key in example:
                chosen = example[key].get(router) if router else None
                example[key] = _blank_strings(example[key])
                if chosen is not None:
                    example[key][router] = chosen
    for key in ("comment", "reason"):
        for decision in ("cli", "letta"):
            if tool.get(decision, {}).get(key):
                tool[decision][key] = "x"
    if "confirm" in tool:
        tool["confirm"]["message"] = "x"
        _blank_schema(tool["confirm"].get("when"))
    for key in ("annotations", "meta", "icons"):
        if tool.get(key) is not None:
            tool[key] = _blank_strings(tool[key])


def _blank_schema(schema: Any) -> None:
    if isinstance(schema, list):
        for item in schema:
            _blank_schema(item)
        return
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key in _SCHEMA_TEXTS and isinstance(value, str):
            schema[key] = "x"
        elif key in ("default", "examples"):
            schema[key] = _blank_strings(value)
        elif key == "enum" and isinstance(value, list):
            # Types list each value once, so distinct values must stay distinct.
            schema[key] = [_blank_choice(choice) for choice in value]
        elif key in ("properties", "$defs", "definitions", "patternProperties"):
            for inner in value.values() if isinstance(value, dict) else ():
                _blank_schema(inner)
        else:
            _blank_schema(value)


def _blank_choice(value: Any) -> Any:
    is_text = isinstance(value, str)
    return f"x{crc32(value.encode('utf-8', 'surrogatepass'))}" if is_text else value


def _blank_strings(value: Any) -> Any:
    if isinstance(value, str):
        return "x"
    if isinstance(value, list):
        return [_blank_strings(item) for item in value]
    if isinstance(value, dict):
        return {key: _blank_strings(item) for key, item in value.items()}
    return value


class _Blank(ast.NodeTransformer):
    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        return self.generic_visit(node)


def extract_structure(path: str, data: bytes) -> Any:
    """Return the AST, the JSON without strings, or the headings of a file."""
    text = data.decode("utf-8")
    if path.endswith(".py"):
        return ast.dump(_Blank().visit(ast.parse(text)))
    if path.endswith(".json"):
        return _strip_json(json.loads(text))
    return [
        line
        for line in _list_lines_outside_fences(text)
        if re.match(r" {0,3}#{1,6}(\s|$)", line)
    ]


def _strip_json(value: Any) -> Any:
    """Return a value without strings, and without line counts that depend on text."""
    if isinstance(value, dict):
        return {
            key: "" if key == "usage" and "bullet" in value else _strip_json(item)
            for key, item in value.items()
            if key != "when_lines" and item != {"when_lines": ANY}
        }
    if isinstance(value, list):
        return [_strip_json(item) for item in value]
    return "" if isinstance(value, str) else repr(value)


def _list_lines_outside_fences(text: str) -> Iterator[str]:
    fence = ""
    for line in text.split("\n"):
        match = re.match(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})", line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence):
            fence = ""
        elif not fence:
            yield line


def generate_files(root: Path, specs: Specs) -> Mapping[str, bytes]:
    """Return the files that are generated from a toolset."""
    write_project(root, specs)
    result = generate(str(root))
    errors = [f for f in result.findings if f.severity is Severity.ERROR]
    assert not errors, [f"{f.rule}: {f.message}" for f in errors]
    return result.files


def check_same_structure(tmp_path: Path, specs: Specs) -> None:
    """Check that free text changed only string constants of the generated files.

    Headings are texts of the toolset, so Markdown files are compared by their number.
    """
    real = generate_files(tmp_path / "real", specs)
    benign = generate_files(tmp_path / "benign", make_twin(specs))
    assert set(real) == set(benign)
    for path, data in real.items():
        structure = extract_structure(path, data)
        expected = extract_structure(path, benign[path])
        if path.endswith(".md"):
            structure, expected = len(structure), len(expected)
        if path.endswith("SKILL.md") and structure < expected:
            continue  # A tool with only blank text has no heading in a skill.
        assert structure == expected, f"{path}: a text changed the structure"
