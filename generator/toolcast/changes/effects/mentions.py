"""Tools that a client reads of in the texts of others, and does not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...facts.spec_texts import prose_of_tool
from ...model.model import Toolset, ToolSpec
from ..json_values import said
from ..texts.named_tools import NamedTools, named_in
from .effect import Effect, EffectKind

__all__ = ["Former", "Named", "Seen", "mention_effects"]

Former = Mapping[int, ToolSpec]
"""The tool that was before, by the identity of the one that is."""
Seen = Sequence[tuple[ToolSpec, frozenset[str]]]
"""A client's tools, each with the targets that show it."""


class Named:
    """Which tools the texts of a tool name, of those that any of both sides has."""

    def __init__(self, before: Toolset, after: Toolset, former: Former) -> None:
        self.former = former
        self._names = {tool.name: tool.name for tool in (*before.tools, *after.tools)}
        present = {tool.name for tool in after.tools}
        for tool in after.tools:
            old = former.get(id(tool), tool)
            if old.name not in present:
                self._names[old.name] = tool.name
        self._known: dict[int, NamedTools] = {}

    def by(self, tool: ToolSpec) -> NamedTools:
        """The tools that a tool's texts name, by their names now."""
        if id(tool) not in self._known:
            text = "\n".join(text for _, text in prose_of_tool(tool))
            own = self.name_now(tool.name)
            self._known[id(tool)] = named_in(text, self._names, own)
        return self._known[id(tool)]

    def name_now(self, name: str) -> str:
        """What a tool is called now."""
        return self._names.get(name, name)


def mention_effects(
    toolset: str, client: str, before: Seen, after: Seen, named: Named
) -> Iterator[Effect]:
    """The tools that a client reads of and does not have, and had or did not read of before."""
    had = {named.name_now(tool.name) for tool, _ in before}
    has = {tool.name for tool, _ in after}
    was_read = {id(tool) for tool, _ in before}
    lost = had - has
    for tool, _ in after:
        old = named.former.get(id(tool), tool)
        # What is the same, and leads to what was there and is there, needs no look.
        if old is tool and id(old) in was_read and not lost:
            continue
        missing = named.by(tool) - has
        if missing and id(old) in was_read:
            missing -= named.by(old) - had
        for name in sorted(missing):
            who = said(client) if client else "the caller"
            yield Effect(
                EffectKind.MENTION,
                client,
                toolset,
                tool.name,
                f"{who} reads of {said(name)} in its texts, and does not have that tool",
                after=name,
                is_worse=True,
            )
