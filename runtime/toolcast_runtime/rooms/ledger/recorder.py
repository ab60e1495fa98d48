"""Records calls in the ledger: before they start, and however they end.

Closed: a call whose start cannot be recorded does not happen. When its end cannot be, what
it did is done: the caller gets the answer, and the log says loudly what is missing.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from ...core.context import CallContext, CallOutcome, ToolResponse
from ...core.definitions.tool import Tool
from ...core.toolset_settings import LedgerError, LedgerSettings
from ...core.validation.json_bounds import measure
from .ledger import open_ledger
from .record import Ledger, Record
from .secret_arguments import Redaction

_logger = logging.getLogger("toolcast.ledger")

Answered = tuple[ToolResponse, CallOutcome]


class Recorder:
    """Records the calls of a toolset's persistent tools.

    Args:
        settings: where records go; None when it has none, and then calls of
            persistent tools are refused.
        package: the package that has to define the settings' function.
    """

    def __init__(
        self, settings: LedgerSettings | None, package: str | None = None
    ) -> None:
        self._settings = settings
        self._package = package
        self._ledger: Ledger | None = None
        self._redactions: dict[str, tuple[Any, Redaction]] = {}

    async def record(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
        work: Callable[[], Awaitable[Answered]],
    ) -> Answered:
        """Does the work of a call, and records it."""
        if self._settings is None:
            _logger.error("tool %s is persistent, and there is no ledger", tool.name)
            return _unrecorded()
        try:
            ledger = self._opened(self._settings)
        except LedgerError:
            _logger.exception("a call of %s is refused", tool.name)
            return _unrecorded()
        if self._settings.keep is not None:
            from .keeping import keep_no_longer

            keep_no_longer(self._settings)
        record = Record(
            id=_number(),
            toolset=self._settings.toolset,
            tool=tool.name,
            client=context.client,
            started=datetime.now(UTC).isoformat(timespec="microseconds"),
            arguments=self._recordable(tool, arguments),
            user=context.user,
        )
        started = time.perf_counter()

        def ended(response: ToolResponse, outcome: CallOutcome) -> Record:
            return Record(
                record.id,
                record.toolset,
                record.tool,
                record.client,
                record.started,
                record.arguments,
                outcome=outcome,
                result=_result(response),
                error=response.error,
                seconds=round(time.perf_counter() - started, 6),
                user=record.user,
            )

        try:
            await ledger.write(record)
        except LedgerError:
            _logger.exception("call %s of %s is refused", record.id, tool.name)
            return _unrecorded()
        except asyncio.CancelledError:
            ledger.write_soon(ended(ToolResponse(error="cancelled"), "cancelled"))
            raise
        try:
            response, outcome = await work()
        except BaseException:
            ledger.write_soon(ended(ToolResponse(error="cancelled"), "cancelled"))
            raise
        try:
            await ledger.write(ended(response, outcome))
        except LedgerError:
            _logger.exception(
                "the end of call %s of %s is not recorded", record.id, tool.name
            )
        return response, outcome

    async def check(self) -> None:
        """Returns when calls can be recorded.

        Raises:
            LedgerError: they cannot.
        """
        if self._settings is None:
            raise LedgerError("tools are persistent, and there is no ledger")
        await self._opened(self._settings).check()

    async def close(self) -> None:
        """Returns when everything is recorded."""
        if self._ledger is not None:
            await self._ledger.close()
        if self._settings is not None and self._settings.keep is not None:
            from .keeping import stop

            await asyncio.to_thread(stop, self._settings)

    def _opened(self, settings: LedgerSettings) -> Ledger:
        if self._ledger is None:
            self._ledger = open_ledger(settings, self._package)
        return self._ledger

    def _recordable(self, tool: Tool, arguments: Any) -> Any:
        if measure(arguments).problem is not None:
            return None
        schema, redaction = self._redactions.get(tool.name, (None, None))
        if redaction is None or schema is not tool.parameters:
            redaction = Redaction(tool.parameters)
            self._redactions[tool.name] = tool.parameters, redaction
        return redaction.of(arguments)


def _number() -> str:
    """The id of a call that begins now: nobody has it, and it comes after earlier ones.

    A file that is in the order of its ids is written at its end then, and not all over.
    """
    return f"{time.time_ns():016x}{random.getrandbits(64):016x}"


def _unrecorded() -> Answered:
    text = (
        "the tool is not available: its calls must be recorded, and the ledger cannot be"
        " written; the log says why"
    )
    return ToolResponse(error=text), "error"


def _result(response: ToolResponse) -> Any:
    if response.result is None and response.content is not None:
        content = [dict(block) for block in response.content]
        return {"content": content} if measure(content).problem is None else None
    return response.result
