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
TOOLSET = """\
targets: {registry: {}, prompts: {}, skills: {}}
token_budget: {blocks: {section_tools: 900}}
"""


def test_generated_prompt_has_headings_with_content_that_fit_in_a_line(
    make_project: Callable[..., Any],
) -> None:
    """A tool without usage guidance has no heading; a title may have a line break."""
    project = make_project(
        {name: SPEC + more for name, more in CASES.items()},
        toolset=TOOLSET,
        handlers="def work() -> None: ...\n",
    )
    project.edit("specs/toy/toolset.yaml", "title: Toy", 'title: "Two\\n  lines"')
    project.generate()
    page = (project.root / "generated/toy/prompts/section_tools.md").read_text("utf-8")
    assert re.findall(r"^- \*\*(\w+)\*\*", page, re.MULTILINE) == list(CASES)
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == ["told"]
    assert "\n## Two   lines\n" in page
    (skill,) = (project.root / "generated/toy").rglob("SKILL.md")
    assert "# Two   lines\n" in skill.read_text("utf-8")
