"""Every built-in target, in the order in which they are rendered; extensions bring others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module

from ..extensions import TARGETS, ExtensionFailure, guard_function, load_contributions
from ..spec_language.spec_language import annotated, read_by
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
"""Their names, which are their modules' too. One is imported when somebody asks for it."""

_NAME = re.compile(r"[a-z][a-z0-9_-]*")


def load_targets(extensions: tuple[str, ...]) -> dict[str, Target]:
    """Every target by name: the built-in ones, then those of the listed extensions.

    Raises:
        ExtensionFailure: one cannot be loaded, or takes a name that is taken.
    """
    return {**{name: _built_in(name) for name in BUILT_IN}, **_others(extensions)}


def list_target_names(extensions: tuple[str, ...]) -> list[str]:
    """The names of every target, in the same order.

    Raises:
        ExtensionFailure: as of `targets`.
    """
    return [*BUILT_IN, *_others(extensions)]


def find_target(name: str, extensions: tuple[str, ...]) -> Target | None:
    """One target; None when there is none of that name.

    Raises:
        ExtensionFailure: as of `targets`.
    """
    return _built_in(name) if name in BUILT_IN else _others(extensions).get(name)


def list_enabled_targets(
    names: Sequence[str], extensions: tuple[str, ...]
) -> list[Target]:
    """The targets of the names and those they need, in order; unknown ones left out."""
    wanted = {name: find_target(name, extensions) for name in names}
    waiting = [target for target in wanted.values() if target is not None]
    while waiting:
        for need in waiting.pop().needs:
            if need not in wanted:
                wanted[need] = needed = find_target(need, extensions)
                waiting += [needed] if needed is not None else []
    known = {name: target for name, target in wanted.items() if target is not None}
    return [known[name] for name in list_target_names(extensions) if name in known]


@cache
def _built_in(name: str) -> Target:
    target: Target = import_module(f".{name}", __package__).TARGET
    known = annotated("toolset")["properties"]["targets"]["properties"][name]
    own = {
        key: part["description"] for key, part in known.get("properties", {}).items()
    }
    return replace(
        target,
        reads=read_by("tool", name),
        reads_toolset=read_by("toolset", name),
        options=target.options or own,
    )


@cache
def _others(extensions: tuple[str, ...]) -> dict[str, Target]:
    known: dict[str, Target] = {}
    for where, value in load_contributions(extensions, TARGETS):
        for target in value if isinstance(value, Sequence) else [value]:
            if not isinstance(target, Target):
                raise ExtensionFailure(f"{where} is not a toolcast Target")
            if target.name in BUILT_IN or target.name in known:
                raise ExtensionFailure(
                    f"the target `{target.name}` of {where} is there already"
                )
            if not _NAME.fullmatch(target.name):
                raise ExtensionFailure(
                    f"the target `{target.name}` of {where} needs a name of small letters,"
                    " digits, - and _"
                )
            known[target.name] = _held(target)
    for target in known.values():
        for need in target.needs:
            if need not in BUILT_IN and need not in known:
                raise ExtensionFailure(
                    f"the target `{target.name}` needs the target `{need}`, which is not"
                    " there"
                )
    return known


def _held(target: Target) -> Target:
    """An extension's target whose functions are named when they raise, but for `generate`."""
    who = f"the target `{target.name}`"
    part, reason = target.definition_part, target.omission_reason
    return replace(
        target,
        definition_part=None if part is None else guard_function(who, part),
        omission_reason=None if reason is None else guard_function(who, reason),
    )
