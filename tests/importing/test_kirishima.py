"""Three files that one platform had for the same tools, and what they contradict each other in.

A list in OpenAI's form that nobody renewed, one in MCP's form with three tools, and one of the
platform's own with ten. Which names, types, enums and defaults they have is known; the texts
are ours.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcast.importing.conflicts import (
    Disagreement,
    disagreements,
    preference,
    reconciled,
    undecided,
    unsaid,
)
from toolcast.importing.formats import Source
from toolcast.importing.source_file import read_source

FOLDER = Path(__file__).parent / "kirishima"
FILES = ("legacy_tools.json", "tools.json", "mcp_tools.json")


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> list[Source]:
    monkeypatch.chdir(FOLDER)
    return [read_source(name) for name in FILES]


@pytest.fixture
def found(sources: list[Source]) -> list[Disagreement]:
    return disagreements(sources)


def test_each_file_is_read_in_its_form(sources: list[Source]) -> None:
    assert [(one.forms, len(one.listing.tools)) for one in sources] == [
        (("OpenAI's chat form",), 5),
        (("MCP's form",), 3),
        (("a form without a provider",), 10),
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
    tool: str, where: str, found: list[Disagreement]
) -> None:
    said = tuple(zip(FILES, where.split(), strict=True))
    assert Disagreement(tool, (), "tool", said) in found


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
    tool: str, place: str, kind: str, said: list[str], found: list[Disagreement]
) -> None:
    [one] = [one for one in found if (one.tool, one.location) == (tool, place)]
    assert one.kind == kind
    assert one.shown == tuple(zip(FILES, said, strict=True))


def test_nothing_else_is_told(found: list[Disagreement]) -> None:
    """Results are said by the list of the platform's own alone; OpenAI's form cannot."""
    others = [
        (one.tool, one.location, one.shown)
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
    sources: list[Source],
) -> None:
    assert list(unsaid(sources)) == [
        "legacy_tools.json is in OpenAI's chat form, which has no `returns`: that of"
        " manage_prompt, memory, github_issue, smarthome, stickynotes comes from another"
        " source",
        "legacy_tools.json is in OpenAI's chat form, which has no `annotations`: that of"
        " memory comes from another source",
        "mcp_tools.json is in a form without a provider, which has no `annotations`: that"
        " of memory comes from another source",
    ]


def test_nothing_is_decided_before_a_source_is_preferred(
    sources: list[Source], found: list[Disagreement]
) -> None:
    assert undecided(found, preference([], sources)) == found
    left = undecided(found, preference(["memory=mcp_tools.json"], sources))
    assert left == [one for one in found if one.tool != "memory"]
    assert undecided(found, preference(["3"], sources)) == []


def test_the_preferred_source_counts(sources: list[Source]) -> None:
    chosen = preference(["mcp_tools.json", "memory=tools.json"], sources)
    merged = reconciled(sources, chosen)
    assert len(merged.listing.tools) == 10
    memory, expected = merged.tool("memory"), sources[1].tool("memory")
    assert memory == expected
    assert merged.fields["memory"] == {
        "persistent": True,
        "always": True,
        "clients": ["internal", "external"],
        "service": "ledger",
    }
    issue = sources[2].tool("github_issue")
    assert merged.tool("github_issue") == issue


def test_what_only_another_form_can_say_is_kept(sources: list[Source]) -> None:
    merged = reconciled(sources, preference(["legacy_tools.json"], sources))
    assert merged.tool("memory") == {
        **(sources[0].tool("memory") or {}),
        "outputSchema": {"type": "object"},
        "annotations": {"destructiveHint": True},
    }
    assert merged.notes == tuple(
        f"`{name}` is left out: legacy_tools.json does not have it"
        for name in ("get_personality", "email", "calendar", "contacts", "lists")
    )
