"""Every built-in target, in the order in which they are cast; others come as entry points."""

from __future__ import annotations

from functools import cache

from ..extensions import ExtensionFailure, extensions
from . import cli, langchain, letta, mcp, prompts, registry, snapshots
from .target import Target

__all__ = ["BUILT_IN", "enabled", "targets"]

BUILT_IN: tuple[Target, ...] = (
    registry.TARGET,
    mcp.TARGET,
    langchain.TARGET,
    cli.TARGET,
    prompts.TARGET,
    letta.TARGET,
    snapshots.TARGET,
)


@cache
def targets() -> dict[str, Target]:
    """Every target by name: the built-in ones, then those of `toolcast.targets`.

    Raises:
        ExtensionFailure: one cannot be loaded, or takes a name that is taken.
    """
    known = {target.name: target for target in BUILT_IN}
    for value, target in extensions("toolcast.targets", Target):
        if target.name in known:
            raise ExtensionFailure(
                f"the target `{target.name}` of {value} is there already"
            )
        known[target.name] = target
    return known


def enabled(names: tuple[str, ...]) -> list[Target]:
    """The targets of the names and those they need, in casting order; unknown ones left out."""
    known = targets()
    wanted = [name for name in names if name in known]
    for name in wanted:
        wanted += [need for need in known[name].needs if need not in wanted]
    return [target for name, target in known.items() if name in wanted]
