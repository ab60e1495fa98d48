"""Three files that one platform had for the same tools, and what they contradict each other in.

A list in OpenAI's form that nobody renewed, one in MCP's form with three tools, and one of the
platform's own with ten. Which names, types, enums and defaults they have is known; the texts
are ours.
"""

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
    monkeypatch.chdir(FOLDER)
    return [read_source(name) for name in FILES]


@pytest.fixture
def found(sources: list[ToolSource]) -> list[Conflict]:
    return list_conflicts(sources)


def test_each_file_is_read_in_its_form(sources: list[ToolSource]) -> None:
    assert [(one.formats, len(one.listing.tools)) for one in sources] == [
        (("OpenAI Chat Completions format",), 5),
        (("MCP format",), 3),
        (("generic format",), 10),
    ]


@pytest.mark.parametrize(
    ("tool", "where"),
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
def test_tools_that_are_not_everywhere(
    tool: str, where: str, found: list[Conflict]
) -> None:
    said = tuple(zip(FILES, where.split(), strict=True))
    assert Conflict(tool, (), "tool", said) in found


@pytest.mark.parametrize(
    ("tool", "place", "kind", "said"),
    [
        (
            "memory",
            "parameters.properties.action.enum",
            "enum",
            [
                "search, add, delete, list",
                "search, create, update, delete, list, get",
                "search, create, update, delete, list, get",
            ],
        ),
        (
            "memory",
            "description",
            "description",
            [
                "Store and find memories.",
                "Search, create, update, delete, list and get memories.",
                "Search, create, update, delete, list and get memories.",
            ],
        ),
        (
            "memory",
            "parameters.properties.min_keywords.default",
            "default",
            ["absent", "absent", "2"],
        ),
        (
            "memory",
            "parameters.properties.limit.default",
            "default",
            ["absent", "absent", "10"],
        ),
        (
            "memory",
            "parameters.properties.offset",
            "parameter",
            ["absent", "present (integer)", "present (integer)"],
        ),
        (
            "memory",
            "parameters.properties.topic_id",
            "parameter",
            ["absent", "present (string)", "present (string)"],
        ),
        (
            "memory",
            "parameters.properties.created_after",
            "parameter",
            ["absent", "present (string)", "present (string)"],
        ),
        (
            "memory",
            "parameters.properties.created_before",
            "parameter",
            ["absent", "present (string)", "present (string)"],
        ),
        (
            "github_issue",
            "parameters.properties.action.enum",
            "enum",
            [
                "create, list, view, close",
                "create, list, view, comment, close, list_comments",
                "create, list, view, comment, close, list_comments",
            ],
        ),
        (
            "github_issue",
            "parameters.properties.comment_body",
            "parameter",
            ["absent", "present (string)", "present (string)"],
        ),
    ],
)
def test_contradictions_within_a_tool(
    tool: str, place: str, kind: str, said: list[str], found: list[Conflict]
) -> None:
    [one] = [one for one in found if (one.tool, one.location) == (tool, place)]
    assert one.kind == kind
    assert one.excerpts == tuple(zip(FILES, said, strict=True))


def test_nothing_else_is_told(found: list[Conflict]) -> None:
    """Results are said by the list of the platform's own alone; OpenAI's form cannot."""
    others = [
        (one.tool, one.location, one.excerpts)
        for one in found
        if one.kind not in ("tool", "parameter", "enum", "default", "description")
    ]
    said = ((FILES[1], "absent"), (FILES[2], "present (object)"))
    assert others == [
        ("memory", "returns", said),
        ("github_issue", "returns", said),
        ("get_personality", "returns", said),
    ]
    assert len(found) == 8 + 10 + 3


def test_what_a_form_cannot_say_is_told_and_contradicts_nothing(
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


def test_nothing_is_decided_before_a_source_is_preferred(
    sources: list[ToolSource], found: list[Conflict]
) -> None:
    assert list_unresolved_conflicts(found, parse_preferences([], sources)) == found
    left = list_unresolved_conflicts(
        found, parse_preferences(["memory=mcp_tools.json"], sources)
    )
    assert left == [one for one in found if one.tool != "memory"]
    assert list_unresolved_conflicts(found, parse_preferences(["3"], sources)) == []


def test_the_preferred_source_counts(sources: list[ToolSource]) -> None:
    chosen = parse_preferences(["mcp_tools.json", "memory=tools.json"], sources)
    merged = merge_sources(sources, chosen)
    assert len(merged.listing.tools) == 10
    memory, expected = merged.find_tool("memory"), sources[1].find_tool("memory")
    assert memory == expected
    assert merged.fields["memory"] == {
        "persistent": True,
        "always": True,
        "clients": ["internal", "external"],
        "service": "ledger",
    }
    issue = sources[2].find_tool("github_issue")
    assert merged.find_tool("github_issue") == issue


def test_what_only_another_form_can_say_is_kept(sources: list[ToolSource]) -> None:
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
