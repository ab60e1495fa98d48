"""Blocks of content that are no blocks, and what is kept behind links."""

from __future__ import annotations

from functools import partial

import pytest

from toolcast_runtime import file, link
from toolcast_runtime.core.context import ToolError
from toolcast_runtime.resources import LinkLimits
from toolcast_runtime.resources.content_blocks import ContentStore


def test_kept_content_is_bounded_in_time_and_size() -> None:
    now = 0.0
    kept = ContentStore("shop", LinkLimits(seconds=10, bytes=10), lambda: now)
    first = kept.store(None, "a", "12345", None)
    second = kept.store(None, "b c/../d", b"12345", "text/plain")
    assert second.startswith("kept://shop/")
    assert second.endswith("/b%20c%2F..%2Fd")
    third = kept.store(None, "c", "1", None)
    assert [
        kept.find_contents(None, uri) is None for uri in (first, second, third)
    ] == [
        True,
        False,
        False,
    ]
    with pytest.raises(ToolError, match="has 11 bytes; links may have at most 10"):
        kept.store(None, "d", "é12345678" + "9", None)
    now = 10.0
    assert [kept.find_contents(None, uri) for uri in (second, third)] == [None, None]


def test_links_to_nothing_are_bounded_too() -> None:
    kept = ContentStore("shop", LinkLimits())
    uris = [kept.store(None, "n" * 10_000, "", None) for _ in range(1_001)]
    assert len(uris[0]) < 200
    held = [uri for uri in uris if kept.find_contents(None, uri) is not None]
    assert held == uris[1:]


@pytest.mark.parametrize(
    "uri", ["page", "", "a b:c", "https://a\nb", "JavaScript:alert(1)", "data:,x"]
)
def test_a_link_that_no_client_may_open_is_refused(uri: str) -> None:
    with pytest.raises(ValueError, match="not a URI that a client may open"):
        link("page", uri)


def test_a_media_type_that_is_none_is_refused() -> None:
    for make in (file, partial(link, content="a")):
        with pytest.raises(ValueError, match="`html` is not a media type"):
            make("a.html", content="a", mime_type="html")
