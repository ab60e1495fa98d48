"""Contents of resources and prompts: requests to live servers, and comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from toolcast.mcp_client.contents import (
    compare_contents,
    encode_content,
    escape_difference,
    list_requests,
)
from toolcast.mcp_client.server_listing import ContentKey, ServerListing

CLOCK = ("resource", "shop://clock")


def make_listing(**contents: str | None) -> ServerListing:
    keyed: Mapping[ContentKey, str | None] = {
        ("resource", f"shop://{name}"): text for name, text in contents.items()
    }
    return ServerListing("shop", contents=keyed)


def test_content_check_requests_prompts_with_text_as_required_arguments() -> None:
    required = {"name": "item", "required": True}
    arguments = [required, {"name": "tone"}, {"required": True}, "odd"]
    listing = ServerListing(
        "shop",
        resources=({"uri": "shop://policy"},),
        resource_templates=({"uriTemplate": "shop://{item}"},),
        prompts=({"name": "ask", "arguments": arguments}, {"name": "odd"}),
    )
    assert [(request.method, request.params) for request in list_requests(listing)] == [
        ("resources/read", {"uri": "shop://policy"}),
        ("prompts/get", {"name": "ask", "arguments": {"item": "text"}}),
        ("prompts/get", {"name": "odd", "arguments": {}}),
    ]


def test_mcp_resource_content_comparison_ignores_key_order_and_meta() -> None:
    block = {"uri": "shop://policy", "text": "x", "_meta": {"a": 1}}
    first = {"contents": [block], "ttlMs": 0}
    second = {"_meta": {}, "contents": [{"text": "x", "uri": "shop://policy"}]}
    assert encode_content(first) == encode_content(second)
    assert encode_content(first) != encode_content({"contents": []})
    assert encode_content({"resultType": "input_required"}) is None


def test_difference_between_long_contents_is_displayed_in_excerpts_under_250_characters() -> (
    None
):
    equal = "x" * 500
    first, second = escape_difference(f"{equal}at 9\n{equal}", f"{equal}at 10{equal}")
    assert first.startswith(f"...{'x' * 37}at 9\\nxx") and first.endswith("x...")
    assert second == f"...{'x' * 37}at 10{'x' * 158}..."
    assert max(len(first), len(second)) < 250
    assert escape_difference("a", "ab") == ("a", "ab")
    # 40 equal characters before the difference and 200 in total are not cut.
    assert escape_difference("x" * 40 + "a", "x" * 41)[0] == "x" * 40 + "a"
    assert escape_difference("x" * 41 + "a", "x" * 42)[0] == f"...{'x' * 40}a"
    assert escape_difference("a" * 200, "b")[0] == "a" * 200
    assert escape_difference("a" * 201, "b")[0] == "a" * 200 + "..."


@pytest.mark.parametrize(
    ("theirs", "second", "ours", "message", "is_permitted"),
    [
        ("a", "a", "b", "the content is b, but the original has a", False),
        ("a", "a", None, "only the generated server returns an error", False),
        (None, None, "a", "only the original server returns an error", False),
        ("at 9", "at 10", "at 11", "changes on every start", True),
        # The original always has the same number.
        ("at 9", "at 9", "at 11", "but the original has at 9", False),
        ("at 9", "at 10", "by 11", "every start: `--exclude` skips it", False),
    ],
)
def test_resource_content_that_differs_from_the_original_server_is_reported_unless_excluded(
    theirs: Any, second: Any, ours: Any, message: str, is_permitted: bool
) -> None:
    original = replace(
        make_listing(clock=theirs), second_reading=make_listing(clock=second)
    )
    [difference] = compare_contents(original, make_listing(clock=ours))
    assert (difference.key, difference.is_permitted) == (CLOCK, is_permitted)
    assert message in difference.message
    assert not list(compare_contents(original, make_listing(clock=ours), [CLOCK[1]]))


def test_equal_or_missing_resources_on_two_servers_are_no_differences() -> None:
    """The lists report a missing entry."""
    original = make_listing(a="x", b=None, c="x")
    assert not list(compare_contents(original, make_listing(a="x", b=None)))
