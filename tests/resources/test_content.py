"""Content blocks: stored content behind links, and refused URIs and media types."""

from __future__ import annotations

from functools import partial

import pytest

from toolcast_runtime import file, link
from toolcast_runtime.resources import LinkLimits
from toolcast_runtime.resources.content_blocks import ContentStore


def test_content_store_for_resource_links_has_only_the_last_1000_contents() -> None:
    store = ContentStore("shop", LinkLimits())
    uri = store.store(None, "b c/../d", b"12345", "text/plain")
    assert uri.startswith("kept://shop/") and uri.endswith("/b%20c%2F..%2Fd")
    uris = [store.store(None, "n" * 10_000, "", None) for _ in range(1_001)]
    assert len(uris[0]) < 200
    stored = [uri for uri in uris if store.find_contents(None, uri) is not None]
    assert stored == uris[1:]


def test_resource_link_with_invalid_or_unsafe_uri_raises_value_error() -> None:
    unsafe = ("page", "", "a b:c", "https://a\nb", "JavaScript:alert(1)", "data:,x")
    for uri in unsafe:
        with pytest.raises(ValueError, match="not a URI that a client may open"):
            link("page", uri)


def test_file_or_link_block_with_an_invalid_media_type_raises_value_error() -> None:
    for make_block in (file, partial(link, content="a")):
        with pytest.raises(ValueError, match="`html` is not a media type"):
            make_block("a.html", content="a", mime_type="html")
