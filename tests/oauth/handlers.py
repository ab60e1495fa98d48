"""Tools that tell who asks, and one that needs a permission."""

from toolcast_runtime import current_call

__all__ = ["refund", "who"]


def who() -> dict[str, object]:
    call = current_call()
    return {"user": call.user, "issuer": call.claims.get("iss")}


def refund() -> str:
    return f"refunded for {current_call().user}"
