"""What a skill's description is where no spec says one, and what is left for its body."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from toolcast.analysis.skill_texts import build_front_matter, render_guidance
from toolcast.model.loading import load_workspace
from toolcast.model.model import Toolset

LONG = "Word " * 300


def toolset(folder: Path, **fields: object) -> Toolset:
    specs = folder / "specs" / "notes"
    specs.mkdir(parents=True)
    (folder / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/notes]\n")
    said = {"name": "notes", "title": "Notes", "targets": {"skills": {}}, **fields}
    (specs / "toolset.yaml").write_text(yaml.safe_dump(said))
    for name, summary in (("add", "Adds a note."), ("find", "Finds some ...")):
        tool = f"name: {name}\nsummary: {summary}\nparameters: {{type: object}}\n"
        (specs / f"{name}.yaml").write_text(tool)
    loaded = load_workspace(str(folder))
    assert loaded.workspace is not None, loaded.findings
    return loaded.workspace.toolsets[0]


@pytest.mark.parametrize(
    ("instructions", "description", "guidance"),
    [
        ("Keeps notes.\nFinds them.", "Keeps notes. Finds them.", ""),
        (
            "Keeps notes.\n\n* add\n* find",
            "Keeps notes.",
            "Keeps notes.\n\n* add\n* find",
        ),
        (
            "**Keeps** notes.\n\n1. Add.",
            "**Keeps** notes.",
            "**Keeps** notes.\n\n1. Add.",
        ),
        (
            "  # Notes\n\n  Keeps them.\n\n  Always.\n\n  Steps:\n  -----\n",
            "Keeps them. Always.",
            "\\# Notes\n\nKeeps them.\n\nAlways.\n\nSteps:\n\\-----",
        ),
        ("- add\n- find", "- add - find", ""),
        ("Keeps <b>notes</b>.", "Keeps ‹b›notes‹/b›.", "Keeps <b>notes</b>."),
        (f"Few.\n\n{LONG}", "Few.", f"Few.\n\n{LONG.strip()}"),
        (LONG, f"{LONG[:1019].strip()}...", LONG.strip()),
    ],
)
def test_instructions(
    instructions: str, description: str, guidance: str, tmp_path: Path
) -> None:
    notes = toolset(tmp_path, instructions=instructions)

    assert build_front_matter(notes)["description"] == description
    assert render_guidance(notes) == guidance


def test_summaries(tmp_path: Path) -> None:
    found = build_front_matter(toolset(tmp_path))["description"]
    assert found == "Notes: Adds a note; Finds some ..."


def test_clients_with_other_tools_are_told_of_none(tmp_path: Path) -> None:
    found = build_front_matter(toolset(tmp_path, clients={"a": {"allow": ["add"]}}))
    assert found["description"] == "How to use the tools of Notes."
