"""Defaults of spec fields, and the members of an MCP tool, as the spec language declares them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from typing import Any


def get_default(dotted_path: str) -> Any:
    """Return the default of a field of the spec language, such as `toolset.timeout`."""
    # Import the spec language only here, so that importing the model needs no YAML parser.
    from ..spec_language.spec_language import get_default

    return get_default(dotted_path)


def language_default(
    dotted_path: str, convert: Callable[[Any], Any] | None = None
) -> Any:
    """Return a dataclass field whose default is that of a field of the spec language.

    The language is read when the default is first needed, not when the class is defined.

    Args:
        dotted_path: the kind of file and the keys to the field, such as `toolset.timeout`.
        convert: converts the default to the type of the dataclass field.
    """

    def build_default() -> Any:
        value = get_default(dotted_path)
        return value if convert is None else convert(value)

    return field(default_factory=build_default)


@cache
def get_mcp_members(kind: str = "tool") -> Mapping[str, str]:
    """Return the name of the spec field behind each member of an MCP definition.

    The keys are members such as `inputSchema`. The member `name` is not included.

    Args:
        kind: the kind of the spec file: `tool`, `mcp_resource` or `mcp_prompt`.
    """
    from ..spec_language.definition_fields import list_definition_members

    return {
        member.removeprefix("mcp."): name
        for name, member in list_definition_members(kind).items()
        if member.startswith("mcp.") and name != "name"
    }
