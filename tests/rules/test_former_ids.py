"""What a rule was called before goes on being known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.program import toolcast
from tests.repository import EXTENSIONS
from tests.rules.layout import findings_of, lay_out
from toolcast.package_data import read_packaged
from toolcast.rules.table import former_ids, rules

TWICE = """\
parameters:
  type: object
  properties: {mode: {enum: [fast, fast]}}
suppress: [{rule: RULE, reason: It does no harm.}]
"""


def test_a_former_id_is_none_of_a_rule_and_leads_to_one() -> None:
    known = rules(())
    assert [old for old in former_ids() if old in known] == []
    assert [new for new in former_ids().values() if new and new not in known] == []
    assert list(former_ids()) == sorted(former_ids())


def test_a_suppression_by_a_former_id_holds_and_says_the_present_one(
    tmp_path: Path,
) -> None:
    lay_out(TWICE.replace("RULE", "schema/duplicate-enum"), tmp_path)
    found = {one.rule: one for one in findings_of(tmp_path)}
    assert "schema/enum" not in found
    said = found["spec/unknown-rule"]
    assert said.message == "`schema/duplicate-enum` is called `schema/enum` now"
    assert said.severity.word == "note"


def test_a_former_id_silences_only_what_was_told_by_it(tmp_path: Path) -> None:
    """A present rule tells of more: of what is worse, and of what others told of."""
    both = TWICE.replace("{mode:", "{none: {enum: []}, mode:")
    for former, left in (
        ("schema/duplicate-enum", ["`enum` is empty: no value is valid"]),
        ("schema/empty-enum", ['"fast" stands twice in `enum`']),
        ("schema/enum", []),
    ):
        lay_out(both.replace("RULE", former), tmp_path / former)
        told = findings_of(tmp_path / former)
        assert [one.message for one in told if one.rule == "schema/enum"] == left


def test_a_file_that_says_a_former_name_is_another_finding_than_a_spec(
    tmp_path: Path,
) -> None:
    spec = "renamed_from: [old_note]\nsummary: Not old_note.\nsuppress:\n- {rule: RULE, reason: No.}\n"
    for former in ("output/former-name", "name/former-in-files"):
        lay_out(spec.replace("RULE", former), tmp_path / former)
        told = [one.rule for one in findings_of(tmp_path / former)]
        assert "name/former-alive" in told and "spec/unused-suppression" in told


def test_no_id_is_what_nothing_was_told_by(tmp_path: Path) -> None:
    """Most findings have no former id, and the empty text is none."""
    lay_out(TWICE.replace("RULE", '""'), tmp_path)
    assert {"schema/enum", "spec/unknown-rule"} <= {
        one.rule for one in findings_of(tmp_path)
    }


def test_no_part_of_a_rule_is_less_strict_than_the_others() -> None:
    """What cannot be suppressed cannot be in part, and a former id has one meaning."""
    parts = [part for rule in rules(EXTENSIONS).values() for part in rule.parts]
    known = yaml.safe_load(read_packaged("rules", "former_ids.yaml"))
    assert sorted(part.formerly for part in parts if part.formerly) == [
        old for old, new in known.items() if isinstance(new, list)
    ]
    for rule in rules(EXTENSIONS).values():
        assert {part.can_be_suppressed for part in rule.parts} == {
            rule.can_be_suppressed
        }
        assert {part.page for part in rule.parts} == {rule.page}


def test_a_suppression_of_a_rule_that_went_can_go(tmp_path: Path) -> None:
    lay_out(TWICE.replace("RULE", "schema/wider-type"), tmp_path)
    found = {one.rule: one for one in findings_of(tmp_path)}
    assert "schema/enum" in found
    said = found["spec/unused-suppression"]
    assert said.message == "there is no rule `schema/wider-type` any more"


@pytest.mark.parametrize(
    ("former", "code", "said"),
    [
        ("schema/duplicate-enum", 0, "is called `schema/enum` now.\n\nschema/enum ("),
        ("schema/wider-type", 2, "there is no rule `schema/wider-type` any more"),
    ],
)
def test_explain_says_what_became_of_it(
    former: str, code: int, said: str, tmp_path: Path
) -> None:
    done = toolcast(tmp_path, "explain", former)
    assert done.returncode == code
    assert said in done.stdout + done.stderr


def test_sarif_says_what_a_rule_was_called(tmp_path: Path) -> None:
    lay_out(TWICE.partition("suppress")[0], tmp_path)
    log = json.loads(toolcast(tmp_path, "check", "--format", "sarif").stdout)
    told = log["runs"][0]["tool"]["driver"]["rules"]
    (enum,) = (rule for rule in told if rule["id"] == "schema/enum")
    assert enum["deprecatedIds"] == ["schema/duplicate-enum", "schema/empty-enum"]
