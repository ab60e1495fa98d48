"""HTML in texts that must not hide the rest of a page, checked by two parsers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import html5lib
import markdown_it
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties import limit_examples
from toolcast.encoders.markdown import encode_block, encode_inline

HIDING = (
    "title script style textarea template noscript iframe select datalist dialog object"
    " video audio canvas progress meter svg math rp xmp noembed noframes plaintext head"
).split()
# Unclosed HTML that hides the rest of a page, in common notations.
UNCLOSED = [
    *"<details> <template> <!-- <!--> <?php <!DOCTYPE <![CDATA[ <svg> <math>".split(),
    *"<script> <style> <textarea> <title> <pre> <plaintext> <xmp> <noscript>".split(),
    *"<iframe> <select> <table> <dialog> <datalist> <object> <video> <div".split(),
    *["<details><summary>More</summary>", "<div hidden>", "<b hidden>", "<b hidden"],
    *["<x hidden>", "<i style='display:none'>", "<!-- note", "<SCRIPT src=x>"],
    *["<form hidden>", "<a hidden href='", '<div title="', "</details><details>"],
    "<details></b></details><details>",
]
# Closed HTML, and text that only resembles HTML, which stay unchanged for models.
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


def list_visible_texts(document: str) -> Iterator[tuple[str, str]]:
    """Yield the visible texts of a rendered page with the names of their elements."""
    rendered = markdown_it.MarkdownIt("commonmark").render(document)
    tree = html5lib.parse(rendered, namespaceHTMLElements=False)
    yield from _walk_element(tree.find("body"), is_raw=False)


def _walk_element(
    element: ElementTree.Element[Any], *, is_raw: bool
) -> Iterator[tuple[str, str]]:
    name = element.tag
    hidden = "hidden" in element.attrib or "none" in element.attrib.get("style", "")
    if not isinstance(name, str) or name.rpartition("}")[2] in HIDING or hidden:
        return
    if element.text:
        yield name, element.text
    for child in element:
        if name != "details" or child.tag == "summary" or "open" in element.attrib:
            yield from _walk_element(child, is_raw=is_raw)
        if child.tail and (name != "details" or "open" in element.attrib):
            yield name, child.tail


def page(text: str) -> str:
    return f"### one\n\n{encode_block(text)}\n\n### two\n\nend\n"


def bullets(text: str) -> str:
    return f"## all\n\n- **one**: {encode_inline(text)}\n- **two**: end\n\n### two\n\nend\n"


def is_next_tool_visible(document: str) -> bool:
    """Return whether the heading and text of the next tool are visible."""
    texts = list(list_visible_texts(document))
    return ("h3", "two") in texts and ("p", "end") in texts


@pytest.mark.parametrize("html", UNCLOSED)
def test_markdown_encoder_escapes_unclosed_html_that_hides_a_tool(html: str) -> None:
    """The HTML is displayed as written."""
    for template in ("{}", "text {}", "- {}", "> {}", "a\n\n{}\n\nb", "{} b"):
        text = template.format(html)
        assert is_next_tool_visible(page(text)), encode_block(text)
        line = text.replace("\n", " ")
        assert is_next_tool_visible(bullets(line)), encode_inline(line)
    visible_texts = list_visible_texts(page(f"see {html} there"))
    visible_text = " ".join("".join(text for _, text in visible_texts).split())
    assert " ".join(f"see {html} there".split()) in visible_text


@pytest.mark.parametrize("template", ["{}", "text {}", "- {}", "> {}"])
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
def test_markdown_encoder_escapes_script_style_and_event_html(
    html: str, template: str
) -> None:
    for document in (page(template.format(html)), bullets(template.format(html))):
        rendered = markdown_it.MarkdownIt("commonmark").render(document)
        tree = html5lib.parse(rendered, namespaceHTMLElements=False)
        for element in tree.iter():
            assert element.tag not in ("link", "meta", "base")
            assert not {"style", "onerror", "onclick"} & element.attrib.keys()


@pytest.mark.parametrize("text", CLOSED)
def test_markdown_encoder_leaves_closed_html_unchanged(text: str) -> None:
    assert str(encode_block(text)) == text
    assert str(encode_inline(text)) == text
    assert is_next_tool_visible(page(text)) and is_next_tool_visible(bullets(text))


def test_markdown_encoder_leaves_html_in_code_unchanged_next_to_unclosed_html() -> None:
    text = "Open <details> with `<details>`.\n\n```html\n<details>\n```"
    assert str(encode_block(text)) == text.replace("Open <", "Open \\<")


PIECES = st.lists(
    st.sampled_from(
        [
            *UNCLOSED,
            *CLOSED,
            *"` `` ``` \\ > - text </details> </div> </b> </x> --> > \" ' <p> </p>".split(),
            *"</table> <td> <li> </ul> </title> </select> <a href=x> </a> ?> ]]>".split(),
            *["\n", "\n\n", "\n```\n", "\n~~~\n", "\n- ", "\n> ", "\n    "],
        ]
    ),
    max_size=7,
)


@limit_examples(500)
@given(PIECES, st.sampled_from(["", " "]))
@example(["<a t='", "`", "'>", "`", "<div hidden>", "`"], "")
@example(["<!-- a note -->", "<a", "<div hidden>nothing to see</div>"], "")
@example(["<!-- a note -->", "<a_b hidden>"], "")
@example(["<!-- a note -->", "</ b"], "")
@example(["<div>", "\n", "`", "<b hidden>", "`", "\n", "</div>"], "")
@example(["`", "\n", "`", "<div hidden>", "`", "`"], " ")
def test_markdown_encoder_lets_no_html_combination_hide_the_next_tool(
    pieces: list[str], separator: str
) -> None:
    text = separator.join(pieces)
    assert is_next_tool_visible(page(text)), encode_block(text)
    line = " ".join(text.split())
    assert is_next_tool_visible(bullets(line)), encode_inline(line)
