"""One external MCP server: connected at the first use, kept, and connected again.

Everything here runs in the background loop. A server that is down, slow or broken
costs its own tools: each step has a deadline, and what goes wrong ends in `down`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..core.calls.tool_validators import Validators
from ..core.calls.untrusted_text import (
    escape_controls,
    escape_excerpt,
    redact_text,
    redact_value,
)
from ..core.context import ToolResponse
from ..core.definitions.tool import ServerState, Tool
from ..core.server_settings import (
    ExternalServer,
    MissingVariableError,
    ResolvedServer,
    resolve_server,
)
from ..core.validation.limits import measure_value
from .listing import Listing, Lock, changed_besides, held, take_tools

if TYPE_CHECKING:
    from mcp.shared.dispatcher import ProgressFnT

    from ..core.context import Report
    from .session import Session

_logger = logging.getLogger("toolcast")

_FIRST_DELAY = 0.5
_MAX_RECONNECT_DELAY_S = 60.0
"""Time between two attempts to connect."""
_STEADY_SECONDS = 30.0
_REFRESH_SECONDS = 300.0
_LIST_INTERVAL_S = 1.0
"""Time between two requests for the server's list."""
_MAX_NAMES_SHOWN = 10
"""Names or lines in a log message."""
_MAX_ERROR_CHARACTERS = 4_000
"""Characters of an error that are passed to the caller."""
_MAX_REPORT_CHARACTERS = 4_000
"""Characters of a progress message that are read; fewer are passed on."""


@dataclass(frozen=True, slots=True)
class _Offer:
    """What is offered of a server at present."""

    listing: Listing
    validators: Validators


class Connection:
    """The connection to one server.

    Args:
        server: which, and what is taken from it.
        reserved: the names of local tools, which win.
        on_change: is called in the loop whenever the offered tools are others.
        lock: what was reviewed of a server that is locked.
    """

    def __init__(
        self,
        server: ExternalServer,
        reserved: frozenset[str],
        on_change: Callable[[], None],
        lock: Lock | None = None,
    ) -> None:
        self.server = server
        self._lock = lock
        self._reserved_names = reserved
        self._on_change = on_change
        self._offer: _Offer | None = None
        self._session: Session | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._decided = asyncio.Event()
        self._resolved = ResolvedServer()
        self._seen: dict[str, Tool] = {}
        self._told: dict[str, tuple[str, ...]] = {}
        self._count = 0

    @property
    def tools(self) -> Mapping[str, Tool]:
        """What it offers now, by the names that callers use; nothing while it is down."""
        return {} if self._offer is None else self._offer.listing.tools

    @property
    def names_seen(self) -> frozenset[str]:
        """Every name that was its own: another server does not get one while it is down."""
        return frozenset(self._seen)

    @property
    def is_decided(self) -> bool:
        """Whether the first attempt is over, with or without tools."""
        return self._decided.is_set()

    @property
    def state(self) -> ServerState:
        """How the server is reached now."""
        if self._session is not None:
            return "up"
        return "down" if self.is_decided else "unused"

    async def decided(self) -> None:
        """Starts the connection if nobody has, and waits until it is up or down."""
        if self._keeper is None:
            self._keeper = asyncio.ensure_future(self._keep())
        await self._decided.wait()

    async def call(
        self, name: str, arguments: Mapping[str, Any], report: Report | None
    ) -> ToolResponse:
        """Calls a tool by the name that callers use, within the server's `call_timeout`.

        Args:
            name: the tool's.
            arguments: of the call.
            report: is told how far the server is; None when nobody asked.
        """
        server = self.server
        try:
            async with asyncio.timeout(server.call_timeout):
                return await self._call(name, arguments, report)
        except TimeoutError:
            _logger.warning(
                "external server %s: no answer to a call of %s within %g s",
                server.name,
                name,
                server.call_timeout,
            )
            return ToolResponse(
                error=f"the tool did not answer within {server.call_timeout:g} s"
            )

    async def call_own(
        self, own: str, arguments: Mapping[str, Any], report: Report | None
    ) -> ToolResponse:
        """Calls a tool by the server's own name. Its caller keeps the time and checks.

        A refusal of the server is an answer, too.
        """
        await self.decided()
        if self._session is None:
            return self._unreachable()
        from .session import RequestRefusedError

        try:
            told = None if report is None else self._passed_on(report)
            answer = await self._session.call(own, arguments, told)
        except RequestRefusedError as refused:
            words = escape_controls(self._cleaned(str(refused)))
            return ToolResponse(error=words[:_MAX_ERROR_CHARACTERS])
        return _response(answer, self._resolved.secrets)

    async def close(self) -> None:
        """Ends the connection and the server's process. It may be used again."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
            await asyncio.wait({keeper})
        self._offer = self._session = None
        self._decided.clear()

    async def _call(
        self, name: str, arguments: Mapping[str, Any], report: Report | None
    ) -> ToolResponse:
        await self.decided()
        offer = self._offer
        if offer is None:
            return self._unreachable()
        tool = offer.listing.tools.get(name)
        if tool is None:
            return ToolResponse(error=f"unknown tool `{name}`")
        problems = offer.validators.check_arguments(tool, arguments)
        if problems:
            lines = "".join(f"\n- {problem}" for problem in problems)
            return ToolResponse(
                error=f"the arguments of `{name}` are not valid:{lines}"
            )
        own = offer.listing.own_names[name]
        response = await self.call_own(own, arguments, report)
        if response.error is None and tool.returns is not None:
            problems = offer.validators.check_result(tool, response.result)
            if problems:
                text = escape_excerpt(self._cleaned("; ".join(problems)))
                self._log(logging.WARNING, f"the result of {name}: {text}")
                mismatch = "the tool's result does not match its declared schema"
                return ToolResponse(error=mismatch)
        return response

    def _unreachable(self) -> ToolResponse:
        where = f"the external server `{self.server.name}`"
        return ToolResponse(error=f"{where} of this tool cannot be reached now")

    async def _keep(self) -> None:
        """Connects, and again when the connection is lost, with growing pauses."""
        longest = _FIRST_DELAY
        loop = asyncio.get_running_loop()
        while True:
            begin = loop.time()
            reason = await self._connected()
            was_steady = loop.time() - begin > _STEADY_SECONDS
            longest = (
                _FIRST_DELAY if was_steady else min(_MAX_RECONNECT_DELAY_S, longest * 2)
            )
            delay = longest * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
            self._down(reason, delay)
            await asyncio.sleep(delay)

    async def _connected(self) -> str:
        """Connects and stays so; gives the reason why it is over."""
        # The SDK takes a second to import, in which others need the loop.
        await asyncio.to_thread(import_module, f"{__package__}.session")
        from .session import RequestRefusedError, opened_session

        try:
            self._resolved = resolve_server(self.server, os.environ)
            async with opened_session(self.server, self._resolved) as session:
                await self._up(session)
                while not session.is_lost:
                    await session.changed(_REFRESH_SECONDS)
                    if not session.is_lost:
                        await self._up(session)
                        await asyncio.sleep(_LIST_INTERVAL_S)
                # Before the rest is cleared away, which may take a moment.
                self._offer = self._session = None
                self._on_change()
                return session.why_lost()
        except (MissingVariableError, RequestRefusedError) as error:
            return str(error)
        except TimeoutError as error:
            return str(error) or "it took too long"
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            self._session = None

    async def _up(self, session: Session) -> None:
        """Lists the tools and offers them; those of a proxied server are specs already."""
        if self.server.is_proxied:
            self._session = session
            self._decided.set()
            return
        definitions: Sequence[Mapping[str, Any]] = await session.list_tools()
        if self.server.is_locked:
            definitions = self._held_to_lock(definitions)
        listing = take_tools(self.server, definitions, self._reserved_names)
        before = self._offer
        self._offer = _Offer(listing, Validators())
        self._count = len(listing.tools)
        self._session = session
        if before is None:
            self._log(logging.INFO, f"connected; it offers {self._count} tools")
        self._tell_what_is_left_out(listing)
        self._tell_what_is_other(listing)
        self._seen.update(listing.tools)
        self._decided.set()
        self._on_change()
        if self._lock is not None:
            await self._hold_besides(session, self._lock)

    def _down(self, reason: str, delay: float) -> None:
        lost, self._count = self._count, 0
        self._offer = self._session = None
        what = f"; its {lost} tools are not offered" if lost else ""
        text = escape_excerpt(self._cleaned(reason))
        self._log(
            logging.WARNING,
            f"not connected: {text}{what}; next attempt in {delay:.1f} s",
        )
        self._decided.set()
        self._on_change()

    def _held_to_lock(
        self, listed: Sequence[Mapping[str, Any]]
    ) -> Sequence[Mapping[str, Any]]:
        """What may be offered of a locked server; the rest is told, once."""
        from .session import as_listed

        is_refusing = self.server.on_change != "log"
        found = held(self._lock, listed, as_listed, is_refusing=is_refusing)
        if self._is_new("tools", found.changed):
            verb = "is refused" if is_refusing else "is offered all the same"
            self._tell_what_changed(found.changed, verb)
        return found.definitions

    async def _hold_besides(self, session: Session, lock: Lock) -> None:
        """Tells, once, what is not as the lock has it of what reaches no caller."""
        from .session import as_listed

        try:
            listed = await session.list_besides()
        except TimeoutError:
            return  # another time
        if session.is_lost:
            return
        changed = changed_besides(lock, listed, session.instructions, as_listed)
        if self._is_new("besides", changed):
            self._tell_what_changed(changed, "reaches no caller")

    def _is_new(self, kind: str, lines: tuple[str, ...]) -> bool:
        """Whether something else was told last; what stays as it is is told once."""
        before, self._told[kind] = self._told.get(kind, ()), lines
        return lines != before

    def _tell_what_changed(self, lines: Sequence[str], verb: str) -> None:
        hint = f"`toolcast lock {self.server.name}` tells more"
        for line in lines[:_MAX_NAMES_SHOWN]:
            text = escape_excerpt(self._cleaned(line))
            self._log(logging.WARNING, f"against its lock {text}; it {verb}; {hint}")
        more = len(lines) - _MAX_NAMES_SHOWN
        if more > 0:
            self._log(logging.WARNING, f"against its lock {more} more changed")

    def _tell_what_is_left_out(self, listing: Listing) -> None:
        if self._is_new("left out", listing.left_out) and listing.left_out:
            named = "; ".join(listing.left_out[:_MAX_NAMES_SHOWN])
            more = len(listing.left_out) - _MAX_NAMES_SHOWN
            rest = f"; and {more} more" if more > 0 else ""
            self._log(logging.WARNING, f"tools that are not offered: {named}{rest}")

    def _tell_what_is_other(self, listing: Listing) -> None:
        """A definition that changes behind a name may be an attack on who trusts it."""
        changed = [
            name
            for name, tool in listing.tools.items()
            if name in self._seen and self._seen[name].definition != tool.definition
        ]
        if changed:
            named = ", ".join(changed[:_MAX_NAMES_SHOWN])
            self._log(logging.WARNING, f"changed what these tools say: {named}")

    def _passed_on(self, report: Report) -> ProgressFnT:
        """Passes a server's reports on, whose words are a stranger's."""

        async def told(
            progress: float, total: float | None = None, message: str | None = None
        ) -> None:
            words = None
            if message is not None:
                words = escape_excerpt(self._cleaned(message[:_MAX_REPORT_CHARACTERS]))
            with suppress(ValueError):  # a number that is none
                report(progress, total, words)

        return told

    def _cleaned(self, text: str) -> str:
        return redact_text(text, self._resolved.secrets)

    def _log(self, level: int, text: str) -> None:
        _logger.log(level, "external server %s: %s", self.server.name, text)


def _response(answer: Mapping[str, Any], secrets: tuple[str, ...]) -> ToolResponse:
    """What a CallToolResult in its form on the wire says.

    The result is the structured content where there is one, the text where there is only
    text, and otherwise the content blocks.

    Args:
        answer: the result, checked to be one by the SDK.
        secrets: texts that are taken out, should the server send them back.
    """
    problem = measure_value(answer).problem
    if problem is not None:
        return ToolResponse(error=f"the tool's answer has {problem}")
    blocks = [
        redact_value(dict(block), secrets) for block in answer.get("content") or ()
    ]
    if answer.get("isError"):
        # A result is data, and stays as it is; an error is words that somebody shows.
        for block in blocks:
            if block["type"] == "text":
                block["text"] = escape_controls(block["text"])
    text = "\n".join(
        block.get("text", "") for block in blocks if block["type"] == "text"
    )
    is_text = all(block["type"] == "text" for block in blocks)
    value = redact_value(answer.get("structuredContent"), secrets)
    if answer.get("isError"):
        if not text and value is not None:
            text = escape_controls(json.dumps(value, ensure_ascii=False))
        error = text[:_MAX_ERROR_CHARACTERS] or "the tool failed"
        return ToolResponse(error=error, content=None if is_text else blocks)
    result = value
    if value is None:
        result = text if is_text else blocks
    return ToolResponse(result=result, content=blocks if blocks else None)
