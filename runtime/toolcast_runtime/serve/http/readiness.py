"""`/ready`: whether calls that come now would be answered as they should.

A balancer sends nothing to a process that is not ready; `/health` tells whether it has to be
started again, which helps against none of what is looked at here.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from ..mcp.toolset_server import ToolsetServer

_logger = logging.getLogger("toolcast.http")

_BETWEEN = 1.0
"""Seconds between two looks, however often and by whomever it is asked."""

_PATIENCE = 5.0
"""Seconds that a look may take before its answer is no."""


class Readiness:
    """Looks at what calls need, and answers `/ready`.

    Strangers may ask, so that names and reasons are in the log alone.

    Args:
        server: whose calls.
    """

    def __init__(self, server: ToolsetServer) -> None:
        self._server = server
        self._unimported = 0
        self._look: asyncio.Task[str] | None = None
        self._since = 0.0
        self._told = ""

    def import_handlers(self) -> None:
        """Imports them all before the first call; what cannot be imported is logged."""
        failed = self._server.import_handlers()
        self._unimported = len(failed)
        for name, error in failed.items():
            _logger.error(
                "not ready: the handler of %s cannot be imported", name, exc_info=error
            )

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """200 with `ready`, or 503 with `not ready` and which of them fails."""
        now = asyncio.get_running_loop().time()
        look = self._look
        if look is None or (look.done() and now - self._since > _BETWEEN):
            self._since = now
            look = self._look = asyncio.create_task(self._problem_with_ledger())
        await asyncio.wait({look}, timeout=_PATIENCE)
        late = f"the ledger has not answered within {_PATIENCE:g} s"
        found = self._found(look.result() if look.done() else late)
        is_ready = "failed" not in found.values()
        value = {"status": "ready" if is_ready else "not ready", **found}
        fresh = {"cache-control": "no-store"}
        response = JSONResponse(value, 200 if is_ready else 503, fresh)
        await response(scope, receive, send)

    async def _problem_with_ledger(self) -> str:
        """Why records cannot be written; empty when they can."""
        try:
            for one in self._server.toolsets:
                await one.registry.at_start().check_ledger()
        except Exception as error:  # LedgerError, or what a driver raises besides
            cause = f": {error.__cause__}" if error.__cause__ else ""
            return f"{error}{cause}"
        return ""

    def _found(self, problem: str) -> dict[str, Any]:
        """What is told, and logged when it has changed; `problem` is the ledger's."""
        starts = [one.registry.at_start() for one in self._server.toolsets]
        is_up = all(one.is_lifespan_up for one in starts)
        reason = problem if is_up else "the lifespan does not run"
        if reason != self._told:
            self._told = reason
            (
                _logger.warning("not ready: %s", reason)
                if reason
                else _logger.info("ready")
            )
        return {
            "handlers": "failed" if self._unimported else "ok",
            "lifespan": "ok" if is_up else "failed",
            "ledger": "failed" if problem else "ok",
            # Without one its tools are left out; another process would not have it either.
            "external_servers": Counter(
                state for one in starts for state in one.servers().values()
            ),
        }
