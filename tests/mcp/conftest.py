"""Generated project whose handlers fail, hang or print: one for the session."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.projects import generate_project
from tests.project_files import write_toolset

_INTEGER = {"type": "integer"}
_SUM = {"type": "object", "properties": {"sum": _INTEGER}, "required": ["sum"]}
_FAILURE = {"type": "object", "properties": {"how": {"type": "string"}}}


def _object_schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def _echo(**fields: Any) -> dict[str, Any]:
    return {"handler": "faulty.handlers:echo", **fields}


TOOLS: dict[str, dict[str, Any]] = {
    "add": {
        "parameters": {**_object_schema(a=_INTEGER, b=_INTEGER), "required": ["a"]},
        "returns": _SUM,
        "renamed_from": ["plus"],
    },
    "echo": {"parameters": {}, "returns": {}},
    "loose": {"parameters": {"type": "object", "properties": {"a": _INTEGER}}},
    "order": _echo(
        parameters=_object_schema(
            meta=_object_schema(n=_INTEGER), tags={"type": "array"}
        )
    ),
    "refuse": {"parameters": _object_schema(reason={"type": "string"})},
    "fail": {"parameters": _FAILURE},
    "fail_async": {"parameters": _FAILURE},
    "hang": {"timeout": 0.3},
    "hang_async": {"timeout": 0.3},
    "hang_briefly": {"handler": "faulty.handlers:hang", "timeout": 0.1},
    "wait_async": {"handler": "faulty.handlers:hang_async"},
    "cancelled": {},
    "started": {},
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
    "take_long": {"parameters": _object_schema(seconds={"type": "number"})},
    "give_up_plainly": {"handler": "faulty.handlers:wait_plainly", "timeout": 0.2},
    "unwritten": {"handler": None},
    "gone": {"handler": "faulty.handlers:gone"},
    "absent_module": {"handler": "faulty.absent:gone"},
    "odd_pattern": _echo(
        parameters=_object_schema(a={"type": "string", "pattern": "\\p{Lu}"})
    ),
    "broken_pattern": _echo(
        parameters=_object_schema(a={"type": "string", "pattern": "(unclosed"})
    ),
    "far_reference": _echo(
        parameters=_object_schema(a={"$ref": "https://example.com/schema"})
    ),
    "endless_reference": _echo(parameters={"$ref": "#"}),
    "no_schema": _echo(parameters={"properties": {"a": {"type": "whatever"}}}),
}


@pytest.fixture(scope="session")
def faulty_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a project with the toolset `faulty`; return its root folder."""
    toolset = {"name": "faulty", "title": "Faulty", "handlers": "faulty"}
    targets = {"mcp": {}, "registry": {}}
    specs: dict[str, Any] = {"toolset": {**toolset, "targets": targets}}
    for name, fields in TOOLS.items():
        spec = {"name": name, "summary": "A tool.", "parameters": _object_schema()}
        spec |= {"handler": f"faulty.handlers:{name}", **fields}
        specs[name] = {k: v for k, v in spec.items() if v is not None}
    root = write_toolset(tmp_path_factory.mktemp("faulty"), "faulty", specs)
    (root / "faulty").mkdir()
    handlers = Path(__file__).with_name("faulty_handlers.py")
    shutil.copy(handlers, root / "faulty" / "handlers.py")
    generate_project(root)
    return root
