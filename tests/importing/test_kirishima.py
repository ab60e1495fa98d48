"""Conflicts between three published tool lists of one platform, and their merge."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcast.importing.conflicts import (
    Conflict,
    format_unsupported_fields,
    list_conflicts,
    list_unresolved_conflicts,
    merge_sources,
    parse_preferences,
)
from toolcast.importing.formats import ToolSource
from toolcast.importing.source_file import read_source

FOLDER = Path(__file__).parent / "kirishima"
FILES = ("legacy_tools.json", "tools.json", "mcp_tools.json")


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[ToolSource]:
    """Read the three files in their folder."""
    monkeypatch.chdir(FOLDER)
    return [read_source(name) for name in FILES]


@pytest.fixture
def conflicts(sources: list[ToolSource]) -> list[Conflict]:
    """Return the conflicts between the three files."""
    return list_conflicts(sources)


def test_each_published_tool_list_format_is_detected(
    sources: list[ToolSource],
) -> None:
    assert [(source.formats, len(source.listing.tools)) for source in sources] == [
        (("OpenAI Chat Completions format",), 5),
        (("MCP format",), 3),
        (("generic format",), 10),
    ]


@pytest.mark.parametrize(
    ("tool", "states"),
    [
        ("manage_prompt", "present absent present"),
        ("smarthome", "present absent present"),
        ("stickynotes", "present absent present"),
        ("get_personality", "absent present present"),
        ("email", "absent absent present"),
        ("calendar", "absent absent present"),
        ("contacts", "absent absent present"),
        ("lists", "absent absent present"),
    ],
)
def test_tool_missing_in_some_import_sources_is_a_conflict(
    tool: str, states: str, conflicts: list[Conflict]
) -> None:
    excerpts = tuple(zip(FILES, states.split(), strict=True))
    assert Conflict(tool, (), "tool", excerpts) in conflicts


INTEGER = ["absent", "present (integer)", "present (integer)"]
STRING = ["absent", "present (string)", "present (string)"]
DESCRIPTION = "Search, create, update, delete, list and get memories."
ACTIONS = "search, create, update, delete, list, get"
ISSUE_ACTIONS = "create, list, view, comment, close, list_comments"
DIFFERENCES = [
    ("memory", "parameters.properties.action.enum", "enum",
     ["search, add, delete, list", ACTIONS, ACTIONS]),
    ("memory", "description", "description",
     ["Store and find memories.", DESCRIPTION, DESCRIPTION]),
    ("memory", "parameters.properties.min_keywords.default", "default",
     ["absent", "absent", "2"]),
    ("memory", "parameters.properties.limit.default", "default",
     ["absent", "absent", "10"]),
    ("memory", "parameters.properties.offset", "parameter", INTEGER),
    ("memory", "parameters.properties.topic_id", "parameter", STRING),
    ("memory", "parameters.properties.created_after", "parameter", STRING),
    ("memory", "parameters.properties.created_before", "parameter", STRING),
    ("github_issue", "parameters.properties.action.enum", "enum",
     ["create, list, view, close", ISSUE_ACTIONS, ISSUE_ACTIONS]),
    ("github_issue", "parameters.properties.comment_body", "parameter", STRING),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "location", "kind", "excerpts"), DIFFERENCES)
def test_tool_difference_between_import_sources_is_a_conflict_with_excerpts(
    tool: str, location: str, kind: str, excerpts: list[str], conflicts: list[Conflict]
) -> None:
    [conflict] = [
        conflict
        for conflict in conflicts
        if (conflict.tool, conflict.location) == (tool, location)
    ]
    assert conflict.kind == kind
    assert conflict.excerpts == tuple(zip(FILES, excerpts, strict=True))


def test_import_conflicts_without_another_kind_concern_tool_results(
    conflicts: list[Conflict],
) -> None:
    """OpenAI's format cannot express `returns`, so its file has no such conflict."""
    others = [
        (conflict.tool, conflict.location, conflict.excerpts)
        for conflict in conflicts
        if conflict.kind not in ("tool", "parameter", "enum", "default", "description")
    ]
    excerpts = ((FILES[1], "absent"), (FILES[2], "present (object)"))
    assert others == [
        ("memory", "returns", excerpts),
        ("github_issue", "returns", excerpts),
        ("get_personality", "returns", excerpts),
    ]
    assert len(conflicts) == 8 + 10 + 3


def test_import_lists_fields_that_a_source_format_cannot_express(
    sources: list[ToolSource],
) -> None:
    assert list(format_unsupported_fields(sources)) == [
        "legacy_tools.json: the OpenAI Chat Completions format cannot express `returns`;"
        " another source provides it for manage_prompt, memory, github_issue, smarthome,"
        " stickynotes",
        "legacy_tools.json: the OpenAI Chat Completions format cannot express"
        " `annotations`; another source provides it for memory",
        "mcp_tools.json: the generic format cannot express `annotations`; another source"
        " provides it for memory",
    ]


def test_import_conflicts_stay_unresolved_without_a_preferred_source(
    sources: list[ToolSource], conflicts: list[Conflict]
) -> None:
    assert (
        list_unresolved_conflicts(conflicts, parse_preferences([], sources))
        == conflicts
    )
    unresolved = list_unresolved_conflicts(
        conflicts, parse_preferences(["memory=mcp_tools.json"], sources)
    )
    assert unresolved == [
        conflict for conflict in conflicts if conflict.tool != "memory"
    ]
    assert list_unresolved_conflicts(conflicts, parse_preferences(["3"], sources)) == []


def test_tool_list_merge_uses_the_preferred_source_per_tool(
    sources: list[ToolSource],
) -> None:
    preferences = parse_preferences(["mcp_tools.json", "memory=tools.json"], sources)
    merged = merge_sources(sources, preferences)
    assert len(merged.listing.tools) == 10
    memory, expected_memory = merged.find_tool("memory"), sources[1].find_tool("memory")
    assert memory == expected_memory
    assert merged.fields["memory"] == {
        "persistent": True,
        "always": True,
        "clients": ["internal", "external"],
        "service": "ledger",
    }
    expected_issue = sources[2].find_tool("github_issue")
    assert merged.find_tool("github_issue") == expected_issue


def test_tool_list_merge_copies_fields_absent_from_the_preferred_format(
    sources: list[ToolSource],
) -> None:
    """Tools that the preferred source does not list are skipped with a note."""
    merged = merge_sources(sources, parse_preferences(["legacy_tools.json"], sources))
    assert merged.find_tool("memory") == {
        **(sources[0].find_tool("memory") or {}),
        "outputSchema": {"type": "object"},
        "annotations": {"destructiveHint": True},
    }
    assert merged.notes == tuple(
        f"`{name}` is skipped: legacy_tools.json does not list it"
        for name in ("get_personality", "email", "calendar", "contacts", "lists")
    )
