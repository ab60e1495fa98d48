"""Who asks, as the surface has found out that a request or a program came in by."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_NOTHING: Mapping[str, Any] = MappingProxyType({})


# No dataclass: the registry imports this module, and importing them costs more than it does.
class Caller(NamedTuple):
    """Who asks, and with which request. The client is said apart: it is a program.

    Attributes:
        user: the person or program that a token names (`sub`); None when nobody is known.
        claims: what the token says beside that, checked.
        permissions: the only ones of the client's permissions that hold for this caller;
            None for all of them.
        request_id: the JSON-RPC request's id; None where no request came in.
        session: the MCP session's id; None where there is none.
        headers: the headers of the HTTP request that the toolset asks for, by their names
            in lower case.
    """

    user: str | None = None
    claims: Mapping[str, Any] = _NOTHING
    permissions: frozenset[str] | None = None
    request_id: str | int | None = None
    session: str | None = None
    headers: Mapping[str, str] = _NOTHING

    @property
    def program(self) -> str | None:
        """The program that the token was given to (`client_id` or `azp`), where it says so."""
        said = self.claims.get("client_id", self.claims.get("azp"))
        return said if isinstance(said, str) else None


_NOBODY = Caller()
CALLER: ContextVar[Caller] = ContextVar("caller", default=_NOBODY)
"""Holds for a request, and for every call that its handler makes in its own context."""


@contextmanager
def calling_as(caller: Caller) -> Iterator[None]:
    """Who asks in what a program does with the registry, the wrappers or the CLI inside of it.

    with calling_as(Caller(user="mia", permissions=frozenset({"billing"}))):
        response = await registry.call_tool("refund", {"order": "A-17"}, "support")
    """
    token = CALLER.set(caller)
    try:
        yield
    finally:
        CALLER.reset(token)
