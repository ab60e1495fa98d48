"""Content blocks and tool definitions that MCP clients reject, and the messages."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.validation.protocol import (
    REVISIONS,
    check_content,
    check_shared_members,
    check_tool_definition,
    downgrade_definition,
    has_object_root,
)

TEXT = {"type": "text", "text": "a"}
WRONG_TYPE = "`type` must be one of text, image, audio, resource_link, resource"


@pytest.mark.parametrize(
    ("block", "problems"),
    [
        (TEXT, []),
        ({"type": "text"}, ["`text` is missing"]),
        ({"type": "text", "text": 1}, ["`text` must be a string"]),
        (1, ["it must be an object"]),
        ({"type": "sound"}, [WRONG_TYPE]),
        ({"type": 1}, [WRONG_TYPE]),
        ({"type": "image", "data": "YQ==", "mimeType": "image/png"}, []),
        (
            {"type": "image", "data": "YQ=*=", "mimeType": "image/png"},
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
        ({"type": "resource", "resource": 1}, ["`resource` must be an object"]),
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
def test_check_content_names_the_block_number_and_the_wrong_field(
    block: Any, problems: list[str]
) -> None:
    found = check_content([TEXT, block])
    assert found == [f"block 2: {problem}" for problem in problems]


@pytest.mark.parametrize(
    "name", ["012", "12", "0", "00", "+1", "+01", "+", "a/b", "~1", "\u0661"]
)
def test_mcp_tool_check_reports_a_boolean_schema_propertys_path(name: str) -> None:
    """A name of digits stays a string in the path."""
    schema = {"type": "object", "properties": {name: False, "x": {}}}
    definition = {"name": "con", "inputSchema": schema}
    (refusal,) = check_tool_definition(definition, "2025-11-25")
    assert refusal.path == ("inputSchema", "properties", name)


def test_mcp_content_block_check_lists_at_most_10_problems() -> None:
    assert check_content({}) == ["it must be an array of content blocks"]
    assert len(check_content([1] * 10)) == 10
    found = check_content([1] * 11)
    assert found[-1] == "block 10: it must be an object"


@pytest.mark.parametrize("revision", REVISIONS)
def test_invalid_mcp_tool_definition_is_reported_with_the_reason(revision: str) -> None:
    tool = {"name": "a", "inputSchema": {"type": "object"}}
    assert check_tool_definition(tool, revision) == []
    for invalid, path, problem in (
        (
            {**tool, "inputSchema": {"type": "array"}},
            "inputSchema.type",
            'must be "object"',
        ),
        ({**tool, "description": 1}, "description", "must be a string"),
        ({"name": "a"}, "inputSchema", "is missing"),
    ):
        (wrong,) = check_tool_definition(invalid, revision)
        assert (wrong.path_text, wrong.problem) == (path, problem)


@pytest.mark.parametrize("revision", REVISIONS)
def test_invalid_icon_or_annotation_of_a_resource_is_reported_with_its_path(
    revision: str,
) -> None:
    icon = {"src": "https://a.example/icon.png"}
    resource = {"icons": [icon], "annotations": {"priority": 1}}
    assert check_shared_members(resource, revision) == []
    resource = {"icons": [icon, {"src": 1}], "annotations": {"priority": "high"}}
    refusals = check_shared_members(resource, revision)
    assert [(refusal.path_text, refusal.problem) for refusal in refusals] == [
        ("icons.1.src", "must be a string"),
        ("annotations.priority", "must be a number"),
    ]
    assert check_shared_members({}, revision) == []


@pytest.mark.parametrize(
    ("schema", "is_listed"),
    [
        ({"type": "object"}, True),
        ({"type": "array"}, False),
        ({}, False),
        (True, False),
    ],
)
def test_output_schema_without_an_object_root_is_removed_for_older_mcp_clients(
    schema: Any, is_listed: bool
) -> None:
    assert has_object_root(schema) is is_listed
    tool = {"name": "a", "outputSchema": schema, "title": "A"}
    kept = {"name": "a", "title": "A"}
    assert downgrade_definition(tool) == (tool if is_listed else kept)
    assert downgrade_definition(kept) is kept
