"""What a comparison comes to for those who read the tools: which ones, how many, at what cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from ..analysis.client_kinds import LimitKind, list_client_limits, list_crossed_limits
from ..analysis.token_costs import Cost, compute_client_costs, estimate_tokens
from ..analysis.tool_search import count_listed_tools
from ..model.model import Toolset, ToolSpec, Workspace
from ..suggestions import format_list
from .change import ABSENT, format_value
from .tools import MatchedTools

if TYPE_CHECKING:
    from ..targets.exposure import Exposure

_PLACES = {
    "mcp": "MCP's list",
    "registry": "the registry",
    "langchain": "LangChain's tools",
    "prompts": "the prompt docs",
    "cli": "the commands",
}
_UNSEEN = frozenset(["snapshots"])
"""Targets that show nobody a tool."""
_COSTS = {
    "upfront": "upfront",
    "names": "for names alone",
    "on_demand": "on demand",
    "prompt": "in prompt docs",
}
"""What `Cost` has, in words."""
_TOLD_PART = 0.01
"""A cost that differs by less than this part of it is not told."""

_Former = Mapping[int, ToolSpec]
"""The tool that was before, by the identity of the one that is."""
_Seen = Sequence[tuple[ToolSpec, frozenset[str]]]
"""A client's tools, each with the targets that show it."""


class EffectKind(StrEnum):
    """What an effect is about."""

    SEEN = "seen"
    """A client sees a tool that it did not, or sees it in more places, or the reverse.
    `before` and `after` are the places, by their targets."""
    TOOLS = "tools"
    """The number of a client's tools crosses what the program takes that it is said to be."""
    TOKENS = "tokens"
    """What a client's tools cost it, where that differs by a hundredth or more. The values
    are estimated tokens by what they are for, as `facts/costs/client_costs.py` has them:
    upfront, names, on_demand, prompt. `tool` is empty."""


@dataclass(frozen=True)
class Effect:
    """One effect.

    Attributes:
        kind: what it is about.
        reader: who sees it: a client of the toolset (empty for the one caller of a toolset
            without clients), or the program that a limit is of.
        toolset: the toolset's name.
        tool: the tool's name now, or the old one of a tool that is gone; empty where it is
            about all tools.
        before: the value that was, a JSON value; ABSENT where there was none.
        after: the value that is; ABSENT where there is none.
        message: what somebody sees differently, lower case, names in backticks. It has
            text of specs in it: escape it for where it is printed.
        is_worse: something is lost or dearer.
    """

    kind: EffectKind
    reader: str
    toolset: str
    tool: str
    message: str
    before: Any = ABSENT
    after: Any = ABSENT
    is_worse: bool = False


def list_effects(
    matched: MatchedTools, before: Workspace, after: Workspace
) -> Iterator[Effect]:
    """What every reader of the toolsets that both sides have sees differently.

    Of a toolset that comes or goes the change itself says all there is to say.

    Raises:
        ExtensionError: a listed extension cannot be used.
    """
    # A text is counted once: most are the same on both sides.
    count = cache(estimate_tokens)
    for toolsets in matched.toolsets:
        there = {id(tool) for tool in toolsets[0].tools}
        former = {
            id(both.after): both.before
            for both in matched.tools
            if both.toolset_after is toolsets[1] and id(both.before) in there
        }
        if _is_same(toolsets, former):
            continue
        yield from _of_clients(toolsets, (before, after), former, count)


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


def _data_of(toolset: Toolset) -> list[bytes]:
    shared = toolset.definitions
    return [] if shared is None else [one.data for one in shared.sources]


def _of_clients(
    toolsets: tuple[Toolset, Toolset],
    workspaces: tuple[Workspace, Workspace],
    former: _Former,
    count: Callable[[str], int],
) -> Iterator[Effect]:
    """What each client that both sides have sees differently.

    Args:
        toolsets: the toolset before and after; with the workspaces of the two.
    """
    # Targets know where a tool is shown; nothing else here needs them.
    from ..targets.exposure import build_exposures
    from ..targets.prompt_blocks import build_prompt_docs

    before, after = toolsets
    docs = [
        build_prompt_docs(workspace, toolset)
        for workspace, toolset in zip(workspaces, toolsets, strict=True)
    ]
    places = [
        _places(build_exposures(workspace, toolset))
        for workspace, toolset in zip(workspaces, toolsets, strict=True)
    ]
    for client in _shared(before, after):
        was, is_ = (
            _of_client(toolset, client, shown)
            for toolset, shown in zip(toolsets, places, strict=True)
        )
        yield from _seen(after.name, client, was, is_, former)
        counts = [
            count_listed_tools(
                toolset, [tool for tool, places in side if "mcp" in places]
            )
            for toolset, side in zip(toolsets, (was, is_), strict=True)
        ]
        yield from _limits(after, client, *counts)
        before_, after_ = (
            compute_client_costs(
                toolset,
                toolset.find_client(client),
                its_docs.texts(toolset.find_client(client)),
                count=count,
            ).total
            for toolset, its_docs in zip(toolsets, docs, strict=True)
        )
        yield from _tokens(after.name, client, before_, after_)


def _shared(before: Toolset, after: Toolset) -> Iterator[str]:
    """The clients of both sides; "" is the one caller of a toolset without clients."""
    if not before.clients and not after.clients:
        yield ""
    for client in after.clients:
        if before.find_client(client.name) is not None:
            yield client.name


_Shown: TypeAlias = "Mapping[str, tuple[Exposure, frozenset[str]]]"
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


def _of_client(toolset: Toolset, client: str, shown: _Shown) -> _Seen:
    """The tools that a client may have, with their places."""
    return [
        (tool, shown[tool.name][1])
        for tool in toolset.tools
        if not client or not shown[tool.name][0].clients[client]
    ]


def _seen(
    toolset: str, client: str, before: _Seen, after: _Seen, former: _Former
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
    who = format_value(client) if client else "the caller"
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
    named += [
        f"the target {format_value(place)}" for place in sorted(places - _PLACES.keys())
    ]
    return format_list(named)


def _limits(toolset: Toolset, name: str, before: int, after: int) -> Iterator[Effect]:
    client = toolset.find_client(name) if name else None
    limits = list_client_limits(toolset, client, LimitKind.TOOLS)
    for limit in list_crossed_limits(limits, before, after):
        who = f"{format_value(name)} has" if name else "there are"
        takes = f"{limit.client} takes {limit.maximum}"
        message = f"{who} {after} tools, before {before}; {takes} ({limit.source})"
        yield Effect(
            EffectKind.TOOLS,
            limit.client,
            toolset.name,
            "",
            message,
            before,
            after,
            is_worse=after > before,
        )


def _tokens(toolset: str, client: str, before: Cost, after: Cost) -> Iterator[Effect]:
    parts = [
        f"{new:,} {_COSTS[name]} ({new - old:+,})"
        for name, old, new in zip(_COSTS, before, after, strict=True)
        if abs(new - old) > _TOLD_PART * old
    ]
    if parts:
        whose = f" of {format_value(client)}" if client else ""
        yield Effect(
            EffectKind.TOKENS,
            client,
            toolset,
            "",
            f"the tools{whose} cost about, in tokens: {', '.join(parts)}",
            before._asdict(),
            after._asdict(),
            is_worse=sum(after) > sum(before),
        )
