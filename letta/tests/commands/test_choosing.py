"""Which toolset a command is for, and what a rollback and the blocks print and end with."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta.commands import letta, operations
from toolcast_letta.plan.desired_state import MissingSettingError
from toolcast_letta.v1.rollback import RollbackResult
from toolcast_letta.v1.undoing import AgentUndo, Undo


def chosen(monkeypatch: pytest.MonkeyPatch, sets: str, name: str | None) -> Any:
    toolsets = [
        SimpleNamespace(name=one, extensions={"letta": {}}) for one in sets.split()
    ]
    toolsets.append(SimpleNamespace(name="plain", extensions={}))
    workspace = SimpleNamespace(toolsets=toolsets)
    loaded = SimpleNamespace(workspace=workspace, findings=[])
    monkeypatch.setattr("toolcast.extension_api.load_workspace", lambda _: loaded)
    monkeypatch.setattr("toolcast.extension_api.check_workspace", lambda _: [])
    return letta._select_toolset(".", name)[1].name


@pytest.mark.parametrize(
    ("sets", "name", "found"),
    [("a", None, "a"), ("a", "a", "a"), ("a b", "b", "b")],
)
def test_a_toolset_is_chosen(
    monkeypatch: pytest.MonkeyPatch, sets: str, name: str | None, found: str
) -> None:
    assert chosen(monkeypatch, sets, name) == found


@pytest.mark.parametrize(
    ("sets", "name", "said"),
    [
        ("", None, "no toolset has a `letta`"),
        (
            "a b",
            None,
            "several toolsets have a `letta`\n  help: pass --toolset with one of a, b",
        ),
        ("tools", "toolz", "did you mean `tools`?"),
        ("a", "plain", "no toolset `plain` has a `letta`\n  help: use one of a"),
    ],
)
def test_a_toolset_has_to_be_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sets: str,
    name: str | None,
    said: str,
) -> None:
    with pytest.raises(SystemExit) as ended:
        chosen(monkeypatch, sets, name)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


AGENTS = (SimpleNamespace(id="1", name="me"), SimpleNamespace(id="2", name="you"))


class Baselines:
    """One baseline of these agents."""

    def __init__(self, *agents: Any, of: str = "toys") -> None:
        known = {"base_url": "http://a", "saved": "2026", "toolset": of}
        self.baseline = SimpleNamespace(**known, agents=agents)

    def __call__(self, _: Any) -> Any:
        return self

    def load(self, _: Any) -> Any:
        return self.baseline

    def get_latest(self, *_: str) -> Any:
        return self.baseline

    def list_foreign_files(self, _: str) -> list[str]:
        return ["x.json is edited"]

    def path(self, _: Any) -> Path:
        return Path("b.json")


def rolled_back(
    monkeypatch: pytest.MonkeyPatch,
    baselines: Baselines,
    done: RollbackResult | None = None,
    *,
    file: Path | None = None,
    dry_run: bool = False,
    undo: Any = None,
    **more: Any,
) -> int:
    desired = SimpleNamespace(toolset="toys", agents=AGENTS)
    known = {"kind": "v1", "state": Path("s"), "agents": (), "as_json": False}
    request: Any = SimpleNamespace(**{**known, **more})
    api = SimpleNamespace(base_url="http://a", is_cloud=False)
    monkeypatch.setattr(operations, "Baselines", baselines)
    monkeypatch.setattr(operations, "get_desired_state", lambda _: desired)
    monkeypatch.setattr(operations, "build_api", lambda *_: api)
    monkeypatch.setattr(operations, "roll_back", lambda *_: done)
    monkeypatch.setattr(operations, "preview_rollback", lambda *_: undo)
    return operations.rollback(request, file, (), dry_run=dry_run)


STRANGERS = "ignored: x.json is edited\n"


@pytest.mark.parametrize(
    ("done", "file", "code", "out", "err"),
    [
        (
            RollbackResult(1, (), ()),
            None,
            0,
            "restored 1 of 1 agents to 2026\n",
            STRANGERS,
        ),
        (
            RollbackResult(0, ("l",), ("s",)),
            Path("b"),
            1,
            "stays: s\nrestored 0 of 1 agents to 2026\n",
            "cannot be restored: l\n",
        ),
    ],
)
def test_a_rollback_is_told(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    done: RollbackResult,
    file: Path | None,
    code: int,
    out: str,
    err: str,
) -> None:
    assert rolled_back(monkeypatch, Baselines(AGENTS[0]), done, file=file) == code
    said = capsys.readouterr()
    assert (said.out, said.err) == (out, err)


def test_what_a_rollback_would_do_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = (
        AgentUndo("me", "1", (), (), ("+ tool a",), ("l",), ("s",)),
        AgentUndo("you", "2", (), (), (), (), ()),
    )
    undo = Undo(agents, ("a",), ("m",), ("t",))
    there = Baselines(*AGENTS)
    assert rolled_back(monkeypatch, there, dry_run=True, undo=undo, file=Path("b")) == 0
    said = capsys.readouterr()
    assert said.out == (
        "    + registry a\n"
        "me is 1\n"
        "    + tool a\n"
        "you is 2\n"
        "    nothing to do\n"
        "stays: s\n"
        "stays: t\n"
        "Nothing was changed. The baseline is from 2026.\n"
    )
    assert said.err == "cannot be restored: l\ncannot be restored: m\n"


@pytest.mark.parametrize(
    ("there", "agents", "said"),
    [
        (Baselines(of="others"), (), "the baseline is for others at http://a"),
        (
            Baselines(SimpleNamespace(id="3", name="they")),
            (),
            "the baseline has agents that the specs do not declare: they (3)\n  help: pass --agent to select the agents to roll back",
        ),
        (Baselines(SimpleNamespace(id="3", name="they")), ("me",), None),
    ],
)
def test_a_baseline_of_something_else_is_not_gone_back_to(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    there: Baselines,
    agents: Any,
    said: str | None,
) -> None:
    done = RollbackResult(0, (), ())
    if said is None:
        assert rolled_back(monkeypatch, there, done, agents=agents) == 0
        return
    with pytest.raises(SystemExit):
        rolled_back(monkeypatch, there, done, agents=agents)
    assert said in capsys.readouterr().err


def blocks(monkeypatch: pytest.MonkeyPatch, has: bool, **more: Any) -> int:
    agents = (SimpleNamespace(blocks=(1,) if has else ()),)
    known = {"kind": "v1", "toolset": SimpleNamespace(name="toys")}
    request: Any = SimpleNamespace(**{**known, "kind": more.get("kind", "v1")})
    api = SimpleNamespace(base_url="http://a", is_cloud=more.get("is_cloud", False))
    wanted = more.get("wanted", lambda _: None)
    monkeypatch.setattr(
        operations, "build_settings", lambda _: SimpleNamespace(agents=agents)
    )
    monkeypatch.setattr(operations, "get_desired_state", wanted)
    monkeypatch.setattr(operations, "build_api", lambda *_: api)
    monkeypatch.setattr(operations, "list_block_changes", lambda *_: [])
    monkeypatch.setattr(operations, "load_block_changes", lambda *_: [])
    monkeypatch.setattr(operations, "save_block_changes", lambda *_: None)
    monkeypatch.setattr(
        operations, "write_block_changes", lambda *_: more.get("done", [])
    )
    monkeypatch.setattr(operations, "format_block_changes", lambda _: ["a block"])
    monkeypatch.setattr(operations, "Seal", lambda: None)
    return operations.blocks(request, more.get("out"), more.get("write"))


@pytest.mark.parametrize(
    ("more", "code", "out"),
    [
        ({}, 0, "a block\n"),
        (
            {"out": Path("a b")},
            0,
            "a block\nLet the agent review the texts, then run: toolcast letta blocks --write 'a b'\n",
        ),
        ({"write": Path("a")}, 0, "all blocks already match the specs\n"),
        ({"write": Path("a"), "done": ["me: written"]}, 0, "me: written\n"),
        ({"write": Path("a"), "is_cloud": True}, 1, ""),
        ({"is_cloud": True}, 0, "a block\n"),
    ],
)
def test_blocks_are_shown_or_written(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: Any,
    code: int,
    out: str,
) -> None:
    assert blocks(monkeypatch, True, **more) == code
    assert capsys.readouterr().out == out


def test_blocks_need_a_server_and_agents_that_have_some(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def lacking(_: Any) -> Any:
        raise MissingSettingError("set ME")

    for has, more, said in (
        (False, {}, "no agent of the toolset has `blocks`"),
        (True, {"kind": "code"}, "the backend `code` does not support memory blocks"),
        (True, {"wanted": lacking}, "set ME"),
    ):
        given: Any = more
        with pytest.raises(SystemExit):
            blocks(monkeypatch, has, **given)
        assert said in capsys.readouterr().err
