"""What clients refuse of blocks of content and of tools, in words."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.validation.protocol import (
    REVISIONS,
    is_listed_before_2026,
    listed_before_2026,
    problems_with_content,
    problems_with_tool,
)

TEXT = {"type": "text", "text": "a"}


@pytest.mark.parametrize(
    ("block", "problems"),
    [
        (TEXT, []),
        ({"type": "text"}, ["`text` is missing"]),
        ({"type": "text", "text": 1}, ["`text` must be a string"]),
        (1, ["it must be an object"]),
        (
            {"type": "sound"},
            ["`type` must be one of text, image, audio, resource_link, resource"],
        ),
        (
            {"type": 1},
            ["`type` must be one of text, image, audio, resource_link, resource"],
        ),
        ({"type": "image", "data": "YQ==", "mimeType": "image/png"}, []),
        (
            {"type": "image", "data": "a", "mimeType": "image/png"},
            ["`data` must be base64"],
        ),
        (
            {"type": "audio", "data": "YQ"},
            ["`mimeType` is missing", "`data` must be base64"],
        ),
        ({"type": "resource_link", "uri": "a:b", "name": "a"}, []),
        (
            {"type": "resource_link", "uri": "a:b", "name": "a", "size": "1"},
            ["`size` must be an integer"],
        ),
        ({"type": "resource"}, ["`resource` is missing"]),
        ({"type": "resource", "resource": 1}, None),
        ({"type": "resource", "resource": {"uri": "a:b", "text": "a"}}, []),
        ({"type": "resource", "resource": {"uri": "a:b", "blob": "YQ=="}}, []),
        (
            {"type": "resource", "resource": {"uri": "a:b"}},
            ["`resource.text` is missing"],
        ),
        (
            {"type": "resource", "resource": {"blob": "a"}},
            ["`resource.uri` is missing", "`resource.blob` must be base64"],
        ),
    ],
)
def test_a_block_can_be_sent_or_not(block: Any, problems: list[str] | None) -> None:
    found = problems_with_content([TEXT, block])
    if problems is None:
        assert "block 2: `resource` must be an object" in found
    else:
        assert found == [f"block 2: {problem}" for problem in problems]


def test_ten_problems_are_told() -> None:
    assert problems_with_content({}) == ["it must be a list of blocks"]
    assert len(problems_with_content([1] * 10)) == 10
    found = problems_with_content([1] * 11)
    assert found[-1] == "block 10: it must be an object"


@pytest.mark.parametrize("revision", REVISIONS)
def test_a_tool_of_a_list_is_refused(revision: str) -> None:
    tool = {"name": "a", "inputSchema": {"type": "object"}}
    assert problems_with_tool(tool, revision) == []
    (wrong,) = problems_with_tool({**tool, "inputSchema": {"type": "array"}}, revision)
    assert (wrong.location, wrong.problem) == ("inputSchema.type", 'must be "object"')
    (wrong,) = problems_with_tool({**tool, "description": 1}, revision)
    assert (wrong.location, wrong.problem) == ("description", "must be a string")
    (wrong,) = problems_with_tool({"name": "a"}, revision)
    assert (wrong.location, wrong.problem) == ("inputSchema", "is missing")


@pytest.mark.parametrize(
    ("schema", "is_listed"),
    [
        ({"type": "object"}, True),
        ({"type": "array"}, False),
        ({}, False),
        (True, False),
    ],
)
def test_older_clients_are_shown_schemas_of_objects(
    schema: Any, is_listed: bool
) -> None:
    assert is_listed_before_2026(schema) is is_listed
    tool = {"name": "a", "outputSchema": schema, "title": "A"}
    kept = {"name": "a", "title": "A"}
    assert listed_before_2026(tool) == (tool if is_listed else kept)
    assert listed_before_2026(kept) is kept
