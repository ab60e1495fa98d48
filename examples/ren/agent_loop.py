"""Asking Ren: one message, one turn of her agent's loop.

A tool that Ren calls in a turn must never get here: her turn waits for the tool, and the
message would start a turn within the turn. Specs of tools that do say
`letta.calls_agent_loop`, which forbids their attachment.
"""

from __future__ import annotations

from dataclasses import dataclass

from .letta_server import ren

__all__ = ["Answer", "ask_ren"]

# Below the 180 seconds that the tools have.
TURN_SECONDS = 170.0


@dataclass(frozen=True, slots=True)
class Answer:
    """What Ren said, and how many steps her turn took."""

    text: str
    steps: int


def ask_ren(message: str) -> Answer:
    """Sends a message into Ren's loop and waits until her turn has ended.

    Raises:
        ToolError: as `ren`.
    """
    with ren(TURN_SECONDS) as agent:
        response = agent.client.agents.messages.create(
            agent.id, messages=[{"role": "user", "content": message}]
        )
    said = [
        one.content if isinstance(one.content, str) else _joined(one.content)
        for one in response.messages
        if one.message_type == "assistant_message"
    ]
    return Answer("\n\n".join(said), response.usage.step_count or 0)


def _joined(parts: object) -> str:
    """The text of a content that comes in parts."""
    texts = (
        [getattr(part, "text", None) for part in parts if part]
        if isinstance(parts, list)
        else []
    )
    return "".join(text for text in texts if isinstance(text, str))
