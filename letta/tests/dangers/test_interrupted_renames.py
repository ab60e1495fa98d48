"""A rename that ended half-way: said by plan and verify, and finished by the next apply."""

from __future__ import annotations

from typing import Any

import pytest

from letta.tests.stage import Stage, actions
from toolcast_letta.v1.api import LettaApi, LettaError


def renamed(stage: Stage) -> None:
    """`search_notes` is `find_notes` now, in spec and server."""
    folder = stage.project.root / "specs/toy"
    text = (folder / "search_notes.yaml").read_text()
    text = text.replace("name: search_notes", "name: find_notes")
    (folder / "find_notes.yaml").write_text(f"{text}renamed_from: [search_notes]\n")
    (folder / "search_notes.yaml").unlink()
    stage.deploy()


@pytest.mark.parametrize(
    "step", ["register_tool", "set_tools_and_rules", "delete_tool"]
)
def test_a_rename_that_was_interrupted_is_finished(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    stage.apply()
    renamed(stage)

    def fails(*args: Any, **kwargs: Any) -> Any:
        raise LettaError("the connection is gone")

    with monkeypatch.context() as broken:
        broken.setattr(LettaApi, step, fails)
        if step == "register_tool":
            broken.setattr(LettaApi, "refresh_server", fails)
        with pytest.raises(LettaError):
            stage.apply()
    assert {"search_notes", "find_notes"} & stage.names(), "one of the two at least"

    plan = stage.plan()
    assert actions(plan, "registry"), "what is left to do is said"
    assert not stage.verify(examples=False).all_match
    stage.apply(plan)
    assert stage.registered("search_notes") is None, "the old name is gone"
    assert "find_notes" in stage.names()
    assert stage.plan().changes == ()
    assert stage.verify(examples=False).all_match


def test_a_renamed_tool_keeps_its_settings(stage: Stage) -> None:
    stage.apply()
    tool = stage.registered("search_notes")
    stage.ask("PATCH", f"/v1/tools/{tool['id']}", {"return_char_limit": 777})
    renamed(stage)
    stage.apply()
    assert stage.registered("find_notes")["return_char_limit"] == 777
