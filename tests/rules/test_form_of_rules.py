"""Rules are well formed, and whoever names one names one that is there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.module_graph import DISTRIBUTIONS
from tests.test_structure import assert_none
from toolcast.diff.comparison import load_change_rules as kinds_of_changes
from toolcast.model.binding import MAX_COPIED_VALUES
from toolcast.parsing.yaml_reader import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_LARGE_NUMBERS,
    MAX_NODES,
)
from toolcast.rules.rule import Rule
from toolcast.rules.rule_docs import load_page
from toolcast.rules.table import FAMILIES, list_built_in_rules

RULES = DISTRIBUTIONS["toolcast"] / "rules"


def test_rules_are_well_formed() -> None:
    assert_none(
        f"{rule.id}: {fault}"
        for rule in list_built_in_rules()
        for fault in _faults_of(rule)
    )


def _faults_of(rule: Rule) -> Iterator[str]:
    if not re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", rule.id):
        yield "id"
    told = rule.text
    if not re.fullmatch(r"Checks that [^\n]*[^.\n]\.", told.purpose):
        yield "purpose is no sentence that starts with `Checks that`"
    if len(told.purpose) > 90:
        yield "purpose is longer than 90"
    if not re.fullmatch(r"[A-Z`][^\n]*[.)]", told.reason):
        yield "why is no sentence"
    if told.bad and not told.good:
        yield "bad example without a good one"


def test_a_rule_stands_in_the_module_of_its_family_and_on_its_page() -> None:
    for family in FAMILIES:
        file = str(RULES / f"{family}.md")
        here = {rule.id for rule in list_built_in_rules() if rule.page == file}
        assert here == {id_ for id_ in here if id_.startswith(f"{family}/")}
        told = load_page(file)
        assert set(told.paragraphs) == here
        assert list(told.paragraphs) == sorted(told.paragraphs)
        assert told.about.endswith(".")


def test_the_page_says_the_limits_of_a_file() -> None:
    told = load_page(str(RULES / "yaml.md")).paragraph("yaml/too-large")
    assert (
        f"{MAX_BYTES // 1024} KiB, {MAX_NODES:,} values and {MAX_DEPTH} levels"
        in told.purpose
    )
    assert f"at most {MAX_LARGE_NUMBERS}:" in told.reason
    assert f"at most {MAX_COPIED_VALUES:,} values" in told.reason


def test_no_page_is_without_its_rules() -> None:
    assert {file.stem for file in RULES.glob("*.md")} == set(FAMILIES)


def test_every_rule_id_in_the_source_is_that_of_a_rule() -> None:
    known = {rule.id for rule in list_built_in_rules()}
    families = "|".join(sorted({id_.partition("/")[0] for id_ in known}))
    # Some kinds of changes begin alike.
    known |= kinds_of_changes(()).keys()
    word = re.compile(rf'"((?:{families})/[a-z0-9-]+)"')
    assert_none(
        f"{file}: {id_}"
        for file in DISTRIBUTIONS["toolcast"].rglob("*.py")
        for id_ in word.findall(file.read_text(encoding="utf-8"))
        if id_ not in known
    )
