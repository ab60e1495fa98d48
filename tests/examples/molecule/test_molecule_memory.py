"""Memory tools of molecule: which workspaces recall facts, and which queries match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Call = Callable[..., Any]
FAMILY = ("ws-director", "ws-research", "ws-writing", "ws-archive")


def recall(call: Call, **arguments: str) -> list[str]:
    """Return the contents of the recalled facts."""
    return [fact["content"] for fact in call("recall_memory", **arguments)["memories"]]


def list_readers(call: Call, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Return the workspaces that can recall the fact about the harvest."""
    readers = set()
    for workspace_id in (*FAMILY, "ws-harbor"):
        monkeypatch.setenv("MOLECULE_WORKSPACE_ID", workspace_id)
        if recall(call, query="harvest"):
            readers.add(workspace_id)
    return readers


@pytest.mark.parametrize(
    ("source", "scope", "readers"),
    [
        ("ws-research", "LOCAL", {"ws-research"}),
        ("ws-research", "TEAM", {"ws-director", "ws-research", "ws-writing"}),
        ("ws-director", "TEAM", {"ws-director", "ws-research", "ws-writing"}),
        ("ws-archive", "TEAM", {"ws-research", "ws-archive"}),
        ("ws-archive", "GLOBAL", set(FAMILY)),
    ],
)
def test_commit_memory_scope_determines_which_workspaces_recall_the_fact(
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    scope: str,
    readers: set[str],
) -> None:
    fact = {"content": "The harvest was good", "scope": scope}
    call("commit_memory", **fact, source_workspace_id=source)
    assert list_readers(call, monkeypatch) == readers


def test_commit_memory_defaults_to_local_and_recall_to_all_scopes(call: Call) -> None:
    assert call("commit_memory", content="mine")["scope"] == "LOCAL"
    call("commit_memory", content="ours", scope="TEAM")
    assert recall(call, scope="") == ["ours", "mine"]
    assert recall(call, scope="LOCAL") == ["mine"]
    assert recall(call, scope="GLOBAL") == []


def test_recall_memory_ranks_by_relevance_and_matches_inflections(call: Call) -> None:
    call("commit_memory", content="Deployments need the release manager")
    call("commit_memory", content="The release is on Friday")
    call("commit_memory", content="Lunch is at noon")
    assert recall(call, query="who manages releases?")[0].startswith("Deploy")
    assert len(recall(call, query="releases")) == 2
    assert recall(call, query="breakfast") == []


HOSTILE = ['"', "NOT", 'a" OR "b', "NEAR(", "content:x", "*", "-", "^x", "\0", "x\0y"]


@pytest.mark.parametrize("query", [*HOSTILE, "();--"])
def test_recall_memory_treats_full_text_operators_in_a_query_as_plain_text(
    call: Call, query: str
) -> None:
    call("commit_memory", content="plain words only")
    assert recall(call, query=query) in ([], ["plain words only"])
    assert recall(call, query=f"{query} plain") == ["plain words only"]


def test_recall_memory_ignores_case_and_unicode_normalization(call: Call) -> None:
    call("commit_memory", content="Der Zeitplan für Köln steht")
    call("commit_memory", content="Встреча в пятницу")
    assert len(recall(call, query="Ko\u0308ln")) == 1
    assert len(recall(call, query="ВСТРЕЧА")) == 1
