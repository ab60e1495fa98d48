"""A tool whose spec has not changed, read only when somebody asks for more than its outline."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ..spec.binding import BINDINGS
from ..spec.model import ToolSpec

__all__ = ["OUTLINE", "deferred", "outline_of"]

OUTLINE = frozenset(
    [
        *("name", "section", "order", "clients", "always", "persistent", "cli"),
        *("actions", "handler", "renamed_from", "deprecated", "suppress"),
        *("letta", "data"),
    ]
)
"""The fields of a spec that are kept for rules and outputs that look across tools."""

_LOAD = "_load"
_RAW = "_raw"
# Attributes that come from more than one field, or from none.
_FROM_ANYTHING = frozenset(["document", "mcp_omit", "mcp_extra"])


def outline_of(tool: ToolSpec) -> dict[str, Any]:
    """The outline of a tool that has been read: its raw values, as JSON.

    `fields` holds all keys of the spec in their order.
    """
    value: Mapping[str, Any] = tool.document.value if tool.document else {}
    outline = {field: value[field] for field in value if field in OUTLINE}
    return {"fields": list(value), "values": outline}


def deferred(outline: Mapping[str, Any], load: Callable[[], ToolSpec]) -> ToolSpec:
    """A tool by its outline; whatever else is asked for is loaded, once.

    Args:
        outline: what `outline_of` gave.
        load: reads the spec.
    """
    tool = object.__new__(_Deferred)
    tool.__dict__.update(
        {
            "name": outline["values"]["name"],
            "fields": tuple(outline["fields"]),
            _RAW: outline["values"],
            _LOAD: load,
        }
    )
    return tool


class _Deferred(ToolSpec):
    """Values go into the instance when they are known; until then the class gives them."""


class _Attribute:
    """Gives a field's value from the outline, else loads the spec."""

    def __init__(self, field: dataclasses.Field[Any]) -> None:
        self._name = field.name
        default = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        self._default = default

    def __get__(self, tool: ToolSpec | None, owner: type | None = None) -> Any:
        if tool is None:
            return self
        own, name = tool.__dict__, self._name
        if name in own[_RAW]:
            value = own[_RAW][name]
            bind = BINDINGS.get(name)
            value = value if bind is None else bind(value)
        elif name not in _FROM_ANYTHING and name not in own["fields"]:
            value = self._default
        else:
            own.update(own[_LOAD]().__dict__)
            del own[_LOAD]
            value = own[name]
        own[name] = value
        return value


for _field in dataclasses.fields(ToolSpec):
    setattr(_Deferred, _field.name, _Attribute(_field))
