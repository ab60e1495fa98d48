"""Result budgets, selected fields and forms in every target of a generated toolset."""

from __future__ import annotations

import asyncio
import importlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

import pytest
from click.testing import CliRunner
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.conftest import Project
from tests.external.conftest import Open, odd_server
from tests.mcp.servers import http_server
from tests.project_files import write_files, write_toolset
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.definitions.tool import ResultForm
from toolcast_runtime.providers import provider_named, render_tools
from toolcast_runtime.results.budget import estimate_tokens

NOTE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "id": {"type": "integer"},
        "title": {"type": "string"},
        "body": {"type": "string"},
    },
    "required": ["id", "title", "body"],
}
NOTES = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": NOTE},
        "total": {"type": "integer"},
    },
    "required": ["items", "total"],
}
TOOL = {
    "summary": "List the notes.",
    "parameters": {
        "type": "object",
        "additionalProperties": False,
        "properties": {"offset": {"type": "integer", "minimum": 0}},
    },
    "returns": NOTES,
}
BUDGET = {"tokens": 300, "next": {"argument": "offset"}}
TITLES = {"allowed": ["items.title", "items.body"], "default": ["items.title"]}
SPECS: dict[str, dict[str, Any]] = {
    "list_notes": {
        "handler": "handlers.toy:list_notes",
        "persistent": True,
        "result": {"fields": TITLES, "budget": BUDGET},
    },
    "as_text": {"handler": "handlers.toy:few", "result": {"send": "text"}},
    "as_value": {"handler": "handlers.toy:few", "result": {"send": "structured"}},
    "as_both": {"handler": "handlers.toy:few"},
    "too_long": {
        "handler": "handlers.toy:long",
        "returns": {"type": "object", "properties": {"text": {"type": "string"}}},
        "result": {"budget": {"characters": 400}},
    },
}
HANDLERS = """
from typing import Any


def list_notes(offset: int = 0) -> dict[str, Any]:
    "It gives everything, and knows nothing of who picks what."
    return {"items": [note(number) for number in range(offset, 90)], "total": 90}


def few(**arguments: Any) -> dict[str, Any]:
    return {"items": [note(1)], "total": 1}


def long(**arguments: Any) -> dict[str, Any]:
    return {"text": "word " * 900}


def note(number: int) -> dict[str, Any]:
    return {"id": number, "title": f"Note {number}", "body": "Words of it. " * 9}
"""
TOOLSET = """
ledger: {path: ledger.sqlite3}
targets:
  mcp: {}
  registry: {}
  langchain: {}
  cli: {}
  prompts: {}
  providers: {openai-chat: {}, gemini: {}}
  snapshots: {}
"""
FEW = {"items": [{"id": 1, "title": "Note 1", "body": "Words of it. " * 9}], "total": 1}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    root = tmp_path_factory.mktemp("results") / "project"
    specs: dict[str, Any] = {
        "toolset": f"name: toy\ntitle: Toy\nhandlers: handlers\n{TOOLSET}"
    }
    for name, spec in SPECS.items():
        specs[name] = {"name": name, **TOOL, **spec}
    project_ = Project(write_toolset(root, "toy", specs, output="casting"))
    write_files(root / "handlers", {"__init__.py": "", "toy.py": HANDLERS})
    project_.generate()
    return project_


@pytest.fixture(scope="module")
def toy(project: Project) -> Iterator[Any]:
    """Return the generated modules; the ledger is the project's `ledger.sqlite3`."""
    before = {*sys.modules}
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(project.root))
        patch.chdir(project.root)
        names = ("registry", "langchain_tools", "cli")
        yield SimpleNamespace(
            **{name: importlib.import_module(f"casting.toy.{name}") for name in names}
        )
    for name in {*sys.modules} - before:
        if name.startswith(("casting", "handlers")):
            del sys.modules[name]


@pytest.mark.slow
def test_generated_definitions_and_prompts_contain_the_result_budget_and_selectable_fields(
    project: Project,
) -> None:
    made = json.loads((project.root / "casting/toy/tools/list_notes.json").read_text())
    inner = made["mcp"]["outputSchema"]["properties"]["items"]["items"]
    assert inner["required"] == ["id"]
    assert made["result"] == {
        "budget": BUDGET,
        "fields": {"parameter": "fields", **TITLES},
        "returns": NOTES,
    }
    picks = made["mcp"]["inputSchema"]["properties"]["fields"]
    assert picks["items"]["enum"] == TITLES["allowed"]
    text = json.loads((project.root / "casting/toy/tools/as_text.json").read_text())
    assert "outputSchema" not in text["mcp"] and text["result"]["returns"] == NOTES
    assert project.toolcast("check").returncode == 0
    done = project.run("-m", "pytest", "-q", "casting", "-p", "no:cacheprovider")
    assert done.returncode == 0, done.stdout
    prompts = (project.root / "casting/toy/prompts/section_tools.md").read_text()
    assert "A result has at most 300 tokens; a note reports omitted items." in prompts
    assert (
        "`fields` selects properties: `items.title`, `items.body`. Default: `items.title`."
        in prompts
    )


@pytest.mark.slow
def test_mypy_reports_an_unknown_field_in_a_generated_typed_call_field_selection(
    project: Project, mypy_cache: str
) -> None:
    project.write(
        "caller.py",
        """
        from casting.toy.tools.list_notes import call


        async def bodies() -> list[str]:
            found = await call(offset=1, fields=["items.body"])
            return [note["body"] for note in found["items"] if "body" in note]


        async def wrong() -> None:
            await call(fields=["items.boddy"])
        """,
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", mypy_cache]
    done = subprocess.run(
        [*command, "casting/toy/tools", "caller.py"],
        cwd=project.root,
        capture_output=True,
        text=True,
    )
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert len(errors) == 1 and errors[0].startswith("caller.py:11:"), done.stdout


def check_page(value: Any, note: str | None, first: int) -> None:
    """Check a page of notes from `first` on: all titles that fit, and the note."""
    count = len(value["items"])
    titles = [{"id": n, "title": f"Note {n}"} for n in range(first, first + count)]
    assert value == {"items": titles, "total": 90} and 10 < count < 90 - first
    assert note == (
        f"Omitted: the last {90 - first - count} of {90 - first} of `items`. For more,"
        f" call again with `offset` = {first + count}."
    )
    assert estimate_tokens(json.dumps(value)) + estimate_tokens(note or "") <= 300


def test_registry_call_returns_the_shortened_result_and_the_ledger_records_the_complete_one(
    toy: Any, project: Project
) -> None:
    call = toy.registry.call_tool_sync
    response = call("list_notes", {"offset": 5})
    check_page(response.result, response.note, 5)
    first = 5 + len(response.result["items"])
    following = call("list_notes", {"offset": first})
    check_page(following.result, following.note, first)
    bodies = call("list_notes", {"fields": ["items.body"]})
    assert all(note.keys() == {"id", "body"} for note in bodies.result["items"])
    wrong = call("list_notes", {"fields": ["items.id"]})
    assert "must be one of" in wrong.error
    asyncio.run(toy.registry.REGISTRY.close())
    with sqlite3.connect(project.root / "ledger.sqlite3") as ledger:
        rows = ledger.execute("select arguments, result from calls").fetchall()
    arguments, results = zip(*(map(json.loads, row) for row in rows[:3]), strict=True)
    assert arguments[2] == {"fields": ["items.body"]}
    assert [len(result["items"]) for result in results] == [85, 90 - first, 90]
    assert results[0]["items"][0]["body"]


def test_langchain_cli_and_provider_answers_contain_the_note_about_omitted_items(
    toy: Any,
) -> None:
    text = toy.langchain_tools.get_langchain_tool("list_notes").invoke({"offset": 5})
    value, note = text.split("\n\n")
    check_page(json.loads(value), note, 5)
    arguments = ["list-notes", "--offset", "5", "--fields", "items.title"]
    done = CliRunner().invoke(toy.cli.main, arguments)
    check_page(json.loads(done.stdout), done.stderr.strip(), 5)
    response = toy.registry.call_tool_sync("list_notes", {"offset": 5})
    for name in ("openai-chat", "gemini", "bedrock", "anthropic"):
        listed = render_tools(provider_named(name), toy.registry.REGISTRY.local_tools)
        answer = listed.answer(response, "list_notes", "call")
        assert json.dumps(response.note)[1:-1] in json.dumps(answer)


async def call_all_tools(server: Any, mode: Literal["auto", "legacy"]) -> list[Any]:
    """Return the results that the official client receives and validates."""
    async with Client(server, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["as_text"].output_schema is None
        assert tools["as_value"].output_schema == NOTES
        names = ("as_text", "as_value", "as_both", "too_long")
        called = [("list_notes", {"offset": 5}), *((name, {}) for name in names)]
        return [await client.call_tool(*call) for call in called]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    "transport", ["stdio", pytest.param("http", marks=pytest.mark.slow)]
)
def test_official_mcp_client_receives_results_in_their_declared_form_and_budget(
    project: Project, mode: Literal["auto", "legacy"], transport: str
) -> None:
    """The form is a text block, structured content, or both."""
    if transport == "http":
        with http_server(project.root, "casting.toy") as server:
            results = asyncio.run(call_all_tools(server.url, mode))
    else:
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "casting.toy.mcp_server"],
            cwd=project.root,
        )
        results = asyncio.run(call_all_tools(command, mode))
    notes, text, value, both, long = results
    assert [result.is_error for result in results] == [False] * 4 + [True]
    assert (
        "`too_long` was called, but its result is too large to be sent"
        in long.content[0].text
    )
    blocks = [block.text for block in notes.content]
    check_page(notes.structured_content, blocks[1], 5)
    assert json.loads(blocks[0]) == notes.structured_content
    assert (text.structured_content, len(text.content)) == (None, 1)
    assert json.loads(text.content[0].text) == FEW
    assert (value.structured_content, value.content) == (FEW, [])
    assert json.loads(both.content[0].text) == both.structured_content == FEW


def test_tokens_command_prints_each_maximum_of_result_tokens(project: Project) -> None:
    shown = project.toolcast("tokens", "--by", "tool").stdout.splitlines()
    rows = {
        line.split()[0]: line.split()[-1] for line in shown if line.startswith("  ")
    }
    assert shown[0].endswith("prompt     result")
    assert (rows["list_notes"], rows["as_text"]) == ("300", "-")
    assert "result: the maximum for the result of a call; - for no limit." in shown
    done = project.toolcast("tokens", "--by", "tool", "--format", "json")
    report = json.loads(done.stdout)
    found = {row["name"]: row.get("result") for row in report["tables"][0]["rows"]}
    assert (found["list_notes"], found["as_text"]) == (300, None)


@pytest.mark.slow
def test_verify_command_reports_a_selectable_result_field_that_differs_on_the_live_server(
    project: Project,
) -> None:
    command = f"{sys.executable} -m casting.toy.mcp_server"
    done = project.toolcast("verify", "--mcp-stdio", command)
    assert done.returncode == 0, done.stdout
    project.edit("specs/toy/list_notes.yaml", '"items.body"', '"items.id"')
    done = project.toolcast("verify", "--mcp-stdio", command)
    project.edit("specs/toy/list_notes.yaml", '"items.id"', '"items.body"')
    assert done.returncode == 1 and "items.id" in done.stdout


@pytest.mark.slow
def test_call_command_prints_the_note_to_stderr(project: Project) -> None:
    command = f"{sys.executable} -m casting.toy.mcp_server"
    done = project.toolcast("call", "list_notes", "offset:=5", "--mcp-stdio", command)
    assert done.returncode == 0
    assert "Note 5" in done.stdout and "Omitted" not in done.stdout
    assert done.stderr.startswith("Omitted: the last ")
    done = project.toolcast("call", "as_both", "--mcp-stdio", command)
    assert (done.returncode, done.stderr) == (0, "")


def make_text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


async def test_proxied_tool_result_is_reduced_to_the_selected_fields_and_its_budget(
    open_tools: Open, tmp_path: Path
) -> None:
    """The server does not receive the selection, and the text block is replaced."""
    result = {
        "budget": {"characters": 600},
        "fields": {"parameter": "fields", "allowed": ["rows.b"], "default": []},
    }
    schema = {"type": "object", "properties": {"fields": {}, "result": {}}}
    entry = definition("answer", proxy="odd", result=result)
    entry["mcp"]["inputSchema"] = schema
    package = Package(tmp_path, entry).load()
    registry = Registry(
        package, providers=[open_tools(odd_server("well", is_proxied=True))]
    )
    rows = [{"a": "x" * 40, "b": number} for number in range(40)]
    value = {"rows": rows}
    sent = {"content": [make_text_block(json.dumps(value))], "structuredContent": value}
    response = await registry.call_tool("answer", {"result": sent, "fields": []})
    kept = len(response.result["rows"])
    assert response.result == {"rows": [{"a": "x" * 40}] * kept} and 5 < kept < 40
    assert response.content == [make_text_block(response.text())]
    assert response.note == f"Omitted: the last {40 - kept} of 40 of `rows`."


@pytest.mark.parametrize("send", ["both", "text"])
async def test_external_mcp_server_result_is_shortened_to_the_budget_for_that_server(
    open_tools: Open, tmp_path: Path, send: str
) -> None:
    server = odd_server("well", result={"send": send, "budget": {"characters": 400}})
    package = Package(tmp_path, definition("mine")).load()
    registry = Registry(package, providers=[open_tools(server)])
    tool = await registry.find_tool("echo")
    assert tool.result == ResultForm(send, {"characters": 400})
    rows = json.dumps([{"a": "x" * 40}] * 40)
    response = await registry.call_tool("echo", {"text": rows})
    kept = json.loads(response.result)
    assert kept == [{"a": "x" * 40}] * len(kept) and 3 < len(kept) < 40
    assert response.note == f"Omitted: the last {40 - len(kept)} of 40 items."


@pytest.mark.parametrize("module", ["truncation", "budget"])
@pytest.mark.parametrize("is_persistent", [False, True])
def test_tool_with_result_options_fails_before_its_handler_runs_if_a_results_module_is_missing(
    module: str, is_persistent: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = "toolcast_runtime.results"
    for name in {"truncation", module}:
        monkeypatch.delitem(sys.modules, f"{package}.{name}", raising=False)
    monkeypatch.setitem(sys.modules, f"{package}.{module}", None)
    more = {"persistent": True} if is_persistent else {}
    entry = definition("t", handler="nowhere:run", result={"send": "text"}, **more)
    registry = Registry(Package(tmp_path, entry).load(), handlers="nowhere")
    response = registry.call_tool_sync("t", {})
    assert "the part `results` of toolcast-runtime cannot" in str(response.error)
