"""Refuses the circular call: an agent, in its turn, calls a tool that starts a turn of it.

The outer turn waits for the tool and the tool for the inner one; what is said in the inner
turn is lost, or both wait for ever. Letta names the agent in a header of each call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..settings import LettaAgent

_AGENT_HEADER = "x-agent-id"


def refusal(
    tool: str,
    headers: Mapping[str, str],
    agents: Sequence[LettaAgent],
    environment: Mapping[str, str],
) -> str | None:
    """Why a call into the agent's loop is refused; None when it is not.

    Args:
        tool: the tool, which calls that loop.
        headers: of the request, by their names in lower case.
        agents: the toolset's own.
        environment: holds ids that are not known otherwise.
    """
    caller = headers.get(_AGENT_HEADER, "")
    if not caller:
        return None
    ids = [
        agent.id or environment.get(agent.id_env or "", "").strip() for agent in agents
    ]
    if caller not in ids and all(ids):
        return None
    return (
        f"{tool} was not run: it sends a message into the agent's loop, and the agent"
        " calls it in a turn, which would wait for itself. End the turn first."
    )
