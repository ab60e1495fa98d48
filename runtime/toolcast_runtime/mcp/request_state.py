"""Seals what a client keeps of a call between two requests, by the SDK's own means.

What comes back is taken only unchanged, before it expires, and for the same tool, arguments,
client and user; everything else is an error of the protocol.

Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/mrtr
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..core.context import CALLER
from ..core.safe_file import load_secret
from ..http.settings import SettingsError

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext
    from mcp.server.request_state import RequestStateBoundary

    from .toolset_server import ToolsetServer

_SHORTEST_KEY = 32
_SECONDS = 600.0
"""How long a person has for an answer."""


class SealingError(SettingsError):
    """The server cannot ask a person as it is set up; the text says what to do."""


class StateSealer:
    """What seals the state of one client's calls.

    Args:
        audience: the server and the client: state of another one is not taken.
        keys: the secrets that all processes share: the first one seals, each of them opens.
            None there: one of this process alone.
        refusal: why no state is given out; None when it is.
    """

    def __init__(self, audience: str, keys: Sequence[str], refusal: str | None) -> None:
        self._audience = audience
        self._keys = keys
        self.refusal = refusal

    async def sealed(self, context: ServerRequestContext[Any, Any], result: Any) -> Any:
        """An answer that a person is needed for, its state sealed."""

        async def given(_: ServerRequestContext[Any, Any]) -> Any:
            return result

        return await self._boundary(context, given)

    async def opened(
        self,
        context: ServerRequestContext[Any, Any],
        answer: Callable[[str], Awaitable[Any]],
    ) -> Any:
        """What a request with state is answered, from the opened state; sealed if need be.

        Raises:
            MCPError: the request's state is not what this server gave out for it.
        """

        async def work(opened: ServerRequestContext[Any, Any]) -> Any:
            return await answer((opened.params or {})["requestState"])

        return await self._boundary(context, work)

    @cached_property
    def _boundary(self) -> RequestStateBoundary:
        # Its cryptography is loaded when a person is asked for the first time.
        from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

        security = RequestStateSecurity(
            keys=self._keys or [os.urandom(_SHORTEST_KEY)],
            ttl=_SECONDS,
            bind_principal=lambda context: _who_asks(),
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
) -> StateSealer:
    """What seals the state of a client's calls.

    Args:
        served: the server.
        client: who is served.
        is_one_of_several: other processes answer requests of the same client.
        environment: has the keys, or names a file with them.

    Raises:
        SealingError: a key is too short; or a tool asks a person before it does its work,
            and what one process gives out another cannot take.
    """
    variable = served.state_key_variable
    keys = [] if variable is None else _keys(variable, environment)
    refusal = None
    if is_one_of_several and not (keys and served.registry.has_ledger):
        refusal = _why_not(variable, has_key=bool(keys))
        asking = [t.name for t in served.tools(client) if t.confirm is not None]
        if asking:
            raise SealingError(f"`{asking[0]}` has a `confirm`: {refusal}")
    return StateSealer(f"{served.name} {client or ''}", keys, refusal)


def _keys(variable: str, environment: Mapping[str, str]) -> list[str]:
    """The newest first, apart by white space.

    Raises:
        SealingError: one is too short, or the file cannot be read; never with a word of it.
    """
    try:
        keys = (load_secret(variable, environment) or "").split()
    except ValueError as error:
        raise SealingError(str(error)) from None
    if any(len(key.encode()) < _SHORTEST_KEY for key in keys):
        raise SealingError(
            f"{variable} has a key that is too short: it takes {_SHORTEST_KEY} random bytes"
            ' or more, as of `python -c "import secrets; print(secrets.token_hex(32))"`'
        )
    return keys


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
