"""HTTP client of external services whose errors become messages for the model."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx

from toolcast_runtime import ToolError

__all__ = ["Service", "parse_json"]

CONNECT_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True)
class Service:
    """Address, credentials and timeout of a service.

    Attributes:
        name: name in error messages.
        url: base URL.
        url_variable: environment variable of the URL.
        token: bearer token; never part of an error, log or `repr`.
        token_variable: environment variable of the token.
        response_timeout_s: timeout of a response in seconds.
        headers: headers of every request.
    """

    name: str
    url: str
    url_variable: str
    token: str | None = field(repr=False)
    token_variable: str
    response_timeout_s: float
    headers: Mapping[str, str] = field(default_factory=dict)

    @asynccontextmanager
    async def open_client(self) -> AsyncIterator[httpx.AsyncClient]:
        """Open a client for this service.

        Transport errors in the block become a ToolError, and the token is removed from
        the message of every ToolError.
        """
        headers = {**self.headers, **self._build_authorization()}
        try:
            async with httpx.AsyncClient(
                base_url=self._validate_url(),
                headers=headers,
                verify=_get_ssl_context(),
                timeout=httpx.Timeout(
                    self.response_timeout_s, connect=CONNECT_TIMEOUT_S
                ),
            ) as client:
                yield client
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise ToolError(
                f"{self.name} is unreachable. "
                f"Check the network and {self.url_variable}."
            ) from error
        except httpx.TimeoutException as error:
            raise ToolError(
                f"{self.name} did not respond in time. "
                "The request may have taken effect."
            ) from error
        except httpx.HTTPError as error:
            raise ToolError(f"The connection to {self.name} failed.") from error
        except ToolError as error:
            if self.token and self.token in str(error):
                raise ToolError(str(error).replace(self.token, "***")) from None
            raise

    def _validate_url(self) -> httpx.URL:
        try:
            url = httpx.URL(self.url)
        except httpx.InvalidURL as error:
            raise ToolError(f"{self.url_variable} is not a URL.") from error
        if url.scheme not in ("http", "https") or not url.host:
            raise ToolError(f"{self.url_variable} must begin with http:// or https://.")
        return url

    def _build_authorization(self) -> dict[str, str]:
        if self.token is None:
            return {}
        if not (self.token.isascii() and self.token.isprintable()):
            raise ToolError(f"{self.token_variable} contains invalid characters.")
        return {"Authorization": f"Bearer {self.token}"}


@cache
def _get_ssl_context() -> ssl.SSLContext:
    """Return the trusted certificates, which are slow to load."""
    return httpx.create_ssl_context()


def parse_json(response: httpx.Response, service: str) -> Any:
    """Return the JSON value of a response.

    Raises:
        ToolError: the body is not JSON.
    """
    try:
        return response.json()
    except ValueError as error:
        raise ToolError(
            f"{service} responded with status {response.status_code} and a body that is "
            "not JSON."
        ) from error
