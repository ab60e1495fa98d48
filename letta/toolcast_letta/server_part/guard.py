"""Refuses the circular call: an agent, in its turn, calls a tool that starts a turn of it.

The outer turn waits for the tool and the tool for the inner one; what is said in the inner
turn is lost, or both wait for ever. Letta names the agent in a header of each call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .toolset import LettaToolset

__all__ = ["AGENT_HEADER", "circular_guard"]

AGENT_HEADER = "X-Agent-Id"
"""Letta's server sends it with each call that an agent makes in a turn."""


def circular_guard(
    toolset: LettaToolset, environment: Mapping[str, str] = os.environ
) -> Callable[[str, Mapping[str, str]], str | None]:
    """What says of a call, by its tool and its request's headers, why it is refused.

    Tools that call the agent loop are refused to the toolset's own agents, and to every
    agent while an id of theirs is not known.
    """

    def guard(name: str, headers: Mapping[str, str]) -> str | None:
        caller = headers.get(AGENT_HEADER.lower(), "")
        if not caller or name not in toolset.forbidden_tools:
            return None
        ids = [
            agent.get("id") or environment.get(agent.get("id_env") or "", "").strip()
            for agent in toolset.agents
        ]
        if caller not in ids and all(ids):
            return None
        return (
            f"{name} was not run: it sends a message into the agent's loop, and the agent"
            " calls it in a turn, which would wait for itself. End the turn first."
        )

    return guard
