"""Tools for which no call or no list would succeed are named and left out of an import."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.program import toolcast

OBJECT = {"type": "object"}
HANDLERS = "def page(*, p): return p\n\n\ndef find(): return None\n"


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return {**OBJECT, "properties": {"deep": schema}}


def run_import(folder: Path, *tools: dict[str, Any]) -> str:
    tools = tuple({"description": "Does it.", **tool} for tool in tools)
    (folder / "list.json").write_text(json.dumps(tools), "utf-8")
    done = toolcast(folder, "import", "list.json", "--toolset", "probe")
    return f"{done.returncode}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize(
    ("member", "reason"),
    [
        ({"inputSchema": {}}, "reject the server's whole list"),
        ({"inputSchema": {"properties": {"a": {}}}}, "reject the server's whole list"),
        ({"inputSchema": {"type": ["object"]}}, "`inputSchema.type` must be"),
        ({"inputSchema": {"type": ["object", "null"]}}, "`inputSchema.type` must be"),
        ({"inputSchema": {"type": "array"}}, "must have the type `object`"),
        ({"inputSchema": {"$ref": "#/$defs/a", "$defs": {"a": OBJECT}}}, "no `type`"),
        ({"inputSchema": OBJECT, "icons": [{"theme": "dark"}]}, "`icons.0.src`"),
        ({"inputSchema": nested(260)}, "levels"),
    ],
)
def test_a_tool_that_breaks_the_list_is_named_and_left_out(
    member: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    said = run_import(
        tmp_path, {"name": "fine", "inputSchema": OBJECT}, {"name": "bad", **member}
    )
    assert "`bad`" in said
    assert reason in said
    assert [path.name for path in (tmp_path / "specs/probe").glob("*.yaml")].count(
        "bad.yaml"
    ) == 0
    assert (tmp_path / "specs/probe/fine.yaml").exists()


def test_a_schema_that_the_runtime_cannot_compile_is_an_error_of_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise ValueError("`x` is not supported")

    run_import(tmp_path, {"name": "fine", "inputSchema": OBJECT})
    monkeypatch.setattr("toolcast.rules.schema.Checker", refuse)
    said = toolcast(tmp_path, "check").stderr
    assert "error: schema/invalid: the runtime cannot compile `parameters`" in said
    assert "`x` is not supported" in said
    assert "help: correct or remove the keyword" in said
    said = run_import(tmp_path, {"name": "other", "inputSchema": OBJECT})
    assert "`other`: schema/invalid: the runtime cannot compile `parameters`" in said


PAGE = {
    "name": "page",
    "inputSchema": {
        **OBJECT,
        "properties": {"p": {"$ref": "#/$defs/Page<User>"}},
        "required": ["p"],
        "$defs": {"Page<User>": {"type": "integer"}},
    },
}
"""From public reports, in a minimal form: generic classes name their definitions so."""
NULL_RESULTS: list[Any] = [
    {"type": ["object", "null"]},
    {"anyOf": [{"type": "object"}, {"type": "null"}]},
    {"type": "null"},
    {"type": ["string", "null"]},
    {},
    {"$ref": "#/$defs/Maybe<User>", "$defs": {"Maybe<User>": {"enum": [None, 1]}}},
]


@pytest.mark.parametrize("send", ["both", "structured"])
def test_listed_verbatim_and_null_results_reach_the_official_client(
    send: str, tmp_path: Path
) -> None:
    finds = [
        {"name": f"find_{number}", "inputSchema": OBJECT, "outputSchema": schema}
        for number, schema in enumerate(NULL_RESULTS)
    ]
    said = run_import(tmp_path, PAGE, *finds)
    assert said.startswith("0"), said
    (tmp_path / "handlers.py").write_text(HANDLERS, "utf-8")
    for name in ("page", *(tool["name"] for tool in finds)):
        spec = tmp_path / f"specs/probe/{name}.yaml"
        handler = name.partition("_")[0]
        text = f"handler: handlers:{handler}\n"
        if name != "page":
            text += f"result: {{send: {send}}}\n"
        spec.write_text(spec.read_text("utf-8") + text, "utf-8")
    toolset = tmp_path / "specs/probe/toolset.yaml"
    toolset.write_text(f"{toolset.read_text('utf-8')}handlers: handlers\n", "utf-8")
    done = toolcast(tmp_path, "generate")
    assert done.returncode == 0, done.stdout + done.stderr

    async def call_tools(mode: Any) -> None:
        command = ["-m", "generated.probe.mcp_server"]
        server = StdioServerParameters(
            command=sys.executable, args=command, cwd=tmp_path
        )
        async with Client(server, mode=mode) as client:
            listed = (await client.list_tools()).tools
            assert listed[0].input_schema == PAGE["inputSchema"]
            result = await client.call_tool("page", {"p": 1})
            assert not result.is_error, result
            refused = await client.call_tool("page", {"p": "x"})
            assert "`p` must be an integer" in str(refused)
            for tool in finds:
                found = await client.call_tool(tool["name"], {})
                assert not found.is_error
                assert found.structured_content is None
                is_null_sent = "structured_content" in found.model_fields_set
                assert is_null_sent is (mode == "auto")
                has_text = mode == "legacy" or send == "both"
                assert len(found.content) == has_text

    for mode in ("auto", "legacy"):
        asyncio.run(call_tools(mode))
