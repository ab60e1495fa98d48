"""Command-line arguments of `toolcast call`, parsed by the parameters' schemas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolcast.commands.call.arguments import (
    ArgumentParseError,
    OfferedTools,
    Request,
    call_once,
    describe_parameters,
    parse_arguments,
)
from toolcast_runtime.core.definitions.tool import Tool

TOOL = Tool(
    "find",
    "Finds.",
    "Finds.",
    {
        "name": "find",
        "inputSchema": {
            "type": "object",
            "required": ["text"],
            "properties": {
                "text": {"type": "string"},
                "limit": {"type": "integer"},
                "exact": {"type": "boolean"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "loose": {"type": "array"},
                "where": {"$ref": "#/$defs/where"},
                "level": {"enum": ["low", "high"]},
            },
            "$defs": {"where": {"type": "object"}},
        },
    },
)


@pytest.mark.parametrize(
    ("texts", "arguments"),
    [
        (["text=5"], {"text": "5"}),
        (["text="], {"text": ""}),
        (["text=a=b:=c"], {"text": "a=b:=c"}),
        (["limit=5", "exact=true"], {"limit": 5, "exact": True}),
        (["limit=many"], {"limit": "many"}),
        (["tags=a", "tags=b,c"], {"tags": ["a", "b,c"]}),
        (["loose=[1, 2]"], {"loose": [1, 2]}),
        (['where={"a": 1}'], {"where": {"a": 1}}),
        (["text:=null", 'where:=["b"]'], {"text": None, "where": ["b"]}),
        (["unknown=1"], {"unknown": 1}),
        (["level=high"], {"level": "high"}),
    ],
)
def test_toolcast_call_parses_name_equals_text_arguments_by_the_parameters_type(
    texts: list[str], arguments: dict[str, Any]
) -> None:
    assert parse_arguments(TOOL, texts, None) == arguments


def test_toolcast_call_arguments_override_the_json_file(tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    file.write_text('{"text": "old", "limit": 1}', "utf-8")
    arguments = parse_arguments(TOOL, ["text=new"], f"@{file}")
    assert arguments == {"text": "new", "limit": 1}


@pytest.mark.parametrize(
    ("texts", "json_text", "lines"),
    [
        (["text"], None, ["`text` is neither NAME=TEXT nor NAME:=JSON"]),
        (["=x\x1b"], None, ["`=x\\x1b` is neither NAME=TEXT nor NAME:=JSON"]),
        (
            ["limit:=five", "where=six", "text=a", "text=b"],
            None,
            [
                "`limit`: not JSON: Expecting value (line 1, column 1)",
                "`where`: not JSON: Expecting value (line 1, column 1)",
                "`text`: the parameter is passed more than once and is not an array",
            ],
        ),
        (["limit:=NaN"], None, ["`limit`: not JSON: NaN is not a JSON number"]),
        (
            ["text=a", "text:=1", "limit:=1", "limit=2"],
            None,
            [
                "`text` has both a NAME=TEXT and a NAME:=JSON value",
                "`limit` has both a NAME=TEXT and a NAME:=JSON value",
            ],
        ),
        ([], "[1]", ["--arguments: not a JSON object"]),
        ([], "[" * 100_000, ["--arguments: not JSON: it is nested too deeply"]),
        (
            [],
            "@/nothing",
            ["--arguments: /nothing cannot be read: No such file or directory"],
        ),
    ],
)
def test_toolcast_call_reports_one_line_per_unparsable_argument(
    texts: list[str], json_text: str | None, lines: list[str]
) -> None:
    with pytest.raises(ArgumentParseError) as raised:
        parse_arguments(TOOL, texts, json_text)
    assert str(raised.value).split("\n") == lines


def test_toolcast_call_describes_parameters_by_argument_syntax_and_type() -> None:
    assert list(describe_parameters(TOOL)) == [
        "text=... (string, required)",
        "limit=... (integer)",
        "exact=... (boolean)",
        "tags=... (array)",
        "loose=... (array)",
        "where:=... (object)",
        "level=... (one of low, high)",
    ]


def test_toolcast_call_parses_nullable_parameters_by_their_type_other_than_null() -> (
    None
):
    nullable = {
        "anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]
    }
    level = {"type": ["string", "null"], "enum": ["low", None]}
    number = {"type": ["integer", "null"]}
    properties = {"ids": nullable, "n": number, "any": {}, "level": level}
    schema = {"type": "object", "properties": properties}
    tool = Tool("f", "F.", "F.", {"name": "f", "inputSchema": schema})
    arguments = parse_arguments(tool, ["ids=1", "ids=2", "n=null"], None)
    assert arguments == {"ids": [1, 2], "n": None}
    assert list(describe_parameters(tool)) == [
        "ids=... (array or null)",
        "n=... (integer or null)",
        "any:=... (any value)",
        "level=... (one of low, null)",
    ]


@pytest.mark.parametrize(("count", "more"), [(60, []), (61, ["  and 1 more"])])
async def test_call_without_or_with_invalid_arguments_lists_60_names_and_returns_2(
    capsys: pytest.CaptureFixture[str], count: int, more: list[str]
) -> None:
    """Without a tool, tools are listed; for invalid arguments, the parameters."""
    names = [f"n{number}" for number in range(10, 10 + count)]
    properties = {name: {"type": "string"} for name in names}
    definition = {"inputSchema": {"type": "object", "properties": properties}}
    tools = {name: Tool(name, "Is one.", "", definition) for name in names}

    async def call(*_: Any) -> dict[str, Any]:
        raise AssertionError("the tool must not be called")

    offered = OfferedTools("the toolset toy", tools, lambda *_: ["`n1` is odd"], call)
    assert await call_once(offered, Request(None)) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: missing TOOL; the toolset toy has these tools:",
        *(f"  {name}  Is one." for name in names[:60]),
        *more,
    ]
    assert await call_once(offered, Request("n10")) == 2
    assert capsys.readouterr().err.splitlines() == [
        "error: `n1` is odd",
        "  help: `n10` accepts:",
        *(f"    {name}=... (string)" for name in names[:60]),
        "  the tool was not called",
    ]
