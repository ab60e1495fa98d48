"""`toolcast explain` for kinds of changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.program import toolcast
from toolcast.diff.comparison import load_change_rules


def test_explain_prints_the_meaning_grades_and_opposite_for_a_change_kind(
    tmp_path: Path,
) -> None:
    result = toolcast(tmp_path, "explain", "tool/removed")
    assert result.returncode == 0
    assert result.stdout.startswith("tool/removed (a change)\n\nTool removed")
    assert "  access  breaking\n" in result.stdout
    assert "Opposite change: tool/added." in result.stdout


RULES = load_change_rules(())
LONG_RULES = sorted(RULES, key=lambda id_: len(id_ + RULES[id_].meaning))[-5:]


@pytest.mark.parametrize("rule_id", LONG_RULES)
def test_explain_output_fits_in_80_columns(rule_id: str, tmp_path: Path) -> None:
    result = toolcast(tmp_path, "explain", rule_id)
    assert result.returncode == 0
    assert max(map(len, result.stdout.split("\n"))) <= 80


def test_explain_lists_every_change_kind_in_80_columns(tmp_path: Path) -> None:
    output = toolcast(tmp_path, "explain").stdout
    _, _, changes = output.partition("\nChanges of `toolcast diff`")
    rows = changes.split("\n")[2:]
    rule_ids = {row.split()[0] for row in rows if row and row[0] != " "}
    assert rule_ids == set(RULES)
    assert max(map(len, rows)) <= 80


@pytest.mark.parametrize("rule_id", ["tool/removed", "parameter/enum-value-renamed"])
def test_explain_suggests_a_similar_change(rule_id: str, tmp_path: Path) -> None:
    result = toolcast(tmp_path, "explain", rule_id[:-1])
    assert result.returncode == 2
    assert f"did you mean `{rule_id}`?" in result.stderr
