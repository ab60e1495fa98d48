"""Selection of a toolset, and output and exit codes of rollback and blocks."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_letta.commands import letta, operations
from toolcast_letta.plan.desired_state import MissingSettingError
from toolcast_letta.v1.rollback import RollbackResult
from toolcast_letta.v1.undoing import AgentUndo, Undo


def select_toolset(monkeypatch: pytest.MonkeyPatch, sets: str, name: str | None) -> Any:
    toolsets = [
        SimpleNamespace(name=name_, extensions={"letta": {}}) for name_ in sets.split()
    ]
    toolsets.append(SimpleNamespace(name="plain", extensions={}))
    workspace = SimpleNamespace(toolsets=toolsets)
    loaded = SimpleNamespace(workspace=workspace, findings=[])
    monkeypatch.setattr("toolcast.extension_api.load_workspace", lambda _: loaded)
    monkeypatch.setattr("toolcast.extension_api.check_workspace", lambda _: [])
    return letta._select_toolset(".", name)[1].name


@pytest.mark.parametrize(
    ("sets", "name", "found"), [("a", None, "a"), ("a", "a", "a"), ("a b", "b", "b")]
)
def test_letta_commands_select_a_toolset_by_name_or_the_only_toolset_with_letta(
    monkeypatch: pytest.MonkeyPatch, sets: str, name: str | None, found: str
) -> None:
    assert select_toolset(monkeypatch, sets, name) == found


@pytest.mark.parametrize(
    ("sets", "name", "expected_message"),
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
def test_letta_commands_exit_with_2_for_a_missing_or_ambiguous_toolset(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    sets: str,
    name: str | None,
    expected_message: str,
) -> None:
    with pytest.raises(SystemExit) as exit_info:
        select_toolset(monkeypatch, sets, name)
    assert exit_info.value.code == 2
    assert expected_message in capsys.readouterr().err


AGENTS = (SimpleNamespace(id="1", name="me"), SimpleNamespace(id="2", name="you"))


class Baselines:
    """A stand-in for `Baselines` that has one baseline with these agents."""

    def __init__(self, *agents: Any, toolset: str = "toys") -> None:
        known = {"base_url": "http://a", "saved": "2026", "toolset": toolset}
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


def run_rollback(
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


IGNORED_FILE_LINE = "ignored: x.json is edited\n"


@pytest.mark.parametrize(
    ("done", "file", "code", "out", "err"),
    [
        (
            RollbackResult(1, (), ()),
            None,
            0,
            "restored 1 of 1 agents to 2026\n",
            IGNORED_FILE_LINE,
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
def test_letta_rollback_command_prints_its_result_and_exits_with_1_on_losses(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    done: RollbackResult,
    file: Path | None,
    code: int,
    out: str,
    err: str,
) -> None:
    assert run_rollback(monkeypatch, Baselines(AGENTS[0]), done, file=file) == code
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == (out, err)


def test_letta_rollback_dry_run_prints_changes_and_unrestorable_parts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = (
        AgentUndo("me", "1", (), (), ("+ tool a",), ("l",), ("s",)),
        AgentUndo("you", "2", (), (), (), (), ()),
    )
    undo = Undo(agents, ("a",), ("m",), ("t",))
    baselines = Baselines(*AGENTS)
    assert (
        run_rollback(monkeypatch, baselines, dry_run=True, undo=undo, file=Path("b"))
        == 0
    )
    captured = capsys.readouterr()
    assert captured.out == (
        "    + registry a\n"
        "me is 1\n"
        "    + tool a\n"
        "you is 2\n"
        "    nothing to do\n"
        "stays: s\n"
        "stays: t\n"
        "Nothing was changed. The baseline is from 2026.\n"
    )
    assert captured.err == "cannot be restored: l\ncannot be restored: m\n"


@pytest.mark.parametrize(
    ("baselines", "agents", "expected_message"),
    [
        (Baselines(toolset="others"), (), "the baseline is for others at http://a"),
        (
            Baselines(SimpleNamespace(id="3", name="they")),
            (),
            "the baseline has agents that the specs do not declare: they (3)\n  help: pass --agent to select the agents to roll back",
        ),
        (Baselines(SimpleNamespace(id="3", name="they")), ("me",), None),
    ],
)
def test_letta_rollback_command_refuses_a_baseline_for_another_toolset_or_agents(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    baselines: Baselines,
    agents: Any,
    expected_message: str | None,
) -> None:
    """Use baselines: the states that are saved before an apply changes anything."""
    done = RollbackResult(0, (), ())
    if expected_message is None:
        assert run_rollback(monkeypatch, baselines, done, agents=agents) == 0
        return
    with pytest.raises(SystemExit):
        run_rollback(monkeypatch, baselines, done, agents=agents)
    assert expected_message in capsys.readouterr().err


def run_blocks(monkeypatch: pytest.MonkeyPatch, has: bool, **more: Any) -> int:
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
def test_letta_blocks_command_prints_or_writes_memory_block_changes(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    more: Any,
    code: int,
    out: str,
) -> None:
    assert run_blocks(monkeypatch, True, **more) == code
    assert capsys.readouterr().out == out


def test_letta_blocks_command_requires_the_v1_backend_and_declared_blocks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def raise_missing_setting(_: Any) -> Any:
        raise MissingSettingError("set ME")

    for has, overrides, expected_message in (
        (False, {}, "no agent of the toolset has `blocks`"),
        (True, {"kind": "code"}, "the backend `code` does not support memory blocks"),
        (True, {"wanted": raise_missing_setting}, "set ME"),
    ):
        options: Any = overrides
        with pytest.raises(SystemExit):
            run_blocks(monkeypatch, has, **options)
        assert expected_message in capsys.readouterr().err
