"""Handlers that return the caller, a confirmation of a payment, or a link."""

from __future__ import annotations

from toolcast_runtime import ToolResponse, current_call, link

__all__ = ["pay", "refund", "report", "who"]


def who() -> dict[str, object]:
    call = current_call()
    return {"user": call.user, "issuer": call.claims.get("iss")}


def refund() -> str:
    return f"refunded for {current_call().user}"


def pay() -> str:
    return f"paid for {current_call().user}"


def report() -> ToolResponse:
    return ToolResponse(content=[link("a.txt", content=f"of {current_call().user}")])
