"""Connection to Ren's agent on a Letta server."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcast_runtime import ToolError

if TYPE_CHECKING:
    from letta_client import Letta

__all__ = ["Agent", "connect_to_ren"]

CONNECT_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Agent:
    """Ren's agent.

    Attributes:
        client: client of the Letta server.
        id: the agent's id.
    """

    client: Letta
    id: str


@contextmanager
def connect_to_ren(seconds: float = 20.0) -> Iterator[Agent]:
    """Connect to Ren's agent; `seconds` is the timeout of each request.

    Requests are not retried, because a repeated message would start a second turn.

    Raises:
        ToolError: LETTA_BASE_URL or REN_AGENT_ID is not set, or a request in the block
            fails. The message never contains the API key.
    """
    base_url, agent_id = _get_required("LETTA_BASE_URL"), _get_required("REN_AGENT_ID")
    if not base_url.startswith(("http://", "https://")):
        raise ToolError("LETTA_BASE_URL must begin with http:// or https://.")
    # These imports take a second, so they are not at the top of the module.
    import httpx
    from letta_client import (
        APIConnectionError,
        APIStatusError,
        APITimeoutError,
        Letta,
        LettaError,
    )

    try:
        with Letta(
            base_url=base_url,
            # Without a value, the SDK reads a key from the environment. A server without
            # a password accepts any key.
            api_key=os.environ.get("LETTA_API_KEY", "").strip() or "none",
            timeout=httpx.Timeout(seconds, connect=CONNECT_TIMEOUT_S),
            max_retries=0,
        ) as client:
            yield Agent(client, agent_id)
    except APITimeoutError as error:
        raise ToolError(
            "Letta did not respond in time. The request may have taken effect."
        ) from error
    except APIConnectionError as error:
        raise ToolError(
            "Letta is unreachable. Check the network and LETTA_BASE_URL."
        ) from error
    except APIStatusError as error:
        raise ToolError(_describe_status(error.status_code)) from error
    except LettaError as error:
        raise ToolError("Letta returned an invalid response.") from error


def _get_required(variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise ToolError(f"Letta is not configured: {variable} is unset.")
    return value


def _describe_status(status: int) -> str:
    if status in (401, 403):
        return "Letta does not accept the key in LETTA_API_KEY."
    if status == 404:
        return "Letta has no agent with the id in REN_AGENT_ID, or no such block or passage."
    if status == 409:
        return "Ren is busy with another request. Try again in a moment."
    if status >= 500:
        return f"Letta failed (status {status})."
    return f"Letta rejected the request (status {status})."
