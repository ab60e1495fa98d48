"""A small project whose tools are as unkind as handlers get, generated once a session."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.projects import generate_project

_SUM = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
}
_HOW = {"type": "object", "properties": {"how": {"type": "string"}}}


def _takes(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


_INTEGER = {"type": "integer"}
TOOLS: dict[str, dict[str, Any]] = {
    "add": {
        "parameters": {**_takes(a=_INTEGER, b=_INTEGER), "required": ["a"]},
        "returns": _SUM,
        "renamed_from": ["plus"],
    },
    "echo": {"parameters": {}, "returns": {}},
    "loose": {"parameters": {"type": "object", "properties": {"a": _INTEGER}}},
    "refuse": {"parameters": _takes(reason={"type": "string"})},
    "fail": {"parameters": _HOW},
    "fail_async": {"parameters": _HOW},
    "hang": {"timeout": 0.3},
    "hang_async": {"timeout": 0.3},
    "hang_briefly": {"handler": "unkind.handlers:hang", "timeout": 0.1},
    "wait_async": {"handler": "unkind.handlers:hang_async"},
    "cancelled": {},
    "chatter": {},
    "read_stdin": {},
    "wrong_result": {"returns": _SUM},
    "array": {"returns": {"type": "array", "items": _INTEGER}},
    "text": {},
    "picture": {},
    "measured_picture": {"returns": _SUM},
    "unmeasured_picture": {"returns": _SUM},
    "report": {},
    "report_plainly": {},
    "wait_plainly": {},
    "take_long": {"parameters": _takes(seconds={"type": "number"})},
    "give_up_plainly": {"handler": "unkind.handlers:wait_plainly", "timeout": 0.2},
    "unwritten": {"handler": None},
    "gone": {"handler": "unkind.handlers:gone"},
    "absent_module": {"handler": "unkind.absent:gone"},
    "odd_pattern": {
        "handler": "unkind.handlers:echo",
        "parameters": _takes(a={"type": "string", "pattern": "\\p{Lu}"}),
    },
    "broken_pattern": {
        "handler": "unkind.handlers:echo",
        "parameters": _takes(a={"type": "string", "pattern": "(unclosed"}),
    },
    "far_reference": {
        "handler": "unkind.handlers:echo",
        "parameters": _takes(a={"$ref": "https://example.com/schema"}),
    },
    "endless_reference": {
        "handler": "unkind.handlers:echo",
        "parameters": {"$ref": "#"},
    },
    "no_schema": {
        "handler": "unkind.handlers:echo",
        "parameters": {"properties": {"a": {"type": "whatever"}}},
    },
}


@pytest.fixture(scope="session")
def unkind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a project with the toolset `unkind`."""
    root = tmp_path_factory.mktemp("unkind")
    specs = root / "specs" / "unkind"
    specs.mkdir(parents=True)
    toolset = {
        "name": "unkind",
        "title": "Unkind",
        "handlers": "unkind",
        "targets": {"mcp": {}, "registry": {}},
    }
    _write(root / "toolcast.yaml", {"version": 1, "toolsets": ["specs/unkind"]})
    _write(specs / "toolset.yaml", toolset)
    for name, more in TOOLS.items():
        spec = {
            "name": name,
            "summary": "A tool.",
            "parameters": _takes(),
            "handler": f"unkind.handlers:{name}",
            **more,
        }
        if spec["handler"] is None:
            del spec["handler"]
        _write(specs / f"{name}.yaml", spec)
    (root / "unkind").mkdir()
    handlers = Path(__file__).with_name("unkind_handlers.py")
    shutil.copy(handlers, root / "unkind" / "handlers.py")
    generate_project(root)
    return root


def _write(path: Path, value: Any) -> None:
    """JSON is YAML too."""
    path.write_text(json.dumps(value), encoding="utf-8")
