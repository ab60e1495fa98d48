"""Derives the effects of a comparison from both sides' tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...model.model import Toolset, ToolSpec, Workspace
from ..tools import Matched
from .client_views import Costs, client_effects
from .effect import Effect
from .refusals import refusal_effects

__all__ = ["effects_of"]


def effects_of(
    matched: Matched, before: Workspace, after: Workspace
) -> Iterator[Effect]:
    """What every reader of the toolsets that both sides have sees differently.

    Of a toolset that comes or goes the change itself says all there is to say.

    Raises:
        ExtensionFailure: a listed extension cannot be used.
    """
    costs = Costs()
    for toolsets in matched.toolsets:
        there = {id(tool) for tool in toolsets[0].tools}
        former = {
            id(both.after): both.before
            for both in matched.tools
            if both.toolset_after is toolsets[1] and id(both.before) in there
        }
        if _is_same(toolsets, former):
            continue
        yield from client_effects(toolsets, (before, after), former, costs)
        is_renamed = toolsets[0].name != toolsets[1].name
        for tool in toolsets[1].tools:
            old = former.get(id(tool))
            if old is not tool or is_renamed:
                yield from refusal_effects(toolsets, old, tool)


def _is_same(toolsets: tuple[Toolset, Toolset], former: Mapping[int, ToolSpec]) -> bool:
    """Whether nothing of a toolset has changed, so that nothing can follow."""
    before, after = toolsets
    return (
        before.source.data == after.source.data
        and before.targets == after.targets
        and _data_of(before) == _data_of(after)
        and len(before.tools) == len(after.tools)
        and all(former.get(id(tool)) is tool for tool in after.tools)
    )


def _data_of(toolset: Toolset) -> bytes:
    return b"" if toolset.definitions is None else toolset.definitions.source.data
