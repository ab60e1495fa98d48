"""Every family of changes: the built-in ones, and those of extensions."""

from __future__ import annotations

from functools import cache

from ..extensions import CHANGES, ExtensionFailure, values
from . import tool_life
from .change import ChangeRule, Family
from .schemas import schema_family

__all__ = ["BUILT_IN", "families", "rules"]

BUILT_IN = (tool_life.FAMILY, schema_family.FAMILY)
"""In the order in which they look."""


@cache
def families(extensions: tuple[str, ...]) -> tuple[Family, ...]:
    """The built-in families, then those of the listed extensions.

    Raises:
        ExtensionFailure: one cannot be loaded, or is no `Family`.
    """
    known = list(BUILT_IN)
    for where, value in values(extensions, CHANGES):
        if not isinstance(value, Family):
            raise ExtensionFailure(f"{where} is not a toolcast Family of changes")
        known.append(value)
    return tuple(known)


def rules(extensions: tuple[str, ...]) -> dict[str, ChangeRule]:
    """Every rule by its id.

    Raises:
        ExtensionFailure: as of `families`.
    """
    return {rule.id: rule for one in families(extensions) for rule in one.rules}
