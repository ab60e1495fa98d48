"""Encode text of specs as Markdown and HTML that cannot leave its block or element."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, LiteralString

from toolcast_runtime.core.definitions.markdown_line import (
    LINK_DEFINITION,
    escape_html,
    escape_markdown_line,
    has_unclosed_html,
)

from .code import Code
from .json_text import encode_compact_json

if TYPE_CHECKING:
    from toolcast_runtime.core.definitions.tool import Tool
    from toolcast_runtime.prompts import PromptBlocks

# A heading can also follow the markers of list items and block quotes.
_OPENS_BLOCK = re.compile(
    r"^((?: {0,3}(?:(?:[-+*]|\d{1,9}[.)])[ \t]+|>[ \t]?))* {0,3})(#{1,6}(?=\s|$)|=+\s*$|-+\s*$)"
)
# In a list, deeper indentation continues an item; outside of a list it is code.
_OPENS_BLOCK_IN_ITEM = re.compile(r"^([ \t>]*)(#{1,6}(?=\s|$)|=+\s*$|-+\s*$)")
_ITEM = re.compile(r"^[ \t>]*(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)")
# Backticks with another backtick on the line are a code span, not a fence.
_FENCE = re.compile(r"^ {0,3}(`{3,}(?=[^`]*$)|~{3,})")

_TAG = re.compile(r"^ {0,3}</?[A-Za-z!?]")
_PIPE = re.compile(r"(?<!\\)((?:\\\\)*)\|")

_LINE_END = re.compile(r"\r+\n")
_LANGUAGE = re.compile(r"[A-Za-z0-9_-]*")
_COMMENT = re.compile(r"[A-Za-z0-9 ._/,;()]*(?:-[A-Za-z0-9 ._/,;()]+)*")


def interpolate(template: LiteralString, *values: Code) -> Code:
    """Replace each `{}` of a literal template with an encoded value.

    Raises:
        UnencodedTextError: a value is plain text.
    """
    return Code(template.format(*map(Code.escape, values)))


SLOT = Code("\x1d")
"""Placeholder line in prompt text, which the runtime replaces with prompt pieces.

Specs cannot contain this control character.
"""


def compose_blocks(
    header: Code,
    blocks: PromptBlocks,
    tools: Sequence[Tool] = (),
    cli_tools: Sequence[Tool] = (),
) -> dict[str, Code]:
    """Return the composed prompt blocks by name, each below the header.

    Raises:
        UnencodedTextError: the header is plain text.
    """
    texts = blocks.compose(tools, cli_tools)
    return {
        name: interpolate("{}\n{}", header, Code(text)) for name, text in texts.items()
    }


def join_values(values: Iterable[Code]) -> Code:
    """Join encoded values with commas.

    Raises:
        UnencodedTextError: a value is plain text.
    """
    return Code(", ").join(values)


def encode_comment(text: str) -> Code:
    """Encode a path or a simple phrase as an HTML comment.

    Raises:
        ValueError: the text contains characters other than letters, digits, spaces and
            `._/,;()-`, or two hyphens in a row, which would end the comment.
    """
    if not _COMMENT.fullmatch(text):
        raise ValueError(
            "a comment may contain only letters, digits, spaces, `._/,;()` and single"
            " hyphens"
        )
    return Code(f"<!-- {text} -->")


def encode_inline(text: str) -> Code:
    """Encode one line of text for a bullet, a heading or a label.

    Only unclosed HTML and link definitions are escaped: they would affect the text after it.

    Raises:
        ValueError: the text has a line break.
    """
    return Code(escape_markdown_line(text))


def encode_cell(text: str) -> Code:
    """Encode text for one table cell, on one line and with escaped pipes.

    HTML is escaped. Code that is already encoded as Markdown can be passed as well.
    Source: GitHub Flavored Markdown 0.29, section 4.10.
    """
    [line] = escape_html([" ".join(text.split())])
    # A pipe after an odd number of backslashes is already escaped.
    return Code(_PIPE.sub(r"\1\\|", line))


def encode_table_row(cells: Iterable[Code]) -> Code:
    """Encode one row of a table.

    Raises:
        UnencodedTextError: a cell is plain text.
    """
    return Code("| {} |").format(Code(" | ").join(cells))


def encode_code_span(text: str) -> Code:
    r"""Encode text as a code span that its own backticks cannot end.

    Line breaks are written as `\n` and `\r`. Source: CommonMark 0.31.2, section 6.1.
    """
    line = text.replace("\r", "\\r").replace("\n", "\\n")
    longest_run = max((len(run) for run in re.findall("`+", line)), default=0)
    ticks = "`" * (longest_run + 1)
    # Pad with spaces: a backtick at either end would extend the delimiter, and blank
    # content would not form a code span.
    padding = " " if not line.strip() or line[0] == "`" or line[-1] == "`" else ""
    return Code(f"{ticks}{padding}{line}{padding}{ticks}")


def encode_code_block(text: str, language: str = "") -> Code:
    """Encode text as a fenced code block that fences in the text cannot end.

    The result has no final newline. Source: CommonMark 0.31.2, section 4.5.

    Raises:
        ValueError: `language` contains characters other than letters, digits, `-` and `_`.
    """
    if not _LANGUAGE.fullmatch(language):
        raise ValueError(
            "the language of a code block may contain only letters, digits, `-` and `_`"
        )
    text = _LINE_END.sub("\n", text)
    longest_run = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * max(3, longest_run + 1)
    return Code(f"{ticks}{language}\n{text}\n{ticks}")


def encode_block(text: str) -> Code:
    """Encode paragraphs, lists and code blocks so that they cannot change the page around them.

    Headings, heading underlines, link definitions and unclosed HTML are escaped. An open
    fence is closed, and fences inside lists lose their indentation. The result has no final
    newline.
    """
    text = _LINE_END.sub("\n", text)
    if has_unclosed_html(text):
        text = "\n".join(_escape_html_outside_fences(text.split("\n")))
    result: list[str] = []
    fence = ""
    in_html = in_list = False
    defines_links = "]:" in text
    for line in text.strip("\n").split("\n"):
        fence_match = _FENCE.match(line)
        if fence:
            if fence_match and _closes_fence(line, fence_match, fence):
                fence = ""
                line = line.lstrip()
        elif fence_match and not in_html:
            fence = fence_match[1]
            # An indented fence could belong to a list item and would end with the item.
            line = line.lstrip()
        else:
            # An HTML block lasts until a blank line and would swallow a fence in it.
            in_html = bool(line.strip()) and (in_html or bool(_TAG.match(line)))
            line = f"\\{line.lstrip()}" if fence_match else line
            line = _OPENS_BLOCK.sub(r"\1\\\2", line)
            if defines_links:
                line = LINK_DEFINITION.sub(r"\1\\", line)
            in_list = in_list or bool(_ITEM.match(line))
            if in_list:
                line = _OPENS_BLOCK_IN_ITEM.sub(r"\1\\\2", line)
        result.append(line.rstrip())
    if fence:
        result.append(fence)
    # Stripping lines can leave empty lines at the end.
    return Code("\n".join(result).strip("\n"))


def _closes_fence(line: str, match: re.Match[str], fence: str) -> bool:
    """Return whether a line closes the fence: the same characters, at least as many."""
    return match[1].startswith(fence) and not line.strip().strip(fence[0])


def _escape_html_outside_fences(lines: Iterable[str]) -> Iterator[str]:
    paragraph: list[str] = []
    fence = ""
    for line in lines:
        fence_match = _FENCE.match(line)
        if line.strip() and not fence and not fence_match:
            paragraph.append(line)
            continue
        yield from escape_html(paragraph)
        paragraph.clear()
        yield line
        if fence_match and not fence:
            fence = fence_match[1]
        elif fence_match and _closes_fence(line, fence_match, fence):
            fence = ""
    yield from escape_html(paragraph)


# Characters that could end a script element, open a comment in it, or end a JavaScript line.
_UNSAFE = re.compile(r"[<>&\u2028\u2029]")


def encode_html_text(text: str) -> Code:
    """Encode text for the content of an HTML element or a quoted attribute."""
    return Code(html.escape(text, quote=True))


def encode_script_json(value: Any) -> Code:
    """Encode a JSON value for `<script type="application/json">`.

    No string in it can end the element. Source: HTML, "Restrictions for contents of script
    elements".

    Raises:
        ValueError: a number is not finite.
    """
    text = _UNSAFE.sub(
        lambda match: f"\\u{ord(match[0]):04x}", encode_compact_json(value)
    )
    return Code(text)


def hash_source(source: str) -> str:
    """Return the hash by which a content security policy allows an inline script.

    It is the `hash-source` of CSP level 3 with SHA-256, in single quotes. It also
    applies to style sheets.
    """
    digest = hashlib.sha256(source.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def fill_document(template: str, **parts: Code | str) -> str:
    """Replace each `{{name}}` of a document template with the part of that name.

    Args:
        template: a template that ships with the generator.
        parts: `Code`, or text of files that ship with the generator.

    Raises:
        KeyError: a part is missing.
    """
    pieces = re.split(r"\{\{(\w+)\}\}", template)
    pieces[1::2] = [str(parts[name]) for name in pieces[1::2]]
    return "".join(pieces)
