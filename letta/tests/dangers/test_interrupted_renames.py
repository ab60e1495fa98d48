"""Interrupted renames: reported by plan and verify, finished by the next apply."""

from __future__ import annotations

from typing import Any

import pytest

from letta.tests.stage import Stage, list_actions
from toolcast_letta.v1.api import LettaApi, LettaError


def rename_search_notes(stage: Stage) -> None:
    """Rename `search_notes` to `find_notes` in the specs and on the server."""
    folder = stage.project.root / "specs/toy"
    text = (folder / "search_notes.yaml").read_text()
    text = text.replace("name: search_notes", "name: find_notes")
    (folder / "find_notes.yaml").write_text(f"{text}renamed_from: [search_notes]\n")
    (folder / "search_notes.yaml").unlink()
    stage.deploy()


@pytest.mark.parametrize(
    "step", ["register_tool", "set_tools_and_rules", "delete_tool"]
)
def test_next_letta_apply_finishes_an_interrupted_tool_rename(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    stage.apply()
    rename_search_notes(stage)

    def raise_connection_error(*args: Any, **kwargs: Any) -> Any:
        raise LettaError("the connection is gone")

    with monkeypatch.context() as broken:
        broken.setattr(LettaApi, step, raise_connection_error)
        if step == "register_tool":
            broken.setattr(LettaApi, "refresh_server", raise_connection_error)
        with pytest.raises(LettaError):
            stage.apply()
    assert {
        "search_notes",
        "find_notes",
    } & stage.names(), "at least one name is attached"

    plan = stage.plan()
    assert list_actions(plan, "registry"), "the plan lists the remaining changes"
    assert not stage.verify(examples=False).all_match
    stage.apply(plan)
    assert stage.find_tool("search_notes") is None, "the old name is deleted"
    assert "find_notes" in stage.names()
    assert stage.plan().changes == ()
    assert stage.verify(examples=False).all_match


def test_letta_apply_keeps_return_char_limit_for_a_renamed_tool(stage: Stage) -> None:
    stage.apply()
    tool = stage.find_tool("search_notes")
    stage.request("PATCH", f"/v1/tools/{tool['id']}", {"return_char_limit": 777})
    rename_search_notes(stage)
    stage.apply()
    assert stage.find_tool("find_notes")["return_char_limit"] == 777
