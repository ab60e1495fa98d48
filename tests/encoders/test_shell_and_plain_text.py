"""Shell arguments, plain text, code blocks and comments: exact or rejected."""

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

visible_texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]))
any_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(any_texts)
@example('it\'s; $(true) `true` "x" \\ * ~ #')
@example("")
def test_encode_shell_argument_is_parsed_by_shlex_to_the_same_text(text: str) -> None:
    assert shlex.split(encode_shell_argument(text)) == [text]


def test_bash_reads_encoded_shell_arguments_unchanged() -> None:
    texts = ["it's", "$(echo x)", "a\nb", "--", "\t\x07", "é漢", "a\\", "*"]
    for encode in (encode_shell_argument, encode_typed_argument):
        line = " ".join(encode(text) for text in texts)
        done = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True
        )
        assert done.stdout.decode().split("\0")[:-1] == texts


def test_encode_shell_argument_raises_for_a_nul_character() -> None:
    with pytest.raises(ValueError, match="NUL"):
        encode_shell_argument("a\0b")


@given(any_texts)
@example("a\tb\nc\u200b\u202e\x85")
def test_encode_line_returns_printable_text_without_line_break(text: str) -> None:
    line = encode_line(text)
    assert line.isprintable()
    assert len(line.splitlines()) <= 1
    if text.isascii() and text.isprintable():
        assert line == " ".join(text.split())


@given(any_texts, any_texts)
def test_encode_row_separates_encoded_cells_by_tabs(first: str, second: str) -> None:
    assert encode_row(first, second).split("\t") == [
        encode_line(first),
        encode_line(second),
    ]


@given(visible_texts.map(lambda text: text.strip()))
@example("```\n## out\n```")
@example("~~~\n````x\n")
def test_markdown_code_block_has_a_longer_fence_than_its_text(text: str) -> None:
    block = encode_code_block(text, "text")
    ticks = block.split("\n")[0].removesuffix("text")
    assert block == f"{ticks}text\n{text}\n{ticks}"
    assert set(ticks) == {"`"} and len(ticks) >= 3 and ticks not in text


def test_markdown_code_block_with_a_line_break_in_its_language_raises() -> None:
    with pytest.raises(ValueError, match="letters, digits"):
        encode_code_block("x", "a\n## b")


@pytest.mark.parametrize(
    "text", ["a\nb", "a\rb", "fmt: off", "type: ignore", "é", "`x`", "a\x0cb", "{x}"]
)
def test_comment_encoders_raise_for_breaks_pragmas_and_non_ascii_text(
    text: str,
) -> None:
    for encode in (encode_safe_text, encode_comment):
        with pytest.raises(ValueError, match="comment"):
            encode(text)


@pytest.mark.parametrize("text", ["a--b", "--", "a-", "-->"])
def test_markdown_comment_with_double_hyphen_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="comment"):
        encode_comment(text)


def test_comment_encoders_accept_a_path() -> None:
    assert encode_safe_text("specs/a-b/get_x.1.yaml, DO NOT EDIT.")
    assert (
        encode_comment("specs/a-b/. DO NOT EDIT.")
        == "<!-- specs/a-b/. DO NOT EDIT. -->"
    )
