"""Markers in Markdown: where they are recognized, and which bytes are replaced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcast.markdown_regions.regions import fill_regions, find_regions

OPEN = b"<!-- toolcast: tools toy -->"
CLOSE = b"<!-- /toolcast -->"
RESEMBLES = "the line resembles a marker but is not a valid one"


def fill_with_new(data: bytes) -> bytes:
    regions, faults = find_regions("a.md", data)
    assert faults == []
    return fill_regions(data, regions, ["new"] * len(regions))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nOPEN\nCLOSE\nb\n", b"a\nOPEN\n\nnew\n\nCLOSE\nb\n"),
        (b"OPEN\nold\nold\nCLOSE", b"OPEN\n\nnew\n\nCLOSE"),
        (b"a\r\nOPEN\r\nold\nCLOSE\r\n", b"a\r\nOPEN\r\n\r\nnew\r\n\r\nCLOSE\r\n"),
        (b"\xef\xbb\xbfOPEN\nCLOSE\n", b"\xef\xbb\xbfOPEN\n\nnew\n\nCLOSE\n"),
        (b"OPEN  \t\nCLOSE  ", b"OPEN  \t\n\nnew\n\nCLOSE  "),
        (b"OPEN\nCLOSE\nOPEN\nCLOSE\n", b"OPEN\n\nnew\n\nCLOSE\n" * 2),
        # Markers in fenced or inline code are only examples.
        (b"```\nOPEN\n```\n", b"```\nOPEN\n```\n"),
        (b"~~~~ md\nOPEN\n~~~\nCLOSE\n~~~~\n", b"~~~~ md\nOPEN\n~~~\nCLOSE\n~~~~\n"),
        (
            b"10. a\n\n    ```\n    OPEN\n    ```\n",
            b"10. a\n\n    ```\n    OPEN\n    ```\n",
        ),
        (b"> ```\n> OPEN\n> ```\n", b"> ```\n> OPEN\n> ```\n"),
        # The end of a list or quotation also closes its fence.
        (
            b"- ```sh\n  a\n  ```\n\nOPEN\nCLOSE\n",
            b"- ```sh\n  a\n  ```\n\nOPEN\n\nnew\n\nCLOSE\n",
        ),
        (
            b"- a\n  ```\n  b\n\nOPEN\nCLOSE\n",
            b"- a\n  ```\n  b\n\nOPEN\n\nnew\n\nCLOSE\n",
        ),
        (b"> ```\nOPEN\nCLOSE\n", b"> ```\nOPEN\n\nnew\n\nCLOSE\n"),
        (b"```\n    ```\nOPEN\n````\n", b"```\n    ```\nOPEN\n````\n"),
        (b"write `OPEN` there\n", b"write `OPEN` there\n"),
        # A fence inside a region is replaced with the region.
        (b"OPEN\n```\nCLOSE\nb\n", b"OPEN\n\nnew\n\nCLOSE\nb\n"),
        # A carriage return without a line feed does not end a line.
        (b"a\rOPEN\rb\x0bc\x85\n", b"a\rOPEN\rb\x0bc\x85\n"),
    ],
)
def test_filling_regions_replaces_only_the_text_between_their_markers(
    before: bytes, after: bytes
) -> None:
    """Filling the regions a second time changes nothing."""
    before, after = (
        text.replace(b"OPEN", OPEN).replace(b"CLOSE", CLOSE) for text in (before, after)
    )
    assert fill_with_new(before) == after
    assert fill_with_new(after) == after


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (b"OPEN\n", [(1, "the region has no closing marker")]),
        (b"\nOPEN\nOPEN\nCLOSE\n", [(2, "the region has no closing marker")]),
        (b"CLOSE\n", [(1, "the marker closes a region that no marker opens")]),
        (b" OPEN\n", [(1, RESEMBLES)]),
        (b"> OPEN\n", [(1, RESEMBLES)]),
        (b"OPEN here\n", [(1, RESEMBLES)]),
        (b"<!-- toolcast tools toy -->\n", [(1, RESEMBLES)]),
        (b"<!-- Toolcast: x -->\n", [(1, RESEMBLES)]),
        (b"<!-- toolcast: a <b> -->", [(1, RESEMBLES)]),
        (b"OPEN\n/toolcast -->\n", [(1, "the region has no closing marker")]),
    ],
)
def test_find_regions_reports_invalid_markers_with_line_and_help(
    text: bytes, faults: list[tuple[int, str]]
) -> None:
    data = text.replace(b"OPEN", OPEN).replace(b"CLOSE", CLOSE)
    reported = find_regions("a.md", data)[1]
    assert [(fault.location.line, fault.message) for fault in reported] == faults
    assert all(fault.help for fault in reported)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_fill_regions_leaves_bytes_outside_regions_unchanged(
    before: bytes, after: bytes
) -> None:
    """A region is the text between two `<!-- toolcast: ... -->` comments."""
    data = b"%s\n%s\nold\n%s\n%s" % (before, OPEN, CLOSE, after)
    regions, _ = find_regions("a.md", data)
    text = fill_regions(data, regions, ["new"] * len(regions))
    for region in regions:
        text = text.replace(b"\n\nnew\n\n", b"\nold\n", 1) if region.text else text
    assert text == data


def test_find_regions_reports_all_50_001_lines_with_an_invalid_marker() -> None:
    data = (OPEN + b"\n") * 50_000 + b"<!-- toolcast:" * 50_000
    regions, faults = find_regions("a.md", data)
    assert (len(regions), len(faults)) == (0, 50_001)
