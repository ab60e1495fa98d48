"""A CommonMark parser agrees that a tool's text stays within its own block."""

from __future__ import annotations

import markdown_it
from hypothesis import example, given
from hypothesis import strategies as st

from toolcast.encoders.markdown import block, span

PIECES = st.lists(
    st.sampled_from(
        [
            "text",
            "",
            "# x",
            "===",
            "---",
            "-",
            "```",
            "~~~",
            "```x`",
            "    # x",
            "<!--",
            "-->",
            "<script>",
            "</script>",
            "<?php",
            "?>",
            "<!DOCTYPE",
            "<pre>",
            "<![CDATA[",
            "]]>",
            "<div>",
            "</div>",
            "<b>",
            "> # q",
            "- item",
            "  ```",
            "   ~~~",
            "    ```",
            "1. x",
            "- ```",
            "> ```",
            "- # x",
            "> ## x",
            "1) # x",
            "> - # x",
            "> ===",
            "  text",
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
def test_the_next_tool_has_its_heading(text: str) -> None:
    document = f"### one\n\n{block(text)}\n\n### two\n\nend\n"
    tokens = markdown_it.MarkdownIt("commonmark").parse(document)
    headings = [token for token in tokens if token.type == "heading_open"]
    assert [token.markup for token in headings] == ["###", "###"]


@given(st.text(st.sampled_from("ab`\n* <#"), min_size=1))
def test_a_name_is_one_span_of_code(name: str) -> None:
    tokens = markdown_it.MarkdownIt("commonmark").parse(f"- {span(name)}: it\n")
    inline = next(token for token in tokens if token.type == "inline")
    assert [child.type for child in inline.children] == ["code_inline", "text"]
    shown = name.replace("\n", "\\n")
    assert inline.children[0].content.strip(" ") == shown.strip(" ")
