"""Connection to one external MCP server: opened on first use, reopened after its loss.

Everything here runs in the background loop. A server that is down, slow or broken affects only its
own tools: each step has a timeout, and each failure leads to the state `down`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..core.calls.tool_validators import Validators
from ..core.calls.untrusted_text import (
    escape_controls,
    escape_excerpt,
    redact_text,
)
from ..core.context import ToolResponse
from ..core.definitions.tool import ServerState, Tool
from ..core.server_settings import (
    ExternalServer,
    MissingVariableError,
    ResolvedServer,
    resolve_server,
)
from .call_results import MAX_ERROR_CHARACTERS, build_response
from .connection_states import TRANSITIONS, Event, State
from .listing import Listing, Lock, apply_lock, compare_other_lists, select_tools

if TYPE_CHECKING:
    from mcp.shared.dispatcher import ProgressFnT

    from ..core.context import Report
    from .session import Session

_logger = logging.getLogger("toolcast")

_MIN_RECONNECT_DELAY_S = 0.5
"""Maximum delay of the first attempt to reconnect after a stable connection."""
_MAX_RECONNECT_DELAY_S = 60.0
"""Maximum delay between two attempts to connect."""
_STABLE_CONNECTION_S = 30.0
"""Duration of a connection after which the delays start again at the minimum."""
_REFRESH_INTERVAL_S = 300.0
"""Time after which the tools are listed again, even without a change notification."""
_LIST_INTERVAL_S = 1.0
"""Minimum time between two requests for the server's list of tools."""
_MAX_NAMES_SHOWN = 10
"""Maximum number of names in a log message, and of lines about a lock."""
_MAX_TIMEOUTS = 2
"""Number of consecutive timeouts of calls after which a stdio server is pinged."""
_SESSION_GRACE_S = 1.0
"""Time for other running requests of a lost session to receive their errors."""
_MAX_REPORT_CHARACTERS = 4_000
"""Maximum number of characters of a progress message that are processed."""


@dataclass(frozen=True, slots=True)
class _OfferedTools:
    """Tools that a server currently offers, with the validators for their calls."""

    listing: Listing
    validators: Validators


class Connection:
    """Connection to one external server.

    Args:
        server: the server and its settings.
        reserved: the names of local tools, which take precedence.
        on_change: called in the event loop whenever the offered tools change.
        lock: the reviewed listing of a locked server.
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
        self._offered: _OfferedTools | None = None
        self._session: Session | None = None
        self._task: asyncio.Task[None] | None = None
        self._settled = asyncio.Event()
        self._state = State.NEW
        self._not_restarting = asyncio.Event()
        self._not_restarting.set()
        self._timeouts = 0
        self._ping_task: asyncio.Task[None] | None = None
        self._refusal = ""
        self._secrets: tuple[str, ...] = ()
        self._resolved = ResolvedServer()
        self._seen: dict[str, Tool] = {}
        self._logged: dict[str, tuple[str, ...]] = {}
        self._tool_count = 0

    @property
    def tools(self) -> Mapping[str, Tool]:
        """Currently offered tools by local name; empty while the server is down."""
        return {} if self._offered is None else self._offered.listing.tools

    @property
    def all_names(self) -> frozenset[str]:
        """Local names of all tools that the server has ever offered."""
        return frozenset(self._seen)

    @property
    def has_settled(self) -> bool:
        """Whether the first attempt to connect has ended, with or without success."""
        return self._settled.is_set()

    @property
    def state(self) -> ServerState:
        """Current state: `up` with an open session, `unused` before the first attempt ends."""
        if self._session is not None:
            return "up"
        return "down" if self.has_settled else "unused"

    async def start(self) -> None:
        """Start connecting on the first call; wait until the first attempt has ended."""
        if self._task is None:
            self._task = asyncio.ensure_future(self._run())
        await self._settled.wait()

    async def call(
        self, name: str, arguments: Mapping[str, Any], report: Report | None
    ) -> ToolResponse:
        """Validate the arguments and call a tool, within the server's `call_timeout`.

        Args:
            name: the name that callers use.
            arguments: the arguments of the call.
            report: receives the server's progress; None if the caller did not request it.
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
            self.handle_timeout()
            return ToolResponse(
                error=f"the tool did not answer within {server.call_timeout:g} s"
            )

    async def call_by_server_name(
        self, name: str, arguments: Mapping[str, Any], report: Report | None
    ) -> ToolResponse:
        """Call a tool by the server's own name, without a timeout and without validation.

        If the server no longer knows the session, the call is repeated once in a new session.
        If the server rejects the request, the response has the error.
        """
        await self.start()
        from .request_errors import RequestRefusedError

        progress = None if report is None else self._forward_progress(report)
        is_repeated = False
        while True:
            await self._not_restarting.wait()
            session = self._session
            if session is None:
                return self._build_unreachable_response()
            try:
                result = await session.call(name, arguments, progress)
                break
            except RequestRefusedError as error:
                refused = error
            self._timeouts = 0
            if refused.is_session_lost and not is_repeated:
                await self._restart(session, Event.SESSION_LOST, _SESSION_GRACE_S)
                if refused.can_repeat:
                    # The server has not run the call, so it is safe to send it again.
                    is_repeated = True
                    continue
            self._change_state(Event.REFUSED)
            if refused.failure is not None:
                text = escape_excerpt(self._redact(str(refused.failure)))
                self._log(logging.WARNING, f"the call of {name} failed: {text}")
            message = escape_controls(self._redact(str(refused)))
            return ToolResponse(error=message[:MAX_ERROR_CHARACTERS])
        self._timeouts = 0
        return build_response(result, self._secrets)

    def handle_timeout(self) -> None:
        """Count a call that timed out; after two in a row, restart a stdio server that hangs."""
        self._timeouts += 1
        session = self._session
        if self.server.command is None or session is None:
            return
        # Calls that time out together share one ping.
        is_pinging = self._ping_task is not None and not self._ping_task.done()
        if self._timeouts >= _MAX_TIMEOUTS and not is_pinging:
            self._timeouts = 0
            self._ping_task = asyncio.ensure_future(self._restart_if_hanging(session))

    async def close(self) -> None:
        """Close the connection and stop the server's process; a later call reconnects."""
        tasks = [task for task in (self._task, self._ping_task) if task is not None]
        self._task = self._ping_task = None
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._offered = self._session = None
        self._settled.clear()
        self._change_state(Event.CLOSED)

    async def _call(
        self, name: str, arguments: Mapping[str, Any], report: Report | None
    ) -> ToolResponse:
        await self.start()
        offered = self._offered
        if offered is None:
            return self._build_unreachable_response()
        tool = offered.listing.tools.get(name)
        if tool is None:
            return ToolResponse(error=f"unknown tool `{name}`")
        problems = offered.validators.check_arguments(tool, arguments)
        if problems:
            lines = "".join(f"\n- {problem}" for problem in problems)
            return ToolResponse(
                error=f"the arguments of `{name}` are not valid:{lines}"
            )
        server_name = offered.listing.server_names[name]
        response = await self.call_by_server_name(server_name, arguments, report)
        if tool.returns is not None:
            problems = offered.validators.check_result(tool, response.result)
            if problems and response.error is not None:
                return replace(response, result=None)
            if problems:
                text = escape_excerpt(self._redact("; ".join(problems)))
                self._log(logging.WARNING, f"the result of {name}: {text}")
                return ToolResponse(
                    error="the tool's result does not match its declared schema"
                )
        return response

    def _build_unreachable_response(self) -> ToolResponse:
        subject = f"the external server `{self.server.name}`"
        text = f"{subject} of this tool cannot be reached now{self._refusal}"
        return ToolResponse(error=text)

    def _change_state(self, event: Event) -> None:
        self._state = TRANSITIONS.get((self._state, event), self._state)
        if self._state is State.RESTARTING:
            self._not_restarting.clear()
        else:
            self._not_restarting.set()

    async def _restart(self, session: Session, event: Event, grace: float) -> None:
        """End a session, so that `_run` opens a new one, unless it was already replaced."""
        if self._session is not session:
            return
        self._session = None
        self._timeouts = 0
        self._change_state(event)
        await session.end(event.value, grace)

    async def _restart_if_hanging(self, session: Session) -> None:
        try:
            await session.is_alive()
        except TimeoutError:
            self._log(
                logging.WARNING,
                f"{_MAX_TIMEOUTS} calls and a ping got no answer; it is restarted",
            )
            await self._restart(session, Event.HANGING, 0.0)

    def _resolve(self) -> ResolvedServer:
        """Return the settings with the current values of environment variables.

        The previous values stay secret, because running requests contain them.
        """
        previous, self._resolved = (
            self._resolved,
            resolve_server(self.server, os.environ),
        )
        secrets = {*self._resolved.secrets, *previous.secrets}
        self._secrets = tuple(sorted(secrets, key=len, reverse=True))
        return self._resolved

    async def _run(self) -> None:
        """Connect, and reconnect with growing delays whenever the connection is lost."""
        max_delay = _MIN_RECONNECT_DELAY_S
        loop = asyncio.get_running_loop()
        while True:
            started_at = loop.time()
            reason = await self._connect()
            if reason is None:
                # Only the session was lost, so open a new one without a delay.
                continue
            was_stable = loop.time() - started_at > _STABLE_CONNECTION_S
            if was_stable:
                max_delay = _MIN_RECONNECT_DELAY_S
            else:
                max_delay = min(_MAX_RECONNECT_DELAY_S, max_delay * 2)
            # The module `random` is sufficient, because the delay is not a secret.
            delay = max_delay * random.uniform(0.5, 1.0)  # noqa: S311
            self._set_down(reason, delay)
            await asyncio.sleep(delay)

    async def _connect(self) -> str | None:
        """Connect, update the tools until the connection is lost, and return the reason.

        Return None if a new session has to be opened without a delay.
        """
        # Import the SDK in a thread: the import takes a second, which would block the calls of
        # other servers in this event loop.
        await asyncio.to_thread(import_module, f"{__package__}.session")
        from .request_errors import RequestRefusedError
        from .session import open_session

        self._refusal = ""
        was_ready = False
        try:
            async with open_session(
                self.server, self._resolve(), None, self._resolve
            ) as session:
                await self._update_tools(session)
                was_ready = True
                while not session.is_lost:
                    await session.wait_for_change(_REFRESH_INTERVAL_S)
                    if not session.is_lost:
                        await self._update_tools(session)
                        await asyncio.sleep(_LIST_INTERVAL_S)
                reason = session.describe_loss()
                if self._state is not State.RESTARTING:
                    # Mark the server as down before the session is closed, which may take some
                    # seconds.
                    self._change_state(Event.FAILED)
                    self._offered = self._session = None
                    self._on_change()
        except RequestRefusedError as error:
            reason = str(error)
            if error.is_session_lost and was_ready:
                self._change_state(Event.SESSION_LOST)
            elif error.failure is not None:
                text = escape_excerpt(self._redact(str(error.failure)))
                self._refusal = f": {text}"
        except MissingVariableError as error:
            reason = str(error)
        except TimeoutError as error:
            reason = str(error) or "a timeout passed"
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        finally:
            self._session = None
        is_restarting = was_ready and self._state is State.RESTARTING
        return None if is_restarting else reason

    async def _update_tools(self, session: Session) -> None:
        """List the tools and offer them; a proxied server is not listed.

        Tools of a proxied server are declared by specs.
        """
        if self.server.is_proxied:
            self._set_session(session)
            return
        definitions: Sequence[Mapping[str, Any]] = await session.list_tools()
        if session.is_lost:
            return
        if self.server.is_locked:
            definitions = self._apply_lock(definitions)
        listing = select_tools(self.server, definitions, self._reserved_names)
        is_first_list = self._offered is None
        self._offered = _OfferedTools(listing, Validators())
        self._tool_count = len(listing.tools)
        if is_first_list:
            self._log(logging.INFO, f"connected; it offers {self._tool_count} tools")
        self._log_omissions(listing)
        self._log_changed_definitions(listing)
        self._seen.update(listing.tools)
        self._set_session(session)
        self._on_change()
        if self._lock is not None:
            await self._compare_other_lists(session, self._lock)

    def _set_session(self, session: Session) -> None:
        self._session = session
        self._change_state(Event.CONNECTED)
        self._settled.set()

    def _set_down(self, reason: str, delay: float) -> None:
        self._change_state(Event.FAILED)
        lost_tools, self._tool_count = self._tool_count, 0
        self._offered = self._session = None
        loss = f"; its {lost_tools} tools are not offered" if lost_tools else ""
        text = escape_excerpt(self._redact(reason))
        self._log(
            logging.WARNING,
            f"not connected: {text}{loss}; next attempt in {delay:.1f} s",
        )
        self._settled.set()
        self._on_change()

    def _apply_lock(
        self, listed: Sequence[Mapping[str, Any]]
    ) -> Sequence[Mapping[str, Any]]:
        """Return the tools of a locked server that may be offered; log new changes."""
        from .session import normalize_definition

        is_refusing = self.server.on_change != "log"
        result = apply_lock(
            self._lock, listed, normalize_definition, is_refusing=is_refusing
        )
        if self._replace_logged("tools", result.changes):
            consequence = "it is not offered" if is_refusing else "it is offered anyway"
            self._log_lock_changes(result.changes, consequence)
        return result.definitions

    async def _compare_other_lists(self, session: Session, lock: Lock) -> None:
        """Log new changes of the instructions and of lists other than tools."""
        from .session import normalize_definition

        try:
            lists = await session.list_other_lists()
        except TimeoutError:
            # The lists are compared again at the next refresh.
            return
        if session.is_lost:
            return
        changes = compare_other_lists(
            lock, lists, session.instructions, normalize_definition
        )
        if self._replace_logged("other lists", changes):
            self._log_lock_changes(changes, "it never reaches clients")

    def _replace_logged(self, subject: str, lines: tuple[str, ...]) -> bool:
        """Store the lines that are logged about a subject; return whether they are new."""
        previous, self._logged[subject] = self._logged.get(subject, ()), lines
        return lines != previous

    def _log_lock_changes(self, changes: Sequence[str], consequence: str) -> None:
        help_ = f"help: run `toolcast lock {self.server.name}` for details"
        for change in changes[:_MAX_NAMES_SHOWN]:
            text = escape_excerpt(self._redact(change))
            self._log(
                logging.WARNING,
                f"differs from its lock: {text}; {consequence}; {help_}",
            )
        more = len(changes) - _MAX_NAMES_SHOWN
        if more > 0:
            self._log(logging.WARNING, f"differs from its lock: {more} more changes")

    def _log_omissions(self, listing: Listing) -> None:
        if self._replace_logged("omissions", listing.omissions) and listing.omissions:
            omissions = "; ".join(listing.omissions[:_MAX_NAMES_SHOWN])
            more = len(listing.omissions) - _MAX_NAMES_SHOWN
            rest = f"; and {more} more" if more > 0 else ""
            self._log(logging.WARNING, f"tools that are not offered: {omissions}{rest}")

    def _log_changed_definitions(self, listing: Listing) -> None:
        """Log the names of tools whose definitions changed.

        A changed definition may be an attack, because users have approved the old one.
        """
        changed = [
            name
            for name, tool in listing.tools.items()
            if name in self._seen and self._seen[name].definition != tool.definition
        ]
        if changed:
            names = ", ".join(changed[:_MAX_NAMES_SHOWN])
            self._log(
                logging.WARNING, f"the definitions of these tools changed: {names}"
            )

    def _forward_progress(self, report: Report) -> ProgressFnT:
        """Return a function that forwards the server's progress reports, escaped."""

        async def forward(
            progress: float, total: float | None = None, message: str | None = None
        ) -> None:
            text = None
            if message is not None:
                text = escape_excerpt(self._redact(message[:_MAX_REPORT_CHARACTERS]))
            # `report` rejects numbers that are not finite; such a report is dropped.
            with suppress(ValueError):
                report(progress, total, text)

        return forward

    def _redact(self, text: str) -> str:
        return redact_text(text, self._secrets)

    def _log(self, level: int, text: str) -> None:
        _logger.log(level, "external server %s: %s", self.server.name, text)
