"""Why a toolset must not be written into Letta Code's settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..plan.plan import Objection
from ..server.desired_state import AgentWish, Attachment
from .settings import alias

__all__ = ["entry_objections", "offer_objections", "warnings_of"]


def entry_objections(
    there: Sequence[Mapping[str, Any]],
    wish: Attachment,
    agent: AgentWish,
    captures: Sequence[str],
) -> Iterator[Objection]:
    """Against what an agent's list of servers holds already."""
    named = [one for one in there if one.get("name") == wish.server_name]
    if len(named) > 1:
        yield Objection(
            "twice",
            f"{agent.name} has {len(named)} servers named {wish.server_name}",
            "take all but one out of the settings",
        )
    for one in named[:1]:
        foreign = one.get("transport") != "http" or "command" in one
        if foreign and wish.server_name not in captures:
            yield Objection(
                "capture",
                f"{agent.name} has a server {wish.server_name} of another kind",
                f"--allow-capture {wish.server_name} makes it the toolset's",
            )
    for one in there:
        name = str(one.get("name"))
        if name != wish.server_name and alias(name) == alias(wish.server_name):
            yield Objection(
                "same-alias",
                f"{agent.name} calls the tools of `{name}` by the same names,"
                f" mcp__{alias(name)}__...",
                "rename the server's entry in the toolset's `letta`",
            )


def offer_objections(wish: Attachment, offered: set[str]) -> Iterator[Objection]:
    """Against what the MCP server offers now."""
    missing = sorted(set(wish.tools) - offered)
    if missing:
        yield Objection(
            "not-deployed",
            f"the MCP server does not offer {', '.join(missing)}",
            "deploy it first",
        )
    for agent in wish.agents:
        for name in sorted(offered & set(agent.forbids)):
            yield Objection(
                "forbidden",
                f"the MCP server offers {agent.name} `{name}`, which it must not have:"
                f" {agent.forbids[name]}",
                "Letta Code gives an agent all that a server offers: have it serve a"
                " client that may not call this",
            )


def warnings_of(wish: Attachment) -> Iterator[str]:
    """What specs say and Letta Code does not do."""
    approved = sorted(t.name for t in wish.tools.values() if t.requires_approval)
    if approved:
        yield (
            "Letta Code asks for approval by its own permissions, not for"
            f" {', '.join(approved)} by name"
        )
    beyond = sorted(name for name, tool in wish.tools.items() if not tool.attached)
    if beyond:
        yield (
            "every offered tool is the agent's, also those that are not attached:"
            f" {', '.join(beyond)}"
        )
