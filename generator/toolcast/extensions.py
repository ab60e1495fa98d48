"""Packages that add targets, rules, commands and spec fields.

`extensions` of toolcast.yaml lists them. An extension is a name, which is that of its entry
points in any of the groups below. What is installed and not listed is never looked at.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

TARGETS = "toolcast.targets"
"""A `Target`, or a sequence of them."""
RULES = "toolcast.rules"
"""A package whose modules hold rules, or a sequence of `Rule`."""
COMMANDS = "toolcast.commands"
"""A click command, which becomes `toolcast NAME`."""
FIELDS = "toolcast.fields"
"""A `Fields`."""
CHANGES = "toolcast.diff"
"""The `ChangeFunctions` of its fields."""
_GROUPS = (TARGETS, RULES, COMMANDS, FIELDS, CHANGES)

_LOADED: dict[str, None] = {}

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


class ExtensionError(Exception):
    """Listed extension that cannot be used; the message names it and the reason."""


@dataclass(frozen=True)
class Fields:
    """What an extension adds to the spec language, as JSON Schemas with a description each.

    The model has the values as the spec has them, in `ToolSpec.extensions` and
    `Toolset.extensions`, by the name of the field.

    Attributes:
        tool: the schema of each field of a tool spec.
        toolset: the schema of each field of `toolset.yaml`.
        target_options: the schema of the options of each of its targets.
    """

    tool: Mapping[str, Any] = field(default_factory=dict)
    toolset: Mapping[str, Any] = field(default_factory=dict)
    target_options: Mapping[str, Any] = field(default_factory=dict)


def list_missing(names: Sequence[str]) -> list[str]:
    """Those of the listed extensions that are not installed."""
    return [name for name in names if name not in _installed()] if names else []


def install_command(name: str) -> str:
    """What installs an extension that is called as its package is."""
    return f"pip install toolcast-{name}"


def load_contributions(names: Sequence[str], group: str) -> Iterator[tuple[str, Any]]:
    """What the listed extensions bring to a group, each with words that name it.

    Raises:
        ExtensionError: one cannot be loaded.
    """
    for name in names:
        for entry in _installed().get(name, ()):
            if entry.group == group:
                where = f"the entry point `{name}` of {group} ({entry.value})"
                yield where, _loaded(where, entry)


@cache
def load_fields(names: tuple[str, ...]) -> Fields:
    """The fields of all listed extensions.

    Raises:
        ExtensionError: one is not `Fields`, or two extensions have a field in common.
    """
    tool: dict[str, Any] = {}
    toolset: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for where, value in load_contributions(names, FIELDS):
        if not isinstance(value, Fields):
            raise ExtensionError(f"{where} is not a toolcast Fields")
        for known, given in (
            (tool, value.tool),
            (toolset, value.toolset),
            (options, value.target_options),
        ):
            if not isinstance(given, Mapping):
                raise ExtensionError(f"{where}: fields are a mapping of schemas")
            for key, schema in given.items():
                if key in known:
                    raise ExtensionError(f"`{key}` of {where} is there already")
                known[key] = schema
    return Fields(tool, toolset, options)


def guard_function(
    what: str,
    function: Callable[_Given, _Result],
    passes: tuple[type[Exception], ...] = (),
) -> Callable[_Given, _Result]:
    """A function of an extension that is named when it raises.

    Args:
        what: who raises, as words of the message.
        passes: what the caller of the function tells by itself.
    """
    raised_as_they_are: tuple[type[Exception], ...] = (ExtensionError, *passes)

    @wraps(function)
    def call(*args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except raised_as_they_are:
            raise
        # It is other people's code, as what is loaded.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ExtensionError(f"{what} raises {reason}{_line_of(error)}") from error

    return call


def list_loaded_paths() -> list[str]:
    """The files and folders of the packages that extensions came from."""
    places = (_place_of(module) for module in _LOADED)
    return list(dict.fromkeys(place for place in places if place is not None))


@cache
def _installed() -> Mapping[str, list[EntryPoint]]:
    """The entry points of our groups by name."""
    from importlib.metadata import entry_points

    # All groups at once: each question for a group reads every installed package again.
    installed = entry_points()
    found: dict[str, list[EntryPoint]] = {}
    for group in _GROUPS:
        for entry in installed.select(group=group):
            found.setdefault(entry.name, []).append(entry)
    return found


def _loaded(where: str, entry: EntryPoint) -> Any:
    try:
        value = entry.load()
    # An extension is other people's code: whatever it raises, it is named.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ExtensionError(f"{where} cannot be loaded: {reason}") from error
    _LOADED[entry.module] = None
    return value


def _line_of(error: Exception) -> str:
    """The last line of an extension that an error went through."""
    import traceback

    places = tuple(list_loaded_paths())
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(places):
            return f" ({frame.filename}:{frame.lineno})"
    return ""


def _place_of(module: str) -> str | None:
    """Where the outermost package of a module is that is not spread over many folders."""
    steps = module.split(".")
    for end in range(1, len(steps) + 1):
        loaded = sys.modules.get(".".join(steps[:end]))
        file = getattr(loaded, "__file__", None)
        if file is not None:
            is_package = os.path.basename(file) == "__init__.py"
            return os.path.dirname(file) if is_package else str(file)
    return None
