"""Shell words, HTML, fenced blocks and comments: the text comes back, or is refused."""

from __future__ import annotations

import html.parser
import shlex
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from toolcast.encoders.html_text import text as html_text
from toolcast.encoders.markdown import fenced
from toolcast.encoders.python import comment
from toolcast.encoders.shell import typed_word, word

visible = st.text(st.characters(exclude_categories=["Cc", "Cs"]))
anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(anything)
@example('it\'s; $(true) `true` "x" \\ * ~ #')
@example("")
def test_a_shell_reads_the_word_back(text: str) -> None:
    assert shlex.split(word(text)) == [text]


def test_a_real_shell_reads_words_back() -> None:
    texts = ["it's", "$(echo x)", "a\nb", "--", "\t\x07", "é漢", "a\\", "*"]
    for encode in (word, typed_word):
        line = " ".join(encode(text) for text in texts)
        done = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, check=True
        )
        assert done.stdout.decode().split("\0")[:-1] == texts


def test_a_word_with_nul_is_refused() -> None:
    with pytest.raises(ValueError, match="NUL"):
        word("a\0b")


class _Reader(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.seen: list[tuple[str, list[tuple[str, str | None]]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@given(visible)
@example("</p><script>alert(1)</script>")
@example("\" onload='x' &amp; &lt;")
def test_html_comes_back(text: str) -> None:
    reader = _Reader()
    reader.feed(f'<p title="{html_text(text)}">{html_text(text)}</p>')
    reader.close()
    assert reader.seen == [("p", [("title", text)])]
    assert "".join(reader.texts) == text


@pytest.mark.parametrize("text", ["\0", "\x1b[2J", "\r", "\x85", "\ud800"])
def test_html_refuses_what_it_cannot_hold(text: str) -> None:
    with pytest.raises(ValueError, match=r"U\+"):
        html_text(text)


@given(visible.map(lambda text: text.strip()))
@example("```\n## out\n```")
@example("~~~\n````x\n")
def test_a_fence_holds_its_text(text: str) -> None:
    block = fenced(text, "text")
    ticks = block.split("\n")[0].removesuffix("text")
    assert block == f"{ticks}text\n{text}\n{ticks}"
    assert set(ticks) == {"`"} and len(ticks) >= 3 and ticks not in text


def test_a_language_is_one_word() -> None:
    with pytest.raises(ValueError, match="one word"):
        fenced("x", "a\n## b")


@pytest.mark.parametrize(
    "text", ["a\nb", "a\rb", "fmt: off", "type: ignore", "é", "`x`", "a\x0cb", "{x}"]
)
def test_a_comment_holds_no_text_of_a_spec(text: str) -> None:
    with pytest.raises(ValueError, match="comment"):
        comment(text)


def test_a_comment_holds_a_path() -> None:
    assert comment("specs/a-b/get_x.1.yaml, DO NOT EDIT.")
