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
    hold_json,
    hold_sarif,
)
from tests.program import toolcast
from toolcast import __version__

FAILS = {"shop", "hostile", "gone", "definitions"}
each_case = pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name) for case in CASES]
)


def printed(case: Path, *words: str) -> tuple[int, str]:
    """Return the exit code of `toolcast diff`, and its output without Toolcast's version."""
    done = toolcast(case, "diff", "--project", "after", "--against", "before", *words)
    assert done.stderr == ""
    return done.returncode, done.stdout.replace(f'"{__version__}"', '"VERSION"')


@pytest.fixture(autouse=True)
def outside_of_github(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)


@each_case
@pytest.mark.parametrize("format_", FORMATS)
def test_a_case_in_a_format(case: Path, format_: str) -> None:
    code, text = printed(case, "--format", format_)
    hold(case / "expected" / FORMATS[format_], text)
    assert code == (1 if case.name in FAILS else 0)


@each_case
def test_the_version_that_a_case_asks_for(case: Path) -> None:
    code, text = printed(case, "--bump")
    hold(case / "expected" / "changelog.md", text)
    assert code == 0


def hold(file: Path, text: str) -> None:
    if os.environ.get("REGENERATE"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


@each_case
def test_formats_for_machines_are_what_they_say(case: Path) -> None:
    expected = case / "expected"
    value = hold_json((expected / "diff.json").read_text("utf-8"), "diff")
    run = hold_sarif((expected / "diff.sarif").read_text("utf-8"))
    failing = [one for one in value["changes"] if one["fails"]]
    assert len(failing) == value["summary"]["failing"]
    errors = [one for one in run["results"] if one["level"] == "error"]
    assert {one["partialFingerprints"]["toolcast/v1"] for one in errors} == {
        one["fingerprint"] for one in failing
    }


@each_case
def test_text_fits_into_80_columns_but_for_what_has_no_space(case: Path) -> None:
    text = (case / "expected" / "text.txt").read_text("utf-8")
    changes = text.partition("\ntoolcast.accept.yaml:")[0]
    long = [line for line in changes.split("\n") if len(line) > 80]
    assert [line for line in long if " " in line.strip()] == []


def test_the_example_of_the_page_is_real() -> None:
    page = (HERE.parents[2] / "docs" / "diff.md").read_text("utf-8")
    example = page.partition("```text\n")[2].partition("```")[0]
    text = (HERE / "cases" / "shop" / "expected" / "text.txt").read_text("utf-8")
    parts = example.strip().split("\n\n")
    assert parts != [""]
    assert [part for part in parts if part not in text] == []


@each_case
def test_what_is_annotated_is_there(case: Path) -> None:
    value = json.loads((case / "expected" / "diff.json").read_text("utf-8"))
    for change in value["changes"]:
        location = change["location"]
        lines = (case / "after" / location["file"]).read_text("utf-8").split("\n")
        assert location["line"] <= len(lines)


def test_a_case_of_acceptances_has_each_kind_of_them() -> None:
    shop = next(case for case in CASES if case.name == "shop")
    value = json.loads((shop / "expected" / "diff.json").read_text("utf-8"))
    accepted = [one for one in value["changes"] if one["accepted"]]
    assert [one["tool"] for one in accepted] == ["print_label"]
    found = [(one["rule"], one["line"]) for one in value["findings"]]
    assert found == [
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
def test_limits_decide_what_fails(limits: str, code: int) -> None:
    shop = next(case for case in CASES if case.name == "shop")
    assert printed(shop, "--fail-on", limits)[0] == code


def test_a_limit_for_one_audience_lets_the_others_pass() -> None:
    hostile = next(case for case in CASES if case.name == "hostile")
    assert printed(hostile, "--fail-on", "access=breaking")[0] == 0
    assert printed(hostile, "--fail-on", "prompt=risky")[0] == 1


@pytest.mark.parametrize(
    ("words", "message"),
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
def test_options_that_cannot_be_meant(words: list[str], message: str) -> None:
    same = next(case for case in CASES if case.name == "same")
    done = toolcast(same, "diff", "--project", "after", "--against", "before", *words)
    assert done.returncode == 2
    assert message in done.stderr
