"""What sends a message into an agent's loop on a Letta server, seen in source text.

Sources: the resources of `letta-client` 0.1 to 1.12, and the server's routes of 0.16.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_OWNERS = frozenset(["agents", "conversations", "groups", "environments"])
_SENDING = frozenset("""
    create stream create_async create_stream create_batch send send_stream
    send_async
    """.split())
# Between the resource and the method; they change what comes back only.
_WRAPPERS = frozenset(["with_raw_response", "with_streaming_response"])
# Libraries whose clients have the same words for other things.
_OTHERS = frozenset(
    ["azure", "openai", "anthropic", "langchain", "slack_sdk", "telegram", "discord"]
)
_ALWAYS = frozenset(["send_chat_message"])
_WITH_LETTA = re.compile(r"(?:send_message|user_message|send_messages)\w*")

_ADDRESS = re.compile(
    r"\b(?:agents|conversations|groups|environments)/[^/\s]+/messages"
    r"(?:/(?:async|stream|batch))?/?(?![\w/-])"
)
_READS_BY = frozenset("""
    get head options delete patch startswith endswith match search fullmatch
    compile append debug info warning error exception print ToolError ValueError
    RuntimeError aget
    """.split())
_READING_VERBS = frozenset(["GET", "HEAD", "OPTIONS", "DELETE", "PATCH"])


def sends_message(chain: Sequence[str], package: str) -> bool:
    """Whether a chain of names (`client.agents.messages.create`) sends a message.

    Args:
        chain: the names from left to right, those that stand for others written out.
        package: the dotted name of what the first one comes from; empty when unknown.
    """
    names = [name for name in chain if name not in _WRAPPERS]
    if not names:
        return False
    last = names[-1]
    if last in _ALWAYS:
        return True
    if package.partition(".")[0] in _OTHERS:
        return False
    if len(names) >= 3 and last in _SENDING and names[-2] == "messages":
        return names[-3] in _OWNERS
    has_letta = any("letta" in name.casefold() for name in (*names, package))
    if last == "create" and names[-2:-1] == ["batches"]:
        return has_letta
    return has_letta and bool(_WITH_LETTA.fullmatch(last))


def hands_on_messages(chain: Sequence[str]) -> bool:
    """Whether a chain is the resource itself, on its way to somebody who may send."""
    names = [name for name in chain if name not in _WRAPPERS]
    return len(names) >= 2 and names[-1] == "messages" and names[-2] in _OWNERS


def is_message_address(text: str) -> bool:
    """Whether a text has the route to which messages are posted."""
    return bool(_ADDRESS.search(text))


def is_posting(function: str, texts: Sequence[str]) -> bool:
    """Whether a call with such an address may send: all but those that surely read.

    Args:
        function: the last name of what is called.
        texts: the constant arguments.
    """
    if any(text.upper() == "POST" for text in texts):
        return True
    if any(text.upper() in _READING_VERBS for text in texts):
        return False
    return function not in _READS_BY
