"""Every rule by its id: a module `<family>/<name>.py` each; others come as entry points."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from ..extensions import ExtensionFailure, extensions
from .rule import Rule

__all__ = ["built_in", "rules"]

_FAMILIES = (
    "yaml",
    "spec",
    "schema",
    "name",
    "prompt",
    "expose",
    "target",
    "handler",
    "data",
    "output",
)


@cache
def built_in() -> tuple[Rule, ...]:
    """The built-in rules, family by family.

    What reading and writing themselves find stands in the package of its family.
    """
    return tuple(rule for family in _FAMILIES for rule in _family(family))


def rules() -> dict[str, Rule]:
    """Every rule by id: the built-in ones, then those of `toolcast.rules`.

    Raises:
        ExtensionFailure: one cannot be loaded, or takes an id that is taken.
    """
    return {rule.id: rule for rule in built_in()} | _extensions()


def _family(name: str) -> Iterator[Rule]:
    package = import_module(f".{name}", __package__)
    yield from getattr(package, "RULES", ())
    for found in sorted(
        module.name for module in pkgutil.iter_modules(package.__path__)
    ):
        rule = getattr(import_module(f".{found}", package.__name__), "RULE", None)
        if rule is not None:
            yield rule


@cache
def _extensions() -> dict[str, Rule]:
    taken = {rule.id for rule in built_in()}
    found: dict[str, Rule] = {}
    for value, rule in extensions("toolcast.rules", Rule):
        if rule.id in taken or rule.id in found:
            raise ExtensionFailure(f"the rule `{rule.id}` of {value} is there already")
        found[rule.id] = rule
    return found
