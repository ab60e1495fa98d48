"""Derives the effects of a comparison from both sides' tools."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.model import ToolSpec
from ..tool_life import Matched
from .client_views import Costs, client_effects
from .effect import Effect
from .refusals import refusal_effects

__all__ = ["effects_of"]


def effects_of(matched: Matched) -> Iterator[Effect]:
    """What every reader of the toolsets that both sides have sees differently.

    Of a toolset that comes or goes the change itself says all there is to say.
    """
    former: dict[int, ToolSpec] = {
        id(both.after): both.before for both in matched.tools
    }
    costs = Costs()
    for before, after in matched.toolsets:
        there = {id(tool) for tool in before.tools}
        here = {now: old for now, old in former.items() if id(old) in there}
        yield from client_effects(before, after, here, costs)
        for tool in after.tools:
            old = former.get(id(tool))
            if old is not tool or before.name != after.name:
                yield from refusal_effects((before, after), old, tool)
