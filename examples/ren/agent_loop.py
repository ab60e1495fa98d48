"""Send a message to Ren and wait for her turn.

Tools that Ren herself calls must not use this module: her turn waits for the tool, and
the message would start a second turn. Tools that use it declare
`letta.calls_agent_loop`, which prevents their attachment to the agent.
"""

from __future__ import annotations

from dataclasses import dataclass

from .letta_server import connect_to_ren

__all__ = ["Answer", "ask_ren"]

# Less than the tools' timeout of 180 seconds.
TURN_TIMEOUT_S = 170.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Ren's answer, and the number of steps in her turn."""

    text: str
    steps: int


def ask_ren(message: str) -> Answer:
    """Send a message to Ren's agent loop and wait until her turn ends.

    Raises:
        ToolError: see `connect_to_ren`.
    """
    with connect_to_ren(TURN_TIMEOUT_S) as agent:
        response = agent.client.agents.messages.create(
            agent.id, messages=[{"role": "user", "content": message}]
        )
    texts = [
        (
            message.content
            if isinstance(message.content, str)
            else _join_parts(message.content)
        )
        for message in response.messages
        if message.message_type == "assistant_message"
    ]
    return Answer("\n\n".join(texts), response.usage.step_count or 0)


def _join_parts(parts: object) -> str:
    """Return the text of a message content that consists of parts."""
    texts = (
        [getattr(part, "text", None) for part in parts if part]
        if isinstance(parts, list)
        else []
    )
    return "".join(text for text in texts if isinstance(text, str))
