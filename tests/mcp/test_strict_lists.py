"""Tool lists for clients with strict types, with `returns` of every JSON type."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import Project
from tests.mcp.node_setup import find_node_tools, run_inspector
from tests.mcp.servers import ERAS, LEGACY, MODERN, http_server, stdio_server

TOOL = (
    "summary: Give a value.\nparameters: {type: object}\nhandler: handlers.toy:value\n"
)
KINDS: dict[str, tuple[str, Any]] = {
    "an_object": ("{type: object, properties: {a: {type: integer}}}", {"a": 1}),
    "an_array": ("{type: array, items: {maximum: 9007199254740993}}", [1, 2]),
    "a_text": ("{type: string}", "x"),
    "a_choice": ("{anyOf: [{type: object}, {type: array}]}", {"b": 1}),
    "anything": ("{}", 7),
    "kinds": ("{type: [object, 'null']}", {"c": 1}),
}
RETURNS = {name: schema for name, (schema, _) in KINDS.items()}
VALUES = {name: value for name, (_, value) in KINDS.items()}
HANDLERS = f"""
from toolcast_runtime import current_call

def value():
    return {VALUES!r}[current_call().tool]

def take(a=None):
    return a
"""
MODES = {LEGACY: "legacy", MODERN: "auto"}


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    tools = {name: f"{TOOL}returns: {schema}\n" for name, schema in RETURNS.items()}
    project = make_project(
        tools,
        toolset="targets: {registry: {}, mcp: {}, snapshots: {}}\n",
        handlers=HANDLERS,
    )
    project.generate()
    return project


async def call_every_tool(address: Any, era: str) -> dict[str, Any]:
    """Call each listed tool and return its output schema and result by name."""
    async with Client(address, mode=MODES[era]) as client:
        tools = (await client.list_tools()).tools
        results = {t.name: await client.call_tool(t.name, {}) for t in tools}
        return {t.name: (t.output_schema, results[t.name]) for t in tools}


@pytest.mark.parametrize(
    ("transport", "era"),
    [("http", ERAS[1]), pytest.param("stdio", ERAS[0], marks=pytest.mark.slow)],
)
def test_tool_with_any_json_type_in_returns_is_listed_and_callable_by_strict_mcp_clients(
    project: Project, transport: str, era: str
) -> None:
    """Only the stateless version lists an output schema that is not an object."""
    if transport == "stdio":
        args = ["-m", "generated.toy.mcp_server"]
        params = StdioServerParameters(
            command=sys.executable, args=args, cwd=project.root
        )
        results = asyncio.run(call_every_tool(params, era))
    else:
        with http_server(project.root, "generated.toy") as server:
            results = asyncio.run(call_every_tool(server.url, era))
    assert set(results) == set(RETURNS)
    for name, (schema, result) in results.items():
        assert not result.is_error
        text = result.content[0].text
        assert text == (VALUES[name] if name == "a_text" else json.dumps(VALUES[name]))
        has_schema = era == MODERN or name == "an_object"
        assert (schema is not None) == has_schema, name
        assert result.structured_content == (VALUES[name] if has_schema else None), name


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_number_beyond_double_precision_in_an_mcp_output_schema_is_listed_exactly(
    project: Project, era: str
) -> None:
    """9007199254740993 is not a double; the handshake version lists no array schema."""
    with stdio_server(project.root, "generated.toy", era=era) as server:
        server.request("tools/list")
        line = server.lines[-1]
    assert (b'"maximum": 9007199254740993' in line) == (era == MODERN)
    assert b'"inputSchema"' in line


@pytest.mark.slow
def test_generated_tests_fail_if_a_listed_tool_breaks_strict_mcp_types_without_suppression(
    make_project: Callable[..., Project],
) -> None:
    """The definition file of `yielded` is changed; suppressed findings do not fail."""
    untyped = TOOL.replace("{type: object}", "{properties: {a: true}}")
    rules = "compat/strict-client", "spec/mcp-key"
    suppressed = "".join(f"  - {{rule: {rule}, reason: R.}}\n" for rule in rules)
    project = make_project(
        {
            "blue": f"{TOOL}icons: [{{theme: blue}}]\nsuppress:\n{suppressed}",
            "untyped": untyped.replace(":value", ":take")
            + 'suppress: [{rule: schema/root-not-object, reason: "Its clients."}]\n',
            "yielded": f"{TOOL}returns: {{type: array}}\n",
        },
        toolset="targets: {registry: {}, mcp: {}, snapshots: {}}\n",
        handlers=HANDLERS,
    )
    project.generate()
    findings = project.toolcast("check").stderr
    assert "`inputSchema.properties.a` must be" in findings
    assert "`blue` is not a value of `theme`" not in findings
    path = project.root / "generated/toy/tools/yielded.json"
    path.write_text(path.read_text().replace('"type": "object"', '"type": "objekt"'))
    # In CI, pytest repeats the complete messages in its summary, which -rN omits.
    options = ("-q", "-rN", "-p", "no:cacheprovider", "-k", "list_is_exact")
    run = project.run("-m", "pytest", *options)
    failures = re.findall(r"Error: (\w+): what clients refuse by MCP (\S+)", run.stdout)
    assert failures == [("yielded", era) for era in ERAS], run.stdout
    assert run.stdout.count('+  "inputSchema.type"') == len(ERAS)


@pytest.mark.node
def test_mcp_inspector_lists_tools_with_any_returns_type_in_both_protocol_versions(
    project: Project,
) -> None:
    node = find_node_tools()
    if node is None or shutil.which("node") is None:
        pytest.skip("the Node.js clients are not set up: make test-node does it")
    server = [sys.executable, "-m", "generated.toy.mcp_server"]
    for options in ([], ["--protocol-era", "modern"]):
        arguments = [*options, "--method", "tools/list", *server]
        tools = run_inspector(node.inspector, project.root, *arguments)["tools"]
        assert {tool["name"] for tool in tools} == set(RETURNS)
