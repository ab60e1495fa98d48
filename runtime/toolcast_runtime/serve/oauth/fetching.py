"""What is asked of the authorization server: few bytes, in a short time, without redirects.

Needs `httpx2`, which comes with `mcp`.
"""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import TYPE_CHECKING, Any

import httpx2

if TYPE_CHECKING:
    from collections.abc import Mapping
    from ssl import SSLContext

_MOST_BYTES = 256 * 1024
_SECONDS = 5.0


@cache
def _trusted() -> SSLContext:
    """Whose certificates hold; reading them for each request takes longer than the request."""
    return httpx2.create_ssl_context()


class NotThere(Exception):
    """The authorization server does not answer as it must; nothing can be checked."""


async def fetch(
    url: str,
    form: Mapping[str, str] | None = None,
    credentials: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """The JSON object at an address; with a form, what is answered to it.

    Raises:
        NotThere: it is not to be had. The text has nothing that was sent or received.
    """
    try:
        async with (
            asyncio.timeout(_SECONDS),
            httpx2.AsyncClient(
                verify=_trusted(), timeout=_SECONDS, follow_redirects=False
            ) as client,
            client.stream(
                "GET" if form is None else "POST",
                url,
                data=form,
                auth=credentials,
                headers={"accept": "application/json"},
            ) as response,
        ):
            if response.status_code != 200:
                raise NotThere(f"{url} answers {response.status_code}")
            body = bytearray()
            async for part in response.aiter_bytes():
                body += part
                if len(body) > _MOST_BYTES:
                    raise NotThere(f"{url} answers more than {_MOST_BYTES} bytes")
    except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise NotThere(f"{url} cannot be reached: {type(error).__name__}") from None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise NotThere(f"{url} answers no JSON object")
    return value
