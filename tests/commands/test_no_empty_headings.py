"""A tool without guidance has its bullet in the prompt docs, and no heading over nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

SPEC = (
    "summary: Do it.\nparameters: {{type: object}}\nhandler: handlers.toy:work\n{more}"
)
CASES = {
    "bare": "",
    "blank": 'when_to_use: " "\nguidance: "\\n"\n',
    "told": "when_to_use: To do it.\n",
}


def test_only_what_has_guidance_has_a_heading(make_project: Callable[..., Any]) -> None:
    project = make_project(
        {name: SPEC.format(more=more) for name, more in CASES.items()},
        toolset="targets: {registry: {}, prompts: {}}\n",
        handlers="def work() -> None: ...\n",
    )
    project.generate()
    folder = project.root / "generated/toy/prompts"
    page = (folder / "section_tools.md").read_text("utf-8")
    assert re.findall(r"^- \*\*(\w+)\*\*", page, re.MULTILINE) == [
        "bare",
        "blank",
        "told",
    ]
    assert re.findall(r"^### (\w+)$", page, re.MULTILINE) == ["told"]
    code = "from generated.toy.prompts import section; print(section('tools'))"
    assert project.run("-c", code).stdout.strip() == page.partition("\n")[2].strip()
