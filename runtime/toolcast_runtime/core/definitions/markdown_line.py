"""Escaping of a line of text in Markdown, so that its HTML affects only this line.

Markdown passes HTML through, and an element that a text leaves open continues over the rest of
the page. Such HTML is escaped; a text whose elements are all closed is unchanged. The generator
writes the same lines into files.

Sources: CommonMark 0.31.2, sections 4.6, 4.7 and 6.6; HTML, "Parsing HTML documents".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# The label of a link definition or footnote, which would apply to the whole page. A label may
# continue on the next line (CommonMark 0.31.2, section 4.7).
_LABEL = r"(?=\[(?:[^\[\]\\]|\\.)*(?:\]:|\\?$))"
LINK_DEFINITION = re.compile(
    r"^((?:[ \t]*(?:(?:[-+*]|\d{1,9}[.)])(?=[ \t])|>))*[ \t]*)" + _LABEL
)
"""The start of a line that defines a link; a backslash after the match prevents it."""

_VOID_ELEMENTS = frozenset(
    "area base br col embed hr image img input link meta param source track wbr".split()
)
# Elements that are always escaped: browsers parse them by special rules even if they are
# closed, or they affect the whole page from any position.
_FORBIDDEN_ELEMENTS = frozenset(
    (
        "base body frame frameset head html iframe link listing math meta noembed noframes"
        " noscript plaintext script select style svg template textarea title xmp"
    ).split()
)
# Attributes with which an element can cover the page or run a script.
_FORBIDDEN_ATTRIBUTE = re.compile(r"\s(?:style|on[a-z]+)\s*(?:=|$|\s)", re.IGNORECASE)
# Elements that hide or change their content even without attributes, and so must be closed. Other
# elements need to be closed only if they have attributes.
_HIDING_ELEMENTS = frozenset(
    (
        "applet audio canvas colgroup datalist details dialog form meter object option"
        " optgroup picture pre progress rp table tbody td tfoot th thead tr video"
    ).split()
)
# Elements whose tag at the start of a line starts a block of raw HTML (CommonMark 0.31.2,
# section 4.6).
_BLOCK_ELEMENTS = frozenset(
    (
        "address article aside base basefont blockquote body caption center col colgroup"
        " dd details dialog dir div dl dt fieldset figcaption figure footer form frame"
        " frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu"
        " menuitem nav noframes ol optgroup option p param pre script search section"
        " style summary table tbody td textarea tfoot th thead title tr track ul"
    ).split()
)
_POSSIBLE_HTML = re.compile(r"<[A-Za-z/!?]")
_ATTRIBUTE = (
    r"""\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\s*=\s*(?:"[^"\n]*"|'[^'\n]*'|[^\s"'=<>`]+))?"""
)
_TAG = re.compile(
    rf"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)(?P<attributes>(?:{_ATTRIBUTE})*)\s*/?>"
)
_COMMENT = re.compile(r"<!--[^<>\n]*[^<>\n-]-->")
_AUTOLINK = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>"
)
_TAG_NAME = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)(?=[\s/>]|$)", re.MULTILINE)
_RAW_BLOCK_START = re.compile(r"^(?:[ \t>*+-]|\d{1,9}[.)])*<[A-Za-z/!?]", re.MULTILINE)
_UNUSUAL_TAG = re.compile(r"</?[A-Za-z][^\s/>]*>")
_ESCAPE_OR_BACKTICKS = re.compile(r"\\.|`+", re.DOTALL)


def escape_markdown_line(text: str) -> str:
    """Return a text as one line of Markdown, for a bullet, a heading or a label.

    Unclosed HTML and link definitions are escaped; surrounding white space is removed.

    Raises:
        ValueError: the text has a line break.
    """
    if "\n" in text or "\r" in text:
        raise ValueError("text with a line break cannot be written on one line")
    if has_unclosed_html(text):
        [text] = escape_html([text])
    if "]:" in text:
        text = LINK_DEFINITION.sub(r"\1\\", text.strip())
    return text.strip()


def has_unclosed_html(text: str) -> bool:
    """Return whether the HTML of a text could affect the page after it, or is ambiguous.

    The content of code spans is checked both as code and as HTML, because HTML around a span
    can decide which of the two it is.
    """
    if not _POSSIBLE_HTML.search(text):
        return False
    without_code = "\n".join(_remove_code(text.split("\n")))
    return not (_is_closed(text) and _is_closed(without_code))


def escape_html(lines: Sequence[str]) -> list[str]:
    """Escape the HTML in the lines of a paragraph, with a backslash before each `<`.

    Code spans are unchanged if every line closes all spans that it opens.
    """
    spans = [_find_code_spans(line) for line in lines]
    is_unambiguous = all(line_spans is not None for line_spans in spans)
    return [
        _escape_line(line, line_spans if is_unambiguous and line_spans else [])
        for line, line_spans in zip(lines, spans, strict=True)
    ]


def _escape_line(line: str, spans: Sequence[tuple[int, int]]) -> str:
    """Escape the `<` of a line outside of the code spans."""
    result, end = "", 0
    for start, stop in [*spans, (len(line), len(line))]:
        result += re.sub(
            r"(\\.)|<(?=[A-Za-z/!?])",
            lambda match: match[1] or "\\<",
            line[end:start],
        )
        result += line[start:stop]
        end = stop
    return result


def _find_code_spans(line: str) -> list[tuple[int, int]] | None:
    """Return the code spans of a line; None if a run of backticks has no closing run."""
    spans: list[tuple[int, int]] = []
    position = 0
    while match := _ESCAPE_OR_BACKTICKS.search(line, position):
        position = match.end()
        if match[0][0] == "\\":
            continue
        length = len(match[0])
        closing = re.compile(rf"(?<!`)`{{{length}}}(?!`)").search(line, position)
        if closing is None:
            return None
        position = closing.end()
        spans.append((match.start(), position))
    return spans


def _remove_code(lines: Sequence[str]) -> Iterator[str]:
    """Yield lines without their code spans and escaped characters."""
    for line in lines:
        text, end = "", 0
        for start, stop in [*(_find_code_spans(line) or ()), (len(line), len(line))]:
            text += re.sub(r"\\.", "", line[end:start])
            end = stop
        yield text


def _is_closed(text: str) -> bool:
    """Return whether the HTML elements of a text are closed in it, in the right order.

    Elements that hide nothing and have no attributes may stay open.
    """
    # Each open element: its name, and whether the element must be closed.
    stack: list[tuple[str, bool]] = []
    position = 0
    while match := _POSSIBLE_HTML.search(text, position):
        start = match.start()
        position = start + 1
        harmless = _COMMENT.match(text, start) or _AUTOLINK.match(text, start)
        tag = _TAG.match(text, start)
        if harmless:
            position = harmless.end()
        elif tag is None:
            if not _is_plain_text(text, start):
                return False
        elif _apply_tag(tag, stack):
            position = tag.end()
        else:
            return False
    return not any(must_be_closed for _, must_be_closed in stack)


def _is_plain_text(text: str, start: int) -> bool:
    """Return whether every parser reads `<` at `start` as text: `a </ b`, `<some_name>`."""
    name = _TAG_NAME.match(text, start)
    if name is None and _RAW_BLOCK_START.search(text):
        # Inside a block of raw HTML, a browser accepts any tag name, even `a<div`.
        return bool(_UNUSUAL_TAG.match(text, start))
    if name is None:
        return text[start + 1] not in "!?"
    return text.count("<") == 1 and name[1].lower() not in _BLOCK_ELEMENTS


def _apply_tag(tag: re.Match[str], stack: list[tuple[str, bool]]) -> bool:
    """Apply an HTML tag to the stack of open elements; return False to reject the tag.

    A tag is rejected if it can change how the rest of the page is displayed: a forbidden
    element or attribute, an end tag without its start tag, or an end tag that leaves an
    inner element open that hides text or has attributes.
    """
    name = tag["name"].lower()
    if name in _FORBIDDEN_ELEMENTS or _FORBIDDEN_ATTRIBUTE.search(tag["attributes"]):
        return False
    if name in _VOID_ELEMENTS:
        return not tag["end"]
    if not tag["end"]:
        stack.append((name, name in _HIDING_ELEMENTS or bool(tag["attributes"])))
        return True
    while any(name == open_name for open_name, _ in stack):
        open_name, must_be_closed = stack.pop()
        if open_name == name:
            return True
        if must_be_closed:
            return False
    return name not in _HIDING_ELEMENTS
