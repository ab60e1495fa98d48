"""What the model takes from the spec language: defaults, and the fields that MCP lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cache
from typing import Any


def get_default(way: str) -> Any:
    """Return the default of a field of the spec language, such as `toolset.timeout`."""
    # Imported here so that importing the model does not import a YAML parser.
    from ..spec_language.spec_language import get_default

    return get_default(way)


def language_default(way: str, convert: Callable[[Any], Any] | None = None) -> Any:
    """Return a dataclass field with the default of a field of the spec language.

    The language is read when the default is first needed, not when the class is defined.

    Args:
        way: the kind of file and the keys to the field: `toolset.timeout`.
        convert: makes the model's value of the default.
    """

    def make() -> Any:
        value = get_default(way)
        return value if convert is None else convert(value)

    return field(default_factory=make)


@cache
def get_mcp_members() -> Mapping[str, str]:
    """Return the members of an MCP tool, each with its spec field, without `name`."""
    from ..spec_language.definition_fields import list_definition_members

    return {
        member.removeprefix("mcp."): name
        for name, member in list_definition_members("tool").items()
        if member.startswith("mcp.") and name != "name"
    }
