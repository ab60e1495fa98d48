"""Shell words, plain text, fenced blocks, comments: the text comes back, or is refused."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolcast.encoders.markdown import encode_code_block, encode_comment
from toolcast.encoders.plain_text import (
    encode_line,
    encode_row,
    encode_shell_argument,
    encode_typed_argument,
)
from toolcast.encoders.python import encode_safe_text

visible = st.text(st.characters(exclude_categories=["Cc", "Cs"]))
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(anything)
@example('it\'s; $(true) `true` "x" \\ * ~ #')
@example("")
def test_a_shell_reads_the_word_back(text: str) -> None:
    assert shlex.split(encode_shell_argument(text)) == [text]


def test_a_real_shell_reads_words_back() -> None:
    texts = ["it's", "$(echo x)", "a\nb", "--", "\t\x07", "é漢", "a\\", "*"]
    for encode in (encode_shell_argument, encode_typed_argument):
        line = " ".join(encode(text) for text in texts)
        done = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True
        )
        assert done.stdout.decode().split("\0")[:-1] == texts


def test_a_word_with_nul_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        encode_shell_argument("a\0b")


@given(anything)
@example("a\tb\nc\u200b\u202e\x85")
def test_a_line_of_plain_text_is_one_that_can_be_seen(text: str) -> None:
    shown = encode_line(text)
    assert shown.isprintable()
    assert len(shown.splitlines()) <= 1
    if text.isascii() and text.isprintable():
        assert shown == " ".join(text.split())


@given(anything, anything)
def test_a_row_has_its_cells(one: str, two: str) -> None:
    assert encode_row(one, two).split("\t") == [encode_line(one), encode_line(two)]


@given(visible.map(lambda text: text.strip()))
@example("```\n## out\n```")
@example("~~~\n````x\n")
def test_a_fence_holds_its_text(text: str) -> None:
    block = encode_code_block(text, "text")
    ticks = block.split("\n")[0].removesuffix("text")
    assert block == f"{ticks}text\n{text}\n{ticks}"
    assert set(ticks) == {"`"} and len(ticks) >= 3 and ticks not in text


def test_a_language_is_one_word() -> None:
    with pytest.raises(ValueError, match="letters, digits"):
        encode_code_block("x", "a\n## b")


@pytest.mark.parametrize(
    "text", ["a\nb", "a\rb", "fmt: off", "type: ignore", "é", "`x`", "a\x0cb", "{x}"]
)
def test_a_comment_holds_no_text_of_a_spec(text: str) -> None:
    for encode in (encode_safe_text, encode_comment):
        with pytest.raises(ValueError, match="comment"):
            encode(text)


@pytest.mark.parametrize("text", ["a--b", "--", "a-", "-->"])
def test_a_comment_of_markdown_is_not_ended(text: str) -> None:
    with pytest.raises(ValueError, match="comment"):
        encode_comment(text)


def test_a_comment_holds_a_path() -> None:
    assert encode_safe_text("specs/a-b/get_x.1.yaml, DO NOT EDIT.")
    assert (
        encode_comment("specs/a-b/. DO NOT EDIT.")
        == "<!-- specs/a-b/. DO NOT EDIT. -->"
    )
