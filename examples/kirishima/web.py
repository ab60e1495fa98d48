"""Calls to other services over HTTP, with failures told in words for the model."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx

from toolcast_runtime import ToolError

__all__ = ["Service", "json_body"]

CONNECT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Service:
    """One service and how to reach it.

    Attributes:
        name: what errors call it.
        url: its base address.
        url_variable: the environment variable that sets the address.
        token: the secret that calls are authorised with; in no error, log or `repr`.
        token_variable: the environment variable that the secret comes from.
        answer_seconds: how long to wait for an answer.
        headers: what every request carries.
    """

    name: str
    url: str
    url_variable: str
    token: str | None = field(repr=False)
    token_variable: str
    answer_seconds: float
    headers: Mapping[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        """A client for this service.

        Leaving the block with a failure of the transport raises a ToolError instead,
        and every ToolError that leaves it is free of the token.
        """
        headers = {**self.headers, **self._authorization()}
        try:
            async with httpx.AsyncClient(
                base_url=self._checked_url(),
                headers=headers,
                verify=_trusted(),
                timeout=httpx.Timeout(self.answer_seconds, connect=CONNECT_SECONDS),
            ) as client:
                yield client
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ToolError(
                f"{self.name} is unreachable. "
                f"Check the network and {self.url_variable}."
            ) from error
        except httpx.TimeoutException as error:
            raise ToolError(
                f"{self.name} did not answer in time. "
                "Whether the request took effect is unknown."
            ) from error
        except httpx.HTTPError as error:
            raise ToolError(f"The connection to {self.name} broke.") from error
        except ToolError as error:
            if self.token and self.token in str(error):
                raise ToolError(str(error).replace(self.token, "***")) from None
            raise

    def _checked_url(self) -> httpx.URL:
        try:
            url = httpx.URL(self.url)
        except httpx.InvalidURL as error:
            raise ToolError(f"{self.url_variable} is not a web address.") from error
        if url.scheme not in ("http", "https") or not url.host:
            raise ToolError(f"{self.url_variable} must begin with http:// or https://.")
        return url

    def _authorization(self) -> dict[str, str]:
        if self.token is None:
            return {}
        if not (self.token.isascii() and self.token.isprintable()):
            raise ToolError(f"{self.token_variable} contains characters no token has.")
        return {"Authorization": f"Bearer {self.token}"}


@cache
def _trusted() -> ssl.SSLContext:
    """The certificates to trust: reading them takes longer than most calls."""
    return httpx.create_ssl_context()


def json_body(response: httpx.Response, service: str) -> Any:
    """The JSON value that a response holds.

    Raises:
        ToolError: it holds something else.
    """
    try:
        return response.json()
    except ValueError as error:
        raise ToolError(
            f"{service} answered with status {response.status_code} and something that "
            "is not JSON."
        ) from error
