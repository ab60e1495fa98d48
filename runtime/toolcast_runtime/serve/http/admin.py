"""Paths for administrators, behind a token of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class AdminRequest:
    """What an administrator asks.

    Attributes:
        body: the request's JSON; None when its body is empty.
    """

    body: Any = None


@dataclass(frozen=True, slots=True)
class AdminAnswer:
    """What an administrator gets: a JSON value and the status."""

    value: Any
    status: int = 200


@dataclass(frozen=True, slots=True)
class AdminRoute:
    """One path for administrators.

    Attributes:
        method: the HTTP method.
        path: the whole path.
        answer: does the work. The text of what it raises stays in the log.
    """

    method: str
    path: str
    answer: Callable[[AdminRequest], Awaitable[AdminAnswer]] = field(repr=False)
