"""Headings of prompt files: none without content, and each on one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

SPEC = "summary: Do it.\nparameters: {type: object}\nhandler: handlers.toy:work\n"
CASES = {
    "bare": "",
    "blank": 'when_to_use: " "\nguidance: "\\n"\n',
    "told": "when_to_use: To do it.\n",
}


def test_generated_prompt_has_no_heading_for_a_tool_without_usage_guidance(
    make_project: Callable[..., Any],
) -> None:
    project = make_project(
        {name: SPEC + more for name, more in CASES.items()},
        toolset="targets: {registry: {}, prompts: {}}\n",
        handlers="def work() -> None: ...\n",
    )
    project.generate()
    folder = project.root / "generated/toy/prompts"
    page = (folder / "section_tools.md").read_text("utf-8")
    assert re.findall(r"^- \*\*(\w+)\*\*", page, re.MULTILINE) == list(CASES)
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == ["told"]


def test_title_with_a_line_break_has_a_single_line_prompt_heading(
    make_project: Callable[..., Any],
) -> None:
    project = make_project(
        {"told": SPEC + CASES["told"]},
        toolset="targets: {registry: {}, prompts: {}, skills: {}}\n"
        "token_budget: {blocks: {section_tools: 900}}\n",
        handlers="def work() -> None: ...\n",
    )
    project.edit("specs/toy/toolset.yaml", "title: Toy", 'title: "Two\\n  lines"')
    project.generate()
    page = (project.root / "generated/toy/prompts/section_tools.md").read_text("utf-8")
    assert "\n## Two   lines\n" in page
    (skill,) = (project.root / "generated/toy").rglob("SKILL.md")
    assert "# Two   lines\n" in skill.read_text("utf-8")
