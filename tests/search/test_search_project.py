"""Project with `search: true`: generated files, reserved names, token counts and cases."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.program import toolcast

TOOL = "summary: {}\nparameters: {{type: object}}\nhandler: handlers.toy:work\n"
FIELDS = {
    "ping": "always: true\ncases: [{message: Answer me.}]\n",
    "delete_page": "cases: [{message: Remove that page for good., near: [Find a page.]}]\n",
    "archive_page": "cases: [{message: Put it on ice.}]\n",
    "find_user": 'meta: {"anthropic/searchHint": people}\n',
}
SUMMARIES = {
    "ping": "Answers.",
    "delete_page": "Deletes a page of the wiki for good.",
    "archive_page": "Archives a page of the wiki.",
    "find_user": "Finds a user.",
}
TOOLS = {name: TOOL.format(SUMMARIES[name]) + FIELDS[name] for name in FIELDS}
TARGETS = "targets: {{registry: {{}}, snapshots: {{}}, mcp: {{{}}}}}\n"
HANDLERS = "def work():\n    return 1\n"
Make = Callable[..., Any]


def make_search_project(make: Make, options: str = "search: true") -> Any:
    """Write a project with these options of the target `mcp`."""
    toolset = TARGETS.format(options) + "instructions: Be kind.\n"
    return make(TOOLS, toolset=toolset, handlers=HANDLERS, at=f"of {options}")


@pytest.mark.parametrize(
    ("option", "default", "line"),
    [
        ("search: true", "search: false", "search=True,"),
        ("heartbeat: false", "heartbeat: true", "heartbeat=False,"),
        ("http: {max_body: 9}", "http: {}", "max_body=9,"),
    ],
)
def test_changed_mcp_target_option_changes_a_line_in_only_the_mcp_server_module(
    make_project: Make, option: str, default: str, line: str
) -> None:
    """Options with their default values change nothing."""
    files = {}
    for options in ("", option, default):
        project = make_search_project(make_project, options)
        project.generate()
        folder = project.root / "generated"
        files[options] = {
            file.relative_to(folder).as_posix(): file.read_text("utf-8")
            for file in folder.rglob("*")
            if file.is_file()
        }
    plain, changed = files[""], files[option]
    assert files[default] == plain
    different = [name for name in plain if plain[name] != changed[name]]
    assert different == ["toy/mcp_server.py"]
    old, new = (f["toy/mcp_server.py"].splitlines() for f in (plain, changed))
    lines = [text.strip() for text in new if text not in old]
    assert [text for text in lines if not text.startswith("#")] == [line]


@pytest.mark.slow
def test_generated_tests_and_verify_pass_with_tool_search(make_project: Make) -> None:
    """`verify` fails if the spec then disables tool search."""
    project = make_search_project(make_project, "search: true, search_hints: true")
    project.generate()
    tests = project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "generated")
    assert tests.returncode == 0, tests.stdout
    line = f"{sys.executable} -m generated.toy.mcp_server"
    verified = toolcast(project.root, "verify", "--mcp-stdio", line)
    assert verified.stdout == "no change against the toolset toy\n"
    assert verified.returncode == 0
    project.edit("specs/toy/toolset.yaml", "search: true", "search: false")
    result = toolcast(project.root, "verify", "--mcp-stdio", line)
    assert result.returncode == 1
    for text in ("3 tools: the tool is missing", "tool/added", "call_found_tool"):
        assert text in result.stdout


def test_search_hints_option_writes_anthropic_search_hint_or_always_load_to_meta(
    make_project: Make,
) -> None:
    """Tools with `always` have `anthropic/alwaysLoad` in their MCP definition."""
    project = make_search_project(make_project, "search_hints: true")
    project.generate()
    folder = project.root / "generated/toy/tools"
    texts = {name: (folder / f"{name}.json").read_text("utf-8") for name in TOOLS}
    assert {name: json.loads(text)["mcp"]["_meta"] for name, text in texts.items()} == {
        "ping": {"anthropic/alwaysLoad": True},
        "delete_page": {"anthropic/searchHint": "Deletes a page of the wiki for good."},
        "archive_page": {"anthropic/searchHint": "Archives a page of the wiki."},
        "find_user": {"anthropic/searchHint": "people"},
    }


def check(make: Make, tool: str, toolset: str) -> str:
    """Return the output of `toolcast check` for the wiki with one more tool."""
    tools = {**TOOLS, tool: TOOL.format("Does more.")}
    result = toolcast(make(tools, toolset=toolset, handlers=HANDLERS).root, "check")
    return result.stdout + result.stderr


@pytest.mark.parametrize(
    ("name", "is_reserved"),
    [("search_tools", True), ("callFoundTool", True), ("search_tool", False)],
)
def test_tool_named_like_a_search_tool_in_any_case_style_is_an_error(
    make_project: Make, name: str, is_reserved: bool
) -> None:
    """Names such as `search_tools` or `callFoundTool`."""
    output = check(make_project, name, TARGETS.format("search: true"))
    assert ("reserved: it is a tool of the MCP" in output) is is_reserved


@pytest.mark.parametrize(("search", "is_unknown"), [("true", False), ("false", True)])
def test_toolset_instructions_that_name_search_tools_are_an_error_without_tool_search(
    make_project: Make, search: str, is_unknown: bool
) -> None:
    toolset = "instructions: Ask search_tools first.\n"
    toolset += TARGETS.format(f"search: {search}")
    output = check(make_project, "search_pages", toolset)
    assert ("name/unknown-tool" in output) is is_unknown


def test_tokens_command_with_tool_search_also_counts_tokens_if_all_tools_were_listed(
    make_project: Make,
) -> None:
    """Counts for a model API do not depend on the server's search."""
    searched = make_search_project(make_project).root
    listed = make_search_project(make_project, "").root
    outputs = (toolcast(r, "tokens", "--format", "json") for r in (searched, listed))
    tables = [json.loads(output.stdout)["tables"][0] for output in outputs]
    row, plain = (table["rows"][0] for table in tables)
    assert row.pop("all_listed") == plain["upfront"]
    assert 0 < row["on_demand"] < plain["upfront"]
    lines = toolcast(searched, "tokens").stdout.splitlines()
    assert lines[0].split()[-2:] == ["all", "listed"]
    legend = "all listed: each request if the server listed every tool (`search`)."
    assert legend in lines
    assert "(tool search)" in toolcast(searched, "tokens", "--by", "tool").stdout
    api = toolcast(searched, "tokens", "--kind", "openai").stdout
    assert "(tool search)" not in api


def test_select_command_counts_messages_for_which_search_tools_returns_the_tool(
    make_project: Make,
) -> None:
    root = make_search_project(make_project).root
    line = "search_tools: the expected tool is among the first 5 for 1 of 2 messages"
    assert line in toolcast(root, "select").stdout.splitlines()
    value = json.loads(toolcast(root, "select", "--format", "json").stdout)
    search = value["toolsets"][0]["search"]
    assert search == {"first": 5, "messages": 2, "found": 1}
    plain = make_search_project(make_project, "")
    assert "search_tools" not in toolcast(plain.root, "select").stdout
