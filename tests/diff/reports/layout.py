"""Cases of reports, and validation of the output formats."""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from toolcast.diff.change import Change, ChangeRule, Grade, Grades
from toolcast.diff.comparison import Comparison, compare, load_change_rules
from toolcast.diff.effects import Effect
from toolcast.diff.review.verdict import DEFAULT_LIMITS, Verdict, judge
from toolcast.findings import Location
from toolcast.model.model import Workspace
from toolcast.spec_language.spec_language import get_schema

HERE = Path(__file__).parent
TODAY = datetime.date(2026, 11, 22)
CASES = sorted(folder.parent for folder in HERE.glob("cases/*/after"))
FORMATS = {"text": "text.txt", "json": "diff.json", "markdown": "comment.md"}
FORMATS |= {"github": "github.txt", "sarif": "diff.sarif"}
"""The values of `--format`, with the file of the expected output."""

LOCATION = Location("specs/toy/act.yaml", 3, 1, 4)
GRADES = Grades(Grade.BREAKING, Grade.RISKY)
RULE = ChangeRule("tool/removed", "Gone.", GRADES, "tool/added")


@cache
def _load_sarif_validator() -> jsonschema.Draft4Validator:
    text = (HERE / "schemas/sarif-2.1.0-rtm.5.json").read_text("utf-8")
    return jsonschema.Draft4Validator(json.loads(text))


def validate_sarif(text: str) -> dict[str, Any]:
    """Validate a SARIF 2.1.0 log, and return its only run."""
    value = json.loads(text)
    _load_sarif_validator().validate(value)
    run: dict[str, Any] = value["runs"][0]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"]
    return run


def validate_json(text: str, kind: str) -> dict[str, Any]:
    """Validate JSON against the published schema, and return its value."""
    value: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(get_schema(kind)).validate(value)
    return value


def judge_changes(
    before: Workspace, after: Workspace, comparison: Comparison | None = None
) -> Verdict:
    """Return the verdict on the changes between two versions, with the default limits."""
    return judge(
        comparison or compare(before, after, TODAY),
        (before, after),
        "the old release",
        limits=DEFAULT_LIMITS,
        acceptances=(),
        known=load_change_rules(()),
        today=TODAY,
    )


def judge_comparison(
    changes: list[Change], effects: Sequence[Effect] = (), against: str = "main"
) -> Verdict:
    """Return a verdict with the default limits, without acceptances."""
    workspace = Workspace("", ("specs/toy",), ())
    return judge(
        Comparison(changes, [*effects]), (workspace, workspace), against,
        limits=DEFAULT_LIMITS, acceptances=(), known=(), today=TODAY,
    )  # fmt: skip


def build_change(tool: str, message: str, before: Any, after: Any) -> Change:
    """Return the change of a tool's name."""
    values = (("name",), before, after, message)
    return Change(RULE, "toy", tool, *values, RULE.grades, LOCATION)
