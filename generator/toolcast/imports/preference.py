"""One list out of several: where they contradict each other, the chosen one counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolcast_runtime.calls.untrusted_text import escaped

from .disagreements import Disagreement
from .source import MEMBERS, Source

__all__ = ["Preference", "WrongPreference", "preference", "reconciled", "undecided"]


class WrongPreference(ValueError):
    """A word of `--prefer` names no source, or no tool."""


@dataclass(frozen=True, slots=True)
class Preference:
    """Which source counts.

    Attributes:
        source: for every tool that is not in `tools`; None where none is chosen.
        tools: for single tools, by their names.
    """

    source: str | None = None
    tools: Mapping[str, str] = field(default_factory=dict)

    def of(self, tool: str) -> str | None:
        """The source that counts for a tool; None where none is chosen."""
        return self.tools.get(tool, self.source)


def preference(words: Iterable[str], sources: Sequence[Source]) -> Preference:
    """What the words `SOURCE` and `TOOL=SOURCE` choose.

    A source is named by its path, by its file's name, or by its number from 1.

    Raises:
        WrongPreference: there is no such source or tool, or two words say it of one.
    """
    every: str | None = None
    tools: dict[str, str] = {}
    known = {tool["name"] for one in sources for tool in one.listing.tools}
    named = _named(sources)
    for word in words:
        whole = named.get(word)
        tool, _, source = ("", "", word) if whole else word.rpartition("=")
        chosen = whole or named.get(source)
        if chosen is None:
            there = ", ".join(f"`{one.name}`" for one in sources)
            raise WrongPreference(
                f"`{escaped(source)}` names none of the sources; there are {there}"
            )
        if tool and tool not in known:
            raise WrongPreference(f"no source has a tool `{escaped(tool)}`")
        earlier = tools.get(tool) if tool else every
        if earlier not in (None, chosen):
            about = f" for `{escaped(tool)}`" if tool else ""
            raise WrongPreference(f"two sources are preferred{about}")
        if tool:
            tools[tool] = chosen
        else:
            every = chosen
    return Preference(every, tools)


def _named(sources: Sequence[Source]) -> dict[str, str]:
    bases = [os.path.basename(one.name) for one in sources]
    named = {base: s.name for base, s in zip(bases, sources, strict=True)}
    named = {base: name for base, name in named.items() if bases.count(base) == 1}
    named |= {str(number): one.name for number, one in enumerate(sources, 1)}
    return named | {one.name: one.name for one in sources}


def undecided(
    found: Iterable[Disagreement], preferred: Preference
) -> list[Disagreement]:
    """The contradictions for which nobody chose a source."""
    return [one for one in found if preferred.of(one.tool) is None]


def reconciled(
    sources: Sequence[Source], found: Sequence[Disagreement], preferred: Preference
) -> Source:
    """The list that holds what the sources agree on, and else what the chosen one says.

    A tool that the chosen source does not have is left out. What its form has no place
    for comes from the first other source that says it.

    Args:
        sources: at least one.
        found: their disagreements, none of which is undecided.
        preferred: who counts.
    """
    names = dict.fromkeys(t["name"] for one in sources for t in one.listing.tools)
    tools: list[Mapping[str, Any]] = []
    fields: dict[str, Mapping[str, Any]] = {}
    left_out: list[str] = []
    for name in names:
        chosen = preferred.of(name)
        in_order = sorted(sources, key=lambda one: one.name != chosen)
        if chosen is not None and in_order[0].tool(name) is None:
            left_out.append(
                f"`{escaped(name, 80)}` is left out: {chosen} does not have it"
            )
            continue
        having = [one for one in in_order if one.tool(name) is not None]
        tools.append(_completed(name, having))
        added = [one.fields[name] for one in having if name in one.fields]
        if added:
            fields[name] = added[0]
    first = next((one for one in sources if one.name == preferred.source), sources[0])
    notes = tuple(note for one in sources for note in one.notes)
    listing = replace(
        first.listing,
        source=", ".join(one.name for one in sources),
        tools=tuple(tools),
        notes=tuple(note for one in sources for note in one.listing.notes),
    )
    forms = tuple(dict.fromkeys(form for one in sources for form in one.forms))
    return Source(listing.source, forms, listing, {}, fields, notes=(*notes, *left_out))


def _completed(name: str, having: Sequence[Source]) -> Mapping[str, Any]:
    """The tool of the first source, with what only the forms of others can say."""
    first, *others = having
    tool = dict(first.tool(name) or {})
    for member in MEMBERS:
        if member in tool or first.can_say(name, member):
            continue
        for other in others:
            their_tool = other.tool(name) or {}
            if member in their_tool:
                tool[member] = their_tool[member]
                break
    return tool
