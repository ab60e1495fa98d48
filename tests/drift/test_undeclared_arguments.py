"""A caller sets no parameter of a handler that the schema does not show it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.projects import generate_project
from tests.mcp.servers import ERAS, http_server, stdio_server
from toolcast_runtime.calls.handlers import HandlerAdapter
from toolcast_runtime.validation import DeclaredNames

HANDLERS = '''
def keyword(text="", is_admin=False, db=None, self=None, cls=None):
    """What callers were never told of is for tests."""
    return {"text": text, "is_admin": is_admin, "db": db, "self": self, "cls": cls}


def anything(text="", db=None, **rest):
    return {"text": text, "db": db, "rest": rest}


def placed(db=None, /, text="", **rest):
    return {"text": text, "db": db, "rest": rest}


def mapped(arguments, /):
    return arguments
'''
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
TOOLS = {
    "open": ("keyword", TEXT),
    "wide": ("keyword", {**TEXT, "additionalProperties": True}),
    "typed": ("keyword", {**TEXT, "additionalProperties": {"type": "boolean"}}),
    "closed": ("keyword", {**TEXT, "additionalProperties": False}),
    "empty": ("keyword", {}),
    "rest": ("anything", TEXT),
    "placed": ("placed", TEXT),
    "mapped": ("mapped", TEXT),
}
REFUSED = ("open", "wide", "closed", "empty", "rest", "placed")
HOSTILE: dict[str, Any] = {
    "is_admin": True,
    "db": "sqlite:////etc/passwd",
    "self": 1,
    "cls": 1,
    "class": 1,
    "return": 1,
    "rest": {"db": 1},
    "__class__": 1,
    "TEXT": "x",
    "text ": "x",
    "te\u200bxt": "x",
    "": 1,
    "a`b": 1,
}

Call = Callable[[str, Mapping[str, Any]], str]
"""Calls a tool; the error's text, empty when it was done."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("undeclared")
    (root / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/shy]\n")
    (root / "shy_handlers.py").write_text(HANDLERS)
    folder = root / "specs" / "shy"
    folder.mkdir(parents=True)
    toolset = {"name": "shy", "title": "Shy", "handlers": "shy_handlers"}
    (folder / "toolset.yaml").write_text(json.dumps(toolset))
    for name, (handler, schema) in TOOLS.items():
        spec = {
            "name": name,
            "summary": "Takes a text.",
            "parameters": schema,
            "handler": f"shy_handlers:{handler}",
            "cli": {"keyword": name},
        }
        (folder / f"{name}.yaml").write_text(json.dumps(spec))
    generate_project(root)
    return root


PROGRAM = """
import asyncio, importlib, json, sys
way, tool, arguments = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
if way == "registry":
    from generated.shy.registry import call_tool_sync
    print(call_tool_sync(tool, arguments).error or "", end="")
else:
    from langchain_core.messages import ToolCall
    from generated.shy.langchain_tools import get_langchain_tool
    call = ToolCall(name=tool, args=arguments, id="1", type="tool_call")
    said = get_langchain_tool(tool).invoke(call)
    print(said.content if said.status == "error" else "", end="")
"""


@contextmanager
def calls(way: str, root: Path) -> Iterator[Call]:
    """Calls tools of the project in one of the ways that callers have."""
    from tests.conftest import Project

    project = Project(root)
    if way in ("registry", "langchain"):

        def in_python(tool: str, arguments: Mapping[str, Any]) -> str:
            ended = project.run("-c", PROGRAM, way, tool, json.dumps(arguments))
            assert ended.returncode == 0, ended.stderr
            return ended.stdout

        yield in_python
    elif way == "cli":

        def in_shell(tool: str, arguments: Mapping[str, Any]) -> str:
            module = ("-m", "generated.shy.cli", tool)
            ended = project.run(*module, "--arguments", json.dumps(arguments))
            return ended.stderr if ended.returncode else ""

        yield in_shell
    else:
        transport, _, era = way.partition(" ")
        if transport == "stdio":
            with stdio_server(root, "generated.shy", era=era) as server:
                yield lambda t, a: _error(server.call(t, a))
        else:
            with http_server(root, "generated.shy") as http:

                def over_http(tool: str, arguments: Mapping[str, Any]) -> str:
                    given = {"name": tool, "arguments": dict(arguments)}
                    return _error(http.request(era, "tools/call", given))

                yield over_http


def _error(answer: dict[str, Any]) -> str:
    result = answer["result"]
    return str(result["content"][0]["text"]) if result["isError"] else ""


WAYS = [
    "registry",
    "langchain",
    "cli",
    *(f"{way} {era}" for way in ("stdio", "http") for era in ERAS),
]


@pytest.mark.parametrize("way", WAYS)
def test_what_the_schema_does_not_declare_is_refused_by_name(
    way: str, root: Path
) -> None:
    with calls(way, root) as call:
        for tool in REFUSED:
            error = call(tool, {"is_admin": True, "db": "evil"})
            assert "`is_admin` is not a parameter" in error, (tool, error)
            assert "`db` is not a parameter" in error, (tool, error)
        assert "`is_admin` is not a parameter" in call("typed", {"is_admin": True})
        assert call("mapped", {"is_admin": True}) == "", "one mapping may hold it"
        assert call("open", {"text": "x"}) == ""


EACH = """
import json, sys
from generated.shy.registry import call_tool_sync
tools, hostile = json.loads(sys.argv[1])
said = {(t, n): call_tool_sync(t, {n: v}).error for t in tools for n, v in hostile.items()}
print([place for place, error in said.items() if "is not a parameter" not in (error or "")])
"""


def test_hostile_names_reach_no_handler(root: Path) -> None:
    from tests.conftest import Project

    ended = Project(root).run("-c", EACH, json.dumps([REFUSED, HOSTILE]))
    assert ended.stdout == "[]\n", ended.stdout + ended.stderr


X: dict[str, Any] = {"properties": {"x": {}}}
DECLARING: dict[str, dict[str, Any]] = {
    "properties": X,
    "$ref": {"$ref": "#/$defs/more", "$defs": {"more": X}},
    "$ref to an anchor": {"$ref": "#more", "$defs": {"a": {"$anchor": "more", **X}}},
    "$ref to an id": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "allOf": [{"$ref": "#more"}],
        "definitions": {"a": {"$id": "#more", **X}},
    },
    "a reference to a reference": {
        "$ref": "#/$defs/one",
        "$defs": {"one": {"$ref": "#/$defs/two"}, "two": X},
    },
    "$dynamicRef": {"$dynamicRef": "#m", "$defs": {"a": {"$dynamicAnchor": "m", **X}}},
    "allOf": {"allOf": [{}, X]},
    "anyOf": {"anyOf": [{}, X]},
    "oneOf": {"oneOf": [X, {"required": ["y"]}]},
    "alternatives within": {"anyOf": [{"allOf": [{"oneOf": [X]}]}]},
    "if": {"if": X},
    "then": {"if": {}, "then": X},
    "else": {"if": False, "else": X},
    "dependentSchemas": {"dependentSchemas": {"y": X}},
    "dependencies": {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "dependencies": {"y": X, "z": ["y"]},
    },
    "patternProperties": {"patternProperties": {"^x$": {}}},
    "patternProperties of an alternative": {
        "anyOf": [{"patternProperties": {"[x-z]": {}}}]
    },
    "a pattern of ECMA 262": {"patternProperties": {"^\\p{Ll}$": {}}},
}
NOT_DECLARING: dict[str, dict[str, Any]] = {
    "nothing": {},
    "additionalProperties": {"additionalProperties": {}},
    "unevaluatedProperties": {"unevaluatedProperties": True},
    "propertyNames": {"propertyNames": {"maxLength": 9}},
    "not": {"not": {**X, "required": ["x", "y"]}},
    "an inner one": {"properties": {"y": X}},
    "of items": {"items": X},
    "a definition that nobody names": {"$defs": {"more": X}},
    "a pattern": {"patternProperties": {"^y": {}}},
    "a pattern that never ends": {"patternProperties": {"^(x+x+)+y(?=z)": {}}},
    "a reference that leads nowhere": {"$ref": "#/$defs/more"},
    "a reference that leads away": {"$ref": "https://example.com/x"},
    "no schema": {"properties": ["x"], "allOf": "x", "patternProperties": 3},
}


def keyword(x: Any = None) -> Any:
    return x


@pytest.mark.parametrize("schema", DECLARING.values(), ids=DECLARING)
def test_every_way_to_declare_counts(schema: dict[str, Any]) -> None:
    declared = DeclaredNames(schema)
    assert declared.lacks(["x", "db"]) == ["db"]

    def two(x: Any = None, db: Any = None) -> Any:
        return x

    assert HandlerAdapter(two, declared).not_taken({"x": 1, "db": 2}) == ["db"]


@pytest.mark.parametrize("schema", NOT_DECLARING.values(), ids=NOT_DECLARING)
def test_what_merely_lets_in_declares_nothing(schema: dict[str, Any]) -> None:
    assert DeclaredNames(schema).lacks(["x" * 30, "x"]) == ["x" * 30, "x"]


def test_a_parameter_that_a_reference_declares_is_no_mapping() -> None:
    schema = {"$ref": "#/$defs/more", "$defs": {"more": X}}
    adapter = HandlerAdapter(keyword, DeclaredNames(schema))
    assert not adapter.takes_mapping
    assert adapter({"x": 7}) == 7
