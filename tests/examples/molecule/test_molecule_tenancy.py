"""The parameter that chooses the acting workspace never crosses tenants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolcast_runtime import ToolError

Call = Callable[..., Any]
ACTING = {
    "delegate_task": {"workspace_id": "ws-research", "task": "echo: x"},
    "delegate_task_async": {"workspace_id": "ws-research", "task": "echo: x"},
    "check_task_status": {"workspace_id": "ws-research", "task_id": "task-1"},
    "list_peers": {},
    "get_workspace_info": {},
    "chat_history": {"peer_id": "ws-research"},
    "commit_memory": {"content": "a fact"},
    "recall_memory": {},
}
ACTING_BY_WORKSPACE_ID = {
    "broadcast_message": {"message": "hello"},
    "send_message_to_user": {"message": "hello"},
    "install_plugin": {"source": "review"},
}
CASES = [(tool, "source_workspace_id", rest) for tool, rest in ACTING.items()]
CASES += [(tool, "workspace_id", rest) for tool, rest in ACTING_BY_WORKSPACE_ID.items()]


@pytest.mark.parametrize("foreign", ["ws-harbor", "ws-unknown", ""])
@pytest.mark.parametrize(("tool", "key", "rest"), CASES)
def test_a_workspace_of_another_tenant_cannot_be_acted_as(
    call: Call, tool: str, key: str, rest: dict[str, Any], foreign: str
) -> None:
    with pytest.raises(ToolError) as failure:
        call(tool, **{**rest, key: foreign})
    assert str(failure.value) == (
        f"`{foreign}` is not a workspace of this organisation."
    )


def test_the_source_decides_whose_peers_and_facts_are_given(call: Call) -> None:
    def ids(**source: str) -> list[str]:
        return [peer["id"] for peer in call("list_peers", **source)["peers"]]

    assert ids() == ["ws-research", "ws-writing"]
    assert ids(source_workspace_id="ws-archive") == ["ws-research"]
    info = call("get_workspace_info", source_workspace_id="ws-writing")
    assert (info["name"], info["parent_id"]) == ("Writing", "ws-director")


def test_the_environment_says_which_workspace_is_one_s_own(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOLECULE_WORKSPACE_ID", "ws-harbor")
    monkeypatch.setenv("MOLECULE_MODEL", "small-1")
    assert call("get_workspace_info")["organisation"] == "harbor"
    assert call("list_peers")["peers"] == []
    assert call("get_runtime_identity") == {
        "model": "small-1",
        "provider": None,
        "tier": None,
        "workspace_id": "ws-harbor",
    }
    monkeypatch.setenv("MOLECULE_WORKSPACE_ID", "ws-nowhere")
    with pytest.raises(ToolError, match="`ws-nowhere`, which is not a registered"):
        call("get_workspace_info")
