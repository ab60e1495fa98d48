"""Every rule by its id: a module `<family>.py` each family; extensions bring others."""

from __future__ import annotations

import pkgutil
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import yaml

from ..extensions import RULES, ExtensionFailure, guarded, values
from ..findings import Severity
from ..package_data import read_packaged
from .page import PageError
from .rule import Check, Problem, Rule

__all__ = ["FAMILIES", "built_in", "former_ids", "rules"]

FAMILIES = (
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
"""The modules of the built-in rules, by the first word of their ids."""
_ID = re.compile(r"[a-z][a-z0-9-]*/[a-z][a-z0-9-]*")


@cache
def built_in() -> tuple[Rule, ...]:
    """The built-in rules, family by family."""
    families = (import_module(f".{name}", __package__) for name in FAMILIES)
    return tuple(rule for family in families for rule in _of_module(family))


@cache
def former_ids() -> Mapping[str, str | None]:
    """What rules were called before: each with its present id, or None where it went."""
    text = read_packaged("rules", "former_ids.yaml")
    known: dict[str, str | None] = yaml.load(text, yaml.CSafeLoader)
    return known


def rules(extensions: tuple[str, ...]) -> dict[str, Rule]:
    """Every rule by id: the built-in ones, then those of the listed extensions.

    Raises:
        ExtensionFailure: one cannot be loaded, takes an id that is taken, or is on no page.
    """
    return {rule.id: rule for rule in built_in()} | _others(extensions)


def _of_module(module: ModuleType) -> Iterator[Rule]:
    """The rules of a family's module: those in `RULES`, and those with a check."""
    yield from getattr(module, "RULES", ())
    for value in vars(module).values():
        if isinstance(value, Rule) and value.module == module.__name__:
            yield value


@cache
def _others(extensions: tuple[str, ...]) -> dict[str, Rule]:
    taken = {rule.id for rule in built_in()}
    found: dict[str, Rule] = {}
    for where, value in values(extensions, RULES):
        for rule in _rules_of(where, value):
            _hold(where, rule, taken | found.keys())
            found[rule.id] = replace(rule, check=_held(rule))
    return found


def _hold(where: str, rule: Any, taken: set[str]) -> None:
    """Refuses what is no rule that can be told and told apart."""
    if not isinstance(rule, Rule):
        raise ExtensionFailure(f"{where} is not a toolcast Rule")
    if not (_ID.fullmatch(rule.id) and isinstance(rule.severity, Severity)):
        raise ExtensionFailure(
            f"the rule `{rule.id}` of {where} needs an id `family/kebab-name`"
            " and a Severity"
        )
    if rule.id in taken:
        raise ExtensionFailure(f"the rule `{rule.id}` of {where} is there already")
    try:
        _ = rule.text
    except PageError as error:
        raise ExtensionFailure(f"the rule `{rule.id}` of {where}: {error}") from error


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

    return guarded(f"the rule `{rule.id}`", problems)


def _rules_of(where: str, value: Any) -> list[Any]:
    """The rules of a module, of a package's modules, or of a sequence."""
    if isinstance(value, ModuleType):
        try:
            return [rule for module in _modules(value) for rule in _of_module(module)]
        # A module of it may raise anything, as any extension may.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ExtensionFailure(f"{where} cannot be loaded: {reason}") from error
    return list(value) if isinstance(value, Sequence) else [value]


def _modules(value: ModuleType) -> Iterator[ModuleType]:
    yield value
    for found in pkgutil.iter_modules(getattr(value, "__path__", ())):
        yield import_module(f".{found.name}", value.__name__)
