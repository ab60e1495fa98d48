"""The exception for error answers of the fake server."""

from __future__ import annotations

from typing import Any

__all__ = ["RequestRefusedError"]


class RequestRefusedError(Exception):
    """Raised to answer a request with a status other than 200."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.body = (
            detail
            if isinstance(detail, dict) and list(detail) == ["error"]
            else {"detail": detail}
        )
