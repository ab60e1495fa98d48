"""Output of `toolcast diff` for the projects in `cases/`, each in two versions.

`REGENERATE=1` updates the files in `expected/`; read the difference before you commit it.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.diff.reports.layout import (
    CASES,
    FORMATS,
    HERE,
    validate_json,
    validate_sarif,
)
from tests.program import toolcast
from toolcast import __version__

FAILING_CASES = {"shop", "hostile", "gone", "definitions"}
each_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name) for case in CASES]
)


def run_diff(case: Path, *options: str) -> tuple[int, str]:
    """Return the exit code of `toolcast diff`, and its output without Toolcast's version."""
    done = toolcast(case, "diff", "--project", "after", "--against", "before", *options)
    assert done.stderr == ""
    return done.returncode, done.stdout.replace(f'"{__version__}"', '"VERSION"')


@pytest.fixture(autouse=True)
def without_github_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


@each_case
@pytest.mark.parametrize("format_", FORMATS)
def test_toolcast_diff_output_in_each_format_equals_the_cases_expected_file(
    case: Path, format_: str
) -> None:
    code, text = run_diff(case, "--format", format_)
    assert_equals_file(case / "expected" / FORMATS[format_], text)
    assert code == (1 if case.name in FAILING_CASES else 0)


@each_case
def test_toolcast_diff_bump_output_equals_the_cases_expected_changelog(
    case: Path,
) -> None:
    code, text = run_diff(case, "--bump")
    assert_equals_file(case / "expected" / "changelog.md", text)
    assert code == 0


def assert_equals_file(file: Path, text: str) -> None:
    """Compare text with an expected file, or update it if `REGENERATE` is set."""
    if os.environ.get("REGENERATE"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@each_case
def test_diff_json_and_sarif_match_schemas_and_agree_on_failing_changes(
    case: Path,
) -> None:
    expected = case / "expected"
    value = validate_json((expected / "diff.json").read_text("utf-8"), "diff")
    run = validate_sarif((expected / "diff.sarif").read_text("utf-8"))
    failing = [change for change in value["changes"] if change["fails"]]
    assert len(failing) == value["summary"]["failing"]
    errors = [change for change in run["results"] if change["level"] == "error"]
    assert {change["partialFingerprints"]["toolcast/v1"] for change in errors} == {
        change["fingerprint"] for change in failing
    }


@each_case
def test_toolcast_diff_text_output_wraps_lines_at_80_characters(case: Path) -> None:
    text = (case / "expected" / "text.txt").read_text("utf-8")
    changes = text.partition("\ntoolcast.accept.yaml:")[0]
    long = [line for line in changes.split("\n") if len(line) > 80]
    assert [line for line in long if " " in line.strip()] == []


def test_toolcast_diff_docs_example_is_in_its_expected_output() -> None:
    page = (HERE.parents[2] / "docs" / "diff.md").read_text("utf-8")
    example = page.partition("```text\n")[2].partition("```")[0]
    text = (HERE / "cases" / "shop" / "expected" / "text.txt").read_text("utf-8")
    parts = example.strip().split("\n\n")
    assert parts != [""]
    assert [part for part in parts if part not in text] == []


@each_case
def test_toolcast_diff_json_output_has_only_locations_in_existing_lines(
    case: Path,
) -> None:
    value = json.loads((case / "expected" / "diff.json").read_text("utf-8"))
    for change in value["changes"]:
        location = change["location"]
        lines = (case / "after" / location["file"]).read_text("utf-8").split("\n")
        assert location["line"] <= len(lines)


def test_toolcast_diff_json_output_has_accepted_unused_and_expired_accept_entries() -> (
    None
):
    shop = next(case for case in CASES if case.name == "shop")
    value = json.loads((shop / "expected" / "diff.json").read_text("utf-8"))
    accepted = [entry for entry in value["changes"] if entry["accepted"]]
    assert [entry["tool"] for entry in accepted] == ["print_label"]
    findings = [(entry["rule"], entry["line"]) for entry in value["findings"]]
    assert findings == [
        ("accept/unused", 7),
        ("accept/unused", 10),
        ("accept/expired", 13),
    ]


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ("none", 0),
        ("risky", 1),
        ("call=breaking", 1),
        ("code=breaking,access=risky", 1),
    ],
)
def test_toolcast_diff_exit_code_depends_on_the_fail_on_option(
    limits: str, code: int
) -> None:
    shop = next(case for case in CASES if case.name == "shop")
    assert run_diff(shop, "--fail-on", limits)[0] == code


def test_toolcast_diff_single_audience_fail_on_limit_ignores_the_other_audiences() -> (
    None
):
    """Audiences are call, prompt, code and access."""
    hostile = next(case for case in CASES if case.name == "hostile")
    assert run_diff(hostile, "--fail-on", "access=breaking")[0] == 0
    assert run_diff(hostile, "--fail-on", "prompt=risky")[0] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--fail-on", "cal=breaking"], "did you mean `call`?"),
        (["--fail-on", "call=braking"], "`call=braking` has no valid grade"),
        (["--fail-on", "call"], "`call` has no valid grade"),
        (["--fail-on", "risky,breaking"], "`risky` has no valid audience"),
        (["--fail-on", ""], "`` has no valid audience"),
        (["--fail-on", "safe"], "or `risky`, `breaking` or `none`"),
        (["--fail-on", "call=risky,call=breaking"], "the audience `call` is repeated"),
        (["--bump", "--format", "json"], "--bump prints Markdown"),
        (["--reason", "Why."], "--accept"),
        (["--accept", "123456789abc"], "--accept requires a reason"),
        (["--accept", "nothing", "--reason", "Why."], "no change has the fingerprint"),
    ],
)
def test_toolcast_diff_with_invalid_options_exits_with_2_and_a_suggestion(
    options: list[str], message: str
) -> None:
    same = next(case for case in CASES if case.name == "same")
    done = toolcast(same, "diff", "--project", "after", "--against", "before", *options)
    assert done.returncode == 2
    assert message in done.stderr
