"""Selection of the acting workspace, which cannot belong to another tenant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolcast_runtime import ToolError

Call = Callable[..., Any]
TOOLS_WITH_SOURCE = {
    "delegate_task": {"workspace_id": "ws-research", "task": "echo: x"},
    "delegate_task_async": {"workspace_id": "ws-research", "task": "echo: x"},
    "check_task_status": {"workspace_id": "ws-research", "task_id": "task-1"},
    "list_peers": {},
    "get_workspace_info": {},
    "chat_history": {"peer_id": "ws-research"},
    "commit_memory": {"content": "a fact"},
    "recall_memory": {},
}
TOOLS_WITH_WORKSPACE_ID = {
    "broadcast_message": {"message": "hello"},
    "send_message_to_user": {"message": "hello"},
    "install_plugin": {"source": "review"},
}


@pytest.mark.parametrize("tool", [*TOOLS_WITH_SOURCE, *TOOLS_WITH_WORKSPACE_ID])
def test_tool_call_for_a_foreign_workspace_is_rejected(call: Call, tool: str) -> None:
    """Tools reject the workspace of another organization, and unknown workspaces."""
    key = "source_workspace_id" if tool in TOOLS_WITH_SOURCE else "workspace_id"
    arguments: dict[str, Any] = (TOOLS_WITH_SOURCE | TOOLS_WITH_WORKSPACE_ID)[tool]
    for foreign in ("ws-harbor", "ws-unknown", ""):
        with pytest.raises(ToolError) as failure:
            call(tool, **{**arguments, key: foreign})
        message = f"`{foreign}` is not a workspace of this organization."
        assert str(failure.value) == message


def test_source_workspace_id_selects_the_listed_peers_and_the_info(call: Call) -> None:
    def list_peer_ids(**source: str) -> list[str]:
        return [peer["id"] for peer in call("list_peers", **source)["peers"]]

    assert list_peer_ids() == ["ws-research", "ws-writing"]
    assert list_peer_ids(source_workspace_id="ws-archive") == ["ws-research"]
    info = call("get_workspace_info", source_workspace_id="ws-writing")
    assert (info["name"], info["parent_id"]) == ("Writing", "ws-director")


def test_molecule_workspace_id_variable_sets_the_acting_workspace_for_tools(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOLECULE_WORKSPACE_ID", "ws-harbor")
    monkeypatch.setenv("MOLECULE_MODEL", "small-1")
    assert call("get_workspace_info")["organisation"] == "harbor"
    assert call("list_peers")["peers"] == []
    identity = {"model": "small-1", "provider": None, "tier": None}
    assert call("get_runtime_identity") == {**identity, "workspace_id": "ws-harbor"}
    monkeypatch.setenv("MOLECULE_WORKSPACE_ID", "ws-nowhere")
    with pytest.raises(ToolError, match="`ws-nowhere`, which is not a registered"):
        call("get_workspace_info")
