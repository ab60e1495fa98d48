"""Rules that cannot be suppressed, since otherwise a spec could decide which code runs.

The list is explicit, so that adding or removing a rule is a conscious decision.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.program import toolcast
from tests.repository import EXTENSIONS
from tests.rules.layout import write_example
from toolcast.import_check import check_imports
from toolcast.model.loading import load_workspace
from toolcast.rules.table import load_rules
from toolcast.wheel_contents import check_wheel

PREFLIGHT = (
    "handler/import-error",
    "handler/missing-setting",
    "output/not-in-wheel",
    "output/unknown-wheel",
)
UNSUPPRESSABLE = (
    *"accept/expired accept/unused access/invalid-oauth access/external-systems".split(),
    *"access/shared-endpoint access/duplicate-name handler/ledger-sink".split(),
    *"handler/lifespan handler/not-found handler/imported".split(),
    *"handler/outside-package handler/imported-type handler/unknown-dependency".split(),
    *PREFLIGHT,
    "spec/variable-name",
)
HERE = Path(__file__).parent
HOSTILE = yaml.safe_load((HERE / "unsuppressable.yaml").read_text("utf-8"))
SUPPRESSED = "spec/unsuppressable-rule"


def test_exactly_the_listed_check_rules_cannot_be_suppressed() -> None:
    rules = load_rules(EXTENSIONS).values()
    fixed = sorted(rule.id for rule in rules if not rule.can_be_suppressed)
    assert fixed == sorted(HOSTILE) == sorted(UNSUPPRESSABLE)
    for rule in rules:
        assert {p.can_be_suppressed for p in rule.parts} == {rule.can_be_suppressed}
        assert {part.page for part in rule.parts} == {rule.page}


Findings = list[tuple[str, str, int, str]]


def run_check(root: Path, *arguments: str) -> tuple[Findings, int]:
    """Return the findings of a command (rule, file, line, message) and its exit code."""
    done = toolcast(root, *arguments, "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    findings = json.loads(done.stdout)["findings"]
    return [
        (finding["rule"], finding["file"], finding["line"], finding["message"])
        for finding in findings
    ], done.returncode


def check_start(root: Path) -> Findings:
    """Return the findings about imports and wheels, which `check` skips if there are errors."""
    workspace = load_workspace(str(root)).workspace
    assert workspace is not None
    generated = root / "generated"
    outputs = [path.relative_to(generated).as_posix() for path in generated.rglob("*")]
    return [
        (finding.rule, finding.location.file, finding.location.line, finding.message)
        for finding in (
            *check_imports(workspace),
            *check_wheel(workspace, outputs, should_build=True),
        )
    ]


def suppress(root: Path, rule: str) -> list[str]:
    """Add a suppression of a rule to every spec, and return their files."""
    specs = sorted((root / "specs").rglob("*.yaml"))
    for spec in specs:
        with spec.open("a", encoding="utf-8") as file:
            file.write(f"suppress: [{{rule: {rule}, reason: Trust me.}}]\n")
    return [spec.relative_to(root).as_posix() for spec in specs]


@pytest.mark.rows(6)
@pytest.mark.parametrize("rule", UNSUPPRESSABLE)
def test_suppressing_an_unsuppressable_rule_is_an_error_and_removes_no_finding(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    is_accepted = rule.startswith("accept/")
    write_example("" if is_accepted else HOSTILE[rule], root)
    command = ["check"]
    if rule in PREFLIGHT:
        command.append("--preflight")
        for variable in ("EXAMPLE_TOKEN", "EXAMPLE_ALLOWED_HOSTS"):
            monkeypatch.delenv(variable, raising=False)
        assert toolcast(root, "generate").returncode == 0
    if is_accepted:
        (root / "toolcast.accept.yaml").write_text(HOSTILE[rule], "utf-8")
        write_example("", tmp_path / "before")
        command = ["diff", "--against", str(tmp_path / "before")]
    before, _ = run_check(root, *command)
    assert [finding for finding in before if finding[0] == rule], before

    entries = suppress(root, rule)
    assert entries
    checked, code = run_check(root, "check")
    errors = [finding for finding in checked if finding[0] == SUPPRESSED]
    assert sorted({finding[1] for finding in errors}) == entries and code == 1
    assert all(f"`{rule}`" in finding[3] for finding in errors)
    if command == ["check"]:
        after = checked
    elif "--preflight" in command:
        after = check_start(root)
    else:
        after, _ = run_check(root, *command)
    assert [finding for finding in before if finding[0] == rule] == [
        finding for finding in after if finding[0] == rule
    ]
