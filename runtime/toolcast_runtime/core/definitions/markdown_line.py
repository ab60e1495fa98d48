"""One line of text in Markdown: what would reach beyond it is escaped.

The generator writes the same lines into files. Markdown passes HTML through, and an element
that a text leaves open goes on over the rest of the page. A text whose elements are all closed
stays as it is. Sources: CommonMark 0.31.2, sections 4.6, 4.7 and 6.6; HTML, "Parsing HTML documents".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

# A definition of a link, or of a footnote, holds for the whole page; its label may go on in
# the next line. Source: CommonMark 0.31.2, section 4.7.
_LABEL = r"(?=\[(?:[^\[\]\\]|\\.)*(?:\]:|\\?$))"
DEFINES_LINK = re.compile(
    r"^((?:[ \t]*(?:(?:[-+*]|\d{1,9}[.)])(?=[ \t])|>))*[ \t]*)" + _LABEL
)
"""A line that begins to define a link, up to where a backslash keeps it from that."""

_VOID = frozenset(
    "area base br col embed hr image img input link meta param source track wbr".split()
)
# What a browser reads in another way than other elements, also when it is closed, and what
# counts for the whole page wherever it stands.
_NEVER = frozenset(
    (
        "base body frame frameset head html iframe link listing math meta noembed noframes"
        " noscript plaintext script select style svg template textarea title xmp"
    ).split()
)
# Attributes by which an element can cover the page, or run something in it.
_REACHES_OUT = re.compile(r"\s(?:style|on[a-z]+)\s*(?:=|$|\s)", re.IGNORECASE)
# What hides or keeps as it is what stands in it, by itself. The others do with an attribute.
_HIDES = frozenset(
    (
        "applet audio canvas colgroup datalist details dialog form meter object option"
        " optgroup picture pre progress rp table tbody td tfoot th thead tr video"
    ).split()
)
# What begins raw HTML at the start of a line, however it goes on.
_BLOCKS = frozenset(
    (
        "address article aside base basefont blockquote body caption center col colgroup"
        " dd details dialog dir div dl dt fieldset figcaption figure footer form frame"
        " frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu"
        " menuitem nav noframes ol optgroup option p param pre script search section"
        " style summary table tbody td textarea tfoot th thead title tr track ul"
    ).split()
)
_MAY_BE_HTML = re.compile(r"<[A-Za-z/!?]")
_ATTRIBUTE = (
    r"""\s+[A-Za-z_:][A-Za-z0-9_.:-]*(?:\s*=\s*(?:"[^"\n]*"|'[^'\n]*'|[^\s"'=<>`]+))?"""
)
_TAG = re.compile(
    rf"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9-]*)(?P<attributes>(?:{_ATTRIBUTE})*)\s*/?>"
)
_COMMENT = re.compile(r"<!--[^<>\n]*[^<>\n-]-->")
_ADDRESS = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)>"
)
_WORD = re.compile(r"</?([A-Za-z][A-Za-z0-9-]*)(?=[\s/>]|$)", re.MULTILINE)
_RAW = re.compile(r"^(?:[ \t>*+-]|\d{1,9}[.)])*<[A-Za-z/!?]", re.MULTILINE)
_STRANGE = re.compile(r"</?[A-Za-z][^\s/>]*>")
_TICKS = re.compile(r"\\.|`+", re.DOTALL)


def markdown_line(text: str) -> str:
    """A line of a bullet, a heading or a label.

    It is as it was, but for HTML that would reach beyond it and definitions of links, which
    are escaped.

    Raises:
        ValueError: the text has a line break.
    """
    if "\n" in text or "\r" in text:
        raise ValueError("text with a line break cannot stand on one line")
    if leaves_html_open(text):
        [text] = escape_html([text])
    if "]:" in text:
        text = DEFINES_LINK.sub(r"\1\\", text.strip())
    return text.strip()


def leaves_html_open(text: str) -> bool:
    """Whether HTML of a text would reach beyond it, or may be read in two ways.

    What stands in code counts both as code and as HTML, because HTML around it decides
    which of the two it is.
    """
    if not _MAY_BE_HTML.search(text):
        return False
    without = "\n".join(_without_code(text.split("\n")))
    return not (_is_closed(text) and _is_closed(without))


def escape_html(lines: Sequence[str]) -> list[str]:
    """Lines of one paragraph without HTML: a backslash stands before what would begin some.

    Code stays as it is where each of the lines has its own spans of code from end to end.
    """
    spans = [_code_spans(line) for line in lines]
    is_certain = all(found is not None for found in spans)
    return [
        _escaped(line, found if is_certain and found else [])
        for line, found in zip(lines, spans, strict=True)
    ]


def _escaped(line: str, spans: Sequence[tuple[int, int]]) -> str:
    result, end = "", 0
    for start, stop in [*spans, (len(line), len(line))]:
        result += re.sub(
            r"(\\.)|<(?=[A-Za-z/!?])",
            lambda found: found[1] or "\\<",
            line[end:start],
        )
        result += line[start:stop]
        end = stop
    return result


def _code_spans(line: str) -> list[tuple[int, int]] | None:
    """The spans of code of a line; None when a run of backticks has no partner in it."""
    spans: list[tuple[int, int]] = []
    at = 0
    while found := _TICKS.search(line, at):
        at = found.end()
        if found[0][0] == "\\":
            continue
        length = len(found[0])
        partner = re.compile(rf"(?<!`)`{{{length}}}(?!`)").search(line, at)
        if partner is None:
            return None
        at = partner.end()
        spans.append((found.start(), at))
    return spans


def _without_code(lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        shown, end = "", 0
        for start, stop in [*(_code_spans(line) or ()), (len(line), len(line))]:
            shown += re.sub(r"\\.", "", line[end:start])
            end = stop
        yield shown


def _is_closed(text: str) -> bool:
    """Whether each element of a text ends in it, in its order."""
    opened: list[tuple[str, bool]] = []
    at = 0
    while found := _MAY_BE_HTML.search(text, at):
        at = found.start() + 1
        harmless = _COMMENT.match(text, found.start()) or _ADDRESS.match(
            text, found.start()
        )
        tag = _TAG.match(text, found.start())
        if harmless:
            at = harmless.end()
        elif tag is None:
            if not _is_no_tag(text, found.start()):
                return False
        elif _follow(tag, opened):
            at = tag.end()
        else:
            return False
    return not any(needs_end for _, needs_end in opened)


def _is_no_tag(text: str, start: int) -> bool:
    """Whether what begins with `<` is text for everybody: `a </ b`, `<some_name>`."""
    word = _WORD.match(text, start)
    if word is None and _RAW.search(text):
        # In a block of HTML a browser reads it as a tag, whose name may be `a<div`.
        return bool(_STRANGE.match(text, start))
    if word is None:
        return text[start + 1] not in "!?"
    return text.count("<") == 1 and word[1].lower() not in _BLOCKS


def _follow(tag: re.Match[str], opened: list[tuple[str, bool]]) -> bool:
    """Opens or closes an element; False where that would reach beyond the text.

    One that hides nothing and has no attribute, as `hidden`, may stay open.
    """
    name = tag["name"].lower()
    if name in _NEVER or _REACHES_OUT.search(tag["attributes"]):
        return False
    if name in _VOID:
        return not tag["end"]
    if not tag["end"]:
        opened.append((name, name in _HIDES or bool(tag["attributes"])))
        return True
    while any(name == other for other, _ in opened):
        other, needs_end = opened.pop()
        if other == name:
            return True
        if needs_end:
            return False
    return name not in _HIDES
