"""Search for retired tool names in generated files: no file with a name is skipped."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolcast.analysis.retired_names import _split_words, find_mentions_in_outputs
from toolcast.model.model import Toolset

TOOLSET = Toolset("toy", "Toy", "specs/toy")
BEFORE = (" ", "`", "\n", "\\", "é", "mcp__srv__", "mcp__my-srv__", "(", '"', "/", "漢")
NAMES = ("find_note", "list-notes", "memory", "a.b", "_x", "get__all", "N1", "..", "-")


def list_files(files: dict[str, bytes], name: str) -> list[str]:
    mentions = find_mentions_in_outputs(TOOLSET, {name: "help"}, "generated", files)
    return [mention.file for mention, _ in mentions]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("before", BEFORE)
def test_retired_name_in_text_is_a_search_candidate(name: str, before: str) -> None:
    """The search compares the first word of each name with the words of a text."""
    text = f"Use {before}{name} or `{name}`."
    first_word = _split_words(name.encode())[0]
    for data in (text, json.dumps(text), json.dumps(text, ensure_ascii=False)):
        assert first_word in _split_words(data.encode())


@given(st.lists(st.sampled_from([*BEFORE, *NAMES, "x", "_", "__", "\t", "z9"])))
def test_retired_name_in_arbitrary_text_is_a_search_candidate(parts: list[str]) -> None:
    text = f"Call `find_note` {''.join(parts)}"
    for encode in (json.dumps, str):
        assert b"find_note" in _split_words(str(encode(text)).encode())


@pytest.mark.parametrize(
    "text",
    [
        "Call find_note first.",
        "Lines\nfind_note\n",
        "Use mcp__toy__find_note now.",
        "See `find_note`.",
        "éfind_note",
    ],
)
def test_generated_definitions_and_pages_with_a_retired_tool_name_are_found(
    text: str,
) -> None:
    definition = json.dumps({"description": text}).encode()
    files = {
        "toy/tools/a.json": definition,
        "toy/page.md": text.encode(),
        "toy/other.md": b"Nothing of that name.",
        "other/tools/a.json": definition,
    }
    files_with_name = list_files(files, "find_note")
    assert files_with_name == ["generated/toy/tools/a.json", "generated/toy/page.md"]
