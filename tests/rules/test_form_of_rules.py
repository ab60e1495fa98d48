"""Rules are well formed, and whoever names one names one that is there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.house import modules
from tests.test_structure import none
from toolcast.rules.rule import Rule
from toolcast.rules.table import built_in


def test_rules_are_well_formed() -> None:
    none(f"{rule.id}: {fault}" for rule in built_in() for fault in _faults_of(rule))


def _faults_of(rule: Rule) -> Iterator[str]:
    if not re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", rule.id):
        yield "id"
    if not re.fullmatch(r"Checks that [^\n]*[^.\n]\.", rule.purpose):
        yield "purpose is no sentence that starts with `Checks that`"
    if len(rule.purpose) > 90:
        yield "purpose is longer than 90"
    if not re.fullmatch(r"[A-Z`][^\n]*[.)]", rule.why):
        yield "why is no sentence"
    if rule.bad and not rule.good:
        yield "bad example without a good one"
    if any(example and example[-1] != "\n" for example in (rule.bad, rule.good)):
        yield "example does not end its line"


def test_every_rule_id_in_the_source_is_that_of_a_rule() -> None:
    known = {rule.id for rule in built_in()}
    families = "|".join(sorted({id_.partition("/")[0] for id_ in known}))
    word = re.compile(rf'"((?:{families})/[a-z0-9-]+)"')
    none(
        f"{module.name}: {id_}"
        for module in modules().values()
        if module.distribution == "toolcast"
        for id_ in word.findall(module.file.read_text(encoding="utf-8"))
        if id_ not in known
    )
