"""Every family of changes: the built-in ones, and those of extensions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import ParamSpec

from ..extensions import CHANGES, ExtensionFailure, guarded, values
from . import cost_fields, extension_fields, project_fields, selection
from .access import client_settings, client_tools, oauth_settings, target_options
from .change import Change, ChangeRule
from .family import Family
from .life import life_fields, stability, tool_life
from .listing import listed_keys, resources_and_prompts, tool_annotations
from .outside import listed_entries, reach, servers
from .running import (
    databases,
    person_questions,
    routers,
    running_fields,
    shell_commands,
)
from .schemas import schema_family
from .texts import notes, spec_texts

__all__ = ["BUILT_IN", "families", "rules"]

_Given = ParamSpec("_Given")

BUILT_IN = (
    tool_life.FAMILY,
    schema_family.FAMILY,
    spec_texts.FAMILY,
    notes.FAMILY,
    tool_annotations.FAMILY,
    listed_keys.FAMILY,
    resources_and_prompts.FAMILY,
    client_tools.FAMILY,
    client_settings.FAMILY,
    target_options.FAMILY,
    oauth_settings.FAMILY,
    running_fields.FAMILY,
    person_questions.FAMILY,
    routers.FAMILY,
    shell_commands.FAMILY,
    databases.FAMILY,
    servers.FAMILY,
    listed_entries.FAMILY,
    reach.FAMILY,
    life_fields.FAMILY,
    stability.FAMILY,
    project_fields.FAMILY,
    cost_fields.FAMILY,
    extension_fields.FAMILY,
    selection.FAMILY,
)
"""In the order in which they look."""


@cache
def families(extensions: tuple[str, ...]) -> tuple[Family, ...]:
    """The built-in families, then those of the listed extensions.

    Raises:
        ExtensionFailure: one cannot be loaded, is no `Family`, or takes an id that is taken.
    """
    known = list(BUILT_IN)
    taken = {rule.id for one in known for rule in one.rules}
    for where, value in values(extensions, CHANGES):
        if not isinstance(value, Family):
            raise ExtensionFailure(f"{where} is not a toolcast Family of changes")
        for rule in value.rules:
            if rule.id in taken:
                raise ExtensionFailure(
                    f"the change `{rule.id}` of {where} is there already"
                )
            taken.add(rule.id)
        known.append(_held(where, value))
    return tuple(known)


def _held(where: str, family: Family) -> Family:
    """An extension's family whose functions are named when they raise."""
    return replace(
        family,
        compare_tools=_guarded(where, family.compare_tools),
        compare_toolsets=_guarded(where, family.compare_toolsets),
        compare_workspaces=_guarded(where, family.compare_workspaces),
    )


def _guarded(
    where: str, compare: Callable[_Given, Iterator[Change]] | None
) -> Callable[_Given, Iterator[Change]] | None:
    if compare is None:
        return None
    # A generator raises while it is gone through.
    return guarded(where, lambda *a, **k: iter(list(compare(*a, **k))))


def rules(extensions: tuple[str, ...]) -> dict[str, ChangeRule]:
    """Every rule by its id.

    Raises:
        ExtensionFailure: as of `families`.
    """
    return {rule.id: rule for one in families(extensions) for rule in one.rules}
