"""HTML in a text hides nothing of the page behind it, by a CommonMark and an HTML parser."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import html5lib
import markdown_it
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties import tried
from toolcast.encoders.markdown import encode_block, encode_inline

HIDES = (
    "title script style textarea template noscript iframe select datalist dialog object"
    " video audio canvas progress meter svg math rp xmp noembed noframes plaintext head"
).split()
# What swallows the rest of a page when it is left open, each in the forms that people write.
OPEN = [
    "<details>",
    "<details><summary>More</summary>",
    "<div hidden>",
    "<template>",
    "<b hidden>",
    "<b hidden",
    "<x hidden>",
    "<i style='display:none'>",
    "<!--",
    "<!-- note",
    "<!-->",
    "<?php",
    "<!DOCTYPE",
    "<![CDATA[",
    "<svg>",
    "<math>",
    "<script>",
    "<SCRIPT src=x>",
    "<style>",
    "<textarea>",
    "<title>",
    "<pre>",
    "<plaintext>",
    "<xmp>",
    "<noscript>",
    "<iframe>",
    "<select>",
    "<table>",
    "<dialog>",
    "<datalist>",
    "<object>",
    "<video>",
    "<form hidden>",
    "<a hidden href='",
    '<div title="',
    "<div",
    "</details><details>",
    "<details></b></details><details>",
]
# HTML that is closed, and what only looks like some: models read it as it was.
CLOSED = [
    "<details><summary>More</summary>text</details>",
    "<rules>Be kind.</rules>",
    "Say <br> or <br/>.",
    "<b>bold</b> and <i>italic</i>",
    "List<String> and Map<String, int>",
    "a < b and c > d",
    "if n <max then",
    "x<y",
    "/files/<id>/<some_name>",
    "<https://example.org> and <ann@example.org>",
    "`<details>` and ``<script>``",
    "<!-- a note -->",
    "\\<details>",
    "<div hidden>nothing to see</div>",
    "->, <-, <=>, <3",
    "an <thinking> tag alone",
]


def visible(document: str) -> Iterator[tuple[str, str]]:
    """The texts of a rendered page that a reader sees, each with its element's name."""
    rendered = markdown_it.MarkdownIt("commonmark").render(document)
    tree = html5lib.parse(rendered, namespaceHTMLElements=False)
    yield from _texts(tree.find("body"), is_raw=False)


def _texts(
    element: ElementTree.Element[Any], *, is_raw: bool
) -> Iterator[tuple[str, str]]:
    name = element.tag
    hidden = "hidden" in element.attrib or "none" in element.attrib.get("style", "")
    if not isinstance(name, str) or name.rpartition("}")[2] in HIDES or hidden:
        return
    if element.text:
        yield name, element.text
    for child in element:
        if name != "details" or child.tag == "summary" or "open" in element.attrib:
            yield from _texts(child, is_raw=is_raw)
        if child.tail and (name != "details" or "open" in element.attrib):
            yield name, child.tail


def page(text: str) -> str:
    return f"### one\n\n{encode_block(text)}\n\n### two\n\nend\n"


def bullets(text: str) -> str:
    return f"## all\n\n- **one**: {encode_inline(text)}\n- **two**: end\n\n### two\n\nend\n"


def follows(document: str) -> bool:
    """Whether the next tool's heading and text are seen."""
    texts = list(visible(document))
    return ("h3", "two") in texts and ("p", "end") in texts


@pytest.mark.parametrize("html", OPEN)
@pytest.mark.parametrize(
    "around", ["{}", "text {}", "- {}", "> {}", "a\n\n{}\n\nb", "{} b"]
)
def test_what_is_open_ends_with_its_text(html: str, around: str) -> None:
    text = around.format(html)
    assert follows(page(text)), encode_block(text)
    line = text.replace("\n", " ")
    assert follows(bullets(line)), encode_inline(line)


@pytest.mark.parametrize("html", OPEN)
def test_what_was_escaped_is_shown_as_it_was_written(html: str) -> None:
    shown = "".join(text for _, text in visible(page(f"see {html} there")))
    assert " ".join(f"see {html} there".split()) in " ".join(shown.split())


@pytest.mark.parametrize("around", ["{}", "text {}", "- {}", "> {}"])
@pytest.mark.parametrize(
    "html",
    [
        '<link rel="stylesheet" href="data:text/css,h3{display:none}">',
        '<meta http-equiv="refresh" content="0;url=https://example.org">',
        '<base href="https://example.org/">',
        '<b style="position:fixed;inset:0;background:white">all there is</b>',
        "<b STYLE=position:fixed>all there is</b>",
        "<img src=x onerror=alert(1)>",
        "<i\tonclick='alert(1)'>here</i>",
    ],
)
def test_what_counts_for_the_whole_page_is_escaped_although_it_is_closed(
    html: str, around: str
) -> None:
    for document in (page(around.format(html)), bullets(around.format(html))):
        rendered = markdown_it.MarkdownIt("commonmark").render(document)
        tree = html5lib.parse(rendered, namespaceHTMLElements=False)
        for element in tree.iter():
            assert element.tag not in ("link", "meta", "base")
            assert not {"style", "onerror", "onclick"} & element.attrib.keys()


@pytest.mark.parametrize("text", CLOSED)
def test_what_is_closed_stays_as_it_was(text: str) -> None:
    assert str(encode_block(text)) == text
    assert str(encode_inline(text)) == text
    assert follows(page(text)) and follows(bullets(text))


def test_code_stays_as_it_was_beside_what_is_open() -> None:
    text = "Open <details> with `<details>`.\n\n```html\n<details>\n```"
    assert str(encode_block(text)) == text.replace("Open <", "Open \\<")


PIECES = st.lists(
    st.sampled_from(
        [
            *OPEN,
            *CLOSED,
            *"` `` ``` \\ > - text </details> </div> </b> </x> --> > \" ' <p> </p>".split(),
            *"</table> <td> <li> </ul> </title> </select> <a href=x> </a> ?> ]]>".split(),
            "\n",
            "\n\n",
            "\n```\n",
            "\n~~~\n",
            "\n- ",
            "\n> ",
            "\n    ",
        ]
    ),
    max_size=7,
)


@tried(500)
@given(PIECES, st.sampled_from(["", " "]))
@example(["<a t='", "`", "'>", "`", "<div hidden>", "`"], "")
@example(["<!-- a note -->", "<a", "<div hidden>nothing to see</div>"], "")
@example(["<!-- a note -->", "<a_b hidden>"], "")
@example(["<!-- a note -->", "</ b"], "")
@example(["<div>", "\n", "`", "<b hidden>", "`", "\n", "</div>"], "")
@example(["`", "\n", "`", "<div hidden>", "`", "`"], " ")
def test_however_it_is_put_together(pieces: list[str], between: str) -> None:
    text = between.join(pieces)
    assert follows(page(text)), encode_block(text)
    line = " ".join(text.split())
    assert follows(bullets(line)), encode_inline(line)
