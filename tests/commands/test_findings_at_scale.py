"""Findings that say the same of many names: a handful of lines, and how to see each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., Any]
BARE = "summary: Do nothing.\nparameters: {type: object}\n"
MANY = 40


@pytest.fixture
def large(make_project: Make) -> Any:
    """Forty tools without a handler, one with a description that models stumble over."""
    specs = {f"tool_{number}": BARE for number in range(MANY)}
    specs["odd"] = (
        f"{BARE}handler: handlers.toy:odd\ndescription: 'Does nothing: {{{{hole}}}}.'\n"
    )
    return make_project(
        specs,
        toolset="targets: {registry: {}}\n",
        handlers="def odd() -> None: ...\n",
    )


@pytest.mark.parametrize("command", ["check", "generate"])
def test_what_repeats_is_said_once(large: Any, command: str) -> None:
    done = large.toolcast(command)
    lines = done.stderr.splitlines()
    warnings = [line for line in lines if ": warning: handler/missing: " in line]
    assert warnings[0].startswith("specs/toy/tool_0.yaml:1:7: warning: ")
    assert len(warnings) == 1
    assert (
        "  and 39 similar findings, the next at specs/toy/tool_1.yaml:1:7,"
        " specs/toy/tool_10.yaml:1:7; `toolcast check --all` lists them"
    ) in lines
    assert len(lines) < 20
    assert "40 warnings" in lines[-1]


def test_all_shows_each(large: Any) -> None:
    done = large.toolcast("check", "--all")
    assert done.stderr.count(": warning: handler/missing: ") == MANY
    assert "similar findings" not in done.stderr


def test_a_few_alike_stay_as_they_are(make_project: Make) -> None:
    project = make_project(
        {f"tool_{number}": BARE for number in range(5)},
        toolset="targets: {registry: {}}\n",
    )
    said = project.toolcast("check").stderr
    assert said.count(": warning: handler/missing: ") == 5
    assert "similar findings" not in said


def test_errors_alike_are_counted_as_errors(make_project: Make) -> None:
    wrong = (
        "summary: Do nothing.\nparameters: {type: object, required: [a%d]}\n"
        "when_to_use: At no time.\n"
    )
    project = make_project({f"tool_{n}": wrong % n for n in range(9)})
    done = project.toolcast("check")
    assert done.returncode == 1
    assert done.stderr.count("error: schema/required-unknown") == 1
    assert "and 8 similar findings" in done.stderr
    assert "9 errors, 9 warnings" in done.stderr.splitlines()[-1]


def test_json_tells_each_and_has_a_summary(large: Any) -> None:
    large.toolcast("generate")
    value = json.loads(large.toolcast("check", "--format", "json").stdout)
    summary = value["summary"]
    assert summary["tools"] == MANY + 1
    assert summary["outputs"] == len([*_files(large.root / "generated")])
    assert summary["severities"]["error"] == 0
    assert summary["severities"]["warning"] == MANY
    assert summary["rules"]["handler/missing"] == MANY
    assert summary["files"]["specs/toy/tool_7.yaml"] == 1
    assert sum(summary["rules"].values()) == len(value["findings"])


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_the_summary_counts_what_is_not_shown(make_project: Make) -> None:
    required = ", ".join(f"a{number}" for number in range(150))
    spec = f"summary: Do.\nparameters: {{type: object, required: [{required}]}}\n"
    project = make_project({"wide": spec})
    value = json.loads(project.toolcast("check", "--format", "json").stdout)
    assert value["summary"]["rules"]["schema/required-unknown"] == 150
    assert len(value["findings"]) == 101


def test_of_a_clean_project_the_summary_counts_nothing(make_project: Make) -> None:
    project = make_project({}, toolset="targets: {registry: {}}\n")
    project.generate()
    value = json.loads(project.toolcast("check", "--format", "json").stdout)
    assert value["summary"]["severities"] == {"error": 0, "warning": 0, "note": 0}
    assert value["summary"]["rules"] == value["summary"]["files"] == {}
