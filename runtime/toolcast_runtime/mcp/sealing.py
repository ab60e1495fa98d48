"""Seals what a client keeps of a call between two requests, by the SDK's own means.

What comes back is taken only unchanged, before it expires, and for the same tool, arguments,
client and user; everything else is an error of the protocol.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/mrtr
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..access.caller import CALLER

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp.server.context import CallNext
    from mcp.server.request_state import RequestStateBoundary

    from .toolset_server import ToolsetServer

__all__ = ["Sealing", "SealingError", "sealing"]

_SHORTEST_KEY = 32
_SECONDS = 600.0
"""How long a person has for an answer."""


class SealingError(Exception):
    """The server cannot be started as it is set up; the text says what to do."""


class Sealing:
    """What seals the state of one client's calls.

    Args:
        audience: the server and the client: state of another one is not taken.
        key: the secret that all processes share; None for one of this process alone.
        refusal: why no state is given out; None when it is.
    """

    def __init__(self, audience: str, key: str | None, refusal: str | None) -> None:
        self._audience = audience
        self._key = key
        self.refusal = refusal

    async def through(
        self, context: ServerRequestContext[Any, Any], work: CallNext
    ) -> Any:
        """What the work gives, its state sealed; the request's own is opened before.

        Raises:
            MCPError: the request's state is not what this server gave out for it.
        """
        return await self._boundary(context, work)

    async def answered(
        self,
        context: ServerRequestContext[Any, Any],
        state: str | None,
        answer: Callable[[str | None], Awaitable[Any]],
    ) -> Any:
        """What a request is answered, with its state opened before and sealed after.

        Args:
            context: the request's.
            state: what the request brings; None when it brings none.
            answer: gives the answer, from the opened state.

        Raises:
            MCPError: as `through`.
        """
        if state is None:
            result = await answer(None)
            if getattr(result, "result_type", None) != "input_required":
                return result

        async def work(opened: ServerRequestContext[Any, Any]) -> Any:
            if state is None:
                return result
            return await answer((opened.params or {})["requestState"])

        return await self.through(context, work)

    @cached_property
    def _boundary(self) -> RequestStateBoundary:
        # Its cryptography is loaded when a person is asked for the first time.
        from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

        keys = [os.urandom(_SHORTEST_KEY) if self._key is None else self._key]
        security = RequestStateSecurity(
            keys=keys, ttl=_SECONDS, bind_principal=lambda context: _who_asks()
        )
        return RequestStateBoundary(security, default_audience=self._audience)


def _who_asks() -> str | None:
    """The user and their program, as sessions are kept apart; None when nobody is known."""
    caller = CALLER.get()
    return caller.user and json.dumps([caller.user, caller.program])


def sealing(
    served: ToolsetServer,
    client: str | None,
    *,
    is_one_of_several: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Sealing:
    """What seals the state of a client's calls.

    Args:
        served: the server.
        client: who is served.
        is_one_of_several: other processes answer requests of the same client.
        environment: has the key.

    Raises:
        SealingError: the key is too short; or a tool asks a person before it does its work,
            and what one process gives out another cannot take.
    """
    variable = served.state_key_variable
    key = None if variable is None else environment.get(variable, "").strip() or None
    if key is not None and len(key.encode()) < _SHORTEST_KEY:
        raise SealingError(
            f"{variable} is too short: it takes {_SHORTEST_KEY} random bytes or more, as"
            ' of `python -c "import secrets; print(secrets.token_hex(32))"`'
        )
    refusal = None
    if is_one_of_several and (key is None or not served.registry.has_ledger):
        refusal = _why_not(variable, has_key=key is not None)
        asking = [t.name for t in served.tools(client) if t.confirm is not None]
        if asking:
            raise SealingError(f"`{asking[0]}` has a `confirm`: {refusal}")
    return Sealing(f"{served.name} {client or ''}", key, refusal)


def _why_not(variable: str | None, *, has_key: bool) -> str:
    if has_key:
        return (
            "with several processes a person is asked only where the toolset has a ledger,"
            " in which each answer is used once; serve it with one process, or declare one"
        )
    todo = "name it in toolset.yaml as `targets.mcp.state_key_variable`"
    if variable is not None:
        todo = f"set {variable} to 32 random bytes or more"
    return (
        "with several processes a person is asked only where they share a key, with which"
        f" one knows what another has asked; serve it with one process, or {todo}"
    )
