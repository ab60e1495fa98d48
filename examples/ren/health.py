"""Handler of check_system_health."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from sqlalchemy import literal, select

from toolcast_runtime import ToolError

from .letta_server import connect_to_ren
from .pools import main_pool, memory_pool

__all__ = ["check_system_health"]

RESPONSE_TIMEOUT_S = 5.0


def check_system_health() -> dict[str, Any]:
    """Check the connections to both databases and to Letta."""
    checks = [
        _run_check("main", _check_main_pool),
        _run_check("memory", _check_memory_pool),
        _run_check("letta", _check_letta),
    ]
    is_ok = all(check["ok"] for check in checks)
    return {"status": "ok" if is_ok else "degraded", "checks": checks}


def _run_check(name: str, ask: Callable[[], str]) -> dict[str, Any]:
    start = perf_counter()
    try:
        detail, ok = ask(), True
    except ToolError as error:
        detail, ok = str(error), False
    milliseconds = round((perf_counter() - start) * 1000, 1)
    return {"name": name, "ok": ok, "detail": detail, "milliseconds": milliseconds}


def _check_main_pool() -> str:
    with main_pool() as connection:
        connection.execute(select(literal(1)))
        return connection.dialect.name


def _check_memory_pool() -> str:
    with memory_pool() as connection:
        connection.execute(select(literal(1)))
        return connection.dialect.name


def _check_letta() -> str:
    with connect_to_ren(RESPONSE_TIMEOUT_S) as agent:
        return f"version {agent.client.health().version}"
