"""Generated Markdown pages of a toolset with unclosed HTML in its texts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.encoders.test_html_in_texts import UNCLOSED, list_visible_texts

SPEC = """
title: {html}
summary: {html}
description: {html}
when_to_use: {html}
guidance: {html}
section: {section}
parameters:
  type: object
  properties: {{title: {{type: string}}, details: {{type: string}}}}
  required: [title, details]
handler: handlers.toy:work
cli: {{keyword: {keyword}, usage: "<title> <details>", comment: {html}}}
"""
TOOLSET = """
instructions: {html}
preamble: {{heading: Tools, intro: {html}}}
sections:
  first: {{heading: First, label: {html}, intro: {html}, footer: {html}}}
  second: {{heading: Second}}
targets:
  registry: {{}}
  prompts: {{}}
  snapshots: {{}}
  cli: {{heading: Commands, intro: {html}, closing: [{html}]}}
"""


@pytest.mark.rows(12)
@pytest.mark.parametrize("html", UNCLOSED)
def test_unclosed_html_in_tool_texts_hides_no_tool_on_a_generated_markdown_page(
    html: str, make_project: Callable[..., Any]
) -> None:
    quoted = json.dumps(html)
    tools = {
        name: SPEC.format(html=quoted, keyword=name, section=section)
        for name, section in {
            "alpha": "first",
            "beta": "first",
            "gamma": "second",
        }.items()
    }
    project = make_project(
        tools,
        toolset=TOOLSET.format(html=quoted),
        handlers="def work(**arguments: object) -> None: ...\n",
    )
    project.generate()
    folder = project.root / "generated/toy"
    for page in (folder / "prompts").glob("*.md"):
        text = page.read_text("utf-8")
        visible = " ".join(
            part for _, part in list_visible_texts(f"{text}\n\n## Behind\n\nend\n")
        )
        assert visible.endswith("end \n") or visible.rstrip().endswith("end"), page.name
        for name in tools:
            assert (name in visible) == (name in text), f"{page.name}: {name}"
    rows = (folder / "prompts/cli.md").read_text("utf-8")
    assert " alpha TITLE DETAILS" in rows
    definition = json.loads((folder / "tools/alpha.json").read_text("utf-8"))
    assert definition["mcp"]["description"] == html
