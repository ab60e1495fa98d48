"""Selection cases go with the tools that they name."""

from __future__ import annotations

import pytest
import yaml

from tests.conftest import Project

from .conftest import run

OF_TOOL = """\
cases:
  - message: keep this
    never: [find_note]
    near: [where find_note is]
"""
OF_TOOLSET = """\
cases:
  - message: where did I put it?
    tool: find_note
    never: [store_note, find_note_2]
  - {message: tell me a joke, tool: null, never: [find_note]}
"""


@pytest.fixture
def cases(notes: Project) -> Project:
    for name, text in (("store_note", OF_TOOL), ("toolset", OF_TOOLSET)):
        path = notes.root / "specs" / "toy" / f"{name}.yaml"
        path.write_text(path.read_text("utf-8") + text, "utf-8")
    notes.edit("specs/toy/toolset.yaml", ", find_note_2]", "]")
    return notes


def read(project: Project, name: str) -> list[dict[str, object]]:
    text = (project.root / "specs" / "toy" / f"{name}.yaml").read_text("utf-8")
    found: list[dict[str, object]] = yaml.safe_load(text)["cases"]
    return found


def test_a_renamed_tool_has_its_new_name_in_cases(cases: Project) -> None:
    run(cases, "rename", "find_note", "search")
    assert read(cases, "store_note") == [
        {
            "message": "keep this",
            "never": ["search"],
            "near": ["where find_note is"],
        }
    ]
    assert read(cases, "toolset") == [
        {
            "message": "where did I put it?",
            "tool": "search",
            "never": ["store_note"],
        },
        {"message": "tell me a joke", "tool": None, "never": ["search"]},
    ]


def test_a_removed_tool_leaves_no_case(cases: Project) -> None:
    cases.edit(
        "specs/toy/store_note.yaml",
        'deprecated: {since: "2020-01-01", replacement: find_note}\n',
        "",
    )
    run(cases, "remove", "find_note", "--now", "--anyway", "--force")
    assert [case["message"] for case in read(cases, "toolset")] == ["tell me a joke"]
    assert read(cases, "toolset")[0]["never"] == []
    assert read(cases, "store_note")[0]["never"] == []
