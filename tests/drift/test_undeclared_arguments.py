"""Arguments that the schema does not declare never reach a handler's parameters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project
from tests.mcp.projects import generate_project
from tests.mcp.servers import ERAS, http_server, stdio_server
from tests.project_files import write_files, write_toolset
from toolcast_runtime.core.calls.handlers import HandlerAdapter
from toolcast_runtime.core.validation.checker import DeclaredNames

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
STRICT = ("open", "wide", "closed", "empty", "rest", "placed")
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

Calls = list[tuple[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    toolset = {"name": "shy", "title": "Shy", "handlers": "shy_handlers"}
    specs: dict[str, Any] = {"toolset": toolset}
    for name, (handler, schema) in TOOLS.items():
        specs[name] = {
            "name": name,
            "summary": "Takes a text.",
            "parameters": schema,
            "handler": f"shy_handlers:{handler}",
            "cli": {"keyword": name},
        }
    root = write_toolset(tmp_path_factory.mktemp("undeclared"), "shy", specs)
    write_files(root, {"shy_handlers.py": HANDLERS})
    generate_project(root)
    return root


PROGRAM = """
import json, sys
from click.testing import CliRunner
from langchain_core.messages import ToolCall
from generated.shy.cli import main
from generated.shy.langchain_tools import get_langchain_tool
from generated.shy.registry import call_tool_sync

def call_registry(tool, arguments):
    return call_tool_sync(tool, arguments).error or ""

def call_langchain(tool, arguments):
    call = ToolCall(name=tool, args=arguments, id="1", type="tool_call")
    result = get_langchain_tool(tool).invoke(call)
    return result.content if result.status == "error" else ""

def call_cli(tool, arguments):
    result = CliRunner().invoke(main, [tool, "--arguments", json.dumps(arguments)])
    return result.stderr if result.exit_code else ""

calls = json.loads(sys.stdin.read())
for function in (call_registry, call_langchain, call_cli):
    print(json.dumps([function(*call) for call in calls]))
"""
HOSTILE_CALLS: Calls = [(t, {n: v}) for t in STRICT for n, v in HOSTILE.items()]
CALLS: Calls = [
    *((tool, {"is_admin": True, "db": "evil"}) for tool in STRICT),
    ("typed", {"is_admin": True}),
    ("mapped", {"is_admin": True}),
    ("open", {"text": "x"}),
]


def assert_rejected(errors: list[str]) -> None:
    """Assert that each call of CALLS failed by name, except the last two."""
    *rejected, typed, mapped, accepted = errors
    assert len(rejected) == len(STRICT)
    for error in rejected:
        assert "`is_admin` is not a parameter" in error, rejected
        assert "`db` is not a parameter" in error, rejected
    assert "`is_admin` is not a parameter" in typed
    assert mapped == "", "one mapping may hold it"
    assert accepted == ""


def _get_error(answer: dict[str, Any]) -> str:
    result = answer["result"]
    return str(result["content"][0]["text"]) if result["isError"] else ""


def test_undeclared_argument_is_rejected_by_registry_langchain_and_cli(
    root: Path,
) -> None:
    calls = json.dumps([*CALLS, *HOSTILE_CALLS])
    result = Project(root).run("-c", PROGRAM, input=calls)
    assert result.returncode == 0, result.stderr
    outputs = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(outputs) == 3
    for errors in outputs:
        assert_rejected(errors[: len(CALLS)])
        for error, call in zip(errors[len(CALLS) :], HOSTILE_CALLS, strict=True):
            assert "is not a parameter" in error, call


@pytest.mark.rows(1)
@pytest.mark.parametrize("era", ERAS)
def test_undeclared_argument_is_rejected_over_stdio(era: str, root: Path) -> None:
    with stdio_server(root, "generated.shy", era=era) as server:
        assert_rejected([_get_error(server.call(*call)) for call in CALLS])


@pytest.mark.slow
def test_undeclared_argument_is_rejected_over_http(root: Path) -> None:
    requests = [{"name": tool, "arguments": arguments} for tool, arguments in CALLS]
    with http_server(root, "generated.shy") as http:
        for era in ERAS:
            answers = [http.request(era, "tools/call", request) for request in requests]
            assert_rejected([_get_error(answer) for answer in answers])


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
    "nested alternatives": {"anyOf": [{"allOf": [{"oneOf": [X]}]}]},
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
    "a nested property": {"properties": {"y": X}},
    "items": {"items": X},
    "an unused definition": {"$defs": {"more": X}},
    "a pattern": {"patternProperties": {"^y": {}}},
    "a slow pattern": {"patternProperties": {"^(x+x+)+y(?=z)": {}}},
    "an unresolved reference": {"$ref": "#/$defs/more"},
    "a remote reference": {"$ref": "https://example.com/x"},
    "invalid keywords": {"properties": ["x"], "allOf": "x", "patternProperties": 3},
}


def keyword(x: Any = None) -> Any:
    return x


@pytest.mark.parametrize("schema", DECLARING.values(), ids=DECLARING)
def test_argument_declared_by_any_json_schema_keyword_is_accepted_and_others_rejected(
    schema: dict[str, Any],
) -> None:
    declared = DeclaredNames(schema)
    assert declared.find_undeclared(["x", "db"]) == ["db"]

    def work(x: Any = None, db: Any = None) -> Any:
        return x

    assert HandlerAdapter(work, declared).find_rejected({"x": 1, "db": 2}) == ["db"]


@pytest.mark.parametrize("schema", NOT_DECLARING.values(), ids=NOT_DECLARING)
def test_json_schema_keyword_that_only_allows_a_property_does_not_declare_it(
    schema: dict[str, Any],
) -> None:
    assert DeclaredNames(schema).find_undeclared(["x" * 30, "x"]) == ["x" * 30, "x"]


def test_handler_gets_keyword_arguments_for_properties_behind_a_ref() -> None:
    schema = {"$ref": "#/$defs/more", "$defs": {"more": X}}
    adapter = HandlerAdapter(keyword, DeclaredNames(schema))
    assert not adapter.accepts_mapping
    assert adapter({"x": 7}) == 7
