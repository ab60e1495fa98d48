"""The `smarthome` tool: requests in plain words to Home Assistant."""

from __future__ import annotations

import os
from typing import Any

import httpx

from toolcast_runtime import ToolError

from .arguments import clean_text
from .web import Service, json_body

__all__ = ["smarthome"]

# An assistant that asks a language model first may think for a while.
ANSWER_SECONDS = 40.0


async def smarthome(*, user_request: str, device: str | None = None) -> dict[str, Any]:
    """Have Home Assistant's conversation agent carry out one request.

    Raises:
        ToolError: Home Assistant is not configured, unreachable, or did not understand
            or could not do what was asked. It never holds the token.
    """
    sentence = _sentence(user_request, device)
    async with _service().client() as client:
        response = await client.post(
            "/api/conversation/process", json={"text": sentence}
        )
        if not response.is_success:
            raise ToolError(_explanation(response))
        return _outcome(json_body(response, "Home Assistant"))


def _sentence(user_request: str, device: str | None) -> str:
    """The request, with the device at its end unless it names it already."""
    request = clean_text(user_request, "user_request")
    if device is None:
        return request
    name = clean_text(device, "device")
    if name.casefold() in request.casefold():
        return request
    return f"{request.rstrip('.!?')} {name}"


def _service() -> Service:
    url = os.environ.get("HOME_ASSISTANT_URL", "").strip()
    token = os.environ.get("HOME_ASSISTANT_TOKEN", "").strip()
    for variable, value in (
        ("HOME_ASSISTANT_URL", url),
        ("HOME_ASSISTANT_TOKEN", token),
    ):
        if not value:
            raise ToolError(f"The house is not connected: {variable} is unset.")
    return Service(
        name="Home Assistant",
        url=url,
        url_variable="HOME_ASSISTANT_URL",
        token=token,
        token_variable="HOME_ASSISTANT_TOKEN",
        answer_seconds=ANSWER_SECONDS,
    )


def _explanation(response: httpx.Response) -> str:
    """Why Home Assistant refused, and what to do about it."""
    status = response.status_code
    if status in (401, 403):
        return (
            "Home Assistant does not accept the token. HOME_ASSISTANT_TOKEN needs a "
            "long-lived access token."
        )
    if status == 404:
        return (
            "There is no conversation API at HOME_ASSISTANT_URL. Check the address and "
            "that the conversation integration is on."
        )
    if status >= 500:
        return f"Home Assistant has a problem of its own (status {status})."
    return f"Home Assistant refuses the request (status {status})."


def _outcome(answer: Any) -> dict[str, Any]:
    """What the house did or said.

    Raises:
        ToolError: it did neither, in its own words.
    """
    try:
        response = answer["response"]
        kind = response["response_type"]
        data = response.get("data") or {}
        speech = _speech(response)
        if kind == "error":
            code = data.get("code", "unknown")
            raise ToolError(f"The house could not do it ({code}): {speech}")
        if kind not in ("action_done", "query_answer"):
            raise ToolError("Home Assistant answered with something unknown.")
        return {
            "speech": speech,
            "kind": kind,
            "succeeded": [target["name"] for target in data.get("success") or []],
            "failed": [target["name"] for target in data.get("failed") or []],
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise ToolError("Home Assistant answered with something unknown.") from error


def _speech(response: Any) -> str:
    """What the house says; silent intents say nothing."""
    plain = (response.get("speech") or {}).get("plain") or {}
    return str(plain.get("speech", ""))
