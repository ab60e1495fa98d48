"""Sealing of the state that a client stores while its user answers a question.

The state is sealed by the MCP SDK. It is accepted only unchanged, before it expires, and for the
same tool, arguments, client and user. All other state is a protocol error.

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

_MIN_KEY_BYTES = 32
_ANSWER_TIMEOUT_S = 600.0
"""How long a user may take to answer a question."""


class SealingError(SettingsError):
    """The server's settings do not allow questions to the user; the message has the fix."""


class StateSealer:
    """Sealing and unsealing of the state of one client's calls.

    Args:
        audience: the server and the client; state of any other audience is rejected.
        keys: the secrets that all processes share: the first one seals, each one unseals.
            Empty for a random key of this process.
        refusal: why no state can be issued; None if it can.
    """

    def __init__(self, audience: str, keys: Sequence[str], refusal: str | None) -> None:
        self._audience = audience
        self._keys = keys
        self.refusal = refusal

    async def seal_result(
        self, context: ServerRequestContext[Any, Any], result: Any
    ) -> Any:
        """Return a result that requires the user's input, with its state sealed."""

        async def return_result(_: ServerRequestContext[Any, Any]) -> Any:
            return result

        return await self._boundary(context, return_result)

    async def answer_with_opened_state(
        self,
        context: ServerRequestContext[Any, Any],
        answer: Callable[[str], Awaitable[Any]],
    ) -> Any:
        """Answer a request from its unsealed state; seal the state of the result, if any.

        Raises:
            MCPError: this server did not issue the state for this request.
        """

        async def answer_opened(opened: ServerRequestContext[Any, Any]) -> Any:
            return await answer((opened.params or {})["requestState"])

        return await self._boundary(context, answer_opened)

    @cached_property
    def _boundary(self) -> RequestStateBoundary:
        # Import cryptography only when state is sealed: most servers never ask a user.
        from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity

        security = RequestStateSecurity(
            keys=self._keys or [os.urandom(_MIN_KEY_BYTES)],
            ttl=_ANSWER_TIMEOUT_S,
            # Bind the state to its user, so that another user of the client cannot use it.
            bind_principal=lambda context: _get_principal(),
        )
        return RequestStateBoundary(security, default_audience=self._audience)


def _get_principal() -> str | None:
    """Return a string of the caller's user and program, to which state is bound.

    None if the user is unknown; state is then not bound to a user.
    """
    caller = CALLER.get()
    return caller.user and json.dumps([caller.user, caller.program])


def make_sealer(
    server: ToolsetServer,
    client: str | None,
    *,
    is_one_of_several: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> StateSealer:
    """Return the sealer for the state of a client's calls.

    Args:
        server: the server that is called.
        client: the client that calls.
        is_one_of_several: whether other processes answer requests of the same client.
        environment: contains the keys, or the path of a file with the keys.

    Raises:
        SealingError: a key is too short or cannot be read; or a tool has a `confirm`, and the
            processes do not share a key and a ledger.
    """
    variable = server.state_key_variable
    keys = [] if variable is None else _load_keys(variable, environment)
    refusal = None
    if is_one_of_several and not (keys and server.registry.has_ledger):
        refusal = _explain_refusal(variable, has_key=bool(keys))
        asking = [
            tool.name for tool in server.tools(client) if tool.confirm is not None
        ]
        # Fail at startup for tools that always or sometimes ask. Questions of handlers are not
        # known in advance, and are declined at run time with `refusal`.
        if asking:
            raise SealingError(f"`{asking[0]}` has a `confirm`: {refusal}")
    return StateSealer(f"{server.name} {client or ''}", keys, refusal)


def _load_keys(variable: str, environment: Mapping[str, str]) -> list[str]:
    """Load the keys from an environment variable or its file, separated by white space.

    Raises:
        SealingError: a key is too short, or the file cannot be read. The message never
            contains a part of a key.
    """
    try:
        keys = (load_secret(variable, environment) or "").split()
    except ValueError as error:
        raise SealingError(str(error)) from None
    if any(len(key.encode()) < _MIN_KEY_BYTES for key in keys):
        raise SealingError(
            f"{variable} contains a key that is too short; help: use {_MIN_KEY_BYTES}"
            " random bytes or more, for example"
            ' `python -c "import secrets; print(secrets.token_hex(32))"`'
        )
    return keys


def _explain_refusal(variable: str | None, *, has_key: bool) -> str:
    if has_key:
        return (
            "several processes can ask the user only if the toolset has a ledger, which"
            " ensures that each answer is used once; help: serve it with one process, or"
            " declare a `ledger`"
        )
    action = "declare `targets.mcp.state_key_variable` in toolset.yaml"
    if variable is not None:
        action = f"set {variable} to 32 random bytes or more"
    return (
        "several processes can ask the user only if they share a key, which lets one process"
        " verify the questions of another; help: serve it with one process, or"
        f" {action}"
    )
