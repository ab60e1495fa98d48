"""Project with `search: true`: generated files, reserved names, token counts and cases."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.program import toolcast

TOOL = "summary: {}\nparameters: {{type: object}}\nhandler: handlers.toy:work\n"
TOOLS = {
    "ping": TOOL.format("Answers.") + "always: true\ncases: [{message: Answer me.}]\n",
    "delete_page": TOOL.format("Deletes a page of the wiki for good.")
    + "cases: [{message: Remove that page for good., near: [Find a page.]}]\n",
    "archive_page": TOOL.format("Archives a page of the wiki.")
    + "cases: [{message: Put it on ice.}]\n",
    "find_user": TOOL.format("Finds a user.")
    + 'meta: {"anthropic/searchHint": people}\n',
}
TARGETS = "targets: {{registry: {{}}, snapshots: {{}}, mcp: {{{}}}}}\n"
HANDLERS = "def work():\n    return 1\n"
Make = Callable[..., Any]


def make_search_project(
    make: Make, options: str = "search: true", more: str = ""
) -> Any:
    """Write a project with these options of the target `mcp`."""
    toolset = TARGETS.format(options) + "instructions: Be kind.\n" + more
    return make(TOOLS, toolset=toolset, handlers=HANDLERS, at=f"of {options}{more[:8]}")


@pytest.mark.parametrize(
    ("option", "default", "line"),
    [
        ("search: true", "search: false", "search=True,"),
        ("heartbeat: false", "heartbeat: true", "heartbeat=False,"),
        ("http: {max_body: 9}", "http: {}", "max_body=9,"),
    ],
)
def test_mcp_target_option_changes_only_the_generated_server_module(
    make_project: Make, option: str, default: str, line: str
) -> None:
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
@pytest.mark.parametrize(
    "options", ["search: true", "search: true, search_hints: true"]
)
def test_generated_tests_and_verify_pass_for_a_server_with_search(
    make_project: Make, options: str
) -> None:
    """`verify` fails if the spec then disables search."""
    project = make_search_project(make_project, options)
    project.generate()
    tests = project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "generated")
    assert tests.returncode == 0, tests.stdout
    line = f"{sys.executable} -m generated.toy.mcp_server"
    verified = toolcast(project.root, "verify", "--mcp-stdio", line)
    assert (verified.returncode, verified.stdout) == (
        0,
        "no change against the toolset toy\n",
    )

    toolset = project.root / "specs/toy/toolset.yaml"
    toolset.write_text(
        toolset.read_text("utf-8").replace("search: true", "search: false"), "utf-8"
    )
    result = toolcast(project.root, "verify", "--mcp-stdio", line)
    assert result.returncode == 1
    for text in ("3 tools: the tool is missing", "tool/added", "call_found_tool"):
        assert text in result.stdout


def test_search_hints_option_writes_hints_to_tool_definition_meta(
    make_project: Make,
) -> None:
    project = make_search_project(make_project, "search_hints: true")
    project.generate()
    meta = {
        name: json.loads(
            (project.root / f"generated/toy/tools/{name}.json").read_text("utf-8")
        )["mcp"]["_meta"]
        for name in TOOLS
    }
    assert meta == {
        "ping": {"anthropic/alwaysLoad": True},
        "delete_page": {"anthropic/searchHint": "Deletes a page of the wiki for good."},
        "archive_page": {"anthropic/searchHint": "Archives a page of the wiki."},
        "find_user": {"anthropic/searchHint": "people"},
    }


@pytest.mark.parametrize(
    ("name", "is_reserved"),
    [("search_tools", True), ("callFoundTool", True), ("search_tool", False)],
)
def test_search_tools_and_call_found_tool_are_reserved_names_in_any_case_style(
    make_project: Make, name: str, is_reserved: bool
) -> None:
    files = make_project(
        {**TOOLS, name: TOOL.format("Does more.")},
        toolset=TARGETS.format("search: true"),
        handlers=HANDLERS,
    )
    result = toolcast(files.root, "check")
    assert (
        "reserved: it is a tool of the MCP" in result.stdout + result.stderr
    ) is is_reserved


@pytest.mark.parametrize(("search", "is_unknown"), [("true", False), ("false", True)])
def test_toolset_instructions_may_name_search_tools_only_with_search_enabled(
    make_project: Make, search: str, is_unknown: bool
) -> None:
    toolset = "instructions: Ask search_tools first.\n"
    files = make_project(
        {**TOOLS, "search_pages": TOOL.format("Searches pages.")},
        toolset=TARGETS.format(f"search: {search}") + toolset,
        handlers=HANDLERS,
    )
    result = toolcast(files.root, "check")
    assert ("name/unknown-tool" in result.stdout + result.stderr) is is_unknown


def test_tokens_command_compares_search_with_listing_all_tools(
    make_project: Make,
) -> None:
    """Counts for a model API do not depend on the server's search."""
    project = make_search_project(make_project)
    rows = json.loads(toolcast(project.root, "tokens", "--format", "json").stdout)
    (row,) = rows["tables"][0]["rows"]
    plain = json.loads(
        toolcast(
            make_search_project(make_project, "", "").root, "tokens", "--format", "json"
        ).stdout
    )["tables"][0]["rows"][0]
    assert row.pop("all_listed") == plain["upfront"]
    assert 0 < row["on_demand"] < plain["upfront"]
    searched = make_search_project(make_project)
    lines = toolcast(searched.root, "tokens").stdout.splitlines()
    assert lines[0].split()[-2:] == ["all", "listed"]
    assert (
        "all listed: each request if the server listed every tool (`search`)." in lines
    )
    by_tool = toolcast(searched.root, "tokens", "--by", "tool").stdout
    assert "(tool search)" in by_tool

    api = toolcast(searched.root, "tokens", "--kind", "openai").stdout
    assert "(tool search)" not in api


def test_select_command_counts_messages_whose_tool_is_among_five_search_results(
    make_project: Make,
) -> None:
    project = make_search_project(make_project)
    lines = toolcast(project.root, "select").stdout.splitlines()
    assert (
        "search_tools: the expected tool is among the first 5 for 1 of 2 messages"
        in lines
    )
    value = json.loads(toolcast(project.root, "select", "--format", "json").stdout)
    search = value["toolsets"][0]["search"]
    assert search == {"first": 5, "messages": 2, "found": 1}
    plain = make_search_project(make_project, "")
    assert "search_tools" not in toolcast(plain.root, "select").stdout
