"""Sixteen rules that nobody can suppress: without them a spec would decide what code runs,
what it is told and who is sent it.

The list is written out. A rule more or a rule less is a decision that is made here.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.program import toolcast
from tests.repository import EXTENSIONS
from tests.rules.layout import lay_out
from toolcast.import_check import check_imports
from toolcast.model.loading import load_workspace
from toolcast.rules.table import load_rules
from toolcast.wheel_contents import check_wheel

UNSUPPRESSABLE = (
    "accept/expired",
    "accept/unused",
    "access/invalid-oauth",
    "access/external-systems",
    "access/shared-endpoint",
    "access/duplicate-name",
    "handler/ledger-sink",
    "handler/lifespan",
    "handler/not-found",
    "handler/import-error",
    "handler/imported",
    "handler/missing-setting",
    "handler/outside-package",
    "handler/imported-type",
    "handler/unknown-dependency",
    "output/not-in-wheel",
    "output/unknown-wheel",
    "spec/variable-name",
)
PREFLIGHT = (
    "handler/import-error",
    "handler/missing-setting",
    "output/not-in-wheel",
    "output/unknown-wheel",
)
HERE = Path(__file__).parent
HOSTILE = yaml.safe_load((HERE / "unsuppressable.yaml").read_text("utf-8"))
SUPPRESSED = "spec/unsuppressable-rule"


def test_these_and_no_others_cannot_be_suppressed() -> None:
    known = load_rules(EXTENSIONS).values()
    assert sorted(one.id for one in known if not one.can_be_suppressed) == sorted(
        UNSUPPRESSABLE
    )
    assert sorted(HOSTILE) == sorted(UNSUPPRESSABLE)


def test_every_part_of_a_rule_can_be_suppressed_or_none() -> None:
    for rule in load_rules(EXTENSIONS).values():
        assert {part.can_be_suppressed for part in rule.parts} == {
            rule.can_be_suppressed
        }
        assert {part.page for part in rule.parts} == {rule.page}


Found = list[tuple[str, str, int, str]]


def found(root: Path, *words: str) -> tuple[Found, int]:
    """What a command finds: rule, file, line and message; and its exit code."""
    done = toolcast(root, *words, "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    listed = json.loads(done.stdout)["findings"]
    return [
        (one["rule"], one["file"], one["line"], one["message"]) for one in listed
    ], done.returncode


def tried(root: Path) -> Found:
    """What trying a start finds, which `check` does not come to while there are errors."""
    workspace = load_workspace(str(root)).workspace
    assert workspace is not None
    generated = root / "generated"
    outputs = [path.relative_to(generated).as_posix() for path in generated.rglob("*")]
    return [
        (one.rule, one.location.file, one.location.line, one.message)
        for one in (
            *check_imports(workspace),
            *check_wheel(workspace, outputs, should_build=True),
        )
    ]


def suppress(root: Path, rule: str) -> list[str]:
    """Says in every spec that a rule does not matter; their files."""
    specs = sorted((root / "specs").rglob("*.yaml"))
    for spec in specs:
        with spec.open("a", encoding="utf-8") as file:
            file.write(f"suppress: [{{rule: {rule}, reason: Trust me.}}]\n")
    return [spec.relative_to(root).as_posix() for spec in specs]


@pytest.mark.rows(6)
@pytest.mark.parametrize("rule", UNSUPPRESSABLE)
def test_a_suppression_removes_nothing_and_is_an_error(
    rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    is_accepted = rule.startswith("accept/")
    lay_out("" if is_accepted else HOSTILE[rule], root)
    words = ["check"]
    if rule in PREFLIGHT:
        words.append("--preflight")
        for variable in ("EXAMPLE_TOKEN", "EXAMPLE_ALLOWED_HOSTS"):
            monkeypatch.delenv(variable, raising=False)
        assert toolcast(root, "generate").returncode == 0
    if is_accepted:
        (root / "toolcast.accept.yaml").write_text(HOSTILE[rule], "utf-8")
        lay_out("", tmp_path / "before")
        words = ["diff", "--against", str(tmp_path / "before")]
    there, _ = found(root, *words)
    assert [one for one in there if one[0] == rule], there

    entries = suppress(root, rule)
    assert entries
    checked, code = found(root, "check")
    told = [one for one in checked if one[0] == SUPPRESSED]
    assert sorted({one[1] for one in told}) == entries and code == 1
    assert all(f"`{rule}`" in one[3] for one in told)
    if words == ["check"]:
        here = checked
    elif "--preflight" in words:
        here = tried(root)
    else:
        here, _ = found(root, *words)
    assert [one for one in there if one[0] == rule] == [
        one for one in here if one[0] == rule
    ]
