"""What is kept behind links and offered beside tools: each limit met, and one beyond."""

from __future__ import annotations

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
)
from toolcast_runtime.resources.mcp_definitions import (
    ResourceOrPrompt,
    _shape_prompt_result,
    check_prompt_arguments,
)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def kept(**limits: Any) -> tuple[ContentStore, Clock]:
    clock = Clock()
    return ContentStore("toys", LinkLimits(**limits), clock), clock


@pytest.mark.parametrize(
    ("content", "fits"), [("é" * 5, True), (b"x" * 10, True), ("é" * 5 + "x", False)]
)
def test_content_of_ten_bytes(content: Any, fits: bool) -> None:
    store, _ = kept(seconds=10, bytes=10)
    if fits:
        assert (
            store.find_contents(None, store.store(None, "a", content, None)) is not None
        )
        return
    with pytest.raises(ToolError, match="`a` has 11 bytes; links may have at most 10"):
        store.store(None, "a", content, None)


def test_content_is_kept_as_long_and_as_much_as_is_said() -> None:
    store, clock = kept(seconds=10, bytes=10)
    first, second = (store.store(None, name, "x" * 5, None) for name in "ab")
    assert store.find_contents(None, first) is not None, "ten bytes are as many"
    store.store(None, "c", "", None)
    assert store.find_contents(None, first) is not None, "an empty one needs no room"
    third = store.store(None, "d", "x", None)
    held = [
        store.find_contents(None, uri) is not None for uri in (first, second, third)
    ]
    assert held == [False, True, True]
    clock.now = 9.9
    assert store.find_contents(None, second) is not None
    clock.now = 10.0
    assert store.find_contents(None, second) is None
    store.store(None, "e", "x" * 10, None)
    assert len(store._stored) == 1, "what is over has made room"
    assert store._bytes == 10


def test_content_is_for_its_user() -> None:
    store, _ = kept()
    uri = store.store("mia", "a", "x", None)
    assert store.find_contents("mia", uri) is not None
    assert store.find_contents("bo", uri) is store.find_contents(None, uri) is None


def test_a_name_in_a_uri_has_a_hundred_characters() -> None:
    store, _ = kept()
    for length in (100, 101):
        uri = store.store(None, "x" * length, "", None)
        assert uri.rpartition("/")[2] == "x" * 100
        assert len(uri.split("/")[3]) == 32, "24 bytes that nobody guesses"


def test_a_link_leads_to_one_thing() -> None:
    for words in ({}, {"uri": "https://a", "content": "x"}):
        given: dict[str, Any] = words
        with pytest.raises(ValueError, match="a link needs either `uri` or `content`"):
            link("a", **given)
    assert link("a", "https://a", title="A", mime_type="text/x") == {
        "type": "resource_link",
        "uri": "https://a",
        "name": "a",
        "title": "A",
        "mimeType": "text/x",
    }
    assert link("a.txt", content="x") == file("a.txt", "x")


@pytest.mark.parametrize(
    ("make", "kind"), [(image, "audio/wav"), (audio, "image/png"), (image, "image/a b")]
)
def test_a_medium_is_of_its_kind(make: Any, kind: str) -> None:
    with pytest.raises(ValueError, match="is not a media type of"):
        make(b"x", kind)
    assert image(b"x")["mimeType"] == "image/png"
    assert audio(b"x")["mimeType"] == "audio/wav"


def test_contents_are_text_or_bytes() -> None:
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


@pytest.mark.parametrize(("count", "rest"), [(20, ""), (21, " and 1 more")])
def test_twenty_values_are_shown(count: int, rest: str) -> None:
    arguments = [{"name": "a", "required": True}, {"name": "b"}]
    values = [f"v{number}" for number in range(count)]
    prompt = ResourceOrPrompt("p", {"arguments": arguments}, values={"a": values})
    shown = ", ".join(values[:20])
    assert check_prompt_arguments(prompt, {"a": "x", "b": "x"}) == [
        f"`a` must be one of {shown}{rest}"
    ]
    assert check_prompt_arguments(prompt, {"a": "v0", "c": "x"}) == [
        "`c` is not an argument of the prompt"
    ]
    assert check_prompt_arguments(prompt, {}) == ["`a` is missing"]


@pytest.mark.parametrize(
    ("given", "roles", "texts"),
    [
        ("x", ["user"], ["x"]),
        (
            ["x", {"role": "assistant", "content": "y"}],
            ["user", "assistant"],
            ["x", "y"],
        ),
        (
            ({"role": "user", "content": {"type": "text", "text": "x"}},),
            ["user"],
            ["x"],
        ),
        ({"type": "text", "text": "x"}, ["user"], ["x"]),
    ],
)
def test_messages_have_a_role(given: Any, roles: list[str], texts: list[str]) -> None:
    said = _shape_prompt_result(given)
    assert said.result == roles
    assert [block["text"] for block in said.content or ()] == texts


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([], "returned no message"),
        ([{"role": "system", "content": "x"}], "a role other than"),
    ],
)
def test_what_is_no_message(given: Any, problem: str) -> None:
    with pytest.raises(ToolError, match=problem):
        _shape_prompt_result(given)
