"""A toolset and its twin without words: what a spec says must not change what code does."""

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
from tests.repository import EXTENSIONS
from toolcast.findings import Severity
from toolcast.pipeline import generate

Specs = dict[str, dict[str, Any]]
"""A toolset: `toolset` for its own file, and one entry a tool."""

_TEXTS = ("title", "summary", "description", "when_to_use", "guidance", "service")
_SCHEMA_TEXTS = ("title", "description", "$comment", "x-note")
_TOOLSET_TEXTS = ("title", "version", "instructions")


def write_project(root: Path, specs: Specs) -> None:
    """Writes a workspace whose YAML is JSON, so that every text is exactly as given."""
    folder = root / "specs" / "x"
    folder.mkdir(parents=True, exist_ok=True)
    workspace = {
        "version": 1,
        "toolsets": ["specs/x"],
        "extensions": list(EXTENSIONS),
    }
    (root / "toolcast.yaml").write_text(json.dumps(workspace), "utf-8")
    (root / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    for name, value in specs.items():
        text = json.dumps(value, ensure_ascii=False)
        (folder / f"{name}.yaml").write_text(text, "utf-8")


def twin(specs: Specs) -> Specs:
    """The same toolset with every free text replaced by `x`."""
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
    for asked in package.get("environment", {}).values():
        asked["description"] = "x"
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
            # Guidance needs some words of its own.
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
            # Distinct ones stay distinct, and equal ones equal: types list each once.
            schema[key] = [
                (
                    f"x{crc32(v.encode('utf-8', 'surrogatepass'))}"
                    if isinstance(v, str)
                    else v
                )
                for v in value
            ]
        elif key in ("properties", "$defs", "definitions", "patternProperties"):
            for inner in value.values() if isinstance(value, dict) else ():
                _blank_schema(inner)
        else:
            _blank_schema(value)


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


def shape_of(path: str, data: bytes) -> Any:
    """What must be the same in the twin: the AST, the JSON without texts, the headings."""
    text = data.decode("utf-8")
    if path.endswith(".py"):
        return ast.dump(_Blank().visit(ast.parse(text)))
    if path.endswith(".json"):
        return _json_shape(json.loads(text))
    return [
        line for line in _outside_fences(text) if re.match(r" {0,3}#{1,6}(\s|$)", line)
    ]


def _json_shape(value: Any) -> Any:
    """Everything but texts; how many lines a tool's docs have is their text's matter."""
    if isinstance(value, dict):
        return {
            key: "" if key == "usage" and "bullet" in value else _json_shape(item)
            for key, item in value.items()
            if key != "when_lines" and item != {"when_lines": ANY}
        }
    if isinstance(value, list):
        return [_json_shape(item) for item in value]
    return "" if isinstance(value, str) else repr(value)


def _outside_fences(text: str) -> Iterator[str]:
    fence = ""
    for line in text.split("\n"):
        match = re.match(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})", line)
        if match and not fence:
            fence = match[1]
        elif match and match[1].startswith(fence):
            fence = ""
        elif not fence:
            yield line


def generated(root: Path, specs: Specs) -> Mapping[str, bytes]:
    """The files that a toolset gives."""
    write_project(root, specs)
    given = generate(str(root))
    errors = [f for f in given.findings if f.severity is Severity.ERROR]
    assert not errors, [f"{f.rule}: {f.message}" for f in errors]
    return given.files


def assert_twin(tmp_path: Path, specs: Specs) -> None:
    """Fails when a free text changed more than string constants.

    Headings are texts of the toolset, so Markdown is compared by their number.
    """
    real = generated(tmp_path / "real", specs)
    benign = generated(tmp_path / "benign", twin(specs))
    assert set(real) == set(benign)
    for path, data in real.items():
        mine, theirs = shape_of(path, data), shape_of(path, benign[path])
        if path.endswith(".md"):
            mine, theirs = len(mine), len(theirs)
        if path.endswith("SKILL.md") and mine < theirs:
            continue  # a tool of which blank texts say nothing has no heading there
        assert mine == theirs, f"{path}: a text changed the structure"
