"""Default descriptions of skills, and the guidance that remains for their bodies."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project_files import write_toolset
from toolcast.analysis.skill_texts import build_front_matter, render_guidance
from toolcast.model.loading import load_workspace
from toolcast.model.model import Toolset

LONG = "Word " * 300


def load_toolset(folder: Path, **fields: object) -> Toolset:
    settings = {"name": "notes", "title": "Notes", "targets": {"skills": {}}, **fields}
    specs: dict[str, object] = {"toolset": settings}
    for name, summary in (("add", "Adds a note."), ("find", "Finds some ...")):
        specs[name] = (
            f"name: {name}\nsummary: {summary}\nparameters: {{type: object}}\n"
        )
    write_toolset(folder, "notes", specs)
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
def test_toolset_instructions_become_the_toolset_skills_description_and_guidance(
    instructions: str, description: str, guidance: str, tmp_path: Path
) -> None:
    """The guidance is empty if the description already contains the whole text."""
    notes = load_toolset(tmp_path, instructions=instructions)

    assert build_front_matter(notes)["description"] == description
    assert render_guidance(notes) == guidance


def test_toolset_without_instructions_has_a_skill_description_listing_tool_summaries(
    tmp_path: Path,
) -> None:
    description = build_front_matter(load_toolset(tmp_path))["description"]
    assert description == "Notes: Adds a note; Finds some ..."


def test_skill_description_omits_tool_summaries_if_a_client_lacks_a_tool(
    tmp_path: Path,
) -> None:
    notes = load_toolset(tmp_path, clients={"a": {"allow": ["add"]}})
    assert build_front_matter(notes)["description"] == "How to use the tools of Notes."
