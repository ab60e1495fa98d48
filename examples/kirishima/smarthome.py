"""Handler of smarthome: natural-language requests to Home Assistant."""

from __future__ import annotations

import os
from typing import Any

import httpx

from toolcast_runtime import ToolError

from .arguments import clean_text
from .web import Service, parse_json

__all__ = ["smarthome"]

# Conversation agents that query a language model can take long.
RESPONSE_TIMEOUT_S = 40.0


async def smarthome(*, user_request: str, device: str | None = None) -> dict[str, Any]:
    """Send a request to Home Assistant's conversation agent and return the outcome.

    Raises:
        ToolError: Home Assistant is not configured or not reachable, or did not carry
            out the request. The message never contains the token.
    """
    sentence = _build_sentence(user_request, device)
    async with _build_service().open_client() as client:
        response = await client.post(
            "/api/conversation/process", json={"text": sentence}
        )
        if not response.is_success:
            raise ToolError(_describe_error(response))
        return _parse_outcome(parse_json(response, "Home Assistant"))


def _build_sentence(user_request: str, device: str | None) -> str:
    """Return the request, with the device appended unless the request contains it."""
    request = clean_text(user_request, "user_request")
    if device is None:
        return request
    name = clean_text(device, "device")
    if name.casefold() in request.casefold():
        return request
    return f"{request.rstrip('.!?')} {name}"


def _build_service() -> Service:
    url = os.environ.get("HOME_ASSISTANT_URL", "").strip()
    token = os.environ.get("HOME_ASSISTANT_TOKEN", "").strip()
    for variable, value in (
        ("HOME_ASSISTANT_URL", url),
        ("HOME_ASSISTANT_TOKEN", token),
    ):
        if not value:
            raise ToolError(f"Home Assistant is not configured: {variable} is unset.")
    return Service(
        name="Home Assistant",
        url=url,
        url_variable="HOME_ASSISTANT_URL",
        token=token,
        token_variable="HOME_ASSISTANT_TOKEN",
        response_timeout_s=RESPONSE_TIMEOUT_S,
    )


def _describe_error(response: httpx.Response) -> str:
    """Return the reason for an error response, and how to fix it."""
    status = response.status_code
    if status in (401, 403):
        return (
            "Home Assistant does not accept the token. HOME_ASSISTANT_TOKEN needs a "
            "long-lived access token."
        )
    if status == 404:
        return (
            "There is no conversation API at HOME_ASSISTANT_URL. Check the URL and "
            "enable the conversation integration."
        )
    if status >= 500:
        return f"Home Assistant failed (status {status})."
    return f"Home Assistant rejected the request (status {status})."


def _parse_outcome(answer: Any) -> dict[str, Any]:
    """Return the outcome of a request from Home Assistant's response.

    Raises:
        ToolError: the response is an error or is not valid.
    """
    try:
        response = answer["response"]
        kind = response["response_type"]
        data = response.get("data") or {}
        speech = _get_speech(response)
        if kind == "error":
            code = data.get("code", "unknown")
            raise ToolError(f"Home Assistant could not do this ({code}): {speech}")
        if kind not in ("action_done", "query_answer"):
            raise ToolError("Home Assistant returned an invalid response.")
        return {
            "speech": speech,
            "kind": kind,
            "succeeded": [target["name"] for target in data.get("success") or []],
            "failed": [target["name"] for target in data.get("failed") or []],
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise ToolError("Home Assistant returned an invalid response.") from error


def _get_speech(response: Any) -> str:
    """Return the spoken response, which can be empty."""
    plain = (response.get("speech") or {}).get("plain") or {}
    return str(plain.get("speech", ""))
