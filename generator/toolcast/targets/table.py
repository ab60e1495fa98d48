"""The table of targets: built-in targets in rendering order, then those of extensions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module

from ..extensions import TARGETS, ExtensionError, guard_function, load_contributions
from ..spec_language.spec_language import get_fields_read_by, load_annotated_schema
from .target import Target

BUILT_IN = (
    "registry",
    "mcp",
    "langchain",
    "cli",
    "prompts",
    "skills",
    "providers",
    "snapshots",
    "package",
)
"""The names of the built-in targets and of their modules, which are imported on first use."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


def load_targets(extensions: tuple[str, ...]) -> dict[str, Target]:
    """Return all targets by name: built-in targets, then those of the listed extensions.

    Raises:
        ExtensionError: a target cannot be loaded, or its name is already in use.
    """
    built_in = {name: _load_built_in(name) for name in BUILT_IN}
    return {**built_in, **_load_extension_targets(extensions)}


def list_target_names(extensions: tuple[str, ...]) -> list[str]:
    """Return the names of all targets, in the order of `load_targets`.

    Raises:
        ExtensionError: a target cannot be loaded, or its name is already in use.
    """
    return [*BUILT_IN, *_load_extension_targets(extensions)]


def find_target(name: str, extensions: tuple[str, ...]) -> Target | None:
    """Return the target with a name, or None.

    Raises:
        ExtensionError: a target cannot be loaded, or its name is already in use.
    """
    if name in BUILT_IN:
        return _load_built_in(name)
    return _load_extension_targets(extensions).get(name)


def list_enabled_targets(
    names: Sequence[str], extensions: tuple[str, ...]
) -> list[Target]:
    """Return the named targets and the targets they need, in rendering order.

    Unknown names are ignored.

    Raises:
        ExtensionError: a target cannot be loaded, or its name is already in use.
    """
    enabled: dict[str, Target] = {}
    pending = list(names)
    while pending:
        name = pending.pop()
        target = find_target(name, extensions)
        if target is not None and name not in enabled:
            enabled[name] = target
            pending += target.needs
    return [enabled[name] for name in list_target_names(extensions) if name in enabled]


@cache
def _load_built_in(name: str) -> Target:
    """Import a built-in target, and add the fields and options of the spec language."""
    target: Target = import_module(f".{name}", __package__).TARGET
    schema = load_annotated_schema("toolset")["properties"]["targets"]["properties"][
        name
    ]
    options = {
        key: option["description"]
        for key, option in schema.get("properties", {}).items()
    }
    return replace(
        target,
        reads=get_fields_read_by("tool", name),
        reads_toolset=get_fields_read_by("toolset", name),
        options=target.options or options,
    )


@cache
def _load_extension_targets(extensions: tuple[str, ...]) -> dict[str, Target]:
    """Return the targets of the listed extensions by name, in the order of the list.

    Raises:
        ExtensionError: an extension cannot be loaded, contributes no `Target`, uses an
            invalid or existing name, or needs a target that does not exist.
    """
    targets: dict[str, Target] = {}
    for origin, value in load_contributions(extensions, TARGETS):
        # An entry point can provide one target or a sequence of targets.
        for target in value if isinstance(value, Sequence) else [value]:
            if not isinstance(target, Target):
                raise ExtensionError(f"{origin} is not a toolcast Target")
            if target.name in BUILT_IN or target.name in targets:
                raise ExtensionError(
                    f"the target `{target.name}` of {origin} already exists"
                )
            if not _NAME.fullmatch(target.name):
                raise ExtensionError(
                    f"the target name `{target.name}` of {origin} is invalid: use lower-case"
                    " letters, digits, `-` and `_`"
                )
            targets[target.name] = _guard_functions(target)
    # Check `needs` after all targets are loaded: a target may need one of a later extension.
    for target in targets.values():
        for need in target.needs:
            if need not in BUILT_IN and need not in targets:
                raise ExtensionError(
                    f"the target `{target.name}` needs the target `{need}`, which does not"
                    " exist"
                )
    return targets


def _guard_functions(target: Target) -> Target:
    """Return the target with functions whose exceptions become an ExtensionError.

    `generate` is not wrapped here: `render_workspace` wraps it, since some of its exceptions
    become findings.
    """
    label = f"the target `{target.name}`"
    part, reason = target.definition_part, target.omission_reason
    return replace(
        target,
        definition_part=None if part is None else guard_function(label, part),
        omission_reason=None if reason is None else guard_function(label, reason),
    )
