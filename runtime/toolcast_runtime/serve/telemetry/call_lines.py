"""One log line a call: which tool, for whom, what came of it and how long it took.

Nothing of arguments and results. Where the program is somebody else's, that sees it who has
set up logging for `toolcast.calls`, or a logger above it.
"""

from __future__ import annotations

import logging
import re
import time
from typing import TYPE_CHECKING

from ...core.calls.untrusted_text import escaped

if TYPE_CHECKING:
    from ...core.context import Caller

_logger = logging.getLogger("toolcast.calls")
_MOST_SHOWN = 128
_is_plain = re.compile(r"[\w.:@/+-]+", re.ASCII).fullmatch


def log_call(
    tool: str | None,
    outcome: str,
    started: float,
    client: str | None,
    caller: Caller,
) -> None:
    """Writes the line of a call that has ended, whatever came of it.

    Args:
        tool: its name; None when there is no such tool.
        outcome: as the ledger has it, or `refused`: it is not there for this caller.
        started: when the call began, by `time.perf_counter`.
        client: who calls.
        caller: who asks, and with which request.
    """
    if not _logger.isEnabledFor(logging.INFO):
        return
    seconds = round(time.perf_counter() - started, 6)
    request = caller.request_id
    fields: dict[str, str | float | None] = {
        "tool": tool,
        "client": client,
        "user": caller.user,
        "outcome": outcome,
        "seconds": seconds,
        "request_id": None if request is None else str(request),
    }
    line = []
    for name, value in fields.items():
        if isinstance(value, str):
            if len(value) > _MOST_SHOWN or not _is_plain(value):
                fields[name] = value = escaped(value, _MOST_SHOWN)
                if not _is_plain(value):
                    value = '"' + value.replace('"', '\\"') + '"'
            line.append(f"{name}={value}")
        elif value is not None:
            line.append(f"{name}={value:.6f}")
    # Each call has one, and `info` would look for the line of code that it is called from.
    told = (_logger.name, logging.INFO, __file__, 0, " ".join(line), (), None)
    record = logging.getLogRecordFactory()(*told)
    vars(record).update(fields)
    _logger.handle(record)
