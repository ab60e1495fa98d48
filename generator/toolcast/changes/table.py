"""Every family of changes: the built-in ones, and those of extensions."""

from __future__ import annotations

from functools import cache

from ..extensions import CHANGES, ExtensionFailure, values
from . import cost_fields, extension_fields, project_fields, selection
from .access import client_settings, client_tools, oauth_settings, target_options
from .change import ChangeRule
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
from .texts import notes, skill_changes, tool_texts, toolset_texts

__all__ = ["BUILT_IN", "families", "rules"]

BUILT_IN = (
    tool_life.FAMILY,
    schema_family.FAMILY,
    tool_texts.FAMILY,
    toolset_texts.FAMILY,
    skill_changes.FAMILY,
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
