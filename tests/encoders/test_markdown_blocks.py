"""Tool texts that stay within their Markdown block, checked by a CommonMark parser."""

from __future__ import annotations

import markdown_it
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties import limit_examples
from toolcast.encoders.markdown import encode_block, encode_code_span, encode_inline

PIECES = st.lists(
    st.sampled_from(
        [
            *"text === --- - ``` ~~~ ```x` <!-- --> <script> </script> <?php ?>".split(),
            *"<!DOCTYPE <pre> <![CDATA[ ]]> <div> </div> <b>".split(),
            *["", "# x", "    # x", "> # q", "- item", "  ```", "   ~~~", "    ```"],
            *["1. x", "- ```", "> ```", "- # x", "> ## x", "1) # x", "> - # x"],
            *["> ===", "  text"],
        ]
    ),
    max_size=8,
).map("\n".join)


@given(PIECES)
@example("<!-- hides the rest")
@example("```\n<!--\n```\n<script>")
@example("text\n-\n<pre>")
@example("- a\n  ```\n# x")
@example("- a\n  ```\ntext")
@example("1. a\n   ~~~\n   code")
@example("<div>\ntext\n```\n\n# x\n</div>")
def test_markdown_block_encoder_closes_texts_before_the_next_heading(text: str) -> None:
    document = f"### one\n\n{encode_block(text)}\n\n### two\n\nend\n"
    tokens = markdown_it.MarkdownIt("commonmark").parse(document)
    headings = [token for token in tokens if token.type == "heading_open"]
    assert [token.markup for token in headings] == ["###", "###"]


LABELS = st.lists(
    st.sampled_from(
        [
            *"[ other [other ]: https://example.org text \\ ``` [other\\ <div>".split(),
            *["", "[other]: https://example.org", "[other]:", "[x]: y", "- a"],
            *["other]: https://example.org", "- [other]: z", "1. [other]: z"],
            *["> [other]: z", ">[other]: z", "  [other]: z", "    [other]: z"],
            "- > [other]:",
        ]
    ),
    max_size=6,
).map("\n".join)


@limit_examples(500)
@given(LABELS)
@example("[other]: https://example.org 'a title'")
@example("- a\n\n  - b\n\n    [other]: z")
@example("[\nother\n]:\nz")
def test_link_definition_in_one_tools_markdown_creates_no_link_in_the_next_tools_text(
    text: str,
) -> None:
    parser = markdown_it.MarkdownIt("commonmark")
    document = f"### one\n\n{encode_block(text)}\n\n### two\n\nUse [other] first.\n"
    rendered = parser.render(document)
    assert rendered.endswith("<h3>two</h3>\n<p>Use [other] first.</p>\n")
    bullet = f"- {encode_inline(' '.join(text.split()))}\n\nUse [other] first.\n"
    assert parser.render(bullet).endswith("<p>Use [other] first.</p>\n")


@pytest.mark.parametrize(
    "text",
    [
        "[a link](https://example.org): it says more",
        "- [x] done\n- [ ] open",
        'Give ["a",\n"b"] as a list.',
        "A [word]: in a line.",
        "```\n[other]: z\n```",
    ],
)
def test_markdown_encoder_leaves_brackets_without_definitions_unchanged(
    text: str,
) -> None:
    assert str(encode_block(text)) == text


@given(st.text(st.sampled_from("ab`\n* <#"), min_size=1))
def test_encode_code_span_encodes_a_name_as_one_markdown_code_span(name: str) -> None:
    tokens = markdown_it.MarkdownIt("commonmark").parse(
        f"- {encode_code_span(name)}: it\n"
    )
    inline = next(token for token in tokens if token.type == "inline")
    assert [child.type for child in inline.children] == ["code_inline", "text"]
    expected = name.replace("\n", "\\n")
    assert inline.children[0].content.strip(" ") == expected.strip(" ")
