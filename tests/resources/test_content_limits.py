"""Limits of stored content, content blocks, prompt arguments and prompt messages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.core.context import ToolError
from toolcast_runtime.core.toolset_settings import LinkLimits
from toolcast_runtime.resources.content_blocks import (
    ContentStore,
    audio,
    build_resource_contents,
    file,
    image,
    link,
    text,
)
from toolcast_runtime.resources.mcp_definitions import _shape_prompt_result


def make_store(**limits: Any) -> tuple[ContentStore, SimpleNamespace]:
    clock = SimpleNamespace(now=0.0)
    return ContentStore("toys", LinkLimits(**limits), lambda: clock.now), clock


def test_link_content_above_the_byte_limit_raises_tool_error() -> None:
    store, _ = make_store(seconds=10, bytes=10)
    for content in ("é" * 5, b"x" * 10):
        uri = store.store(None, "a", content, None)
        assert store.find_contents(None, uri) is not None
    with pytest.raises(ToolError, match="`a` has 11 bytes; links may have at most 10"):
        store.store(None, "a", "é" * 5 + "x", None)


def test_content_store_removes_expired_and_at_its_limit_oldest_content() -> None:
    store, clock = make_store(seconds=10, bytes=10)
    first, second = (store.store(None, name, "x" * 5, None) for name in "ab")
    assert store.find_contents(None, first) is not None, "exactly ten bytes are stored"
    store.store(None, "c", "", None)
    assert store.find_contents(None, first) is not None, "empty content uses no bytes"
    third = store.store(None, "d", "x", None)
    uris = (first, second, third)
    is_stored = [store.find_contents(None, uri) is not None for uri in uris]
    assert is_stored == [False, True, True]
    clock.now = 9.9
    assert store.find_contents(None, second) is not None
    clock.now = 10.0
    assert store.find_contents(None, second) is None
    store.store(None, "e", "x", None)
    assert len(store._stored) == 1, "expired content is removed even if it would fit"
    assert store._bytes == 1


def test_content_stored_for_a_resource_link_is_available_only_to_its_user() -> None:
    store, _ = make_store()
    uri = store.store("mia", "a", "x", None)
    assert store.find_contents("mia", uri) is not None
    assert store.find_contents("bo", uri) is store.find_contents(None, uri) is None


def test_link_uri_has_32_random_characters_and_at_most_100_of_the_name() -> None:
    store, _ = make_store()
    for length in (100, 101):
        uri = store.store(None, "x" * length, "", None)
        assert uri.rpartition("/")[2] == "x" * 100
        assert len(uri.split("/")[3]) == 32, "24 random bytes in base64"


def test_resource_link_block_requires_either_a_uri_or_content() -> None:
    invalid: tuple[dict[str, Any], ...] = ({}, {"uri": "https://a", "content": "x"})
    for value in invalid:
        with pytest.raises(ValueError, match="a link needs either `uri` or `content`"):
            link("a", **value)
    assert link("a", "https://a", title="A", mime_type="text/x") == {
        "type": "resource_link",
        "uri": "https://a",
        "name": "a",
        "title": "A",
        "mimeType": "text/x",
    }
    assert link("a.txt", content="x") == file("a.txt", "x")


def test_image_and_audio_require_their_media_types() -> None:
    wrong = ((image, "audio/wav"), (audio, "image/png"), (image, "image/a b"))
    for make, media_type in wrong:
        with pytest.raises(ValueError, match="is not a media type of"):
            make(b"x", media_type)
    assert image(b"x")["mimeType"] == "image/png"
    assert audio(b"x")["mimeType"] == "audio/wav"


def test_str_contents_are_text_and_bytes_base64_with_a_default_media_type() -> None:
    assert build_resource_contents("u", "x", None) == {
        "uri": "u",
        "mimeType": "text/plain",
        "text": "x",
    }
    assert build_resource_contents("u", b"x", "a/b")["mimeType"] == "a/b"
    assert build_resource_contents("u", b"x", None) == {
        "uri": "u",
        "mimeType": "application/octet-stream",
        "blob": "eA==",
    }


@pytest.mark.parametrize(
    ("value", "roles", "texts"),
    [
        ("x", ["user"], ["x"]),
        (
            ["x", {"role": "assistant", "content": "y"}],
            ["user", "assistant"],
            ["x", "y"],
        ),
        (({"role": "user", "content": text("x")}, text("y")), ["user"] * 2, ["x", "y"]),
        (text("x"), ["user"], ["x"]),
    ],
)
def test_prompt_handler_result_becomes_mcp_messages_with_user_as_default_role(
    value: Any, roles: list[str], texts: list[str]
) -> None:
    response = _shape_prompt_result(value)
    assert response.result == roles
    assert [block["text"] for block in response.content or ()] == texts


def test_prompt_result_without_messages_or_with_unknown_role_raises_tool_error() -> (
    None
):
    with pytest.raises(ToolError, match="returned no message"):
        _shape_prompt_result([])
    with pytest.raises(ToolError, match="a role other than"):
        _shape_prompt_result([{"role": "system", "content": "x"}])
