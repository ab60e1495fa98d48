"""The texts of a tool that models read, each with its place in the spec."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

from ..model.model import Actions, ToolSpec
from ..reading.tree import Path

__all__ = [
    "ModelText",
    "all_texts",
    "definition_texts",
    "is_of_definition",
    "joined_texts",
    "texts_in",
]

_Part = tuple[Path, Any]
"""A value of a spec that is JSON, and where it stands."""

_DEFINITION = (
    "title summary description parameters returns annotations icons meta execution"
).split()


class ModelText(NamedTuple):
    """One string of a spec.

    Attributes:
        path: where it stands in the spec.
        text: the string.
        is_key: it is the key of a mapping, a parameter's name for one.
    """

    path: Path
    text: str
    is_key: bool = False


def definition_texts(tool: ToolSpec) -> Iterator[ModelText]:
    """Every string of the tool's definition: texts, names, enums, defaults, examples."""
    for path, value in _definition(tool):
        yield from texts_in(value, path)


def all_texts(tool: ToolSpec) -> Iterator[ModelText]:
    """Every string that a model reads: of the definition and of the prompt docs."""
    for path, value in chain(_definition(tool), _prose(tool)):
        yield from texts_in(value, path)


def joined_texts(tool: ToolSpec) -> str:
    """The texts of `all_texts` as one, an empty line between each two.

    What stands in none of it stands in no text: to search this is quicker by far.
    """
    found: list[str] = []
    for _, value in chain(_definition(tool), _prose(tool)):
        _collect(value, found)
    return "\n\n".join(found)


def _collect(value: Any, found: list[str]) -> None:
    if isinstance(value, str):
        found.append(value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            found.append(key)
            _collect(inner, found)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _collect(inner, found)


def is_of_definition(path: Path) -> bool:
    """Whether a text of `all_texts` is one of `definition_texts`."""
    return path[0] in _DEFINITION or path[0] == "mcp"


def texts_in(value: Any, path: Path) -> Iterator[ModelText]:
    """The strings of a value that stands at a path, keys before what they lead to."""
    if isinstance(value, str):
        yield ModelText(path, value)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield ModelText((*path, key), key, is_key=True)
            yield from texts_in(inner, (*path, key))
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            yield from texts_in(inner, (*path, index))


def _definition(tool: ToolSpec) -> Iterator[_Part]:
    for field in _DEFINITION:
        yield (field,), getattr(tool, field)
    yield ("mcp", "extra"), tool.mcp_extra


def _prose(tool: ToolSpec) -> Iterator[_Part]:
    yield ("when_to_use",), tool.when_to_use
    yield ("guidance",), tool.guidance
    if tool.actions is not None:
        yield ("actions",), _actions(tool.actions)
    if tool.cli is not None:
        yield ("cli",), tool.cli._asdict()
    for index, example in enumerate(tool.examples):
        yield ("examples", index), example.as_json
    yield ("deprecated",), tool.deprecated


def _actions(actions: Actions) -> dict[str, Any]:
    values = {action.name: action._asdict() for action in actions.values}
    return {"parameter": actions.parameter, "values": values}
