"""The shape of the code: what is listed, what may import what, how large it gets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from toolcast.rules.rule import Rule
from toolcast.rules.table import BUILT_IN, built_in, checking_ids

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "generator" / "toolcast"
MODULES = sorted(PACKAGE.rglob("*.py"))
WRITTEN = [
    *MODULES,
    *(
        file
        for folder in ("benchmarks", "docs", "examples", "tests")
        for file in sorted((ROOT / folder).rglob("*.py"))
    ),
]
FAMILIES = {
    *("yaml", "spec", "schema", "name", "prompt", "expose", "target", "handler"),
    *("data", "letta", "compat", "output"),
}
# No rule, but what rules are made of.
NOT_RULES = {
    *("__init__", "data_place", "handler_place", "prompt_finding", "rule", "running"),
    *("scope", "table"),
}
# What a package may import of toolcast besides itself.
MAY_IMPORT = {
    "runtime": set(),
    "text": set(),
    "reading": {"findings", "text"},
    "findings": set(),
    "project": set(),
    "shipped": set(),
    "spec": {"findings", "project", "reading", "shipped", "text"},
    "cache": {
        "extensions",
        "findings",
        "output",
        "project",
        "reading",
        "rules",
        "spec",
    },
    "extensions": set(),
    "rules": {
        "extensions",
        "findings",
        "reading",
        "runtime",
        "spec",
        "targets",
        "text",
    },
    "targets": {
        "extensions",
        "findings",
        "output",
        "reading",
        "rendering",
        "runtime",
        "shipped",
        "spec",
        "text",
    },
    "rendering": {"text"},
    "output": {"findings", "runtime", "spec", "text"},
    "reports": {"findings", "text"},
}

each_rule = pytest.mark.parametrize("rule", built_in(), ids=lambda rule: rule.id)
each_module = pytest.mark.parametrize(
    "module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE))
)


def test_every_rule_module_is_in_the_table() -> None:
    there = {file.stem for file in (PACKAGE / "rules").glob("*.py")}
    assert there - NOT_RULES == set(BUILT_IN.values())


def test_every_rule_of_a_module_is_in_the_table_by_its_id() -> None:
    listed = {
        (rule.id, name)
        for name in set(BUILT_IN.values())
        for rule in rules_of(import_module(f"toolcast.rules.{name}"))
    }
    assert listed == set(BUILT_IN.items())


def test_the_rules_that_check_something_are_known_by_their_ids() -> None:
    assert checking_ids() == {rule.id for rule in built_in() if rule.check is not None}


def rules_of(module: ModuleType) -> Iterator[Rule]:
    yield from [module.RULE] if hasattr(module, "RULE") else module.RULES


@each_rule
def test_a_rule_is_well_formed(rule: Rule) -> None:
    family, _, name = rule.id.partition("/")
    assert family in FAMILIES
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert re.fullmatch(r"Checks that [^\n]*[^.\n]\.", rule.purpose)
    assert len(rule.purpose) <= 90
    assert re.fullmatch(r"[A-Z`][^\n]*[.)]", rule.why)
    assert bool(rule.good) or not rule.bad
    for example in (rule.bad, rule.good):
        assert example == "" or example.endswith("\n")


def test_every_id_in_the_source_is_in_the_table() -> None:
    word = re.compile(rf'"((?:{"|".join(sorted(FAMILIES))})/[a-z0-9-]+)"')
    known = {rule.id for rule in built_in()}
    found = {
        (name, str(module.relative_to(PACKAGE)))
        for module in MODULES
        for name in word.findall(module.read_text(encoding="utf-8"))
    }
    assert {(name, where) for name, where in found if name not in known} == set()


@pytest.mark.parametrize("file", WRITTEN, ids=lambda f: str(f.relative_to(ROOT)))
def test_a_module_is_small(file: Path) -> None:
    assert len(file.read_text(encoding="utf-8").splitlines()) <= 300


@each_module
def test_arrows_only_point_forward(module: Path) -> None:
    steps = module.relative_to(PACKAGE).with_suffix("").parts
    if steps[0] not in MAY_IMPORT:
        return
    allowed = MAY_IMPORT[steps[0]] | {steps[0]}
    imported = set(_imports_of_toolcast(module, steps))
    assert imported - allowed == set()


@each_module
def test_nothing_is_printed(module: Path) -> None:
    if module.is_relative_to(PACKAGE / "runtime"):
        return  # it becomes programs, whose results go to standard output
    tree = ast.parse(module.read_text(encoding="utf-8"))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    names = [func.id for func in calls if isinstance(func, ast.Name)]
    assert "print" not in names


def _imports_of_toolcast(module: Path, steps: tuple[str, ...]) -> Iterator[str]:
    """The first step below toolcast of everything that a module imports of it."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first, _, rest = alias.name.partition(".")
                if first == "toolcast":
                    yield rest.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            named = node.module.split(".") if node.module else []
            if node.level:
                parts = [*steps[: len(steps) - node.level], *named]
            elif named[:1] == ["toolcast"]:
                parts = named[1:]
            else:
                continue
            if parts:
                yield parts[0]
            else:
                yield from (alias.name for alias in node.names)
