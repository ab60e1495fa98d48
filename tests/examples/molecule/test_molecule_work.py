"""Work tools of molecule: goals, task lists, requests to the user, and plugins."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from examples.molecule import config, user
from tests.project_files import write_files
from toolcast_runtime import ToolError

Call = Callable[..., Any]


def test_goal_tools_set_replace_and_clear_a_workspace_goal(call: Call) -> None:
    assert call("goal_get")["goal"] is None
    call("goal_set", goal="First", cadence_seconds=60)
    second = call("goal_set", goal="Second")
    assert call("goal_get") == second
    assert second["cadence_seconds"] is None
    assert call("goal_clear") == {"cleared": True}
    assert call("goal_clear") == {"cleared": False}


def test_goals_and_task_lists_are_separate_for_each_workspace(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("goal_set", goal="Ours")
    task = call("task_add", title="Ours")
    monkeypatch.setenv("MOLECULE_WORKSPACE_ID", "ws-research")
    assert call("goal_get")["goal"] is None
    assert call("task_list")["tasks"] == []
    with pytest.raises(ToolError, match="There is no task"):
        call("task_complete", task_id=task["task_id"])


def test_task_list_omits_done_tasks_unless_the_status_is_done(call: Call) -> None:
    """`task_update` changes only the passed fields."""
    first = call("task_add", title="First", next_action="Begin")
    second = call("task_add", title="Second")
    blocked = call("task_update", task_id=first["task_id"], status="blocked")
    assert (blocked["status"], blocked["next_action"]) == ("blocked", "Begin")
    cleared = call("task_update", task_id=first["task_id"], next_action="")
    assert (cleared["status"], cleared["next_action"]) == ("blocked", None)
    call("task_complete", task_id=first["task_id"])

    def titles(**arguments: Any) -> list[str]:
        return [task["title"] for task in call("task_list", **arguments)["tasks"]]

    assert titles() == ["Second"]
    assert titles(status="done") == ["First"]
    call("task_update", task_id=second["task_id"], status="done")
    assert titles(status="done", limit=1) == ["First"]


def test_user_decision_on_a_request_is_delivered_to_the_inbox(call: Call) -> None:
    low = call("create_request", kind="task", title="Sign", detail="page 3")
    high = call("create_request", kind="task", title="Pay", priority=5)
    approval = call("create_approval", action="Delete", reason="old")
    request_ids = [line.split()[0] for line in user.list_requests()]
    assert request_ids == [item["request_id"] for item in (high, low, approval)]
    user.decide(approval["request_id"], "rejected")
    assert len(user.list_requests()) == 2
    message = call("wait_for_message", timeout_secs=0)["message"]
    assert (message["kind"], message["peer_id"]) == ("decision", None)
    assert message["text"] == f"{approval['request_id']} (Delete): rejected"
    with pytest.raises(LookupError):
        user.decide(approval["request_id"], "approved")


def write_plugin(root: Path, **changes: Any) -> Path:
    """Write a plugin with one skill to a folder; `changes` override its manifest."""
    skill = {"id": "sing", "name": "Sing", "description": "Sings a song."}
    manifest = {"name": "choir", "version": "1.0.0", "skills": [skill]} | changes
    files = {"skills/sing/SKILL.md": "# Sing\n", "plugin.json": manifest}
    return write_files(root / "choir", files)


@pytest.fixture
def plugin_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Create a folder from which plugins can be installed."""
    folder = tmp_path / "plugin_source"
    folder.mkdir()
    sources = os.pathsep.join([str(folder), str(config.get_bundled_plugins())])
    monkeypatch.setenv("MOLECULE_PLUGIN_SOURCES", sources)
    return folder


def test_molecule_plugin_is_installed_once_and_replaced_only_if_its_files_changed(
    call: Call, plugin_source: Path, home: Path
) -> None:
    folder = write_plugin(plugin_source)
    installed = home / "plugins" / "ws-director" / "choir"
    assert call("install_plugin", source="choir")["changed"]
    assert (installed / "skills/sing/SKILL.md").read_bytes() == b"# Sing\n"
    assert not call("install_plugin", source=str(folder))["changed"]
    write_plugin(plugin_source, version="1.1.0")
    (folder / "extra.md").write_text("more", encoding="utf-8")
    assert call("install_plugin", source="choir")["version"] == "1.1.0"
    assert (installed / "extra.md").exists()
    assert sorted(item.name for item in installed.parent.iterdir()) == ["choir"]


def test_bundled_molecule_plugin_adds_its_skills_to_the_card(call: Call) -> None:
    call("install_plugin", source="review")
    card = call("update_agent_card", card={"name": "D", "skills": [], "x": [1]})
    skill_ids = [skill["id"] for skill in card["skills"]]
    assert skill_ids == ["review-text", "review-figures"]
    assert (card["name"], card["x"]) == ("D", [1])


@pytest.mark.parametrize(
    "source", ["nothing", "..", ".", "/etc", "../other_source", "\0"]
)
def test_molecule_plugin_outside_the_source_folders_is_rejected(
    call: Call, plugin_source: Path, source: str
) -> None:
    write_plugin(plugin_source.with_name("other_source"))
    with pytest.raises(ToolError, match="not one of the available plugins"):
        call("install_plugin", source=source)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": "../up"}, "`name` is missing or malformed"),
        ({"version": "1"}, "`version` is missing or malformed"),
        ({"skills": []}, "lists no skills"),
        ({"skills": [{"id": "../../x", "name": "", "description": ""}]}, "needs `id`"),
        ({"skills": [{"id": "hum", "name": "", "description": ""}]}, "no skills/hum"),
    ],
)
def test_invalid_molecule_plugin_installs_no_files(
    call: Call, plugin_source: Path, home: Path, changes: dict[str, Any], reason: str
) -> None:
    write_plugin(plugin_source, **changes)
    with pytest.raises(ToolError, match=reason):
        call("install_plugin", source="choir")
    assert not (home / "plugins").exists()


def test_plugin_with_a_symlink_is_rejected(call: Call, plugin_source: Path) -> None:
    (write_plugin(plugin_source) / "passwords").symlink_to("/etc/passwd")
    with pytest.raises(ToolError, match="passwords is neither"):
        call("install_plugin", source="choir")
