"""The generated part of memory blocks: text, position and writing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta import blocks
from toolcast_letta.blocks import (
    BlockChange,
    BlockError,
    BlockTextError,
    format_block_changes,
    insert_part,
    list_block_changes,
    load_block_changes,
    render_block,
    save_block_changes,
    write_block_changes,
)
from toolcast_letta.state.seal import Seal

BEGIN, END = "[toolcast toys: from the specs]", "[toolcast toys: end]"
PART = f"{BEGIN}\nnew\n{END}"


@pytest.mark.parametrize(
    ("value", "after"),
    [
        ("", PART),
        (" \n", PART),
        ("mine\n\n", f"mine\n\n{PART}"),
        (f"a {BEGIN} old {END} b", f"a {PART} b"),
    ],
)
def test_insert_part_appends_or_replaces_the_generated_memory_block_text(
    value: str, after: str
) -> None:
    assert insert_part(value, PART, "toys") == after


@pytest.mark.parametrize(
    "value",
    [BEGIN, END, f"{END} {BEGIN}", f"{BEGIN} {BEGIN} {END}", f"{BEGIN} {END} {END}"],
)
def test_insert_part_raises_for_missing_repeated_or_reversed_markers(
    value: str,
) -> None:
    with pytest.raises(BlockTextError, match="once each, in order"):
        insert_part(value, PART, "toys")


def make_spec(name: str, section: str | None = None, data: Any = None) -> Any:
    return SimpleNamespace(
        name=name, summary=f"Does\n {name}.", section=section, data=data, attached=True
    )


TOYS: Any = SimpleNamespace(
    name="toys",
    sections=[
        SimpleNamespace(name="one", heading="The\n first"),
        SimpleNamespace(name="two", heading="None"),
    ],
    tools=[
        make_spec("d", "unknown"),
        make_spec("c", None, {"pool": "p", "reads": ["t"], "writes": ["t", "s"]}),
        make_spec("b", "one", {"pool": "p", "reads": ["t"], "deletes": ["s"]}),
        make_spec("a", "one", {"reads": ["t"]}),
        SimpleNamespace(name="off", attached=False),
    ],
)


@pytest.fixture(autouse=True)
def replace_tool_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        blocks, "build_tool_part", lambda _, tool: {"attached": tool.attached}
    )


def test_render_block_lists_letta_tools_by_section_or_tables_by_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert render_block(TOYS, "tools").split("\n") == [
        BEGIN,
        "The 4 attached tools of toys:",
        "The first:",
        "- a: Does a.",
        "- b: Does b.",
        "- c: Does c.",
        "- d: Does d.",
        END,
    ]
    assert render_block(TOYS, "data").split("\n") == [
        BEGIN,
        "The tables that the attached tools use:",
        "- t: read by a",
        "- s (pool p): deleted by b; written by c",
        "- t (pool p): read by b, c; written by c",
        END,
    ]
    none: Any = SimpleNamespace(name="toys", sections=[], tools=[])
    assert "- none" in render_block(none, "data")
    for mark in (BEGIN, END):
        monkeypatch.setattr(TOYS.tools[0], "summary", mark)
        with pytest.raises(BlockTextError, match="a summary or section contains"):
            render_block(TOYS, "tools")


def make_change(before: str = "a", after: str = "b", agent: str = "1") -> BlockChange:
    return BlockChange("me", agent, "notes", before, after)


class Api:
    """A stand-in for the API that stores one block."""

    def __init__(self, value: Any, limit: int = 1_000, sticks: bool = True) -> None:
        self.value, self.limit, self.sticks = value, limit, sticks
        self.written: list[Any] = []

    def find_block(self, *_: str) -> Any:
        return None if self.value is None else (self.value, self.limit)

    def write_block(self, *args: str) -> None:
        self.written.append(args)
        if self.sticks:
            self.value = args[2]


@pytest.mark.parametrize(
    ("reviewed", "current", "expected_error"),
    [
        (make_change(), make_change(), None),
        (make_change(), make_change("b"), None),
        (
            make_change(),
            make_change(agent="2"),
            "the specs no longer declare `notes` of me",
        ),
        (
            make_change(),
            make_change(after="c"),
            "the specs' text for `notes` of me has changed",
        ),
        (
            make_change(),
            make_change("c"),
            "`notes` of me was changed since it was shown",
        ),
    ],
)
def test_write_block_changes_writes_reviewed_text_only_if_block_and_specs_match(
    reviewed: Any, current: Any, expected_error: str | None
) -> None:
    api: Any = Api(current.before)
    if expected_error is not None:
        with pytest.raises(BlockError, match=expected_error):
            write_block_changes(api, [reviewed], [current])
        assert api.written == []
        return
    done = write_block_changes(api, [reviewed], [current])
    assert done == ["me: `notes` written"] * current.is_changed
    assert api.written == [("1", "notes", "b")] * current.is_changed


def test_write_block_changes_raises_if_the_letta_block_differs_afterwards() -> None:
    for api in (Api("a", sticks=False), Api(None, sticks=False)):
        any_api: Any = api
        with pytest.raises(
            BlockError, match="`notes` of me differs from what was sent"
        ):
            write_block_changes(any_api, [make_change()], [make_change()])


def test_format_block_changes_returns_a_memory_block_diff() -> None:
    assert [*format_block_changes([make_change("a", "a")])] == [
        "me: `notes` matches the specs"
    ]
    assert [*format_block_changes([make_change()])] == [
        "--- me: notes (now)",
        "+++ me: notes (from the specs)",
        "@@ -1 +1 @@",
        "-a",
        "+b",
    ]


@pytest.mark.parametrize(
    ("value", "more", "expected_error"),
    [
        ("mine", 0, None),
        ("mine", -1, "the block `notes` of me would have {0} characters; its limit is"),
        (None, 0, "the block `notes` of me does not exist: create it in Letta"),
        (BEGIN, 0, "the block `notes` of me: it does not contain `"),
    ],
)
def test_list_block_changes_raises_for_missing_too_small_or_invalid_letta_blocks(
    value: Any, more: int, expected_error: str | None
) -> None:
    block = SimpleNamespace(label="notes", content="tools")
    wanted: Any = SimpleNamespace(
        agents=[SimpleNamespace(name="me", id="1", blocks=[block])]
    )
    length = len("mine\n\n" + render_block(TOYS, "tools"))
    api: Any = Api(value, length + more)
    if expected_error is None:
        (found,) = list_block_changes(api, TOYS, wanted)
        assert (found.before, len(found.after), found.is_changed) == (
            "mine",
            length,
            True,
        )
        return
    with pytest.raises(BlockError) as error_info:
        list_block_changes(api, TOYS, wanted)
    assert str(error_info.value).startswith(expected_error.format(length))


@pytest.mark.parametrize(
    ("toolset", "server"), [("toys", "http://b"), ("notes", "http://a")]
)
def test_load_block_changes_raises_for_a_file_for_another_toolset_or_server(
    tmp_path: Path, toolset: str, server: str
) -> None:
    path = tmp_path / "blocks.json"
    save_block_changes([make_change()], "toys", "http://a", path, Seal())
    assert load_block_changes(path, "toys", "http://a", Seal()) == [make_change()]
    with pytest.raises(BlockError, match=r"blocks\.json is for toys at http://a$"):
        load_block_changes(path, toolset, server, Seal())
