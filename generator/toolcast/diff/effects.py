"""Effects of changes on clients: visible tools, their number and token costs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from ..analysis.client_kinds import LimitKind, list_client_limits, list_crossed_limits
from ..analysis.token_costs import Cost, compute_client_costs, estimate_tokens
from ..analysis.tool_search import count_listed_tools
from ..model.model import Toolset, ToolSpec, Workspace
from ..suggestions import format_list
from .change import ABSENT, format_value
from .tools import MatchedTools

if TYPE_CHECKING:
    from ..targets.exposure import Exposure
    from ..targets.prompt_blocks import PromptDocs

_TARGET_LABELS = {
    "mcp": "MCP's list",
    "registry": "the registry",
    "langchain": "LangChain's tools",
    "prompts": "the prompt docs",
    "cli": "the commands",
}
_INTERNAL_TARGETS = frozenset(["snapshots"])
"""Targets whose output is not shown to clients."""
_COST_LABELS = {
    "upfront": "upfront",
    "names": "for names only",
    "on_demand": "on demand",
    "prompt": "in prompt docs",
}
"""The fields of `Cost` in messages."""
_MIN_COST_CHANGE = 0.01
"""Fraction of the old cost that a difference must exceed to be reported."""

_OldVersions = Mapping[int, ToolSpec]
"""The old versions of tools, by the `id()` of the new version."""
_VisibleTools = Sequence[tuple[ToolSpec, frozenset[str]]]
"""A client's tools, each with the targets that show it."""


class EffectKind(StrEnum):
    """Kind of an effect."""

    VISIBILITY = "visibility"
    """A target starts or stops showing a tool to a client. `before` and `after` are the
    targets."""
    TOOLS = "tools"
    """The number of a client's tools crosses a limit of the client's kind."""
    TOKENS = "tokens"
    """The token costs of a client's tools differ by more than one percent. `before` and
    `after` are estimated tokens by the fields of `analysis.token_costs.Cost`: upfront,
    names, on_demand, prompt. `tool` is empty."""


@dataclass(frozen=True)
class Effect:
    """An effect of all changes together on one reader of the tools.

    Attributes:
        kind: the kind of effect.
        reader: the client (empty if the toolset has no clients), or the program or provider
            that has the limit.
        toolset: the toolset's name.
        tool: the tool's new name, or the old name of a removed tool; empty if the effect
            concerns all tools.
        message: a clause that describes the effect, in lower case, names in backticks. It
            contains text of specs, so output formats must escape it.
        before: the old JSON value, or ABSENT.
        after: the new JSON value, or ABSENT.
        is_worse: whether the reader loses a tool, or costs or numbers grow.
    """

    kind: EffectKind
    reader: str
    toolset: str
    tool: str
    message: str
    before: Any = ABSENT
    after: Any = ABSENT
    is_worse: bool = False


class _Version(NamedTuple):
    """One version of a toolset, with its exposures and prompt docs."""

    toolset: Toolset
    exposures: Mapping[str, Exposure]
    prompt_docs: PromptDocs


def list_effects(
    matched: MatchedTools, before: Workspace, after: Workspace
) -> Iterator[Effect]:
    """Yield the effects on the clients of toolsets that exist in both versions.

    An added or removed toolset has no effects: its change describes them.

    Args:
        matched: the matched toolsets and tools.
        before: the old version of the workspace.
        after: the new version of the workspace.

    Raises:
        ExtensionError: an extension that the workspace lists cannot be used.
    """
    # Most texts are equal in both versions: count the tokens of each once.
    count_tokens = cache(estimate_tokens)
    for toolsets in matched.toolsets:
        old_tool_ids = {id(tool) for tool in toolsets[0].tools}
        old_versions = {
            id(pair.after): pair.before
            for pair in matched.tools
            if pair.toolset_after is toolsets[1] and id(pair.before) in old_tool_ids
        }
        if not _is_unchanged(toolsets, old_versions):
            workspaces = before, after
            yield from _list_client_effects(
                toolsets, workspaces, old_versions, count_tokens
            )


def _is_unchanged(
    toolsets: tuple[Toolset, Toolset], old_versions: _OldVersions
) -> bool:
    """Return whether two versions of a toolset are equal, so that nothing is affected."""
    before, after = toolsets
    return (
        before.source.data == after.source.data
        and before.targets == after.targets
        and _read_definitions(before) == _read_definitions(after)
        and len(before.tools) == len(after.tools)
        and all(old_versions.get(id(tool)) is tool for tool in after.tools)
    )


def _read_definitions(toolset: Toolset) -> list[bytes]:
    definitions = toolset.definitions
    return [] if definitions is None else [s.data for s in definitions.sources]


def _list_client_effects(
    toolsets: tuple[Toolset, Toolset],
    workspaces: tuple[Workspace, Workspace],
    old_versions: _OldVersions,
    count_tokens: Callable[[str], int],
) -> Iterator[Effect]:
    """Yield the effects on each client that exists in both versions of a toolset.

    For each client: visible tools, then the number of tools, then token costs.
    """
    # Imported late, because a comparison of equal projects does not need the targets.
    from ..targets.exposure import build_exposures
    from ..targets.prompt_blocks import build_prompt_docs

    old, new = (
        _Version(
            toolset,
            build_exposures(workspace, toolset),
            build_prompt_docs(workspace, toolset),
        )
        for workspace, toolset in zip(workspaces, toolsets, strict=True)
    )
    toolset = new.toolset
    for client in _list_shared_clients(*toolsets):
        old_tools = _list_visible_tools(old, client)
        new_tools = _list_visible_tools(new, client)
        yield from _compare_visible_tools(
            toolset.name, client, old_tools, new_tools, old_versions
        )
        old_count = _count_mcp_tools(old.toolset, old_tools)
        new_count = _count_mcp_tools(new.toolset, new_tools)
        yield from _compare_tool_counts(toolset, client, old_count, new_count)
        old_cost = _compute_cost(old, client, count_tokens)
        new_cost = _compute_cost(new, client, count_tokens)
        yield from _compare_costs(toolset.name, client, old_cost, new_cost)


def _list_shared_clients(before: Toolset, after: Toolset) -> Iterator[str]:
    """Yield the names of the clients that are in both versions.

    Yields "" if neither version has clients, and nothing if only one version has clients.
    """
    if not before.clients and not after.clients:
        yield ""
    for client in after.clients:
        if before.find_client(client.name) is not None:
            yield client.name


def _list_visible_tools(version: _Version, client: str) -> _VisibleTools:
    """Return the tools that a client can use, with the targets that show each.

    An empty `client` selects all tools. Internal targets are omitted.
    """
    tools = []
    for tool in version.toolset.tools:
        exposure = version.exposures[tool.name]
        # `clients` has the reason why a client cannot use the tool; empty if it can.
        if client and exposure.clients[client]:
            continue
        targets = frozenset(
            target
            for target, reason in exposure.targets.items()
            if not reason and target not in _INTERNAL_TARGETS
        )
        tools.append((tool, targets))
    return tools


def _count_mcp_tools(toolset: Toolset, tools: _VisibleTools) -> int:
    return count_listed_tools(
        toolset, [tool for tool, targets in tools if "mcp" in targets]
    )


def _compute_cost(
    version: _Version, client: str, count_tokens: Callable[[str], int]
) -> Cost:
    toolset = version.toolset
    texts = version.prompt_docs.texts(toolset.find_client(client))
    costs = compute_client_costs(
        toolset, toolset.find_client(client), texts, count=count_tokens
    )
    return costs.total


def _compare_visible_tools(
    toolset: str,
    client: str,
    before: _VisibleTools,
    after: _VisibleTools,
    old_versions: _OldVersions,
) -> Iterator[Effect]:
    """Yield an effect for each tool whose targets changed for a client."""
    # Tools are looked up by identity: a renamed tool has another name in each version.
    old_targets = {id(tool): targets for tool, targets in before}
    no_targets: frozenset[str] = frozenset()
    for tool, targets in after:
        old = old_targets.pop(id(old_versions.get(id(tool), tool)), no_targets)
        if old != targets:
            yield _make_visibility_effect(toolset, client, tool, old, targets)
    # Tools that remain in `old_targets` were removed or are now hidden from the client.
    for tool, targets in before:
        if id(tool) in old_targets and targets:
            yield _make_visibility_effect(toolset, client, tool, targets, no_targets)


def _make_visibility_effect(
    toolset: str,
    client: str,
    tool: ToolSpec,
    before: frozenset[str],
    after: frozenset[str],
) -> Effect:
    clauses = []
    if after - before:
        clauses.append(f"sees it in {_format_targets(after - before)}")
    if before - after:
        clauses.append(f"no longer sees it in {_format_targets(before - after)}")
    reader = format_value(client) if client else "the caller"
    return Effect(
        EffectKind.VISIBILITY,
        client,
        toolset,
        tool.name,
        f"{reader} {', and '.join(clauses)}",
        sorted(before),
        sorted(after),
        is_worse=bool(before - after),
    )


def _format_targets(targets: frozenset[str]) -> str:
    """Format targets for a message, the built-in ones first."""
    labels = [label for target, label in _TARGET_LABELS.items() if target in targets]
    for target in sorted(targets - _TARGET_LABELS.keys()):
        labels.append(f"the target {format_value(target)}")
    return format_list(labels)


def _compare_tool_counts(
    toolset: Toolset, name: str, before: int, after: int
) -> Iterator[Effect]:
    """Yield an effect for each limit that the number of a client's tools crosses."""
    client = toolset.find_client(name) if name else None
    limits = list_client_limits(toolset, client, LimitKind.TOOLS)
    for limit in list_crossed_limits(limits, before, after):
        # A toolset without clients has one caller without a name.
        subject = f"{format_value(name)} has" if name else "there are"
        yield Effect(
            EffectKind.TOOLS,
            limit.client,
            toolset.name,
            "",
            f"{subject} {after} tools, before {before}; {limit.client} accepts"
            f" {limit.maximum} ({limit.source})",
            before,
            after,
            is_worse=after > before,
        )


def _compare_costs(
    toolset: str, client: str, before: Cost, after: Cost
) -> Iterator[Effect]:
    """Yield an effect if a token cost of a client's tools differs by more than 1 %."""
    parts = []
    for label, old, new in zip(_COST_LABELS.values(), before, after, strict=True):
        if abs(new - old) > _MIN_COST_CHANGE * old:
            parts.append(f"{new:,} {label} ({new - old:+,})")
    if parts:
        owner = f" of {format_value(client)}" if client else ""
        yield Effect(
            EffectKind.TOKENS,
            client,
            toolset,
            "",
            f"estimated tokens for the tools{owner}: {', '.join(parts)}",
            before._asdict(),
            after._asdict(),
            is_worse=sum(after) > sum(before),
        )
