"""Markdown and HTML: text of specs that stays inside the block or element that it is put into."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, LiteralString

from toolcast_runtime.core.definitions.markdown_line import (
    DEFINES_LINK,
    escape_html,
    leaves_html_open,
    markdown_line,
)

from .code import Code
from .json_text import encode_compact_json

if TYPE_CHECKING:
    from toolcast_runtime.core.definitions.tool import Tool
    from toolcast_runtime.prompts import PromptBlocks

# Behind the marks of list items and quotations a heading is one as well.
_OPENS_BLOCK = re.compile(
    r"^((?: {0,3}(?:(?:[-+*]|\d{1,9}[.)])[ \t]+|>[ \t]?))* {0,3})(#{1,6}(?=\s|$)|=+\s*$|-+\s*$)"
)
# In a list, what is indented further belongs to an item instead of being code.
_OPENS_BLOCK_IN_ITEM = re.compile(r"^([ \t>]*)(#{1,6}(?=\s|$)|=+\s*$|-+\s*$)")
_ITEM = re.compile(r"^[ \t>]*(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)")
# What follows a fence of backticks has none; otherwise it is a span of code.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})")

_TAG = re.compile(r"^ {0,3}</?[A-Za-z!?]")
_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")

_LINE_END = re.compile(r"\r+\n")
_PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_./-]*")
_LANGUAGE = re.compile(r"[A-Za-z0-9_-]*")
_COMMENT = re.compile(r"[A-Za-z0-9 ._/,;()]*(?:-[A-Za-z0-9 ._/,;()]+)*")


def interpolate(words: LiteralString, *values: Code) -> Code:
    """Words of the generator's own, with a value in the place of each `{}`.

    Raises:
        NotEncoded: a value is plain text.
    """
    return Code(words.format(*map(Code.escape, values)))


SLOT = Code("\x1d")
"""The line of a frame in whose place the runtime puts other pieces. No spec can contain it."""


def compose_blocks(
    header: Code,
    blocks: PromptBlocks,
    tools: Sequence[Tool] = (),
    cli_tools: Sequence[Tool] = (),
) -> dict[str, Code]:
    """Return the blocks of tools below a header, by the names of their files.

    Raises:
        NotEncoded: the header is plain text.
    """
    made = blocks.compose(tools, cli_tools)
    return {
        name: interpolate("{}\n{}", header, Code(text)) for name, text in made.items()
    }


def join_values(values: Iterable[Code]) -> Code:
    """Values with commas between them.

    Raises:
        NotEncoded: a value is plain text.
    """
    return Code(", ").join(values)


def encode_comment(text: str) -> Code:
    """A comment that no page shows: a path or words of a checked grammar.

    Raises:
        ValueError: something else than letters, digits, spaces and `._/,;()-` is in it, or
            two hyphens in a row, which would end it.
    """
    if not _COMMENT.fullmatch(text):
        raise ValueError("a comment holds words of a checked grammar only")
    return Code(f"<!-- {text} -->")


def encode_inline(text: str) -> Code:
    """One line of text: a bullet, a heading, a label.

    It is as it was, but for HTML that would reach beyond it and definitions of links, which
    are escaped.

    Raises:
        ValueError: the text has a line break.
    """
    return Code(markdown_line(text))


def encode_link(words: LiteralString, path: str) -> Code:
    """A link to a file beside the page.

    Raises:
        ValueError: the path is not of letters, digits, `_`, `-`, `.` and `/` alone.
    """
    if not _PATH.fullmatch(path):
        raise ValueError("a link leads to a path of a checked grammar only")
    return Code(f"[{words}]({path})")


def encode_cell(text: str) -> Code:
    """The text of one cell of a table, on one line, which no pipe in it ends.

    HTML in it is shown and not obeyed. Text that is encoded already may be put into a cell,
    too. Source: GitHub Flavored Markdown 0.29, section 4.10.
    """
    [line] = escape_html([" ".join(text.split())])
    # A pipe behind an odd number of backslashes is one of the text for every reader.
    return Code(_PIPE.sub(r"\1\\|", line))


def encode_table_row(cells: Iterable[Code]) -> Code:
    """One line of a table.

    Raises:
        NotEncoded: a cell is plain text.
    """
    return Code("| {} |").format(Code(" | ").join(cells))


def encode_code_span(text: str) -> Code:
    """A name as a span of code, which no name can end.

    Line breaks are shown as a backslash and an n. Source: CommonMark 0.31.2, section 6.1.
    """
    shown = text.replace("\r", "\\r").replace("\n", "\\n")
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    ticks = "`" * (longest + 1)
    space = " " if not shown.strip() or shown[0] == "`" or shown[-1] == "`" else ""
    return Code(f"{ticks}{space}{shown}{space}{ticks}")


def encode_code_block(text: str, language: str = "") -> Code:
    """A fenced block that holds the text line for line, whatever fences it has itself.

    Ends without a newline. Source: CommonMark 0.31.2, section 4.5.

    Raises:
        ValueError: `language` is not one word of letters, digits, `-` and `_`.
    """
    if not _LANGUAGE.fullmatch(language):
        raise ValueError("the language of a fenced block is one word")
    text = _LINE_END.sub("\n", text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest + 1)
    return Code(f"{ticks}{language}\n{text}\n{ticks}")


def encode_block(text: str) -> Code:
    """Paragraphs, lists and fenced blocks, without the power to open a heading.

    A line that would start or underline a heading, or define a link for the whole page, is
    escaped, and HTML that would reach beyond the text; a fence that is left open is closed, and one in a list moved out to the
    margin. The block ends without a newline.
    """
    text = _LINE_END.sub("\n", text)
    if leaves_html_open(text):
        text = "\n".join(_without_html(text.split("\n")))
    result: list[str] = []
    fence = ""
    in_html = in_list = False
    defines_links = "]:" in text
    for line in text.strip("\n").split("\n"):
        opens = _FENCE.match(line)
        if fence:
            if (
                opens
                and opens[1].startswith(fence)
                and not line.strip().strip(fence[0])
            ):
                fence = ""
                line = line.lstrip()
        elif opens and not in_html:
            fence = opens[1]
            # Indented, it might belong to a list, and end with it or not.
            line = line.lstrip()
        else:
            # Up to a blank line other HTML takes fences as they are: none may open there.
            in_html = bool(line.strip()) and (in_html or bool(_TAG.match(line)))
            line = f"\\{line.lstrip()}" if opens else line
            line = _OPENS_BLOCK.sub(r"\1\\\2", line)
            if defines_links:
                line = DEFINES_LINK.sub(r"\1\\", line)
            in_list = in_list or bool(_ITEM.match(line))
            if in_list:
                line = _OPENS_BLOCK_IN_ITEM.sub(r"\1\\\2", line)
        result.append(line.rstrip())
    if fence:
        result.append(fence)
    # A last line of white space alone is gone by now.
    return Code("\n".join(result).strip("\n"))


def _without_html(lines: Iterable[str]) -> Iterator[str]:
    """Lines with their HTML escaped, but for what stands between fences."""
    paragraph: list[str] = []
    fence = ""
    for line in lines:
        opens = _FENCE.match(line)
        if line.strip() and not fence and not opens:
            paragraph.append(line)
            continue
        yield from escape_html(paragraph)
        paragraph.clear()
        yield line
        if opens and not fence:
            fence = opens[1]
        elif opens and opens[1].startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
    yield from escape_html(paragraph)


# What could end the element, begin a comment in it, or end a line for JavaScript.
_UNSAFE = re.compile(r"[<>&\u2028\u2029]")


def encode_html_text(text: str) -> Code:
    """A text between tags or in a quoted attribute."""
    return Code(html.escape(text, quote=True))


def encode_script_json(value: Any) -> Code:
    """A JSON value in `<script type="application/json">`, read with `JSON.parse`.

    No text of it can end the element: HTML, "Restrictions for contents of script elements".

    Raises:
        ValueError: a number is not finite.
    """
    text = _UNSAFE.sub(
        lambda found: f"\\u{ord(found[0]):04x}", encode_compact_json(value)
    )
    return Code(text)


def hash_source(source: str) -> str:
    """What lets one inline script or style sheet through: CSP level 3, `hash-source`."""
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def fill_document(picture: str, **parts: Code | str) -> str:
    """A document with a part in the place of each `{{name}}`.

    Args:
        picture: a document of our own with such places.
        parts: what no encoder made is the text of our own shipped files.
    """
    pieces = re.split(r"\{\{(\w+)\}\}", picture)
    pieces[1::2] = [str(parts[name]) for name in pieces[1::2]]
    return "".join(pieces)
