"""The benchmarks' page shows what was measured; nothing here looks at a clock."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
NAMES = ("page", "plot", "reasons", "results", "paired")


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The modules of the folder, which are scripts and no package."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = {name: sys.modules.pop(name) for name in NAMES if name in sys.modules}
    yield {name: importlib.import_module(name) for name in NAMES}
    for name in NAMES:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def test_the_committed_page_and_plot_are_cast_from_what_was_measured(
    modules: dict[str, Any],
) -> None:
    page, results = modules["page"], modules["results"]
    parts = results.kept(results.KEPT)
    assert page.PAGE.read_text("utf-8") == page.page(parts)
    assert page.PLOT.read_text("utf-8") == page.picture(parts)


def test_every_missed_goal_has_its_reason(modules: dict[str, Any]) -> None:
    parts = modules["results"].kept(modules["results"].KEPT)
    assert "Not looked into yet" not in modules["page"].page(parts)


def test_a_ratio_is_the_median_of_the_ratios_within_rounds(
    modules: dict[str, Any],
) -> None:
    paired = modules["paired"]
    samples = {
        "a": [paired.Sample(seconds, 1.0, 1.0) for seconds in (1.0, 8.0, 3.0)],
        "b": [paired.Sample(seconds, 2.0, 1.0) for seconds in (1.0, 2.0, 1.0)],
    }
    row = paired.ratio(samples, "a", "b", at_most=2)
    assert (row.figure, row.clock, row.rounds) == (3.0, 0.5, 3)
    assert row.is_met is False
    assert replace(row, goal=3.0).is_met
    assert replace(row, goal=3.0, at_least=True).is_met
    assert replace(row, goal=None).is_met is None


def test_a_row_comes_back_from_json_as_it_was(modules: dict[str, Any]) -> None:
    paired = modules["paired"]
    row = paired.Row("a / b", 1.5, "x", 2.0, False, 1.25, (3.0, 2.0), 7)
    assert paired.Row.from_json(row.to_json()) == row


def test_a_bar_goes_left_where_a_goal_is_missed(modules: dict[str, Any]) -> None:
    paired, plot = modules["paired"], modules["plot"]
    row = paired.Row("a <b> / c", 4.0, "x", 2.0, False, 1.0, (1.0, 1.0), 3)
    assert plot._MISSED in plot.plot([row])
    assert plot._REACHED not in plot.plot([row])
    assert plot._REACHED in plot.plot([replace(row, at_least=True)])
    assert "a &lt;b&gt; / c" in plot.plot([row])
