"""A session with an external server, on the MCP SDK's client, with deadlines and bounds.

The SDK logs texts of servers as they are, a traceback for every line that is no message, and
URLs with what is in them. None of it reaches the program's log: what matters is said by one
logger, escaped.

Needs `mcp` 2.x, which takes a second to import: import this module when it is needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.client.session import ElicitationFnT
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, TypeAdapter, ValidationError

from ..core.server_settings import ExternalServer, ResolvedServer
from .listing import BESIDES
from .transports import ProcessExit, http_transport, stdio_transport

_MAX_PAGES = 100
"""Pages of one list."""
_MAX_INPUT_ROUNDS = 10
"""Requests for input during one call."""
_CLOSING_SECONDS = 8.0
_ANSWER: TypeAdapter[Any] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
# The session is gone, whatever the server says about this one request.
_LOST = frozenset([types.CONNECTION_CLOSED])
_TERMINATED = "Session terminated"
# Of each list that a server has: what the SDK calls it, and an entry of it.
_LISTS: Mapping[str, tuple[str, type[BaseModel]]] = {
    "tools": ("tools", types.Tool),
    "resources": ("resources", types.Resource),
    "resourceTemplates": ("resource_templates", types.ResourceTemplate),
    "prompts": ("prompts", types.Prompt),
}
# The first one is heeded of every server.
_CHANGES = (
    types.ToolListChangedNotification,
    types.ResourceListChangedNotification,
    types.PromptListChangedNotification,
)

IS_QUIET: ContextVar[bool] = ContextVar("is_quiet", default=False)
"""Whether what runs here, and the tasks that it starts, works with external servers."""
_SPEAKERS = ("mcp", "httpx2", "httpcore2")


class RequestRefusedError(Exception):
    """Error response, or an invalid response, of an MCP server."""


class Session:
    """One connection that is up."""

    def __init__(
        self,
        client: Client,
        server: ExternalServer,
        ending: ProcessExit,
        can_ask: bool,
    ) -> None:
        self._client = client
        self._server = server
        self._ending = ending
        self._can_ask = can_ask
        self._changed = asyncio.Event()
        self._heeded = _CHANGES if server.is_locked else _CHANGES[:1]
        ending.on_end = ending.on_change = self._changed.set

    @property
    def is_lost(self) -> bool:
        """Whether it has ended."""
        return self._ending.reason is not None

    def why_lost(self) -> str:
        """The reason, with the server's last words, as they are."""
        return f"{self._ending.reason}{_last_words(self._ending)}"

    def _noise(self) -> str:
        garbage = self._ending.garbage
        return f"; {garbage} of its lines were no messages" if garbage else ""

    @property
    def instructions(self) -> str | None:
        """What the server tells models about all of its tools, which nobody here does."""
        return self._client.instructions

    def notice(self, message: Any) -> None:
        """Takes a notification of the server."""
        if isinstance(message, self._heeded):
            self._changed.set()

    async def changed(self, seconds: float) -> None:
        """Waits until the list changed or the session is lost, at most so long."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)
        self._changed.clear()

    async def list_tools(self) -> list[Mapping[str, Any]]:
        """Every tool as the server lists it.

        Raises:
            RequestRefusedError: the server refused, or its list is no list of tools.
            TimeoutError: it took longer than the server's `list_timeout`.
        """
        seconds = self._server.list_timeout
        try:
            async with asyncio.timeout(seconds):
                return await self._list("tools")
        except TimeoutError:
            late = f"it did not list its tools within {seconds:g} s"
            raise TimeoutError(late + self._noise()) from None

    async def list_besides(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """What the server lists besides tools, by `BESIDES`.

        A list that it does not declare, or refuses, has nothing.

        Raises:
            TimeoutError: it took longer than the server's `list_timeout`.
        """
        declared = self._client.server_capabilities
        found: dict[str, Sequence[Mapping[str, Any]]] = {}
        async with asyncio.timeout(self._server.list_timeout):
            for kind in BESIDES:
                found[kind] = []
                is_there = declared.prompts if kind == "prompts" else declared.resources
                if is_there is not None:
                    with contextlib.suppress(RequestRefusedError):
                        found[kind] = await self._list(kind)
        return found

    async def _list(self, kind: str) -> list[Mapping[str, Any]]:
        definitions: list[Mapping[str, Any]] = []
        params: types.PaginatedRequestParams | None = None
        what, (entries, _) = f"its list of {kind}", _LISTS[kind]
        for _ in range(_MAX_PAGES):
            try:
                ask = getattr(self._client.session, f"list_{entries}")
                page = await ask(params=params)
            except MCPError as error:
                raise self._refusal(error) from None
            except ValidationError as error:
                raise RequestRefusedError(
                    f"{what} is not valid: {_first(error)}"
                ) from None
            definitions += map(_dumped, getattr(page, entries))
            if page.next_cursor is None:
                return definitions
            params = types.PaginatedRequestParams(cursor=page.next_cursor)
        raise RequestRefusedError(f"{what} has more than {_MAX_PAGES} pages")

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """A CallToolResult in its form on the wire. The caller keeps the deadline.

        The server is told when the caller is cancelled, and asked for reports of progress
        where somebody is told them.

        Raises:
            RequestRefusedError: the server refused, or its answer is none.
        """
        IS_QUIET.set(True)
        params = types.CallToolRequestParams(name=name, arguments=dict(arguments))
        for _ in range(_MAX_INPUT_ROUNDS):
            answer = await self._answer(params, progress)
            if isinstance(answer, types.CallToolResult):
                break
            if not self._can_ask:
                raise RequestRefusedError(
                    "the tool asks for input in mid-call, which nobody can give here"
                )
            params = params.model_copy(
                update={
                    "input_responses": await self._input_for(answer),
                    "request_state": answer.request_state,
                }
            )
        else:
            raise RequestRefusedError(
                f"the tool asked for input more than {_MAX_INPUT_ROUNDS} times"
            )
        dumped: dict[str, Any] = answer.model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        return dumped

    async def _answer(
        self, params: types.CallToolRequestParams, progress: ProgressFnT | None
    ) -> Any:
        try:
            return await self._send(params, progress)
        except MCPError as error:
            if error.code != types.HEADER_MISMATCH:
                raise self._refusal(error) from None
        # What the headers have to repeat is in the list, which was another one.
        await self._list("tools")
        try:
            return await self._send(params, progress)
        except MCPError as again:
            raise self._refusal(again) from None

    async def _send(
        self, params: types.CallToolRequestParams, progress: ProgressFnT | None
    ) -> Any:
        # Not the client's `call_tool`: it checks results by the server's schemas without
        # bounds, and all servers share this loop.
        request = types.CallToolRequest(params=params)
        try:
            return await self._client.session.send_request(
                request, _ANSWER, progress_callback=progress
            )
        except ValidationError as error:
            raise RequestRefusedError(
                f"the tool's answer is not valid: {_first(error)}"
            ) from None

    async def _input_for(
        self, needed: types.InputRequiredResult
    ) -> types.InputResponses:
        """The answers, one after the other: they are one person's."""
        session = self._client.session
        answers: types.InputResponses = {}
        for key, request in (needed.input_requests or {}).items():
            context = ClientRequestContext(session=session, request_id=key)
            answer = await session.dispatch_input_request(context, request)
            if isinstance(answer, types.ErrorData):
                raise RequestRefusedError(
                    f"the tool asks for input that is not given: {answer.message}"
                )
            answers[key] = answer
        return answers

    def _refusal(self, error: MCPError) -> RequestRefusedError:
        if error.code in _LOST or error.message == _TERMINATED:
            self._ending.end("its connection was lost")
            return RequestRefusedError("the connection to the tool's server was lost")
        return RequestRefusedError(f"the tool's server refused: {error.message}")

    async def listen(self) -> None:
        """Follows the changes of the list where the server tells them on request only."""
        if self._client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        declared = self._client.server_capabilities
        heeded = declared.tools, declared.resources, declared.prompts
        tells = [one is not None and bool(one.list_changed) for one in heeded]
        if not self._server.is_locked:
            tells[1:] = [False, False]
        if not any(tells):
            return
        # Without it the list is still asked for from time to time.
        with contextlib.suppress(ListenNotSupportedError, SubscriptionLost, MCPError):
            async with self._client.listen(
                tools_list_changed=tells[0],
                resources_list_changed=tells[1],
                prompts_list_changed=tells[2],
            ) as events:
                async for _ in events:
                    self._changed.set()


def as_listed(kind: str, definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a session gives of an entry of a kind when a server lists it like this.

    As it is where the SDK would refuse it: no session gives the same.
    """
    try:
        return _dumped(_LISTS[kind][1].model_validate(definition, by_name=False))
    except ValidationError:
        return definition


def _dumped(entry: BaseModel) -> Mapping[str, Any]:
    return entry.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _first(error: ValidationError) -> str:
    """Where the first fault is, and which: none of the values that are there."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[
        0
    ]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}"


@asynccontextmanager
async def opened_session(
    server: ExternalServer, resolved: ResolvedServer, ask: ElicitationFnT | None = None
) -> AsyncGenerator[Session, None]:
    """Connects to a server; leaving it ends the connection and the process.

    Where it is entered, what the SDK logs is dropped from then on.

    Args:
        server: which.
        resolved: the same with what its settings name.
        ask: answers what the server asks a person; without it none can be asked.

    Raises:
        TimeoutError: there was no connection within `connect_timeout`.
        Exception: whatever the transport or the handshake failed with.
    """
    IS_QUIET.set(True)
    quieten()
    ready: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()
    ending = ProcessExit(over.set)
    # The SDK's client has to be entered and left in one task, which no deadline of
    # another may cut in two.
    holder = asyncio.ensure_future(_hold(server, resolved, ending, ready, over, ask))
    try:
        waiting: set[asyncio.Future[Any]] = {ready, holder}
        done, _ = await asyncio.wait(
            waiting,
            timeout=server.connect_timeout,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if not done:
            raise TimeoutError(f"no connection within {server.connect_timeout:g} s")
        if not ready.done():
            _raise_inner(holder, ending)
        yield ready.result()
    finally:
        over.set()
        if not ready.done():
            ending.end("it gave no answer")
            holder.cancel()
        await _ended(holder)


def _raise_inner(holder: asyncio.Task[None], ending: ProcessExit) -> None:
    """Raises what the connection failed with, out of the groups that wrap it."""
    error = _inner(holder.exception())
    if isinstance(error, OSError):
        # The program, or the folder that it is to start in: whichever is not there.
        what = f"`{error.filename}`" if error.filename else "it"
        raise RequestRefusedError(
            f"{what} cannot be started: {error.strerror}"
        ) from None
    raise RequestRefusedError(
        f"{ending.reason or error}{_last_words(ending)}"
    ) from None


def _last_words(ending: ProcessExit) -> str:
    words = bytes(ending.stderr).decode("utf-8", "replace").strip()
    return f"; its last words: {words.splitlines()[-1]}" if words else ""


def _inner(error: BaseException | None) -> BaseException | None:
    """The first error in the groups that wrap it."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _ended(holder: asyncio.Task[None]) -> None:
    """Waits for the connection to close itself, and cancels it if it does not."""
    try:
        await asyncio.wait({holder}, timeout=_CLOSING_SECONDS)
    finally:
        # Also when this wait is cancelled: no process is left behind.
        if not holder.done():
            holder.cancel()
            await asyncio.wait({holder}, timeout=_CLOSING_SECONDS)
    if holder.done() and not holder.cancelled():
        holder.exception()


async def _hold(
    server: ExternalServer,
    resolved: ResolvedServer,
    ending: ProcessExit,
    ready: asyncio.Future[Session],
    over: asyncio.Event,
    ask: ElicitationFnT | None,
) -> None:
    """Keeps the SDK's client open until it is over."""
    session: Session | None = None

    async def notice(message: Any) -> None:
        if session is not None:
            session.notice(message)

    if server.command is not None:
        transport = stdio_transport(resolved, ending)
    else:
        transport = http_transport(resolved)
    information = types.Implementation(name="toolcast", version="1")
    client = Client(
        transport,
        client_info=information,
        message_handler=notice,
        elicitation_callback=ask,
        cache=None,
        read_timeout_seconds=None,
    )
    try:
        async with client:
            session = Session(client, server, ending, ask is not None)
            listening = asyncio.ensure_future(session.listen())
            if not ready.done():
                ready.set_result(session)
            try:
                await over.wait()
            finally:
                listening.cancel()
                await asyncio.wait({listening})
    except Exception as error:
        inner = _inner(error)
        ending.end(f"{type(inner).__name__}: {inner}")
        raise
    finally:
        ending.end("its connection ended")


class _Quiet(logging.Filter):
    """Drops the records of what works with external servers."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not IS_QUIET.get()


_QUIET = _Quiet()


def quieten() -> None:
    """From now on the SDK logs nothing where `IS_QUIET` is set; elsewhere, as before.

    A filter of a logger is not asked for the records of its children, so each gets it.
    """
    names = [
        name
        for name in logging.root.manager.loggerDict
        if name.partition(".")[0] in _SPEAKERS
    ]
    for name in (*_SPEAKERS, *names):
        # Adding it again changes nothing.
        logging.getLogger(name).addFilter(_QUIET)
