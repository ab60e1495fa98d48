"""What the tools of a toolset cost a client: upfront, for their names, and on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from ...model.clients import Client
from ...model.model import Toolset, ToolSpec
from ..prompt_docs import OTHER_SECTION
from ..token_count import estimated_tokens
from ..tool_tokens import list_text, prompt_text
from .client_kinds import ClientKind, Loading, kind_of
from .prompt_blocks import CLI_BLOCK, prompt_blocks

__all__ = ["ClientCosts", "Cost", "Count", "ToolCost", "client_costs", "total"]

Count = Callable[[str], int]
"""How many tokens a text is."""


class Cost(NamedTuple):
    """Tokens.

    Attributes:
        upfront: definitions and instructions that are in each request.
        names: what is in each request of tools that are not loaded yet.
        on_demand: definitions that are loaded when they are needed, all of them together.
        prompt: the prompt docs, where they are put into the prompt.
    """

    upfront: int = 0
    names: int = 0
    on_demand: int = 0
    prompt: int = 0

    @property
    def in_each_request(self) -> int:
        """What a request carries before any tool is loaded on demand."""
        return self.upfront + self.names


class ToolCost(NamedTuple):
    """What one tool costs a client."""

    tool: ToolSpec
    section: str
    cost: Cost


class ClientCosts(NamedTuple):
    """What a toolset costs a client.

    Attributes:
        client: None for a caller who has every tool.
        kind: what the client is; None when it is not known: then every definition is
            counted upfront.
        tools: each of its tools.
        instructions: the tokens of the server's instructions, in each request.
        namespaces: the tokens of the names and headings of its sections, where these are
            namespaces, in each request.
        blocks: the tokens of each block of the prompt docs, by its name.
    """

    client: Client | None
    kind: ClientKind | None
    tools: tuple[ToolCost, ...]
    instructions: int
    namespaces: int
    blocks: Mapping[str, int]

    @property
    def whole(self) -> Cost:
        """All of it. The prompt docs count without the CLI block, which stands for them."""
        tools = total(one.cost for one in self.tools)
        return tools._replace(
            upfront=tools.upfront + self.instructions,
            names=tools.names + self.namespaces,
            prompt=sum(n for name, n in self.blocks.items() if name != CLI_BLOCK),
        )


def total(costs: Iterable[Cost]) -> Cost:
    """The sum of costs."""
    return Cost(*map(sum, zip(*costs, strict=True)))


def client_costs(
    toolset: Toolset,
    client: Client | None,
    package: str,
    kind: ClientKind | None = None,
    count: Count = estimated_tokens,
) -> ClientCosts:
    """What a toolset's own tools cost a client.

    Args:
        client: None for a caller who has every tool.
        package: the dotted name under which Python imports the output folder.
        kind: what the client is; default: what the specs say.
        count: how tokens are counted.
    """
    known = kind or kind_of(toolset, client)
    reader = "registry" if known is not None and known.is_api else "mcp"
    if reader not in toolset.targets:
        reader = "registry"
    tools = [
        tool
        for tool in toolset.tools_in(reader)
        if client is None or toolset.is_offered(tool, client)
    ]
    has_docs = "prompts" in toolset.targets
    in_prompt = {t.name for t in toolset.tools_in("prompts")} if has_docs else set()
    sections = {section.name for section in toolset.sections}
    costs = []
    for tool in tools:
        definition = count(list_text(tool))
        if known is None or known.is_upfront(tool, len(tools)):
            cost = Cost(upfront=definition)
        else:
            name = known.kept_of(tool, toolset.name)
            cost = Cost(names=count(name), on_demand=definition)
        if tool.name in in_prompt:
            cost = cost._replace(prompt=count(prompt_text(tool)))
        section = tool.section if tool.section in sections else None
        costs.append(ToolCost(tool, section or OTHER_SECTION, cost))
    is_server = "mcp" in toolset.targets and not (known and known.is_api)
    instructions = toolset.instructions if is_server else None
    return ClientCosts(
        client,
        known,
        tuple(costs),
        count(instructions) if instructions else 0,
        _namespaces(toolset, known, costs, count),
        {name: count(text) for name, text in prompt_blocks(toolset, client, package)},
    )


def _namespaces(
    toolset: Toolset,
    kind: ClientKind | None,
    costs: Iterable[ToolCost],
    count: Count,
) -> int:
    if kind is None or kind.loading is not Loading.NAMESPACES:
        return 0
    used = {one.section for one in costs if one.cost.on_demand}
    headings = {section.name: section.heading for section in toolset.sections}
    headings.setdefault(OTHER_SECTION, toolset.title)
    return sum(
        count(f"{name}: {heading}\n")
        for name, heading in headings.items()
        if name in used
    )
