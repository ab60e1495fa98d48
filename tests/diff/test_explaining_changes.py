"""`toolcast explain` knows the kinds of changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program import toolcast
from toolcast.diff.comparison import load_change_rules


def test_a_change_is_explained(tmp_path: Path) -> None:
    done = toolcast(tmp_path, "explain", "tool/removed")
    assert done.returncode == 0
    assert done.stdout.startswith("tool/removed (a change)\n\nTool removed")
    assert "  access  breaking\n" in done.stdout
    assert "The change back: tool/added." in done.stdout


LONGEST = sorted(
    load_change_rules(()).values(), key=lambda rule: len(rule.id + rule.meaning)
)[-5:]


@pytest.mark.parametrize("id_", [rule.id for rule in LONGEST])
def test_each_explanation_fits_into_80_columns(id_: str, tmp_path: Path) -> None:
    done = toolcast(tmp_path, "explain", id_)
    assert done.returncode == 0
    assert max(map(len, done.stdout.split("\n"))) <= 80


def test_the_list_has_every_kind_of_change(tmp_path: Path) -> None:
    said = toolcast(tmp_path, "explain").stdout
    _, _, changes = said.partition("\nchanges of `toolcast diff`")
    rows = changes.split("\n")[2:]
    listed = {row.split()[0] for row in rows if row and row[0] != " "}
    assert listed == set(load_change_rules(()))
    assert max(map(len, rows)) <= 80


@pytest.mark.parametrize("id_", ["tool/removed", "parameter/enum-value-renamed"])
def test_a_near_id_is_suggested(id_: str, tmp_path: Path) -> None:
    done = toolcast(tmp_path, "explain", id_[:-1])
    assert done.returncode == 2
    assert f"did you mean `{id_}`?" in done.stderr
