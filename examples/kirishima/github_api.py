"""Client of the parts of GitHub's REST API that concern issues."""

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

from .web import Service, parse_json

__all__ = ["Repository", "open_repository"]

DEFAULT_URL = "https://api.github.com"
RESPONSE_TIMEOUT_S = 15.0
REPOSITORY = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*/(?!\.{1,2}$)[A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository with an open HTTP client."""

    client: httpx.AsyncClient
    path: str

    async def get(self, tail: str) -> Any:
        """Return the resource at a path below the repository."""
        return _parse_response(await self.client.get(self.path + tail))

    async def post(self, tail: str, body: Mapping[str, Any]) -> Any:
        """Create a resource and return GitHub's response."""
        return _parse_response(await self.client.post(self.path + tail, json=body))

    async def patch(self, tail: str, body: Mapping[str, Any]) -> Any:
        """Update a resource and return it."""
        return _parse_response(await self.client.patch(self.path + tail, json=body))

    async def get_page(
        self, tail: str, query: Mapping[str, str], *, number: int, size: int
    ) -> tuple[list[Any], bool]:
        """Return a page of a list and whether there are more; the first page is 1."""
        parameters = {**query, "per_page": str(size), "page": str(number)}
        response = await self.client.get(self.path + tail, params=parameters)
        items = _parse_response(response)
        if not isinstance(items, list):
            raise ToolError("GitHub's response is not a list.")
        return items, "next" in response.links


@asynccontextmanager
async def open_repository(*, write: bool) -> AsyncIterator[Repository]:
    """Open the repository that the environment variables configure.

    Raises:
        ToolError: GITHUB_REPOSITORY is unset or invalid, GITHUB_TOKEN is unset and
            `write` needs it, or a request in the block fails.
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
        response_timeout_s=RESPONSE_TIMEOUT_S,
    )
    async with service.open_client() as client:
        yield Repository(client, f"/repos/{name}")


def _parse_response(response: httpx.Response) -> Any:
    if response.is_success:
        return parse_json(response, "GitHub")
    raise ToolError(_describe_error(response))


def _describe_error(response: httpx.Response) -> str:
    """Return the reason for an error response, and how to fix it."""
    status = response.status_code
    limited = _describe_rate_limit(response)
    if limited is not None:
        return limited
    if status == 401:
        return "GitHub does not accept the token. GITHUB_TOKEN needs a valid one."
    if status == 403:
        return f"The token lacks permission: {_extract_message(response)}"
    if status == 404:
        return (
            "The issue or repository does not exist, or the token cannot read it. "
            "Check the number with `list`."
        )
    if status == 410:
        return f"The resource was removed: {_extract_message(response)}"
    if status == 422:
        return f"GitHub rejected the values: {_extract_message(response)}"
    if 300 <= status < 400:
        return "The repository has moved: GITHUB_REPOSITORY needs its new name."
    if status >= 500:
        return f"GitHub failed (status {status}). Try again later."
    return (
        f"GitHub rejected the request (status {status}): {_extract_message(response)}"
    )


def _describe_rate_limit(response: httpx.Response) -> str | None:
    """Return a message if the response reports a rate limit, else None."""
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


def _extract_message(response: httpx.Response) -> str:
    """Return GitHub's error message, with the invalid fields."""
    try:
        body = response.json()
    except ValueError:
        return "no reason was reported."
    if not isinstance(body, dict):
        return "no reason was reported."
    messages = [str(body.get("message", "no reason was reported"))]
    errors = body.get("errors")
    for error in errors if isinstance(errors, list) else []:
        if isinstance(error, dict):
            parts = (error.get(key) for key in ("field", "code", "message", "value"))
            messages.append(" ".join(str(part) for part in parts if part is not None))
        else:
            messages.append(str(error))
    return "; ".join(messages)[:1000]
