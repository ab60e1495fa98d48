"""Load extensions: packages that add targets, rules, commands and spec fields.

`extensions` in toolcast.yaml lists them by name. The name is that of the extension's entry
points in the groups below. Installed extensions that are not listed are never loaded.
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
"""The group of a `Target` or a sequence of targets."""
RULES = "toolcast.rules"
"""The group of a package whose modules define rules, or of a sequence of `Rule`."""
COMMANDS = "toolcast.commands"
"""The group of a click command, which is available as `toolcast NAME`."""
FIELDS = "toolcast.fields"
"""The group of a `Fields` value."""
CHANGES = "toolcast.diff"
"""The group of `ChangeFunctions`, which compare the extension's fields."""
_GROUPS = (TARGETS, RULES, COMMANDS, FIELDS, CHANGES)

_LOADED: dict[str, None] = {}
"""Modules whose entry points were loaded, in the order of loading."""

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class ExtensionError(Exception):
    """Listed extension that cannot be used; the message has the reason."""


@dataclass(frozen=True)
class Fields:
    """The spec fields of an extension, as JSON Schemas with descriptions.

    Their values are in `ToolSpec.extensions` and `Toolset.extensions` by field name, as
    written in the spec.

    Attributes:
        tool: the schema of each field of a tool spec.
        toolset: the schema of each field of `toolset.yaml`.
        target_options: the schema of the options of each target of the extension.
    """

    tool: Mapping[str, Any] = field(default_factory=dict)
    toolset: Mapping[str, Any] = field(default_factory=dict)
    target_options: Mapping[str, Any] = field(default_factory=dict)


def list_missing(names: Sequence[str]) -> list[str]:
    """Return the listed extensions that are not installed."""
    return [name for name in names if name not in _list_entry_points()] if names else []


def format_install_command(name: str) -> str:
    """Return the command that installs an extension with the name `toolcast-NAME`."""
    return f"pip install toolcast-{name}"


def load_contributions(names: Sequence[str], group: str) -> Iterator[tuple[str, Any]]:
    """Yield the values that the listed extensions add to a group, each with its origin.

    The origin describes the entry point, for messages.

    Raises:
        ExtensionError: an extension cannot be loaded.
    """
    for name in names:
        for entry in _list_entry_points().get(name, ()):
            if entry.group == group:
                origin = f"the entry point `{name}` of {group} ({entry.value})"
                yield origin, _load_entry(origin, entry)


@cache
def load_fields(names: tuple[str, ...]) -> Fields:
    """Return the merged fields of all listed extensions.

    Raises:
        ExtensionError: a value is not `Fields`, or two extensions define the same field.
    """
    tool: dict[str, Any] = {}
    toolset: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for origin, value in load_contributions(names, FIELDS):
        if not isinstance(value, Fields):
            raise ExtensionError(
                f"{origin} is not an instance of `toolcast.extension_api.Fields`"
            )
        for merged, schemas in (
            (tool, value.tool),
            (toolset, value.toolset),
            (options, value.target_options),
        ):
            if not isinstance(schemas, Mapping):
                raise ExtensionError(f"{origin}: fields must be a mapping of schemas")
            for key, schema in schemas.items():
                if key in merged:
                    raise ExtensionError(f"`{key}` of {origin} already exists")
                merged[key] = schema
    return Fields(tool, toolset, options)


def guard_function(
    label: str,
    function: Callable[_Parameters, _Result],
    passes: tuple[type[Exception], ...] = (),
) -> Callable[_Parameters, _Result]:
    """Wrap a function of an extension so that its errors name the extension.

    Args:
        label: the name of the function, with which the message begins.
        function: the function.
        passes: exceptions that the caller reports itself, which are raised unchanged.
    """
    unchanged: tuple[type[Exception], ...] = (ExtensionError, *passes)

    @wraps(function)
    def call(*args: _Parameters.args, **kwargs: _Parameters.kwargs) -> _Result:
        try:
            return function(*args, **kwargs)
        except unchanged:
            raise
        # Catch all exceptions, because the code of an extension can raise any of them.
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise ExtensionError(
                f"{label} raises {reason}{_format_line(error)}"
            ) from error

    return call


def list_loaded_paths() -> list[str]:
    """Return the files and folders of the packages from which extensions were loaded."""
    paths = (_find_package_path(module) for module in _LOADED)
    return list(dict.fromkeys(path for path in paths if path is not None))


@cache
def _list_entry_points() -> Mapping[str, list[EntryPoint]]:
    """Return the installed entry points of all groups of Toolcast by name."""
    from importlib.metadata import entry_points

    # One call for all groups, because each call reads every installed package.
    installed = entry_points()
    by_name: dict[str, list[EntryPoint]] = {}
    for group in _GROUPS:
        for entry in installed.select(group=group):
            by_name.setdefault(entry.name, []).append(entry)
    return by_name


def _load_entry(origin: str, entry: EntryPoint) -> Any:
    try:
        value = entry.load()
    # Catch all exceptions, because the import of an extension can raise any of them.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise ExtensionError(f"{origin} cannot be loaded: {reason}") from error
    _LOADED[entry.module] = None
    return value


def _format_line(error: Exception) -> str:
    """Return the innermost line of an extension in a traceback, in parentheses.

    The text begins with a space; empty if no line of the traceback is in an extension.
    """
    import traceback

    paths = tuple(list_loaded_paths())
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.filename.startswith(paths):
            return f" ({frame.filename}:{frame.lineno})"
    return ""


def _find_package_path(module: str) -> str | None:
    """Return the folder or file of the outermost package that contains a module.

    Namespace packages, which have no file, are skipped. None if nothing is imported.
    """
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        loaded = sys.modules.get(".".join(parts[:end]))
        file = getattr(loaded, "__file__", None)
        if file is not None:
            is_package = os.path.basename(file) == "__init__.py"
            return os.path.dirname(file) if is_package else str(file)
    return None
