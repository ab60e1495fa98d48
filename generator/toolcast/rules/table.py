"""Every rule by its id: a module `<family>/<name>.py` each; extensions bring others."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

from ..extensions import RULES, ExtensionFailure, guarded, values
from ..findings import Finding, Severity
from ..model.model import Toolset, Workspace
from .rule import Check, Rule

__all__ = ["built_in", "rules"]

_ID = re.compile(r"[a-z][a-z0-9-]*/[a-z][a-z0-9-]*")
_FAMILIES = (
    "yaml",
    "spec",
    "schema",
    "compat",
    "name",
    "prompt",
    "expose",
    "target",
    "handler",
    "data",
    "cases",
    "output",
    "accept",
)


@cache
def built_in() -> tuple[Rule, ...]:
    """The built-in rules, family by family.

    What reading and writing themselves find stands in the package of its family.
    """
    return tuple(rule for family in _FAMILIES for rule in _family(family))


def rules(extensions: tuple[str, ...]) -> dict[str, Rule]:
    """Every rule by id: the built-in ones, then those of the listed extensions.

    Raises:
        ExtensionFailure: one cannot be loaded, or takes an id that is taken.
    """
    return {rule.id: rule for rule in built_in()} | _others(extensions)


def _family(name: str) -> Iterator[Rule]:
    package = import_module(f".{name}", __package__)
    yield from getattr(package, "RULES", ())
    yield from _of_modules(package)


def _of_modules(package: ModuleType) -> Iterator[Rule]:
    """The `RULE` of each module of a package that has one, by the modules' names."""
    for found in sorted(
        module.name for module in pkgutil.iter_modules(package.__path__)
    ):
        rule = getattr(import_module(f".{found}", package.__name__), "RULE", None)
        if rule is not None:
            yield rule


@cache
def _others(extensions: tuple[str, ...]) -> dict[str, Rule]:
    taken = {rule.id for rule in built_in()}
    found: dict[str, Rule] = {}
    for where, value in values(extensions, RULES):
        for rule in _rules_of(where, value):
            if not isinstance(rule, Rule):
                raise ExtensionFailure(f"{where} is not a toolcast Rule")
            if not (_ID.fullmatch(rule.id) and isinstance(rule.severity, Severity)):
                raise ExtensionFailure(
                    f"the rule `{rule.id}` of {where} needs an id `family/kebab-name`"
                    " and a Severity"
                )
            if rule.id in taken or rule.id in found:
                raise ExtensionFailure(
                    f"the rule `{rule.id}` of {where} is there already"
                )
            found[rule.id] = rule._replace(check=_held(rule))
    return found


def _held(rule: Rule) -> Check | None:
    """The check of an extension's rule, which gives findings or is named."""
    check = rule.check
    if check is None:
        return None

    def findings(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
        given = list(check(toolset, workspace))
        for one in given:
            if not isinstance(one, Finding):
                raise TypeError(f"a check gives findings, not {type(one).__name__}")
        return iter(given)

    return guarded(f"the rule `{rule.id}`", findings)


def _rules_of(where: str, value: Any) -> list[Any]:
    if isinstance(value, ModuleType) and hasattr(value, "__path__"):
        try:
            return list(_of_modules(value))
        # A module of it may raise anything, as any extension may.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ExtensionFailure(f"{where} cannot be loaded: {reason}") from error
    # A rule is a tuple itself.
    is_one = isinstance(value, Rule) or not isinstance(value, Sequence)
    return [value] if is_one else list(value)
