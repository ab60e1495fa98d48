"""GitHub's REST API, as far as issues need it."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx
from whenever import Instant

from toolcast_runtime import ToolError

from .web import Service, json_body

__all__ = ["Repository", "open_repository"]

DEFAULT_URL = "https://api.github.com"
ANSWER_SECONDS = 15.0
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/(?!\.{1,2}$)[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Repository:
    """One repository, reached through an open client."""

    client: httpx.AsyncClient
    path: str

    async def get(self, tail: str) -> Any:
        """The resource at that path below the repository."""
        return _value(await self.client.get(self.path + tail))

    async def post(self, tail: str, body: Mapping[str, Any]) -> Any:
        """What GitHub made of the body."""
        return _value(await self.client.post(self.path + tail, json=body))

    async def patch(self, tail: str, body: Mapping[str, Any]) -> Any:
        """The resource after the change."""
        return _value(await self.client.patch(self.path + tail, json=body))

    async def page(
        self, tail: str, query: Mapping[str, str], *, number: int, size: int
    ) -> tuple[list[Any], bool]:
        """One page of a list, 1 being the first, and whether another follows."""
        asked = {**query, "per_page": str(size), "page": str(number)}
        response = await self.client.get(self.path + tail, params=asked)
        items = _value(response)
        if not isinstance(items, list):
            raise ToolError("GitHub answered with something that is not a list.")
        return items, "next" in response.links


@asynccontextmanager
async def open_repository(*, write: bool) -> AsyncIterator[Repository]:
    """The repository that the environment names.

    Raises:
        ToolError: GITHUB_REPOSITORY is unset or wrong, or there is no GITHUB_TOKEN for
            writing; leaving the block, any failure of the connection.
    """
    name = os.environ.get("GITHUB_REPOSITORY", "").strip()
    if not name:
        raise ToolError("No repository is configured: GITHUB_REPOSITORY is unset.")
    if REPOSITORY.fullmatch(name) is None:
        raise ToolError(f"GITHUB_REPOSITORY must be owner/name, not {name!r}.")
    token = os.environ.get("GITHUB_TOKEN", "").strip() or None
    if write and token is None:
        raise ToolError("Writing needs a token: GITHUB_TOKEN is unset.")
    service = Service(
        name="GitHub",
        url=os.environ.get("GITHUB_API_URL", "").strip() or DEFAULT_URL,
        url_variable="GITHUB_API_URL",
        token=token,
        token_variable="GITHUB_TOKEN",
        headers={
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
            "User-Agent": "kirishima",
        },
        answer_seconds=ANSWER_SECONDS,
    )
    async with service.client() as client:
        yield Repository(client, f"/repos/{name}")


def _value(response: httpx.Response) -> Any:
    if response.is_success:
        return json_body(response, "GitHub")
    raise ToolError(_explanation(response))


def _explanation(response: httpx.Response) -> str:
    """Why GitHub refused, and what to do about it."""
    status = response.status_code
    limited = _rate_limit(response)
    if limited is not None:
        return limited
    if status == 401:
        return "GitHub does not accept the token. GITHUB_TOKEN needs a valid one."
    if status == 403:
        return f"GitHub does not allow this to the token's owner: {_message(response)}"
    if status == 404:
        return (
            "GitHub knows no such issue or repository, or the token may not see it. "
            "Check the number with `list`."
        )
    if status == 410:
        return f"GitHub says that it is gone: {_message(response)}"
    if status == 422:
        return f"GitHub refuses the values: {_message(response)}"
    if 300 <= status < 400:
        return "The repository has moved: GITHUB_REPOSITORY needs its new name."
    if status >= 500:
        return f"GitHub has a problem of its own (status {status}). Try again later."
    return f"GitHub refuses the request (status {status}): {_message(response)}"


def _rate_limit(response: httpx.Response) -> str | None:
    """The explanation of a rate limit, if that is what the response is about."""
    headers = response.headers
    exhausted = headers.get("x-ratelimit-remaining") == "0"
    limited = response.status_code == 429 or (
        response.status_code == 403 and (exhausted or "retry-after" in headers)
    )
    if not limited:
        return None
    wait = headers.get("retry-after", "")
    if wait.isascii() and wait.isdigit():
        return f"GitHub's rate limit is reached. Try again in {wait} seconds."
    reset = headers.get("x-ratelimit-reset", "")
    if reset.isascii() and reset.isdigit() and len(reset) <= 10:
        until = Instant.from_timestamp(int(reset)).format_iso()
        return f"GitHub's rate limit is reached. Try again after {until}."
    return "GitHub's rate limit is reached. Try again later."


def _message(response: httpx.Response) -> str:
    """GitHub's own words, with the fields that it finds fault with."""
    try:
        body = response.json()
    except ValueError:
        return "it gave no reason."
    if not isinstance(body, dict):
        return "it gave no reason."
    words = [str(body.get("message", "it gave no reason"))]
    errors = body.get("errors")
    for error in errors if isinstance(errors, list) else []:
        if isinstance(error, dict):
            parts = (error.get(key) for key in ("field", "code", "message", "value"))
            words.append(" ".join(str(part) for part in parts if part is not None))
        else:
            words.append(str(error))
    return "; ".join(words)[:1000]
