"""What a toolset wants to be in Letta, and the pages that say how to bring it there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcast.encoders.code import Code
from toolcast.encoders.python import literal, words
from toolcast.model.model import Toolset
from toolcast.rendering.output_shape import PythonShape
from toolcast.targets.target import Context, Target, header

from .config import letta_data, settings_of, unattached
from .runbook import runbook_pages
from .server.tool_rules import RuleNeeds, kept_rules

__all__ = ["TARGET"]


@dataclass(frozen=True)
class LettaView:
    """The module."""

    header: Code
    name: Code
    canonical: Code
    exits: Code
    approvals: Code
    changing: Code
    unattached: Code
    never: Code
    former: Code
    expected: Code
    rules: Code
    server: Code
    agents: Code
    toolset: Code
    flavour: Code
    not_served: Code
    on_start: Code
    shape: PythonShape = PythonShape(
        (
            *("docstring", "from __future__", "from typing"),
            *("from toolcast_letta.server.toolset", "from .registry"),
            *("CANONICAL_TOOL_NAMES:", "EXIT_TOOLS:", "APPROVAL_TOOLS:"),
            *("CHANGING_TOOLS:", "NOT_ATTACHED:", "NEVER_ATTACHED:", "FORMER_NAMES:"),
            *("EXPECTED_TOOL_NAMES:", "TOOL_RULES:", "SERVER:", "AGENTS:", "LETTA ="),
        ),
        frozenset(["LettaToolset"]),
    )


def generate(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`letta.py`, `runbook.md` and `runbook/`."""
    data = letta_data(toolset)
    agents = data["agents"]
    expected = {
        agent["name"]: sorted({*data["attached"], *agent["expects"]})
        for agent in agents
    }
    settings = settings_of(toolset)
    shown = "tuple[str, ...] = "
    texts = "dict[str, str] = "
    view = LettaView(
        header=header(f"{toolset.folder}/toolset.yaml"),
        name=words(toolset.name),
        canonical=literal(tuple(data["attached"]), f"CANONICAL_TOOL_NAMES: {shown}"),
        exits=literal(tuple(data["exit_tools"]), f"EXIT_TOOLS: {shown}"),
        approvals=literal(tuple(data["approval_tools"]), f"APPROVAL_TOOLS: {shown}"),
        changing=literal(tuple(data["changing_tools"]), f"CHANGING_TOOLS: {shown}"),
        unattached=literal(unattached(toolset), f"NOT_ATTACHED: {texts}"),
        never=literal(data["never_attached"], f"NEVER_ATTACHED: {texts}"),
        former=literal(data["former_names"], f"FORMER_NAMES: {texts}"),
        expected=literal(expected, "EXPECTED_TOOL_NAMES: dict[str, list[str]] = "),
        rules=literal(_rules(data), "TOOL_RULES: dict[str, list[dict[str, str]]] = "),
        server=literal(data["server"], "SERVER: dict[str, str | None] = "),
        agents=literal(agents, "AGENTS: list[dict[str, Any]] = "),
        toolset=literal(toolset.name),
        flavour=literal(settings.flavour),
        not_served=literal(
            tuple(sorted(toolset.excluded("mcp"))), "    not_served=", ","
        ),
        on_start=literal(settings.on_start),
    )
    module = {"letta.py": context.render("letta/letta.py.jinja", view)}
    return {**module, **runbook_pages(toolset, context, data)}


def _rules(data: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """What rules the tools of each agent need, where it has none."""
    own = {name: name in data["exit_tools"] for name in data["attached"]}
    return {
        agent["name"]: kept_rules(
            (),
            RuleNeeds(
                agent["type"],
                own,
                {name: name in agent["ends_turn"] for name in agent["expects"]},
                data["approval_tools"],
            ),
        )
        for agent in data["agents"]
    }


TARGET = Target(
    name="letta",
    purpose="Which tools Letta's agents get with which rules, and the runbook for it.",
    generate=generate,
    reads=frozenset(
        [
            *("name", "summary", "description", "parameters", "annotations", "mcp"),
            *("handler", "clients", "letta", "data", "renamed_from", "examples"),
        ]
    ),
    reads_toolset=frozenset(["letta"]),
    needs=("mcp",),
    server_part="LETTA",
    templates=os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates"),
)
