"""`check_system_health`: does everything answer."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from sqlalchemy import literal, select

from toolcast_runtime import ToolError

from .letta_server import ren
from .pools import main_pool, memory_pool

__all__ = ["check_system_health"]

ANSWER_SECONDS = 5.0


def check_system_health() -> dict[str, Any]:
    """A sign of life of both databases and of Letta."""
    checks = [
        _check("main", _main),
        _check("memory", _memory),
        _check("letta", _letta),
    ]
    is_ok = all(check["ok"] for check in checks)
    return {"status": "ok" if is_ok else "degraded", "checks": checks}


def _check(name: str, ask: Callable[[], str]) -> dict[str, Any]:
    start = perf_counter()
    try:
        detail, ok = ask(), True
    except ToolError as error:
        detail, ok = str(error), False
    milliseconds = round((perf_counter() - start) * 1000, 1)
    return {"name": name, "ok": ok, "detail": detail, "milliseconds": milliseconds}


def _main() -> str:
    with main_pool() as connection:
        connection.execute(select(literal(1)))
        return connection.dialect.name


def _memory() -> str:
    with memory_pool() as connection:
        connection.execute(select(literal(1)))
        return connection.dialect.name


def _letta() -> str:
    with ren(ANSWER_SECONDS) as agent:
        return f"version {agent.client.health().version}"
