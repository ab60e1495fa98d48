"""What changes while a run goes on is not taken for a result of the run."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cache.settled import generate, in_place, is_done
from toolcast.cache.index import read_index
from toolcast.cache.recording import record
from toolcast.cache.seen import Watched


def before_recording(patch: pytest.MonkeyPatch, what: Callable[[], object]) -> None:
    """Has something happen after a run wrote its files, before it records their looks."""
    patch.setattr(
        "toolcast.cache.recording.record", lambda *given: (what(), record(*given))
    )


MEANWHILE: dict[str, Callable[[Path], object]] = {
    "a written file": lambda root: in_place(
        root / "generated/toy/tools/greet.py", "Toolcast", "Tollcast"
    ),
    "another file": lambda root: in_place(
        root / "generated/toy/__init__.py", "Toolcast", "Tollcast"
    ),
    "a new file": lambda root: (root / "generated/toy/mine.py").write_text("x"),
    "a new folder": lambda root: (root / "generated/toy/mine").mkdir(),
    "a file gone": lambda root: (root / "generated/toy/tools/greet.py").unlink(),
}


@pytest.mark.parametrize("meanwhile", MEANWHILE.values(), ids=MEANWHILE)
def test_what_others_do_while_a_run_goes_on_is_no_result_of_it(
    meanwhile: Callable[[Path], object], settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled.edit("specs/toy/greet.yaml", "somebody", "somebody else")
    time.sleep(0.05)
    before_recording(monkeypatch, lambda: meanwhile(settled.root))
    generate(settled.root)
    assert read_index(str(settled.root)) is not None
    assert not is_done(settled)


def test_folders_that_a_run_makes_and_removes_are_known_to_the_next(
    settled: Any,
) -> None:
    toolset = settled.root / "specs/toy/toolset.yaml"
    text = toolset.read_text("utf-8")
    for targets in ("{registry: {}}", "{registry: {}, prompts: {}, snapshots: {}}"):
        toolset.write_text(re.sub("(?m)^targets:.*$", f"targets: {targets}", text))
        time.sleep(0.05)
        generate(settled.root)
        assert is_done(settled)
        in_place(settled.root / "generated/toy/registry.py", "Toolcast", "Tollcast")
        assert not is_done(settled)
        in_place(settled.root / "generated/toy/registry.py", "Tollcast", "Toolcast")


def test_code_of_the_generator_that_changes_meanwhile_is_not_recorded(
    settled: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = settled.root / "rule.py"
    module.write_text("old")
    time.sleep(0.05)
    watched = Watched([str(module)], [], [])
    monkeypatch.setattr("toolcast.cache.recording.generator_watched", lambda: watched)
    shutil.rmtree(settled.root / ".toolcast")
    before_recording(monkeypatch, lambda: module.write_text("new"))
    generate(settled.root)
    assert read_index(str(settled.root)) is None
