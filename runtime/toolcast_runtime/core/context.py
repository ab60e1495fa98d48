"""The data of a call: its caller, the context for its handler, and its response.

This module imports nothing else of the runtime, so every module may import it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..consent.questions import Questions
    from ..http.fairness import Turns
    from ..mcp.client_request import McpRequest

CallOutcome = Literal[
    "ok", "error", "invalid", "timeout", "cancelled", "asked", "declined"
]
"""How a call ended.

`invalid`: its arguments were rejected. `asked`: the client repeats it with the user's answer.
`declined`: it needed a user's confirmation and did not get it.
"""

LogLevel = Literal[
    "debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"
]
"""The level of a log message, from the least to the most severe.

Source: https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging
"""

StoreContent = Callable[[str, "str | bytes", str | None], str]
"""`(name, content, mime_type)`: stores content for the caller; returns its URI.

The caller reads the content with MCP's `resources/read`.
"""

ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]
"""`(progress, total, message)`: sends progress to a caller that requested it."""

CallGuard = Callable[[str], str | None]
"""Takes a tool's name; returns why it may not be called now, or None if it may."""

CALL_GUARD: ContextVar[CallGuard | None] = ContextVar("call_guard", default=None)
"""The guard of the current request. It also applies to the calls that its handler makes."""

# Several threads of one handler may ask their first question at the same time, but must share
# one `Questions` object.
_first_question_lock = threading.Lock()


TURNS: ContextVar[Turns | None] = ContextVar("turns", default=None)
"""The scheduler that alternates large calls in an event loop; None if there is none."""

REQUEST: ContextVar[McpRequest | None] = ContextVar("mcp_request", default=None)
"""The MCP request that is being answered; None outside of an MCP server."""

_NO_CLAIMS: Mapping[str, Any] = MappingProxyType({})


class Caller(NamedTuple):
    """The authenticated identity behind a call, and its request.

    The client profile is not part of it: see `CallContext.client`.

    Attributes:
        user: the user or program that the access token names (`sub`); None if unknown.
        claims: the other claims of the token, verified.
        permissions: the subset of the client's permissions that this caller has; None for
            all of them.
        request_id: the JSON-RPC request's id; None if the call has no request.
        session: the MCP session's id; None if there is none.
        headers: the HTTP headers that the toolset declares, by their names in lower case.
    """

    user: str | None = None
    claims: Mapping[str, Any] = _NO_CLAIMS
    permissions: frozenset[str] | None = None
    request_id: str | int | None = None
    session: str | None = None
    headers: Mapping[str, str] = _NO_CLAIMS

    @property
    def program(self) -> str | None:
        """The program that the token was issued to (`client_id` or `azp`); None if unknown."""
        program = self.claims.get("client_id", self.claims.get("azp"))
        return program if isinstance(program, str) else None


_ANONYMOUS = Caller()
CALLER: ContextVar[Caller] = ContextVar("caller", default=_ANONYMOUS)
"""The caller of the current request, and of the calls that its handler makes."""


@contextmanager
def calling_as(caller: Caller) -> Iterator[None]:
    """Set the caller of all tool calls within the block.

    Applies to calls by the registry, generated functions and the CLI. Example:

    with calling_as(Caller(user="mia", permissions=frozenset({"billing"}))):
        response = await registry.call_tool("refund", {"order": "A-17"}, "support")
    """
    token = CALLER.set(caller)
    try:
        yield
    finally:
        CALLER.reset(token)


class ToolError(Exception):
    """Failure of a tool whose message is returned to the caller.

    The model gets the message unchanged. The message of every other exception stays in the
    server's log, because it may contain secrets.
    """


class DeclinedError(ToolError):
    """Failure of a call that lacks a user's confirmation or answer; the message states why.

    Attributes:
        action: the user's action; None if no user was asked or the answer is invalid.
    """

    def __init__(
        self, message: str, action: Literal["decline", "cancel"] | None = None
    ) -> None:
        super().__init__(message)
        self.action = action


class ArgumentConversionError(Exception):
    """Arguments that match the schema but cannot be converted to Python types or a class.

    Attributes:
        problems: the problem with each argument, as text for the caller.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__(f"{len(problems)} arguments cannot be converted")
        self.problems = problems


class Block(dict[str, Any]):
    """MCP content block as a dict, which a handler may return as its result."""


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """The response to a call: a result or an error.

    Attributes:
        result: the JSON value that the handler returned; None if there is none. Callers get
            plain types: a tuple as a list. A value that JSON cannot represent is a tool error.
            Together with an error and content: structured content that describes the error.
        error: why the call failed, as text for the model; None on success.
        content: MCP content blocks (text, image, audio, resource, resource_link) to send
            instead of the result as text. A handler returns a ToolResponse with content to
            send more than text. Blocks that clients of any MCP version would reject are a
            tool error. Together with an error: blocks that describe the error in more detail.
        note: which part of the result is omitted and how to get it, if the tool's `result`
            has a budget. Callers get it in addition to the result.
        texts: the text blocks in which MCP clients get the result; None for its JSON text.
    """

    result: Any = None
    error: str | None = None
    content: Sequence[Mapping[str, Any]] | None = None
    note: str | None = None
    texts: Sequence[str] | None = None

    @property
    def success(self) -> bool:
        """Whether the call succeeded, that is, `error` is None."""
        return self.error is None

    def text(self) -> str:
        """Return the result as text: a string unchanged, every other value as JSON."""
        if isinstance(self.result, str):
            return self.result
        return json.dumps(self.result, ensure_ascii=False)

    def model_dump(self) -> dict[str, Any]:
        """Return a dict with `result` and `error`, and with `note` if there is a note.

        Content blocks are not included.
        """
        fields = {"result": self.result, "error": self.error}
        return fields if self.note is None else {**fields, "note": self.note}


CallResult = tuple[ToolResponse, CallOutcome]
"""The response to a call, and its outcome."""


class ReportDelivery:
    """A progress report that is being sent.

    Await it in the call's event loop to wait until the report is sent; this is optional.
    """

    __slots__ = ("_until_sent",)

    def __init__(self, until_sent: Callable[[], Awaitable[None]] | None = None) -> None:
        self._until_sent = until_sent

    def __await__(self) -> Generator[Any, Any, None]:
        """Wait until this report or a newer one is sent, or no more reports are sent."""
        if self._until_sent is not None:
            yield from self._until_sent().__await__()


NOT_SENT = ReportDelivery()
"""Delivery of a report that is not sent, such as without a request for progress.

Awaiting it returns immediately.
"""

Report = Callable[[float, float | None, str | None], ReportDelivery]
"""`(progress, total, message)`: queues a progress report, from any thread."""


@dataclass(slots=True, eq=False)
class CallContext:
    """The context of one call, which its handler can use.

    Attributes:
        tool: the tool's name.
        client: the client that calls; None in a toolset without clients.
        report: sends progress to the caller; None if the caller did not request it.
        make_questions: creates the call's `Questions` at the first question; None if no user
            can be asked.
        store_content: stores the content of a link; None if there is no store.
        caller: the identity and the request behind the call.
        request: the MCP request of the call, to send messages to its client; None outside of
            an MCP server.
        cancelled: whether the call's response is no longer needed: the client disconnected or
            cancelled it, its timeout passed, or the server stops. An async handler is
            cancelled as well. A plain function that takes long should check this from time to
            time and return.
        questions: the call's questions to the user; None before the first one.
    """

    tool: str
    client: str | None = None
    report: Report | None = None
    make_questions: Callable[[], Questions] | None = None
    store_content: StoreContent | None = None
    caller: Caller = field(default_factory=CALLER.get)
    request: McpRequest | None = field(default_factory=REQUEST.get, repr=False)
    cancelled: bool = field(default=False, init=False)
    _timeout_at: float | None = field(default=None, init=False)
    _futures: set[Future[Any]] | None = field(default=None, init=False)
    questions: Questions | None = field(default=None, init=False)

    @property
    def user(self) -> str | None:
        """The user or program that the caller's token names; None if unknown."""
        return self.caller.user

    @property
    def claims(self) -> Mapping[str, Any]:
        """The other claims of the caller's token."""
        return self.caller.claims

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP headers that `targets.mcp.http.headers` declares, by lower-case name."""
        return self.caller.headers

    @property
    def request_id(self) -> str | int | None:
        """The JSON-RPC request's id."""
        return self.caller.request_id

    @property
    def session(self) -> str | None:
        """The MCP session's id."""
        return self.caller.session

    @property
    def deadline(self) -> float | None:
        """When the call times out, in seconds of `time.monotonic`; None before it runs.

        Time that the user needs to answer questions is added to the deadline.
        """
        if self._timeout_at is None or self.questions is None:
            return self._timeout_at
        return self._timeout_at + self.questions.waiting_seconds

    def start_timeout(self, timeout: float) -> None:
        """Set the deadline to `timeout` seconds from now."""
        self._timeout_at = time.monotonic() + timeout

    def cancel(self) -> None:
        """Mark the call as cancelled, and cancel the futures that its threads wait for."""
        self.cancelled = True
        # Iterate over a copy: a thread whose future is cancelled removes the future from the
        # set.
        for future in tuple(self._futures or ()):
            future.cancel()

    @contextmanager
    def track_future(self, future: Future[Any]) -> Iterator[None]:
        """Cancel a future if the call is or was cancelled before the block ends."""
        if self._futures is None:
            self._futures = set()
        self._futures.add(future)
        # The call may have been cancelled before the future was in the set.
        if self.cancelled:
            future.cancel()
        try:
            yield
        finally:
            self._futures.discard(future)

    def get_questions(self) -> Questions:
        """Return the call's questions to the user; create them on first use.

        Raises:
            DeclinedError: no user can be asked.
        """
        if self.make_questions is None:
            raise DeclinedError(format_no_user(self.tool))
        with _first_question_lock:
            if self.questions is None:
                self.questions = self.make_questions()
            return self.questions

    def ask(
        self, schema: Mapping[str, Any], message: str, *, name: str | None = None
    ) -> Coroutine[Any, Any, Mapping[str, Any]]:
        """Ask the user to fill in a form; return the fields of the answer.

        The answer always matches the schema. Only an async handler can await it; a plain
        function calls `ask_sync`.

        Over some transports the call ends at this point, and the handler runs again from its
        start when the answer arrives. Answered questions are not asked again. The handler
        must therefore have no lasting effects before its last question, and ask the same
        questions on each run.

        Args:
            schema: the JSON Schema of a form with plain fields, as in MCP elicitation.
            message: the text that the user reads.
            name: distinguishes the question from others of the call; by default its number.

        Raises:
            DeclinedError: the user declined, or no user can be asked. The caller gets the message.
            ValueError: no client can show this form.
            RuntimeError: the handler is a plain function, which cannot await the answer.
        """
        return self.get_questions().ask_form(schema, message, name)

    def ask_sync(
        self, schema: Mapping[str, Any], message: str, *, name: str | None = None
    ) -> Mapping[str, Any]:
        """Ask the user like `ask`, from a plain function; block until the answer arrives.

        Raises:
            RuntimeError: the handler is an async function. The other errors: see `ask`.
        """
        content = self.get_questions().ask_form_sync(schema, message, name)
        # The thread cannot be stopped, so end a cancelled handler by an exception.
        if self.cancelled:
            raise DeclinedError(
                "the call was cancelled before the answer; nothing was done"
            )
        return content

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> ReportDelivery:
        """Report the progress of the call, from a sync or async handler; never block.

        Without effect if the caller did not request progress. While one report is being
        sent, only the newest of the later ones is stored. An async handler may await the
        returned value: it continues when its report, or a newer one, is sent.

        Raises:
            ValueError: a number is not finite.
            TypeError: a number has another type, or the message is not a string.
        """
        if self.report is None:
            return NOT_SENT
        return self.report(progress, total, message)

    def log(self, level: LogLevel, text: str) -> None:
        """Send a log message to the MCP client, from a sync or async handler; never block.

        Without effect outside of an MCP server, and if the client requested only messages of
        higher levels. Messages beyond the rate limit of a call are dropped.

        Raises:
            ValueError: MCP has no such level.
            TypeError: the text is not a string.
        """
        if not isinstance(text, str):
            raise TypeError("`text` must be a string")
        if level not in get_args(LogLevel):
            levels = ", ".join(get_args(LogLevel))
            raise ValueError(f"`level` must be one of {levels}, not `{level}`")
        if self.request is not None:
            self.request.send_log(level, text)


def format_no_user(tool: str) -> str:
    """Return the error for a call that needs a user's answer where no user can be asked."""
    return (
        f"`{tool}` has to ask the user first, and no user can be asked here; nothing was"
        " done"
    )


CURRENT_CALL: ContextVar[CallContext] = ContextVar("current_tool_call")


def current_call() -> CallContext:
    """Return the context of the call that the running handler serves.

    Raises:
        LookupError: no call is running in this context.
    """
    return CURRENT_CALL.get()
