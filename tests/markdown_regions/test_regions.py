"""Marks are found where they are meant, and nothing outside of them is touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcast.markdown_regions.regions import fill_regions, find_regions

OPEN = b"<!-- toolcast: tools toy -->"
CLOSE = b"<!-- /toolcast -->"


def with_new(data: bytes) -> bytes:
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
        # An example of a mark, and words about one.
        (b"```\nOPEN\n```\n", b"```\nOPEN\n```\n"),
        (b"~~~~ md\nOPEN\n~~~\nCLOSE\n~~~~\n", b"~~~~ md\nOPEN\n~~~\nCLOSE\n~~~~\n"),
        (
            b"10. a\n\n    ```\n    OPEN\n    ```\n",
            b"10. a\n\n    ```\n    OPEN\n    ```\n",
        ),
        (b"> ```\n> OPEN\n> ```\n", b"> ```\n> OPEN\n> ```\n"),
        # A fence in a list or a quotation ends with it, if not before.
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
        # What looks like a fence within a region goes with it.
        (b"OPEN\n```\nCLOSE\nb\n", b"OPEN\n\nnew\n\nCLOSE\nb\n"),
        # No line of Markdown ends with a carriage return alone here, and no other byte moves.
        (b"a\rOPEN\rb\x0bc\x85\n", b"a\rOPEN\rb\x0bc\x85\n"),
    ],
)
def test_what_is_between_the_marks_is_replaced(before: bytes, after: bytes) -> None:
    before, after = (
        text.replace(b"OPEN", OPEN).replace(b"CLOSE", CLOSE) for text in (before, after)
    )
    assert with_new(before) == after
    assert with_new(after) == after


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (b"OPEN\n", [(1, "the region has no closing marker")]),
        (b"\nOPEN\nOPEN\nCLOSE\n", [(2, "the region has no closing marker")]),
        (b"CLOSE\n", [(1, "the marker closes a region that no marker opens")]),
        (b" OPEN\n", [(1, "the line resembles a marker but is not a valid one")]),
        (b"> OPEN\n", [(1, "the line resembles a marker but is not a valid one")]),
        (b"OPEN here\n", [(1, "the line resembles a marker but is not a valid one")]),
        (
            b"<!-- toolcast tools toy -->\n",
            [(1, "the line resembles a marker but is not a valid one")],
        ),
        (
            b"<!-- Toolcast: x -->\n",
            [(1, "the line resembles a marker but is not a valid one")],
        ),
        (
            b"<!-- toolcast: a <b> -->",
            [(1, "the line resembles a marker but is not a valid one")],
        ),
        (b"OPEN\n/toolcast -->\n", [(1, "the region has no closing marker")]),
    ],
)
def test_marks_that_cannot_be(text: bytes, faults: list[tuple[int, str]]) -> None:
    data = text.replace(b"OPEN", OPEN).replace(b"CLOSE", CLOSE)
    found = find_regions("a.md", data)[1]
    assert [(fault.location.line, fault.message) for fault in found] == faults
    assert all(fault.help for fault in found)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_no_byte_outside_of_a_region_moves(before: bytes, after: bytes) -> None:
    data = b"%s\n%s\nold\n%s\n%s" % (before, OPEN, CLOSE, after)
    regions, _ = find_regions("a.md", data)
    new = fill_regions(data, regions, ["new"] * len(regions))
    for region in regions:
        new = new.replace(b"\n\nnew\n\n", b"\nold\n", 1) if region.text else new
    assert new == data


def test_many_marks_take_no_longer() -> None:
    data = (OPEN + b"\n") * 50_000 + b"<!-- toolcast:" * 50_000
    regions, faults = find_regions("a.md", data)
    assert (len(regions), len(faults)) == (0, 50_001)
