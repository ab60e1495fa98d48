"""Every built-in target, in the order in which they are cast; others come as entry points."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..extensions import ExtensionFailure, extensions
from .target import Target

__all__ = ["BUILT_IN", "enabled", "target_named", "target_names", "targets"]

BUILT_IN = ("registry", "mcp", "langchain", "cli", "prompts", "snapshots")
"""Their names, which are their modules' too. One is imported when somebody asks for it."""


def targets() -> dict[str, Target]:
    """Every target by name: the built-in ones, then those of `toolcast.targets`.

    Raises:
        ExtensionFailure: one cannot be loaded, or takes a name that is taken.
    """
    return {**{name: _built_in(name) for name in BUILT_IN}, **_others()}


def target_names() -> list[str]:
    """The names of every target, in the same order.

    Raises:
        ExtensionFailure: as of `targets`.
    """
    return [*BUILT_IN, *_others()]


def target_named(name: str) -> Target | None:
    """One target; None when there is none of that name.

    Raises:
        ExtensionFailure: as of `targets`.
    """
    return _built_in(name) if name in BUILT_IN else _others().get(name)


def enabled(names: tuple[str, ...]) -> list[Target]:
    """The targets of the names and those they need, in casting order; unknown ones left out."""
    wanted = {name: target_named(name) for name in names}
    waiting = [target for target in wanted.values() if target is not None]
    while waiting:
        for need in waiting.pop().needs:
            if need not in wanted:
                wanted[need] = needed = target_named(need)
                waiting += [needed] if needed is not None else []
    known = {name: target for name, target in wanted.items() if target is not None}
    return [known[name] for name in target_names() if name in known]


@cache
def _built_in(name: str) -> Target:
    target: Target = import_module(f".{name}", __package__).TARGET
    return target


@cache
def _others() -> dict[str, Target]:
    known: dict[str, Target] = {}
    for value, target in extensions("toolcast.targets", Target):
        if target.name in BUILT_IN or target.name in known:
            raise ExtensionFailure(
                f"the target `{target.name}` of {value} is there already"
            )
        known[target.name] = target
    return known
