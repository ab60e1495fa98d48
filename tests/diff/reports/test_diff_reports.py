"""Output of `toolcast diff` for the projects in `cases/`, each in two versions.

`REGENERATE=1` updates the files in `expected/`; read the difference before you commit it.
"""

from __future__ import annotations

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
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
SHOP, SAME, HOSTILE = (HERE / "cases" / name for name in ("shop", "same", "hostile"))


def run_diff(case: Path, *options: str) -> tuple[int, str]:
    """Return the exit code of `toolcast diff`, and its output without Toolcast's version."""
    done = toolcast(case, "diff", "--project", "after", "--against", "before", *options)
    assert done.stderr == ""
    return done.returncode, done.stdout.replace(f'"{__version__}"', '"VERSION"')


@pytest.fixture(autouse=True)
def without_github_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


@each_case
@pytest.mark.parametrize("option", [*FORMATS, "bump"])
def test_toolcast_diff_output_equals_the_expected_file(case: Path, option: str) -> None:
    """The output is a report in a format, or the changelog of `--bump`."""
    if option == "bump":
        code, text = run_diff(case, "--bump")
        expected_code = 0
    else:
        code, text = run_diff(case, "--format", option)
        expected_code = 1 if case.name in FAILING_CASES else 0
    assert_equals_file(case / "expected" / FORMATS.get(option, "changelog.md"), text)
    assert code == expected_code


def assert_equals_file(file: Path, text: str) -> None:
    """Compare text with an expected file, or update it if `REGENERATE` is set."""
    if os.environ.get("REGENERATE"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@each_case
def test_expected_json_and_sarif_match_schemas_and_agree(case: Path) -> None:
    """Locations exist, and the text report wraps lines at 80 characters."""
    expected = case / "expected"
    value = validate_json((expected / "diff.json").read_text("utf-8"), "diff")
    run = validate_sarif((expected / "diff.sarif").read_text("utf-8"))
    failing = [change for change in value["changes"] if change["fails"]]
    assert len(failing) == value["summary"]["failing"]
    errors = [change for change in run["results"] if change["level"] == "error"]
    fingerprints = {change["partialFingerprints"]["toolcast/v1"] for change in errors}
    assert fingerprints == {change["fingerprint"] for change in failing}
    for change in value["changes"]:
        location = change["location"]
        lines = (case / "after" / location["file"]).read_text("utf-8").split("\n")
        assert location["line"] <= len(lines)
    text = (expected / "text.txt").read_text("utf-8")
    changes = text.partition("\ntoolcast.accept.yaml:")[0]
    long = [line for line in changes.split("\n") if len(line) > 80]
    assert [line for line in long if " " in line.strip()] == []


def test_toolcast_diff_docs_example_is_in_its_expected_output() -> None:
    page = (HERE.parents[2] / "docs" / "diff.md").read_text("utf-8")
    example = page.partition("```text\n")[2].partition("```")[0]
    text = (SHOP / "expected" / "text.txt").read_text("utf-8")
    parts = example.strip().split("\n\n")
    assert parts != [""]
    assert [part for part in parts if part not in text] == []


@pytest.mark.parametrize(
    ("case", "limits", "code"),
    [
        (SHOP, "none", 0),
        (SHOP, "risky", 1),
        (SHOP, "call=breaking", 1),
        (SHOP, "code=breaking,access=risky", 1),
        (SHOP, "call=risky,prompt=risky,code=risky,access=breaking", 1),
        # A limit for one audience ignores the others.
        (HOSTILE, "access=breaking", 0),
        (HOSTILE, "prompt=risky", 1),
    ],
)
def test_diff_exits_with_1_for_a_change_at_or_above_the_fail_on_grade(
    case: Path, limits: str, code: int
) -> None:
    exit_code, text = run_diff(case, "--fail-on", limits)
    assert exit_code == code
    assert f" --fail-on {limits}" in " ".join(text.split())


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
def test_diff_with_invalid_options_exits_with_2_and_names_the_problem(
    options: list[str], message: str
) -> None:
    done = toolcast(SAME, "diff", "--project", "after", "--against", "before", *options)
    assert done.returncode == 2
    assert message in done.stderr
