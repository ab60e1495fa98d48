"""What each client of a toolset sees: which tools, where, how many, at what cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...facts.client_limits import Limited, crossed
from ...facts.tool_tokens import list_tokens, prompt_tokens
from ...model.model import Toolset, ToolSpec, Workspace
from ...targets.exposure import Exposure, exposures
from ..json_values import said
from .effect import Effect, EffectKind
from .mentions import Former, Named, Seen, mention_effects

__all__ = ["Costs", "client_effects"]

_PLACES = {
    "mcp": "MCP's list",
    "registry": "the registry",
    "langchain": "LangChain's tools",
    "prompts": "the prompt docs",
    "cli": "the commands",
}
_UNSEEN = frozenset(["snapshots"])
"""Targets that show nobody a tool."""


class Costs:
    """The estimated tokens of tools, each counted once: most are the same on both sides."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], int] = {}

    def of(self, tool: ToolSpec, target: str) -> int:
        """What a tool costs in MCP's list, or in the prompt docs."""
        key = id(tool), target
        if key not in self._known:
            count = list_tokens if target == "mcp" else prompt_tokens
            self._known[key] = count(tool)
        return self._known[key]


def client_effects(
    toolsets: tuple[Toolset, Toolset],
    workspaces: tuple[Workspace, Workspace],
    former: Former,
    costs: Costs,
) -> Iterator[Effect]:
    """What each client that both sides have sees differently.

    Args:
        toolsets: the toolset before and after; with the workspaces of the two.
    """
    before, after = toolsets
    places = [
        _places(exposures(workspace, toolset))
        for workspace, toolset in zip(workspaces, toolsets, strict=True)
    ]
    named = Named(before, after, former)
    for client in _shared(before, after):
        was, is_ = (
            _of_client(toolset, client, shown)
            for toolset, shown in zip(toolsets, places, strict=True)
        )
        yield from _seen(after.name, client, was, is_, former)
        yield from mention_effects(after.name, client, was, is_, named)
        counts = [sum("mcp" in places for _, places in side) for side in (was, is_)]
        yield from _limits(after.name, client, *counts)
        for target in ("mcp", "prompts"):
            if _are_same(was, is_, target):
                continue
            sums = [
                sum(costs.of(tool, target) for tool, places in side if target in places)
                for side in (was, is_)
            ]
            yield from _tokens(after.name, client, target, *sums)


def _are_same(before: Seen, after: Seen, target: str) -> bool:
    shown = [
        {id(tool) for tool, places in side if target in places}
        for side in (before, after)
    ]
    return shown[0] == shown[1]


def _shared(before: Toolset, after: Toolset) -> Iterator[str]:
    """The clients of both sides; "" is the one caller of a toolset without clients."""
    if not before.clients and not after.clients:
        yield ""
    for client in after.clients:
        if before.client(client.name) is not None:
            yield client.name


_Shown = Mapping[str, tuple[Exposure, frozenset[str]]]
"""Each tool by its name: whom it is kept from, and the places that show it."""


def _places(exposed: Mapping[str, Exposure]) -> _Shown:
    return {
        name: (
            exposure,
            frozenset(
                target
                for target, reason in exposure.targets.items()
                if not reason and target not in _UNSEEN
            ),
        )
        for name, exposure in exposed.items()
    }


def _of_client(toolset: Toolset, client: str, shown: _Shown) -> Seen:
    """The tools that a client may have, with their places."""
    return [
        (tool, shown[tool.name][1])
        for tool in toolset.tools
        if not client or not shown[tool.name][0].clients[client]
    ]


def _seen(
    toolset: str, client: str, before: Seen, after: Seen, former: Former
) -> Iterator[Effect]:
    was = {id(tool): places for tool, places in before}
    nowhere: frozenset[str] = frozenset()
    for tool, places in after:
        old = was.pop(id(former.get(id(tool), tool)), nowhere)
        if old != places:
            yield _place(toolset, client, tool, old, places)
    for tool, places in before:
        if id(tool) in was and places:
            yield _place(toolset, client, tool, places, nowhere)


def _place(
    toolset: str,
    client: str,
    tool: ToolSpec,
    before: frozenset[str],
    after: frozenset[str],
) -> Effect:
    who = said(client) if client else "the caller"
    words = [
        f"{verb} in {_listed(places)}"
        for verb, places in (
            ("sees it", after - before),
            ("no longer sees it", before - after),
        )
        if places
    ]
    return Effect(
        EffectKind.SEEN,
        client,
        toolset,
        tool.name,
        f"{who} {', and '.join(words)}",
        sorted(before),
        sorted(after),
        is_worse=bool(before - after),
    )


def _listed(places: frozenset[str]) -> str:
    """The places in words, those of the built-in targets first."""
    named = [_PLACES[place] for place in _PLACES if place in places]
    named += [f"the target {said(place)}" for place in sorted(places - _PLACES.keys())]
    return f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]


def _limits(toolset: str, client: str, before: int, after: int) -> Iterator[Effect]:
    for limit in crossed(Limited.TOOLS, before, after):
        who = f"{said(client)} has" if client else "there are"
        takes = f"{limit.client} takes {limit.most}"
        message = f"{who} {after} tools, before {before}; {takes} ({limit.source})"
        yield Effect(
            EffectKind.TOOLS,
            limit.client,
            toolset,
            "",
            message,
            before,
            after,
            is_worse=after > before,
        )


def _tokens(
    toolset: str, client: str, target: str, before: int, after: int
) -> Iterator[Effect]:
    if before != after:
        whose = f" of {said(client)}" if client else ""
        message = (
            f"the tools{whose} cost about {after:,} tokens in {_PLACES[target]}, before"
            f" {before:,} ({after - before:+,})"
        )
        yield Effect(
            EffectKind.TOKENS,
            client,
            toolset,
            "",
            message,
            before,
            after,
            is_worse=after > before,
        )
