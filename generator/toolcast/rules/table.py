"""Every rule by its id: a module `<family>.py` each family; extensions bring others."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from ..extensions import RULES, ExtensionError, guard_function, load_contributions
from ..findings import Severity
from .rule import Check, Problem, Rule, get_family_page, get_module_page
from .rule_docs import PageError

_WITHOUT_CHECKS = frozenset(["yaml", "output", "accept"])
FAMILIES = (
    "yaml",
    "spec",
    "schema",
    "compat",
    "name",
    "prompt",
    "access",
    "cli",
    "target",
    "handler",
    "data",
    "cases",
    "output",
    "accept",
)
"""The first words of the ids of built-in rules, which their modules and pages are called by."""
_ID = re.compile(r"[a-z][a-z0-9-]*/[a-z][a-z0-9-]*")
# Reading, comparing and writing find their problems.
_ERRORS = """
    handler/import-error
    output/outdated output/foreign-file output/symlink output/invalid-marker output/missing output/orphaned
    output/outdated-region
    spec/invalid-document spec/duplicate-tool spec/duplicate-toolset spec/file-name-mismatch spec/invalid-value
    spec/too-many-findings spec/missing-extension spec/missing-key spec/output-overlaps-input
    spec/outside-project spec/unread-sub-folder spec/unknown-key spec/unknown-rule
    spec/unknown-toolset spec/unreadable spec/unsuppressable-rule spec/wrong-type
    target/unexpected-output target/template-error
    yaml/ambiguous yaml/duplicate-key yaml/empty yaml/encoding yaml/unsupported-feature
    yaml/forbidden-character yaml/non-string-key yaml/merge-conflict yaml/syntax yaml/too-large
    """.split()
_WARNINGS = """
    accept/expired accept/unused
    handler/missing-setting
    spec/removal-expired spec/suppression-expired spec/unlisted-toolset spec/unused-suppression
    yaml/invisible-character
    """.split()
_NOBODY_DECIDES = frozenset(
    "accept/expired accept/unused handler/import-error handler/missing-setting".split()
)
_FOUND_ELSEWHERE = tuple(
    Rule(id, severity, get_family_page(id), can_be_suppressed=id not in _NOBODY_DECIDES)
    for severity, ids in ((Severity.ERROR, _ERRORS), (Severity.WARNING, _WARNINGS))
    for id in ids
)


@cache
def list_built_in_rules() -> tuple[Rule, ...]:
    """The built-in rules."""
    names = (name for name in FAMILIES if name not in _WITHOUT_CHECKS)
    families = (import_module(f".{name}", __package__) for name in names)
    parts = (part for family in families for part in _of_module(family))
    whole = _together((*parts, *_FOUND_ELSEWHERE))
    return tuple(whole.values())


def _together(parts: Iterable[Rule]) -> dict[str, Rule]:
    """Rules by id, each made of its parts."""
    found: dict[str, Rule] = {}
    for part in parts:
        first = found.setdefault(part.id, part)
        if first is not part:
            both = first.can_be_suppressed and part.can_be_suppressed
            others = (*first.others, part)
            found[part.id] = replace(first, others=others, can_be_suppressed=both)
    return found


def load_rules(extensions: tuple[str, ...]) -> dict[str, Rule]:
    """Every rule by id: the built-in ones, then those of the listed extensions.

    Raises:
        ExtensionError: one cannot be loaded, takes an id that is taken, or is on no page.
    """
    return {rule.id: rule for rule in list_built_in_rules()} | _others(extensions)


def _of_module(module: ModuleType) -> Iterator[Rule]:
    """The rules of a family's module: those in `RULES`, and those with a check."""
    yield from getattr(module, "RULES", ())
    for value in vars(module).values():
        if isinstance(value, Rule) and value.page == get_module_page(module.__name__):
            yield value


@cache
def _others(extensions: tuple[str, ...]) -> dict[str, Rule]:
    taken = {rule.id for rule in list_built_in_rules()}
    found: dict[str, Rule] = {}
    for where, value in load_contributions(extensions, RULES):
        own = _rules_of(where, value)
        for rule in own:
            _hold(where, rule, taken | found.keys())
        found |= _together(replace(rule, check=_held(rule)) for rule in own)
    return found


def _hold(where: str, rule: Any, taken: set[str]) -> None:
    """Refuses what is no rule that can be told and told apart."""
    if not isinstance(rule, Rule):
        raise ExtensionError(f"{where} is not a toolcast Rule")
    if not (_ID.fullmatch(rule.id) and isinstance(rule.severity, Severity)):
        raise ExtensionError(
            f"the rule `{rule.id}` of {where} needs an id `family/kebab-name`"
            " and a Severity"
        )
    if rule.id in taken:
        raise ExtensionError(f"the rule `{rule.id}` of {where} is there already")
    try:
        _ = rule.text
    except PageError as error:
        raise ExtensionError(f"the rule `{rule.id}` of {where}: {error}") from error


def _held(rule: Rule) -> Check | None:
    """The check of an extension's rule, which gives problems or is named."""
    check = rule.check
    if check is None:
        return None

    def problems(*given: Any) -> Iterator[Problem]:
        found = list(check(*given))
        for one in found:
            if not isinstance(one, Problem):
                raise TypeError(f"a check gives problems, not {type(one).__name__}")
        return iter(found)

    return guard_function(f"the rule `{rule.id}`", problems)


def _rules_of(where: str, value: Any) -> list[Any]:
    """The rules of a module, of a package's modules, or of a sequence."""
    if isinstance(value, ModuleType):
        try:
            return [rule for module in _modules(value) for rule in _of_module(module)]
        # A module of it may raise anything, as any extension may.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ExtensionError(f"{where} cannot be loaded: {reason}") from error
    return list(value) if isinstance(value, Sequence) else [value]


def _modules(value: ModuleType) -> Iterator[ModuleType]:
    yield value
    for found in pkgutil.iter_modules(getattr(value, "__path__", ())):
        yield import_module(f".{found.name}", value.__name__)
