"""What a toolset wants to be in Letta, and the pages that say how to bring it there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from toolcast.encoders.code import Code
from toolcast.encoders.layout import Expression, Text
from toolcast.encoders.python import (
    call,
    code_of,
    encode,
    keyword_argument,
    literal,
    string,
    tuple_of,
)
from toolcast.model.model import Toolset
from toolcast.rendering.output_guard import PythonShape
from toolcast.targets.target import Context, Target, header

from .config import excluded_tools, letta_data, settings_of
from .plan.tool_rules import RuleNeeds, kept_rules
from .runbook import runbook_pages

__all__ = ["TARGET"]

_NAMES = "tuple[str, ...]"


@dataclass(frozen=True)
class LettaView:
    """The module."""

    header: Code
    name: Code
    canonical: Code
    exits: Code
    approvals: Code
    changing: Code
    excluded_tools: Code
    never: Code
    former: Code
    expected: Code
    rules: Code
    server: Code
    agents: Code
    letta: Code
    shape: PythonShape = PythonShape(
        (
            *("docstring", "from __future__", "from typing"),
            *("from toolcast_letta.server_part.toolset", "from .registry"),
            *("CANONICAL_TOOL_NAMES:", "EXIT_TOOLS:", "APPROVAL_TOOLS:"),
            *("CHANGING_TOOLS:", "NOT_ATTACHED:", "NEVER_ATTACHED:", "FORMER_NAMES:"),
            *("EXPECTED_TOOL_NAMES:", "TOOL_RULES:", "SERVER:", "AGENTS:", "LETTA ="),
        ),
        frozenset(["LettaToolset"]),
    )


def cast(toolset: Toolset, context: Context) -> Mapping[str, bytes]:
    """`letta.py`, `runbook.md` and `runbook/`."""
    data = letta_data(toolset)
    agents = data["agents"]
    expected = {
        agent["name"]: sorted({*data["attached"], *agent["expects"]})
        for agent in agents
    }
    view = LettaView(
        header(f"{toolset.folder}/toolset.yaml"),
        Code(toolset.name),
        _names("CANONICAL_TOOL_NAMES", data["attached"]),
        _names("EXIT_TOOLS", data["exit_tools"]),
        _names("APPROVAL_TOOLS", data["approval_tools"]),
        _names("CHANGING_TOOLS", data["changing_tools"]),
        literal(excluded_tools(toolset), 0, "NOT_ATTACHED: dict[str, str] = "),
        literal(data["forbidden_tools"], 0, "NEVER_ATTACHED: dict[str, str] = "),
        literal(data["former_names"], 0, "FORMER_NAMES: dict[str, str] = "),
        literal(expected, 0, "EXPECTED_TOOL_NAMES: dict[str, list[str]] = "),
        literal(_rules(data), 0, "TOOL_RULES: dict[str, list[dict[str, str]]] = "),
        literal(data["server"], 0, "SERVER: dict[str, str | None] = "),
        literal(agents, 0, "AGENTS: list[dict[str, Any]] = "),
        _letta(toolset),
    )
    module = {"letta.py": context.render("letta/letta.py.jinja", view)}
    return {**module, **runbook_pages(toolset, context, data)}


def _names(name: str, values: list[str]) -> Code:
    return code_of(tuple_of(Text(string(v)) for v in values), 0, f"{name}: {_NAMES} = ")


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


def _letta(toolset: Toolset) -> Code:
    settings = settings_of(toolset)
    arguments: list[Expression] = [
        keyword_argument("toolset", encode(toolset.name)),
        keyword_argument("registry", Text("REGISTRY")),
    ]
    constants = {
        "attached": "CANONICAL_TOOL_NAMES",
        "exit_tools": "EXIT_TOOLS",
        "approval_tools": "APPROVAL_TOOLS",
        "changing_tools": "CHANGING_TOOLS",
        "forbidden_tools": "NEVER_ATTACHED",
        "former_names": "FORMER_NAMES",
        "server": "SERVER",
        "agents": "AGENTS",
    }
    arguments += [keyword_argument(k, Text(name)) for k, name in constants.items()]
    arguments.append(keyword_argument("backend", encode(settings.backend)))
    excluded = sorted(toolset.excluded("mcp"))
    not_served = tuple_of(Text(string(name)) for name in excluded)
    arguments.append(keyword_argument("not_served", not_served))
    arguments.append(keyword_argument("on_start", encode(settings.on_start)))
    return code_of(call("LettaToolset", arguments), 0, "LETTA = ")


TARGET = Target(
    name="letta",
    purpose="Which tools Letta's agents get with which rules, and the runbook for it.",
    cast=cast,
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
