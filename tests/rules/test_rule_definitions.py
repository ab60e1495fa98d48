"""Form of rules and their documentation, and references to rule ids."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.module_graph import DISTRIBUTIONS, ROOT
from tests.test_structure import assert_none
from toolcast.diff.comparison import load_change_rules
from toolcast.model.binding import MAX_COPIED_VALUES
from toolcast.parsing.yaml_reader import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_LARGE_NUMBERS,
    MAX_NODES,
)
from toolcast.rules.name import PROTECTED_MODULES
from toolcast.rules.rule import Rule
from toolcast.rules.rule_docs import PageError, load_page
from toolcast.rules.table import FAMILIES, list_built_in_rules

RULES = DISTRIBUTIONS["toolcast"] / "rules"


def test_built_in_check_rules_are_well_formed() -> None:
    assert_none(
        f"{rule.id}: {fault}"
        for rule in list_built_in_rules()
        for fault in _list_faults(rule)
    )


def _list_faults(rule: Rule) -> Iterator[str]:
    if not re.fullmatch(r"[a-z]+/[a-z0-9]+(-[a-z0-9]+)*", rule.id):
        yield "id"
    docs = rule.text
    if not re.fullmatch(r"Checks that [^\n]*[^.\n]\.", docs.purpose):
        yield "purpose is no sentence that starts with `Checks that`"
    if len(docs.purpose) > 90:
        yield "purpose is longer than 90"
    if not re.fullmatch(r"[A-Z`][^\n]*[.)]", docs.reason):
        yield "why is no sentence"
    if docs.bad and not docs.good:
        yield "bad example without a good one"


def test_each_rules_page_documents_exactly_the_rules_in_its_family() -> None:
    for family in FAMILIES:
        file = str(RULES / f"{family}.md")
        rule_ids = {rule.id for rule in list_built_in_rules() if rule.page == file}
        assert rule_ids == {id_ for id_ in rule_ids if id_.startswith(f"{family}/")}
        page = load_page(file)
        assert set(page.paragraphs) == rule_ids
        assert list(page.paragraphs) == sorted(page.paragraphs)
        assert page.about.endswith(".")


def test_spec_file_limits_in_the_rules_page_equal_the_constants() -> None:
    docs = load_page(str(RULES / "yaml.md")).paragraph("yaml/too-large")
    assert (
        f"{MAX_BYTES // 1024} KiB, {MAX_NODES:,} values and {MAX_DEPTH} levels"
        in docs.purpose
    )
    assert f"at most {MAX_LARGE_NUMBERS}:" in docs.reason
    assert f"at most {MAX_COPIED_VALUES:,} values" in docs.reason


def test_rule_documentation_without_a_reason_is_rejected(tmp_path: Path) -> None:
    page = tmp_path / "house.md"
    page.write_text("# House\n\nStyle.\n\n## house/polite\n\nChecks that x is y.\n")
    with pytest.raises(PageError, match="`house/polite` needs a sentence, the reason,"):
        load_page(str(page))


def test_documentation_has_exactly_one_page_for_each_rule_family() -> None:
    assert {file.stem for file in RULES.glob("*.md")} == set(FAMILIES)


def test_every_rule_id_that_the_source_code_mentions_exists() -> None:
    known = {rule.id for rule in list_built_in_rules()}
    families = "|".join(sorted({id_.partition("/")[0] for id_ in known}))
    # Some kinds of changes have the same prefix.
    known |= load_change_rules(()).keys()
    pattern = re.compile(rf'"((?:{families})/[a-z0-9-]+)"')
    assert_none(
        f"{file}: {id_}"
        for file in DISTRIBUTIONS["toolcast"].rglob("*.py")
        for id_ in pattern.findall(file.read_text(encoding="utf-8"))
        if id_ not in known
    )


def test_modules_imported_by_runtime_and_generated_code_are_protected_names() -> None:
    """A project's package must not have the name of a module that they import."""
    imported = set[str]()
    for folder in ("runtime/toolcast_runtime", "generated"):
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    imported |= {alias.name.partition(".")[0] for alias in node.names}
                elif (
                    isinstance(node, ast.ImportFrom) and node.module and not node.level
                ):
                    imported.add(node.module.partition(".")[0])
    own = {"generated", "examples", "toolcast_letta", "letta_client"}
    assert imported - sys.stdlib_module_names - own <= PROTECTED_MODULES
