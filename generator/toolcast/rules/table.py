"""Registry of all rules: built-in rules by family, and rules of extensions."""

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

_FAMILIES_WITHOUT_MODULE = frozenset(["yaml", "output", "accept"])
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
"""The families of built-in rules: the first part of a rule's id, and the name of its page."""
_ID = re.compile(r"[a-z][a-z0-9-]*/[a-z][a-z0-9-]*")
# The ids of rules without a check function. Their findings are reported by the functions that
# read specs, compare outputs and write files.
_EXTERNAL_ERRORS = """
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
_EXTERNAL_WARNINGS = """
    accept/expired accept/unused
    handler/missing-setting
    output/not-in-wheel
    spec/removal-expired spec/suppression-expired spec/unlisted-toolset spec/unused-suppression
    yaml/invisible-character
    """.split()
_UNSUPPRESSABLE = frozenset(
    "accept/expired accept/unused handler/import-error handler/missing-setting"
    " output/not-in-wheel output/unknown-wheel".split()
)
_RULES_WITHOUT_CHECK = tuple(
    Rule(id, severity, get_family_page(id), can_be_suppressed=id not in _UNSUPPRESSABLE)
    for severity, ids in (
        (Severity.ERROR, _EXTERNAL_ERRORS),
        (Severity.WARNING, _EXTERNAL_WARNINGS),
        (Severity.NOTE, ("output/unknown-wheel",)),
    )
    for id in ids
)


@cache
def list_built_in_rules() -> tuple[Rule, ...]:
    """Return the built-in rules of all families; rules without a check are last."""
    parts: list[Rule] = []
    for family in FAMILIES:
        if family not in _FAMILIES_WITHOUT_MODULE:
            module = import_module(f".{family}", __package__)
            parts += _list_module_rules(module)
    return tuple(_merge_parts([*parts, *_RULES_WITHOUT_CHECK]).values())


def _merge_parts(parts: Iterable[Rule]) -> dict[str, Rule]:
    """Return rules by id; rules with the same id become parts of the first one.

    The result can be suppressed only if all of its parts can.
    """
    merged: dict[str, Rule] = {}
    for part in parts:
        first = merged.setdefault(part.id, part)
        if first is not part:
            merged[part.id] = replace(
                first,
                other_parts=(*first.other_parts, part),
                can_be_suppressed=first.can_be_suppressed and part.can_be_suppressed,
            )
    return merged


def load_rules(extensions: tuple[str, ...]) -> dict[str, Rule]:
    """Return all rules by id: built-in rules, then rules of the listed extensions.

    Raises:
        ExtensionError: an extension cannot be loaded, or one of its rules is invalid, has
            the id of another rule, or is not documented.
    """
    built_in = {rule.id: rule for rule in list_built_in_rules()}
    return built_in | _load_extension_rules(extensions)


def _list_module_rules(module: ModuleType) -> Iterator[Rule]:
    """Yield the rules in the sequence `RULES` of a module, then its other rules."""
    yield from getattr(module, "RULES", ())
    for value in vars(module).values():
        # A rule that the module imports from another module has the page of that module.
        if isinstance(value, Rule) and value.page == get_module_page(module.__name__):
            yield value


@cache
def _load_extension_rules(extensions: tuple[str, ...]) -> dict[str, Rule]:
    """Return the rules of the listed extensions by id; see `load_rules` for errors."""
    built_in_ids = {rule.id for rule in list_built_in_rules()}
    loaded: dict[str, Rule] = {}
    for origin, value in load_contributions(extensions, RULES):
        contributed = _list_contributed_rules(origin, value)
        for rule in contributed:
            _validate_rule(origin, rule, built_in_ids | loaded.keys())
        loaded |= _merge_parts(
            replace(rule, check=_guard_check(rule)) for rule in contributed
        )
    return loaded


def _validate_rule(origin: str, rule: Any, used_ids: set[str]) -> None:
    """Raise `ExtensionError` unless a rule is valid, documented and has an unused id."""
    if not isinstance(rule, Rule):
        raise ExtensionError(f"{origin} is not a toolcast Rule")
    if not (_ID.fullmatch(rule.id) and isinstance(rule.severity, Severity)):
        raise ExtensionError(
            f"the rule `{rule.id}` of {origin} needs an id `family/kebab-name`"
            " and a Severity"
        )
    if rule.id in used_ids:
        raise ExtensionError(f"the rule `{rule.id}` of {origin} already exists")
    try:
        _ = rule.text
    except PageError as error:
        raise ExtensionError(f"the rule `{rule.id}` of {origin}: {error}") from error


def _guard_check(rule: Rule) -> Check | None:
    """Wrap the check function of an extension so that its errors name the rule.

    A value that is not a `Problem` is an error. None for a rule without a check.
    """
    check = rule.check
    if check is None:
        return None

    def run_check(*subject: Any) -> Iterator[Problem]:
        problems = list(check(*subject))
        for problem in problems:
            if not isinstance(problem, Problem):
                raise TypeError(
                    f"a check must yield Problem objects, not {type(problem).__name__}"
                )
        return iter(problems)

    return guard_function(f"the rule `{rule.id}`", run_check)


def _list_contributed_rules(origin: str, value: Any) -> list[Any]:
    """Return the values of an entry point as a list; they need not be rules.

    Args:
        origin: description of the entry point, for messages.
        value: a module or package with rules, a rule, or a sequence of rules.
    """
    if isinstance(value, ModuleType):
        try:
            return [
                rule
                for module in _list_modules(value)
                for rule in _list_module_rules(module)
            ]
        # The code of an extension's module can raise any exception when it is imported.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ExtensionError(f"{origin} cannot be loaded: {reason}") from error
    return list(value) if isinstance(value, Sequence) else [value]


def _list_modules(package: ModuleType) -> Iterator[ModuleType]:
    """Yield a module and, if it is a package, the modules in it."""
    yield package
    for info in pkgutil.iter_modules(getattr(package, "__path__", ())):
        yield import_module(f".{info.name}", package.__name__)
