"""One log line a call: which tool, for whom, what came of it and how long it took.

Nothing of arguments and results. Where the program is somebody else's, that sees it who has
set up logging for `toolcast.calls`, or a logger above it.
"""

from __future__ import annotations

import logging
import re
import time
from typing import TYPE_CHECKING

from ..calls.untrusted_text import escaped

if TYPE_CHECKING:
    from ..access.caller import Caller

__all__ = ["log_call"]

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
    fields = {
        "tool": None if tool is None else _shown(tool),
        "client": None if client is None else _shown(client),
        "user": None if caller.user is None else _shown(caller.user),
        "outcome": outcome,
        "seconds": seconds,
        "request_id": None if request is None else _shown(str(request)),
    }
    line = " ".join(
        f"{name}={_quoted(value)}"
        for name, value in fields.items()
        if value is not None
    )
    _logger.info(line, extra=fields)


def _shown(text: str) -> str:
    """A text from outside, on one line and short; equal texts stay equal."""
    is_safe = len(text) <= _MOST_SHOWN and _is_plain(text)
    return text if is_safe else escaped(text, _MOST_SHOWN)


def _quoted(value: str | float) -> str:
    """A value that ends where it seems to end."""
    if isinstance(value, float):
        return f"{value:.6f}"
    return value if _is_plain(value) else '"' + value.replace('"', '\\"') + '"'
