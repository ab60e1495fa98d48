"""Repeated similar findings, printed as one finding with a count."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.output.conftest import read_outputs

Make = Callable[..., Any]
BARE = "summary: Do nothing.\nparameters: {type: object}\n"
MANY = 40


@pytest.fixture
def large_project(make_project: Make) -> Any:
    """Return a project with 40 tools without handler, and a faulty one."""
    specs = {f"tool_{number}": BARE for number in range(MANY)}
    specs["odd"] = (
        f"{BARE}handler: handlers.toy:odd\ndescription: 'Does nothing: {{{{hole}}}}.'\n"
    )
    return make_project(
        specs, toolset="targets: {registry: {}}\n", handlers="def odd() -> None: ...\n"
    )


@pytest.mark.parametrize("command", ["check", "generate"])
def test_check_and_generate_print_similar_findings_once_with_a_count(
    large_project: Any, command: str
) -> None:
    done = large_project.toolcast(command)
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


def test_check_all_option_prints_each_similar_finding(large_project: Any) -> None:
    done = large_project.toolcast("check", "--all")
    assert done.stderr.count(": warning: handler/missing: ") == MANY
    assert "similar findings" not in done.stderr


def test_check_does_not_group_five_similar_findings(make_project: Make) -> None:
    project = make_project(
        {f"tool_{number}": BARE for number in range(5)},
        toolset="targets: {registry: {}}\n",
    )
    output = project.toolcast("check").stderr
    assert output.count(": warning: handler/missing: ") == 5
    assert "similar findings" not in output


def test_check_counts_each_error_in_a_similar_finding_group(make_project: Make) -> None:
    spec = (
        "summary: Do nothing.\nparameters: {type: object, required: [a%d]}\n"
        "when_to_use: At no time.\n"
    )
    project = make_project({f"tool_{n}": spec % n for n in range(9)})
    done = project.toolcast("check")
    assert done.returncode == 1
    assert done.stderr.count("error: schema/required-unknown") == 1
    assert "and 8 similar findings" in done.stderr
    assert "9 errors, 9 warnings" in done.stderr.splitlines()[-1]


def test_check_json_output_has_every_finding_and_a_summary_with_counts(
    large_project: Any,
) -> None:
    large_project.toolcast("generate")
    value = json.loads(large_project.toolcast("check", "--format", "json").stdout)
    summary = value["summary"]
    assert summary["tools"] == MANY + 1
    assert summary["outputs"] == len(read_outputs(large_project.root))
    assert summary["severities"]["error"] == 0
    assert summary["severities"]["warning"] == MANY
    assert summary["rules"]["handler/missing"] == MANY
    assert summary["files"]["specs/toy/tool_7.yaml"] == 1
    assert sum(summary["rules"].values()) == len(value["findings"])


def test_check_json_summary_counts_150_findings_in_a_file_although_100_are_listed(
    make_project: Make,
) -> None:
    required = ", ".join(f"a{number}" for number in range(150))
    spec = f"summary: Do.\nparameters: {{type: object, required: [{required}]}}\n"
    project = make_project({"wide": spec})
    value = json.loads(project.toolcast("check", "--format", "json").stdout)
    assert value["summary"]["rules"]["schema/required-unknown"] == 150
    assert len(value["findings"]) == 101


def test_check_json_without_findings_has_zero_counts(make_project: Make) -> None:
    project = make_project({}, toolset="targets: {registry: {}}\n")
    project.generate()
    value = json.loads(project.toolcast("check", "--format", "json").stdout)
    assert value["summary"]["severities"] == {"error": 0, "warning": 0, "note": 0}
    assert value["summary"]["rules"] == value["summary"]["files"] == {}
