"""Rejected tools: those that clients or the runtime could not use are not imported."""

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
OPEN = {"inputSchema": OBJECT}
HANDLERS = "def page(*, p): return p\n\n\ndef find(): return None\n"


def make_nested_schema(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return {**OBJECT, "properties": {"deep": schema}}


def import_tools(folder: Path, *tools: dict[str, Any]) -> str:
    """Import tools and return the exit code and the output."""
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
        ({**OPEN, "icons": [{"theme": "dark"}]}, "`icons.0.src`"),
        ({"inputSchema": make_nested_schema(260)}, "levels"),
        (
            {**OPEN, "execution": {"taskSupport": "maybe"}},
            "reject the server's whole list",
        ),
        ({**OPEN, "annotations": {"readOnlyHint": "maybe"}}, "must be a boolean"),
        ({**OPEN, "annotations": {"title": 5}}, "must be a string"),
        ({**OPEN, "icons": [{"src": "x", "theme": "blue"}]}, "not a value of `theme`"),
    ],
)
def test_import_rejects_a_tool_for_which_clients_reject_the_whole_list(
    member: dict[str, Any], reason: str, tmp_path: Path
) -> None:
    fine = {"name": "fine", "inputSchema": OBJECT}
    output = import_tools(tmp_path, fine, {"name": "bad", **member})
    assert "`bad`" in output
    assert reason in output
    files = {path.name for path in (tmp_path / "specs/probe").glob("*.yaml")}
    assert files == {"fine.yaml", "toolset.yaml"}


def test_input_schema_that_the_validator_cannot_compile_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`toolcast check` has an error, and an import rejects the tool."""

    def raise_error(*arguments: object, **options: object) -> None:
        raise ValueError("`x` is not supported")

    import_tools(tmp_path, {"name": "fine", "inputSchema": OBJECT})
    monkeypatch.setattr("toolcast.rules.schema.Checker", raise_error)
    output = toolcast(tmp_path, "check").stderr
    assert "error: schema/invalid: the runtime cannot compile `parameters`" in output
    assert "`x` is not supported" in output
    assert "help: correct or remove the keyword" in output
    output = import_tools(tmp_path, {"name": "other", "inputSchema": OBJECT})
    assert "`other`: schema/invalid: the runtime cannot compile `parameters`" in output


PAGE = {
    "name": "page",
    "inputSchema": {
        **OBJECT,
        "properties": {"p": {"$ref": "#/$defs/Page<User>"}},
        "required": ["p"],
        "$defs": {"Page<User>": {"type": "integer"}},
    },
}
"""Minimal form of public reports: names of generic classes contain angle brackets."""
NULL_RESULTS: list[Any] = [
    {"type": ["object", "null"]},
    {"anyOf": [{"type": "object"}, {"type": "null"}]},
    {"type": "null"},
    {"type": ["string", "null"]},
    {},
    {"$ref": "#/$defs/Maybe<User>", "$defs": {"Maybe<User>": {"enum": [None, 1]}}},
]


@pytest.mark.rows(1)
@pytest.mark.parametrize("send", ["both", "structured"])
def test_mcp_client_lists_the_imported_input_schema_and_accepts_null_results(
    send: str, tmp_path: Path
) -> None:
    """Null is structured content in the current protocol version, and text before."""
    find_tools = [
        {"name": f"find_{number}", "inputSchema": OBJECT, "outputSchema": schema}
        for number, schema in enumerate(NULL_RESULTS)
    ]
    output = import_tools(tmp_path, PAGE, *find_tools)
    assert output.startswith("0"), output
    (tmp_path / "handlers.py").write_text(HANDLERS, "utf-8")
    for name in ("page", *(tool["name"] for tool in find_tools)):
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
            error_result = await client.call_tool("page", {"p": "x"})
            assert "`p` must be an integer" in str(error_result)
            for tool in find_tools:
                result = await client.call_tool(tool["name"], {})
                assert not result.is_error
                assert result.structured_content is None
                is_null_sent = "structured_content" in result.model_fields_set
                assert is_null_sent is (mode == "auto")
                has_text = mode == "legacy" or send == "both"
                assert len(result.content) == has_text

    for mode in ("auto", "legacy"):
        asyncio.run(call_tools(mode))
