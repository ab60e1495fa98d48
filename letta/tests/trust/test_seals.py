"""Signatures of saved plans and baselines: only the user's own files are accepted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from toolcast_letta.digests import compute_digest
from toolcast_letta.plan.backend import PlanRefusedError
from toolcast_letta.plan.plan import Plan
from toolcast_letta.state import seal as seals
from toolcast_letta.state.baseline import Baselines
from toolcast_letta.state.seal import KEY_VARIABLE, ForeignFileError, Seal, StateError


def save_plan(toy: Any, folder: Path) -> Path:
    file = folder / "plan.json"
    toy.plan().save(file, Seal())
    return file


def forge_file(file: Path, *steps: Any) -> None:
    """Edit a value of a saved file and compute its id again, as an attacker can."""
    value = json.loads(file.read_text())
    *path, last, new = steps
    inner = value
    for step in path:
        inner = inner[step]
    inner[last] = new
    if "id" in value:
        body = {k: v for k, v in value.items() if k not in ("format", "id", "seal")}
        value["id"] = compute_digest(body).removeprefix("sha256:")[:12]
    file.write_text(json.dumps(value))


@pytest.mark.parametrize(
    "steps",
    [
        ("agents", 0, "tools_after", ["run_code"]),
        ("agents", 0, "rules_after", []),
        ("overrides", "capture", ["send_message"]),
        ("registry", "end_day", [None, None]),
        ("place", "http://127.0.0.1:9"),
        ("missing", []),
        ("seal", None),
        ("seal", "hmac-sha256:" + 64 * "0"),
        ("seal", "hmac-sha256:\ud800"),
    ],
)
def test_edited_letta_plan_file_with_a_recomputed_id_is_refused(
    toy: Any, tmp_path: Path, steps: tuple[Any, ...]
) -> None:
    file = save_plan(toy, tmp_path)
    if steps == ("missing", []):
        steps = ("missing", ["more"])
    forge_file(file, *steps)
    with pytest.raises(ForeignFileError, match="was changed after it was saved"):
        Plan.load(file, Seal())


def test_letta_plan_file_saved_by_another_user_is_refused(
    toy: Any, tmp_path: Path
) -> None:
    file = save_plan(toy, tmp_path)
    other = Seal({"XDG_STATE_HOME": str(tmp_path / "another")})
    with pytest.raises(ForeignFileError, match="or another user saved it"):
        Plan.load(file, other)


def test_letta_plan_file_is_accepted_on_machines_with_the_same_signature_key(
    toy: Any, tmp_path: Path
) -> None:
    file = tmp_path / "plan.json"
    plan = toy.plan()
    key = {"TOOLCAST_LETTA_KEY": "a secret of both machines"}
    plan.save(file, Seal({**key, "XDG_STATE_HOME": "/a"}))
    assert Plan.load(file, Seal({**key, "XDG_STATE_HOME": "/b"})).id == plan.id
    with pytest.raises(StateError, match="fewer than 16"):
        Seal({"TOOLCAST_LETTA_KEY": "short"}).sign(1)


def test_signed_letta_plan_whose_tools_or_rules_differ_from_the_specs_is_not_applied(
    toy: Any, tmp_path: Path
) -> None:
    """A stolen key does not allow more changes than the specs require."""
    value = toy.plan().to_json()
    agent = value["agents"][0]
    bad: list[tuple[str, Any]] = [
        ("tools_after", [*agent["tools_after"], "run_code"]),
        ("tools_after", [n for n in agent["tools_after"] if n != "send_message"]),
        ("rules_after", []),
    ]
    for key, wrong in bad:
        body = {**value, "agents": [{**agent, key: wrong}]}
        file = tmp_path / "plan.json"
        file.write_text(json.dumps({**body, "seal": Seal().sign(body)}, default=list))
        plan = Plan.load(file, Seal())
        with pytest.raises(PlanRefusedError, match="the plan's result for "):
            toy.apply(plan)
        assert "run_code" not in toy.names()
        assert toy.entry() is None


def test_edited_letta_baseline_file_is_ignored_and_reported(toy: Any) -> None:
    """Use baselines: signed files with the state before an apply."""
    names = toy.names()
    toy.apply()
    [file] = toy.state.glob("toy-*.json")
    forge_file(file, "agents", 0, "id", toy.world.create_agent({"name": "other"}).id)
    baselines = Baselines(toy.state)
    assert baselines.list_all("toy", toy.fake.url) == []
    assert [str(file) in line for line in baselines.list_foreign_files("toy")] == [True]
    with pytest.raises(ForeignFileError, match="its signature is not valid"):
        baselines.load(file)
    with pytest.raises(StateError, match="its signature is not valid"):
        toy.roll_back()
    assert set(toy.names()) > set(names)


@pytest.mark.parametrize("content", ["", "[]", "{}", "[" * 100_000, '{"format": 1}'])
def test_invalid_letta_baseline_files_are_ignored_with_a_message(
    toy: Any, content: str
) -> None:
    """Apply a plan although the state folder contains invalid files."""
    toy.state.mkdir()
    (toy.state / "toy-1.json").write_text(content)
    (toy.state / "toy-2.json").symlink_to("/dev/zero")
    os.mkfifo(toy.state / "toy-3.json")
    assert toy.apply().changed
    assert len(Baselines(toy.state).list_foreign_files("toy")) == 3
    left = [line for line in toy.messages if line.startswith("ignored: ")]
    assert [f"toy-{n}.json" in line for n, line in enumerate(left, 1)] == [True] * 3


def test_letta_signature_key_is_stored_with_mode_600_in_the_state_folder(
    tmp_path: Path,
) -> None:
    """Use the key to sign saved plans and baselines."""
    seal = Seal({"XDG_STATE_HOME": str(tmp_path)})
    assert seal.is_valid([1], seal.sign([1]))
    assert not seal.is_valid([2], seal.sign([1]))
    [key] = (tmp_path / "toolcast").iterdir()
    assert key.stat().st_mode & 0o777 == 0o600


def test_new_letta_signature_key_is_synced_to_disk_before_its_first_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[int] = []
    monkeypatch.setattr(os, "fsync", waited.append)
    environment = {"XDG_STATE_HOME": str(tmp_path / "new")}
    Seal(environment).save(tmp_path / "plan", {}, create=True)
    made = len(waited)
    assert made >= 1
    Seal(environment).save(tmp_path / "other", {}, create=True)
    assert len(waited) < 2 * made


def test_incomplete_or_linked_letta_signature_key_file_is_an_error(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "toolcast"
    folder.mkdir()
    seal = Seal({"XDG_STATE_HOME": str(tmp_path)})
    (folder / "letta.key").write_text("x")
    with pytest.raises(StateError, match="contains an incomplete key"):
        seal.sign(1)
    (folder / "letta.key").unlink()
    (folder / "letta.key").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StateError, match="TOOLCAST_LETTA_KEY"):
        seal.sign(1)
    assert not (tmp_path / "elsewhere").exists()


def test_letta_plan_save_replaces_a_symbolic_link_and_keeps_its_target(
    toy: Any, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / "plan.json").symlink_to(mine)
    save_plan(toy, tmp_path)
    assert mine.read_text() == "mine"


@pytest.mark.parametrize(
    ("length", "is_key"), [(16, True), (15, False), (0, None), (200, True)]
)
def test_letta_signature_key_needs_16_characters(
    tmp_path: Path, length: int, is_key: bool | None
) -> None:
    seal = Seal({KEY_VARIABLE: f" {'k' * length} ", "XDG_STATE_HOME": str(tmp_path)})
    if is_key is False:
        with pytest.raises(StateError, match="has fewer than 16 characters"):
            seal.sign({})
        return
    assert seal.is_valid({"b": 2, "a": 1}, seal.sign({"a": 1, "b": 2}))
    assert not seal.is_valid({}, seal.sign({"a": 1}))
    assert not seal.is_valid({}, None)
    file = tmp_path / "toolcast" / "letta.key"
    assert file.exists() is (is_key is None)
    if is_key is None:
        file.write_bytes(b"k" * 15)
        with pytest.raises(StateError, match="contains an incomplete key"):
            seal.sign({})
        file.write_bytes(b"k" * 16)
        assert seal.is_valid({}, seal.sign({}))


def test_letta_state_files_are_read_up_to_16_mebibytes_and_keys_up_to_1_kibibyte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[int] = []

    def read(path: str, most: int, follow: bool = True) -> bytes:
        limits.append(most)
        return b"k" * 16 if path.endswith(".key") else b"[]"

    monkeypatch.setattr(seals, "read_regular_file", read)
    with pytest.raises(
        ForeignFileError, match="does not have the format x of this version"
    ):
        Seal({}).load(tmp_path / "plan.json", "x")
    assert Seal({"XDG_STATE_HOME": str(tmp_path)}).sign({})
    assert limits == [16 << 20, 1024]
