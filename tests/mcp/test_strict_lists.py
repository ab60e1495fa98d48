"""Clients with MCP's strict types get every tool that their era can be shown."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.conftest import Project
from tests.mcp.node_setup import installed
from tests.mcp.servers import ERAS, LEGACY, MODERN, http_server, stdio_server

TOOL = (
    "summary: Give a value.\nparameters: {type: object}\nhandler: handlers.toy:value\n"
)
SUPPRESS = 'suppress: [{{rule: {}, reason: "Its clients are lenient."}}]\n'
RETURNS = {
    "an_object": "{type: object, properties: {a: {type: integer}}}",
    "an_array": "{type: array, items: {type: integer, maximum: 9007199254740993}}",
    "a_text": "{type: string}",
    "a_choice": "{anyOf: [{type: object}, {type: array}]}",
    "anything": "{}",
    "kinds": "{type: [object, 'null']}",
}
VALUES = {
    "an_object": {"a": 1},
    "an_array": [1, 2],
    "a_text": "x",
    "a_choice": {"b": 1},
    "anything": 7,
    "kinds": {"c": 1},
}
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
    made = make_project(
        tools,
        toolset="targets: {registry: {}, mcp: {}, snapshots: {}}\n",
        handlers=HANDLERS,
    )
    made.generate()
    return made


async def answers(address: Any, era: str) -> dict[str, Any]:
    """What an SDK client is given by each tool that it lists: schema and value."""
    async with Client(address, mode=MODES[era]) as client:
        tools = (await client.list_tools()).tools
        results = {t.name: await client.call_tool(t.name, {}) for t in tools}
        return {t.name: (t.output_schema, results[t.name]) for t in tools}


@pytest.mark.parametrize(
    ("transport", "era"),
    [
        ("http", ERAS[1]),
        pytest.param("stdio", ERAS[0], marks=pytest.mark.slow),
        pytest.param("stdio", ERAS[1], marks=pytest.mark.slow),
        pytest.param("http", ERAS[0], marks=pytest.mark.slow),
    ],
)
def test_a_result_of_any_type_leaves_the_others_listed(
    project: Project, transport: str, era: str
) -> None:
    if transport == "stdio":
        command = ["-m", "generated.toy.mcp_server"]
        given = StdioServerParameters(
            command=sys.executable, args=command, cwd=project.root
        )
        found = asyncio.run(answers(given, era))
    else:
        with http_server(project.root, "generated.toy") as server:
            found = asyncio.run(answers(server.url, era))
    assert set(found) == set(RETURNS)
    for name, (schema, result) in found.items():
        assert not result.is_error
        text = result.content[0].text
        assert text == (VALUES[name] if name == "a_text" else json.dumps(VALUES[name]))
        is_shown = era == MODERN or name == "an_object"
        assert (schema is not None) == is_shown, name
        assert result.structured_content == (VALUES[name] if is_shown else None), name


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_numbers_of_what_is_shown_are_spelled_as_in_the_spec(
    project: Project, era: str
) -> None:
    with stdio_server(project.root, "generated.toy", era=era) as server:
        server.request("tools/list")
        line = server.lines[-1]
    assert (b'"maximum": 9007199254740993' in line) == (era == MODERN)
    assert b'"inputSchema"' in line


@pytest.mark.slow
def test_the_generated_tests_hold_lists_to_what_was_warned_of(
    make_project: Callable[..., Project],
) -> None:
    project = make_project(
        {
            "untyped": TOOL.replace(
                "{type: object}", "{properties: {a: true}}"
            ).replace(":value", ":take")
            + SUPPRESS.format("schema/root-not-object"),
            "blue": f"{TOOL}icons: [{{theme: blue}}]\n"
            + SUPPRESS.format("compat/strict-client"),
            "listed": f"{TOOL}returns: {{type: array}}\n",
        },
        toolset="targets: {registry: {}, mcp: {}, snapshots: {}}\n",
        handlers=HANDLERS,
    )
    project.generate()
    said = project.toolcast("check").stderr
    assert "`inputSchema.properties.a` must be" in said
    assert "`blue` is not a value of `theme`" in said

    def run() -> subprocess.CompletedProcess[str]:
        names = "test_mcp_tools_list_is_exact or test_strict_clients"
        return project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", names)

    ran = run()
    assert ran.returncode == 0, ran.stdout
    # A definition that nobody was warned of fails them.
    path = project.root / "generated/toy/tools/listed.json"
    path.write_text(path.read_text().replace('"type": "object"', '"type": "objekt"'))
    ran = run()
    assert ran.returncode == 1, ran.stdout
    assert "inputSchema.type" in ran.stdout


@pytest.mark.node
def test_the_inspector_lists_every_tool(project: Project) -> None:
    node = installed()
    if node is None or shutil.which("node") is None:
        pytest.skip("the Node.js clients are not set up: make test-node does it")
    server = [sys.executable, "-m", "generated.toy.mcp_server"]
    for options in ([], ["--protocol-era", "modern"]):
        command = [*node.inspector, "--cli", "--format", "json", *options]
        ran = subprocess.run(
            [*command, "--method", "tools/list", *server],
            capture_output=True,
            text=True,
            cwd=project.root,
        )
        assert ran.returncode == 0, ran.stderr
        listed = json.loads(ran.stdout)
        tools = listed.get("result", listed)["tools"]
        assert {tool["name"] for tool in tools} == set(RETURNS)
