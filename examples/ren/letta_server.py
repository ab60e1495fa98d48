"""The Letta server that Ren lives on: where it is, and its failures in plain words."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from toolcast_runtime import ToolError

if TYPE_CHECKING:
    from letta_client import Letta

__all__ = ["Agent", "ren"]

CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Agent:
    """Ren on her server.

    Attributes:
        client: the SDK's client of the server.
        id: the agent's id.
    """

    client: Letta
    id: str


@contextmanager
def ren(seconds: float = 20.0) -> Iterator[Agent]:
    """Ren's agent, for requests that take so many seconds at most.

    No request is sent twice: a repeated message would be a second turn.

    Raises:
        ToolError: LETTA_BASE_URL or REN_AGENT_ID is not set, or leaving the block with
            a failure of the server. It never holds the key.
    """
    base_url, agent_id = _needed("LETTA_BASE_URL"), _needed("REN_AGENT_ID")
    if not base_url.startswith(("http://", "https://")):
        raise ToolError("LETTA_BASE_URL must begin with http:// or https://.")
    # A second to import, so not before somebody needs it.
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
            # Without a key the SDK would take one from the environment by itself; a
            # server without a password accepts any.
            api_key=os.environ.get("LETTA_API_KEY", "").strip() or "none",
            timeout=httpx.Timeout(seconds, connect=CONNECT_SECONDS),
            max_retries=0,
        ) as client:
            yield Agent(client, agent_id)
    except APITimeoutError as error:
        raise ToolError(
            "Letta did not answer in time. Whether the request took effect is unknown."
        ) from error
    except APIConnectionError as error:
        raise ToolError(
            "Letta is unreachable. Check the network and LETTA_BASE_URL."
        ) from error
    except APIStatusError as error:
        raise ToolError(_explanation(error.status_code)) from error
    except LettaError as error:
        raise ToolError("Letta answered with something unknown.") from error


def _needed(variable: str) -> str:
    value = os.environ.get(variable, "").strip()
    if not value:
        raise ToolError(f"Letta is not connected: {variable} is unset.")
    return value


def _explanation(status: int) -> str:
    if status in (401, 403):
        return "Letta does not accept the key in LETTA_API_KEY."
    if status == 404:
        return (
            "Letta has no agent with the id in REN_AGENT_ID, or not what was asked for."
        )
    if status == 409:
        return "Ren is busy with another request. Try again in a moment."
    if status >= 500:
        return f"Letta has a problem of its own (status {status})."
    return f"Letta refuses the request (status {status})."
