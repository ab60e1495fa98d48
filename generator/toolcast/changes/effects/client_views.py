"""What each client of a toolset sees: which tools, where, how many, at what cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ...facts.client_limits import Limited, crossed
from ...facts.tool_tokens import list_tokens, prompt_tokens
from ...model.model import Client, Toolset, ToolSpec
from ..json_values import said
from .effect import Effect, EffectKind

__all__ = ["Costs", "client_effects"]

_PLACES = {
    "mcp": "MCP's list",
    "langchain": "LangChain's tools",
    "prompts": "the prompt docs",
    "cli": "the commands",
}

Former = Mapping[int, ToolSpec]
"""The tool that was before, by the identity of the one that is."""


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


_Seen = Sequence[tuple[ToolSpec, frozenset[str]]]
"""A client's tools, each with the targets that show it."""


def client_effects(
    before: Toolset, after: Toolset, former: Former, costs: Costs
) -> Iterator[Effect]:
    """What each client that both sides have sees differently."""
    for client, old in _shared(before, after):
        name = client.name if client is not None else ""
        was, is_ = _places(before, old), _places(after, client)
        yield from _seen(after.name, name, was, is_, former)
        counts = [sum("mcp" in places for _, places in side) for side in (was, is_)]
        yield from _limits(after.name, name, *counts)
        for target in ("mcp", "prompts"):
            if _are_same(was, is_, target):
                continue
            sums = [
                sum(costs.of(tool, target) for tool, places in side if target in places)
                for side in (was, is_)
            ]
            yield from _tokens(after.name, name, target, *sums)


def _are_same(before: _Seen, after: _Seen, target: str) -> bool:
    shown = [
        {id(tool) for tool, places in side if target in places}
        for side in (before, after)
    ]
    return shown[0] == shown[1]


def _shared(
    before: Toolset, after: Toolset
) -> Iterator[tuple[Client | None, Client | None]]:
    """The clients of both sides, now and before; None is the one caller without clients."""
    if not before.clients and not after.clients:
        yield None, None
    for client in after.clients:
        old = before.client(client.name)
        if old is not None:
            yield client, old


def _places(toolset: Toolset, client: Client | None) -> _Seen:
    excluded = {
        target: toolset.excluded(target)
        for target in _PLACES
        if target in toolset.targets
    }
    seen = []
    for tool in toolset.tools:
        if client is not None and not toolset.is_offered(tool, client):
            continue
        places = {
            target for target, names in excluded.items() if tool.name not in names
        }
        if tool.cli is None or tool.cli.keyword is None:
            places.discard("cli")
        seen.append((tool, frozenset(places)))
    return seen


def _seen(
    toolset: str, client: str, before: _Seen, after: _Seen, former: Former
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
        f"{verb} in {' and '.join(_PLACES[place] for place in _PLACES if place in places)}"
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
