"""Session with an external server: the MCP SDK's client, with timeouts and limits.

Needs `mcp` 2.x. Importing the SDK takes a second, so import this module only on first use.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeVar

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
from .listing import OTHER_LISTS
from .request_errors import HTTP_FAILURES, HttpFailure, RequestRefusedError
from .sdk_logging import IS_SDK_LOG_SUPPRESSED, suppress_sdk_logs
from .transports import ProcessExit, http_transport, stdio_transport

_T = TypeVar("_T")

_MAX_PAGES = 100
"""Maximum number of pages of one list."""
_MAX_INPUT_ROUNDS = 10
"""Maximum number of times that a tool may request input during one call."""
_CLOSE_TIMEOUT_S = 8.0
"""How long a connection may take to close before it is cancelled."""
_RESULT: TypeAdapter[Any] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)
_SERVER_ERROR_CODES = range(-32_099, -31_999)
"""JSON-RPC error codes that servers define themselves.

The SDK uses one of them, -32000, for a closed connection.
"""
_PING_TIMEOUT_S = 5.0
"""How long a server may take to answer a ping."""


class _SdkList(NamedTuple):
    """SDK's name for a kind of list, and its model of an entry."""

    name: str
    model: type[BaseModel]


_LISTS: Mapping[str, _SdkList] = {
    "tools": _SdkList("tools", types.Tool),
    "resources": _SdkList("resources", types.Resource),
    "resourceTemplates": _SdkList("resource_templates", types.ResourceTemplate),
    "prompts": _SdkList("prompts", types.Prompt),
}
# The first notification is about tools. The others matter only for a locked server, whose lists
# are compared with the lock.
_CHANGE_NOTIFICATIONS = (
    types.ToolListChangedNotification,
    types.ResourceListChangedNotification,
    types.PromptListChangedNotification,
)


class Session:
    """Open connection to an external server."""

    def __init__(
        self,
        client: Client,
        server: ExternalServer,
        process_exit: ProcessExit,
        can_ask: bool,
    ) -> None:
        self._client = client
        self._server = server
        self._process_exit = process_exit
        self._can_ask = can_ask
        self._running_requests = 0
        self._changed = asyncio.Event()
        self._notifications = (
            _CHANGE_NOTIFICATIONS if server.is_locked else _CHANGE_NOTIFICATIONS[:1]
        )
        process_exit.on_end = process_exit.on_change = self._changed.set

    @property
    def is_lost(self) -> bool:
        """Whether the connection has ended."""
        return self._process_exit.reason is not None

    def describe_loss(self) -> str:
        """Return the reason why the connection ended, with stderr's last line, unescaped."""
        return f"{self._process_exit.reason}{_format_last_line(self._process_exit)}"

    def _format_invalid_lines(self) -> str:
        count = self._process_exit.invalid_lines
        return f"; stdout has lines that are not JSON-RPC ({count})" if count else ""

    @property
    def instructions(self) -> str | None:
        """Server's instructions, which are compared with the lock and never sent to models."""
        return self._client.instructions

    def handle_notification(self, message: Any) -> None:
        """Process a notification of the server: only changes of its lists are relevant."""
        if isinstance(message, self._notifications):
            self._changed.set()

    async def wait_for_change(self, timeout: float) -> None:
        """Wait until a list changed or the session is lost, or `timeout` seconds passed."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), timeout)
        self._changed.clear()

    async def list_tools(self) -> list[Mapping[str, Any]]:
        """Return the definitions of all tools, as the server lists them.

        Raises:
            RequestRefusedError: the server rejected the request, or the list is invalid.
            TimeoutError: listing exceeded the server's `list_timeout`.
        """
        timeout = self._server.list_timeout
        try:
            async with asyncio.timeout(timeout):
                return await self._list_entries("tools")
        except TimeoutError:
            message = f"the server did not answer `tools/list` within {timeout:g} s"
            raise TimeoutError(message + self._format_invalid_lines()) from None

    async def list_other_lists(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Return the entries of the server's lists other than tools, by kind.

        A list is empty if the server does not declare it, or rejects the request.

        Raises:
            TimeoutError: listing exceeded the server's `list_timeout`.
        """
        capabilities = self._client.server_capabilities
        lists: dict[str, Sequence[Mapping[str, Any]]] = {}
        async with asyncio.timeout(self._server.list_timeout):
            for kind in OTHER_LISTS:
                lists[kind] = []
                capability = (
                    capabilities.prompts
                    if kind == "prompts"
                    else capabilities.resources
                )
                if capability is not None:
                    with contextlib.suppress(RequestRefusedError):
                        lists[kind] = await self._list_entries(kind)
        return lists

    async def _list_entries(self, kind: str) -> list[Mapping[str, Any]]:
        definitions: list[Mapping[str, Any]] = []
        params: types.PaginatedRequestParams | None = None
        name = _LISTS[kind].name
        for _ in range(_MAX_PAGES):
            try:
                list_page = getattr(self._client.session, f"list_{name}")
                page = await self._request(list_page(params=params))
            except ValidationError as error:
                raise RequestRefusedError(
                    f"the server's list of {kind} is not valid: {_format_first_error(error)}"
                ) from None
            definitions += map(_dump_entry, getattr(page, name))
            if page.next_cursor is None:
                return definitions
            params = types.PaginatedRequestParams(cursor=page.next_cursor)
        raise RequestRefusedError(
            f"the server's list of {kind} has more than {_MAX_PAGES:,} pages"
        )

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        progress: ProgressFnT | None = None,
    ) -> dict[str, Any]:
        """Call a tool, and return the `CallToolResult` as JSON.

        The call has no timeout of its own. If the caller is cancelled, the server is notified.

        Args:
            name: the server's own name of the tool.
            arguments: the arguments of the call.
            progress: called with the server's progress reports; None requests none.

        Raises:
            RequestRefusedError: the server rejected the request, or its result is invalid.
        """
        IS_SDK_LOG_SUPPRESSED.set(True)
        params = types.CallToolRequestParams(name=name, arguments=dict(arguments))
        for _ in range(_MAX_INPUT_ROUNDS):
            result = await self._request_call(params, progress)
            if isinstance(result, types.CallToolResult):
                break
            if not self._can_ask:
                raise RequestRefusedError(
                    "the tool requests input during the call, and no user can be asked"
                )
            params = params.model_copy(
                update={
                    "input_responses": await self._request_input(result),
                    "request_state": result.request_state,
                }
            )
        else:
            raise RequestRefusedError(
                f"the tool requested input more than {_MAX_INPUT_ROUNDS} times"
            )
        dumped: dict[str, Any] = result.model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        is_stateless = self._client.protocol_version in MODERN_PROTOCOL_VERSIONS
        if is_stateless and "structured_content" in result.model_fields_set:
            # Since MCP 2026-07-28 a result may be null, which `exclude_none` has removed.
            dumped.setdefault("structuredContent", None)
        return dumped

    async def _request_call(
        self, params: types.CallToolRequestParams, progress: ProgressFnT | None
    ) -> Any:
        """Send a call; after an error about its headers, list the tools and send it again."""
        try:
            return await self._request(self._send_call(params, progress))
        except RequestRefusedError as refused:
            if refused.code != types.HEADER_MISMATCH:
                raise
        # The SDK repeats some arguments in HTTP headers, as the schemas of the last listed
        # tools require, so list the tools again.
        await self._list_entries("tools")
        return await self._request(self._send_call(params, progress))

    async def _send_call(
        self, params: types.CallToolRequestParams, progress: ProgressFnT | None
    ) -> Any:
        # Do not use the SDK's `call_tool`: it validates the result with the server's schema
        # without time limits, and all servers share this event loop.
        request = types.CallToolRequest(params=params)
        try:
            return await self._client.session.send_request(
                request, _RESULT, progress_callback=progress
            )
        except ValidationError as error:
            raise RequestRefusedError(
                f"the tool's result is invalid: {_format_first_error(error)}"
            ) from None

    async def _request_input(
        self, result: types.InputRequiredResult
    ) -> types.InputResponses:
        """Ask the user a result's questions one at a time; return the answers by key.

        Raises:
            RequestRefusedError: a question failed.
        """
        session = self._client.session
        responses: types.InputResponses = {}
        for key, request in (result.input_requests or {}).items():
            context = ClientRequestContext(session=session, request_id=key)
            response = await session.dispatch_input_request(context, request)
            if isinstance(response, types.ErrorData):
                raise RequestRefusedError(
                    f"the tool requests input, which failed: {response.message}"
                )
            responses[key] = response
        return responses

    async def _request(self, request: Awaitable[_T]) -> _T:
        """Wait for the result of a request; convert its error.

        Raises:
            RequestRefusedError: the server rejected the request.
        """
        failures: list[HttpFailure] = []
        HTTP_FAILURES.set(failures)
        self._running_requests += 1
        try:
            return await request
        except MCPError as error:
            raise await self._convert_error(error, failures) from None
        finally:
            self._running_requests -= 1

    async def _convert_error(
        self, error: MCPError, failures: Sequence[HttpFailure]
    ) -> RequestRefusedError:
        failure = failures[-1] if failures else None
        is_rejected = failure is not None and failure.is_session_rejected
        is_lost = is_rejected and failure is not None and failure.status == 404
        is_stateless = self._client.protocol_version in MODERN_PROTOCOL_VERSIONS
        has_session = self._server.url is not None and not is_stateless
        codes = _SERVER_ERROR_CODES if has_session else [types.CONNECTION_CLOSED]
        if not is_lost and (is_rejected or error.code in codes):
            # The error is ambiguous: some servers send 400 or a code of their own for an unknown
            # session, and any tool may use the SDK's code of a closed connection. A ping shows
            # whether the session still exists.
            with contextlib.suppress(TimeoutError):
                is_lost = not await self.is_alive()
        if is_stateless and failure is not None and failure.is_version_rejected:
            try:
                await self._client.session.send_discover(self._client.protocol_version)
            except MCPError:
                # The server was replaced by one with another protocol version.
                is_lost = is_rejected = True
        pings = HTTP_FAILURES.get() or ()
        has_answer = is_rejected or any(ping.is_session_rejected for ping in pings)
        if is_lost and not has_answer and error.code == types.CONNECTION_CLOSED:
            self._process_exit.set_reason("the connection to the server was lost")
            return RequestRefusedError("the connection to the tool's server was lost")
        message = error.message
        if failure is not None and failure.is_mcp_error:
            failure = None
        elif failure is not None:
            message = str(failure)
        return RequestRefusedError(
            f"the tool's server rejected the request: {message}",
            error.code,
            failure,
            is_session_lost=is_lost,
            can_repeat=is_lost and is_rejected,
        )

    async def is_alive(self) -> bool:
        """Ping the server; return whether it still serves this session.

        A server that does not know pings is alive: MCP 2026-07-28 has none.

        Raises:
            TimeoutError: the server did not answer.
        """
        failures: list[HttpFailure] = []
        HTTP_FAILURES.set(failures)
        try:
            async with asyncio.timeout(_PING_TIMEOUT_S):
                await self._client.session.send_request(
                    types.PingRequest(), types.EmptyResult
                )
        except MCPError as error:
            is_rejected = any(failure.is_session_rejected for failure in failures)
            return not is_rejected and error.code not in _SERVER_ERROR_CODES
        except ValidationError:
            return True
        return True

    async def end(self, reason: str, grace: float) -> None:
        """End the session after its running requests, at the latest after `grace` seconds."""
        try:
            async with asyncio.timeout(grace):
                while self._running_requests:
                    await asyncio.sleep(0.01)
        except TimeoutError:
            pass
        finally:
            self._process_exit.set_reason(reason)

    async def subscribe(self) -> None:
        """Receive changes of the lists from a server that sends them only to subscribers."""
        if self._client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        capabilities = self._client.server_capabilities
        lists = capabilities.tools, capabilities.resources, capabilities.prompts
        can_subscribe = [
            capability is not None and bool(capability.list_changed)
            for capability in lists
        ]
        if not self._server.is_locked:
            can_subscribe[1:] = [False, False]
        if not any(can_subscribe):
            return
        # Ignore a failed subscription: the connection also lists the tools at intervals.
        with contextlib.suppress(ListenNotSupportedError, SubscriptionLost, MCPError):
            async with self._client.listen(
                tools_list_changed=can_subscribe[0],
                resources_list_changed=can_subscribe[1],
                prompts_list_changed=can_subscribe[2],
            ) as events:
                async for _ in events:
                    self._changed.set()


def normalize_definition(kind: str, definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an entry in the form in which a session lists it.

    An entry that the SDK rejects is returned unchanged: no session lists it.
    """
    try:
        model = _LISTS[kind].model
        return _dump_entry(model.model_validate(definition, by_name=False))
    except ValidationError:
        return definition


def _dump_entry(entry: BaseModel) -> Mapping[str, Any]:
    return entry.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _format_first_error(error: ValidationError) -> str:
    """Return the path and message of the first validation error, without the invalid value."""
    first = error.errors()[0]
    path = ".".join(str(step) for step in first["loc"])
    return f"{path}: {first['msg']}"


@asynccontextmanager
async def open_session(
    server: ExternalServer,
    resolved: ResolvedServer,
    ask: ElicitationFnT | None = None,
    resolve: Callable[[], ResolvedServer] | None = None,
) -> AsyncGenerator[Session, None]:
    """Connect to a server; close the connection and stop its process at the end.

    In the task that enters the context, the SDK's logs are dropped from then on.

    Args:
        server: the server to connect.
        resolved: the server's settings with the values of environment variables.
        ask: answers the server's questions to the user; None if no user can be asked.
        resolve: returns the settings with the current values of environment variables, after
            HTTP 401; None if they cannot change.

    Raises:
        TimeoutError: connecting exceeded `connect_timeout`.
        Exception: the error of the transport or the handshake.
    """
    IS_SDK_LOG_SUPPRESSED.set(True)
    suppress_sdk_logs()
    ready: asyncio.Future[Session] = asyncio.get_running_loop().create_future()
    closing = asyncio.Event()
    process_exit = ProcessExit(closing.set)
    # Run the SDK's client in a task of its own: it must be entered and left in the same task,
    # and a timeout of the caller must not interrupt it.
    task = asyncio.ensure_future(
        _run_client(server, resolved, process_exit, ready, closing, ask, resolve)
    )
    try:
        waiting: set[asyncio.Future[Any]] = {ready, task}
        done, _ = await asyncio.wait(
            waiting,
            timeout=server.connect_timeout,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if not done:
            raise TimeoutError(
                f"the server did not answer within {server.connect_timeout:g} s"
            )
        if not ready.done():
            _raise_connection_error(task, process_exit)
        yield ready.result()
    finally:
        closing.set()
        if not ready.done():
            process_exit.set_reason("the server did not answer")
            task.cancel()
        await _wait_until_closed(task)


def _raise_connection_error(
    task: asyncio.Task[None], process_exit: ProcessExit
) -> None:
    error = _unwrap_group(task.exception())
    if isinstance(error, OSError):
        # `filename` is the program or the working directory, whichever does not exist.
        subject = f"`{error.filename}`" if error.filename else "the server"
        raise RequestRefusedError(
            f"{subject} cannot be started: {error.strerror}"
        ) from None
    raise RequestRefusedError(
        f"{process_exit.reason or error}{_format_last_line(process_exit)}",
        failure=next(iter(process_exit.http_failures), None),
    ) from None


def _format_last_line(process_exit: ProcessExit) -> str:
    text = bytes(process_exit.stderr).decode("utf-8", "replace").strip()
    return f"; its stderr: {text.splitlines()[-1]}" if text else ""


def _unwrap_group(error: BaseException | None) -> BaseException | None:
    """Return the first error in nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _wait_until_closed(task: asyncio.Task[None]) -> None:
    """Wait until the connection has closed; cancel it after a timeout."""
    try:
        await asyncio.wait({task}, timeout=_CLOSE_TIMEOUT_S)
    finally:
        # Even if this wait is cancelled, close the connection, so that no process remains.
        if not task.done():
            task.cancel()
            await asyncio.wait({task}, timeout=_CLOSE_TIMEOUT_S)
    if task.done() and not task.cancelled():
        # Retrieve the exception, because asyncio logs exceptions that are never retrieved.
        task.exception()


async def _run_client(
    server: ExternalServer,
    resolved: ResolvedServer,
    process_exit: ProcessExit,
    ready: asyncio.Future[Session],
    closing: asyncio.Event,
    ask: ElicitationFnT | None,
    resolve: Callable[[], ResolvedServer] | None,
) -> None:
    """Run the SDK's client until `closing` is set; `ready` gets the session."""
    session: Session | None = None

    async def handle_message(message: Any) -> None:
        if session is not None:
            session.handle_notification(message)

    if server.command is not None:
        transport = stdio_transport(resolved, process_exit)
    else:
        transport = http_transport(resolved, resolve)
    HTTP_FAILURES.set(process_exit.http_failures)
    client = Client(
        transport,
        client_info=types.Implementation(name="toolcast", version="1"),
        message_handler=handle_message,
        elicitation_callback=ask,
        cache=None,
        read_timeout_seconds=None,
    )
    try:
        async with client:
            session = Session(client, server, process_exit, ask is not None)
            subscription = asyncio.ensure_future(session.subscribe())
            if not ready.done():
                ready.set_result(session)
            try:
                await closing.wait()
            finally:
                subscription.cancel()
                await asyncio.wait({subscription})
    except Exception as error:
        first_error = _unwrap_group(error)
        reason = f"{type(first_error).__name__}: {first_error}"
        if isinstance(first_error, MCPError) and process_exit.http_failures:
            reason = str(process_exit.http_failures[0])
        process_exit.set_reason(reason)
        raise
    finally:
        process_exit.set_reason("the connection to the server closed")
