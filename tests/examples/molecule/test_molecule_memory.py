"""Who can recall what, and what counts as a match."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Call = Callable[..., Any]
FAMILY = ("ws-director", "ws-research", "ws-writing", "ws-archive")


def _recalled(call: Call, **arguments: str) -> list[str]:
    return [fact["content"] for fact in call("recall_memory", **arguments)["memories"]]


def _who_recalls(call: Call, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    seen = set()
    for workspace_id in (*FAMILY, "ws-harbor"):
        monkeypatch.setenv("MOLECULE_WORKSPACE_ID", workspace_id)
        if _recalled(call, query="harvest"):
            seen.add(workspace_id)
    return seen


@pytest.mark.parametrize(
    ("source", "scope", "seen"),
    [
        ("ws-research", "LOCAL", {"ws-research"}),
        ("ws-research", "TEAM", {"ws-director", "ws-research", "ws-writing"}),
        ("ws-director", "TEAM", {"ws-director", "ws-research", "ws-writing"}),
        ("ws-archive", "TEAM", {"ws-research", "ws-archive"}),
        ("ws-archive", "GLOBAL", set(FAMILY)),
    ],
)
def test_a_scope_is_recalled_by_those_whom_it_names(
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    scope: str,
    seen: set[str],
) -> None:
    call(
        "commit_memory",
        content="The harvest was good",
        scope=scope,
        source_workspace_id=source,
    )
    assert _who_recalls(call, monkeypatch) == seen


def test_without_a_scope_a_fact_is_local_and_recall_looks_everywhere(
    call: Call,
) -> None:
    assert call("commit_memory", content="mine")["scope"] == "LOCAL"
    call("commit_memory", content="ours", scope="TEAM")
    assert _recalled(call, scope="") == ["ours", "mine"]
    assert _recalled(call, scope="LOCAL") == ["mine"]
    assert _recalled(call, scope="GLOBAL") == []


def test_the_best_match_comes_first_and_inflection_does_not_matter(call: Call) -> None:
    call("commit_memory", content="Deployments need the release manager")
    call("commit_memory", content="The release is on Friday")
    call("commit_memory", content="Lunch is at noon")
    assert _recalled(call, query="who manages releases?")[0].startswith("Deploy")
    assert len(_recalled(call, query="releases")) == 2
    assert _recalled(call, query="breakfast") == []


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "NOT",
        'a" OR "b',
        "NEAR(",
        "content:x",
        "*",
        "-",
        "^x",
        "\0",
        "x\0y",
        "();--",
    ],
)
def test_a_query_is_never_search_syntax(call: Call, query: str) -> None:
    call("commit_memory", content="plain words only")
    assert _recalled(call, query=query) in ([], ["plain words only"])
    assert _recalled(call, query=f"{query} plain") == ["plain words only"]


def test_words_of_other_scripts_are_found(call: Call) -> None:
    call("commit_memory", content="Der Zeitplan für Köln steht")
    call("commit_memory", content="Встреча в пятницу")
    assert len(_recalled(call, query="Ko\u0308ln")) == 1
    assert len(_recalled(call, query="ВСТРЕЧА")) == 1
