"""What a call is, for everybody: who asks, what a handler knows of it, what it answers.

A leaf: everything else of the runtime may import it.
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
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ..consent.questions import Questions
    from ..http.fairness import Turns

CallOutcome = Literal[
    "ok", "error", "invalid", "timeout", "cancelled", "asked", "declined"
]
"""What came of a call.

`invalid`: its arguments were refused. `asked`: it is made again with a person's answer.
`declined`: it needed a person's yes, and there was none.
"""

Keep = Callable[[str, "str | bytes", str | None], str]
"""`(name, content, mime_type)`: keeps content for its caller; its URI for `resources/read`."""

ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]
"""`(progress, total, message)`, sent to the caller if it asked for progress."""

CallGuard = Callable[[str], str | None]
"""Why a tool of a name may not be called now; None when it may."""

CALL_GUARD: ContextVar[CallGuard | None] = ContextVar("call_guard", default=None)
"""Holds for a request and for every call that its handler makes in its own context."""

# Threads of a handler may ask at once, and the questions of a call are made once.
_first_question = threading.Lock()


TURNS: ContextVar[Turns | None] = ContextVar("turns", default=None)
"""Where others wait to be answered, the turns of their event loop; None where nobody does."""

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Caller(NamedTuple):
    """Who asks, and with which request. The client is said apart: it is a program.

    Attributes:
        user: the person or program that a token names (`sub`); None when nobody is known.
        claims: what the token says beside that, checked.
        permissions: the only ones of the client's permissions that hold for this caller;
            None for all of them.
        request_id: the JSON-RPC request's id; None where no request came in.
        session: the MCP session's id; None where there is none.
        headers: the headers of the HTTP request that the toolset asks for, by their names
            in lower case.
    """

    user: str | None = None
    claims: Mapping[str, Any] = _NOTHING
    permissions: frozenset[str] | None = None
    request_id: str | int | None = None
    session: str | None = None
    headers: Mapping[str, str] = _NOTHING

    @property
    def program(self) -> str | None:
        """The program that the token was given to (`client_id` or `azp`), where it says so."""
        said = self.claims.get("client_id", self.claims.get("azp"))
        return said if isinstance(said, str) else None


_NOBODY = Caller()
CALLER: ContextVar[Caller] = ContextVar("caller", default=_NOBODY)
"""Holds for a request, and for every call that its handler makes in its own context."""


@contextmanager
def calling_as(caller: Caller) -> Iterator[None]:
    """Who asks in what a program does with the registry, the wrappers or the CLI inside of it.

    with calling_as(Caller(user="mia", permissions=frozenset({"billing"}))):
        response = await registry.call_tool("refund", {"order": "A-17"}, "support")
    """
    token = CALLER.set(caller)
    try:
        yield
    finally:
        CALLER.reset(token)


class ToolError(Exception):
    """A failure that a handler wants its caller to read.

    Its text is shown to the model as it is. The text of every other exception stays in
    the server's log, because it may carry secrets.
    """


class DeclinedError(ToolError):
    """Call without the user's confirmation; the message tells the caller why."""


class ArgumentConversionError(Exception):
    """Arguments that match the schema but cannot be converted to the Python types.

    Attributes:
        problems: what is wrong with each, in words that a caller may read.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__(f"{len(problems)} arguments are not taken")
        self.problems = problems


class Block(dict[str, Any]):
    """One of MCP's content blocks. A handler that returns one answers with it."""


@dataclass(frozen=True, slots=True)
class ToolResponse:
    """The answer to one call: a result or an error.

    Attributes:
        result: the JSON value that the handler gave; None when there is none. Callers get
            it in plain types: a tuple as a list. What JSON does not have is a tool error.
        error: why the call failed, in words meant for the model; None on success.
        content: MCP content blocks (text, image, audio, resource, resource_link) to send
            instead of the result's own text. Handlers that answer with more than text
            return a ToolResponse with them. Blocks that clients of either protocol era
            would refuse are a tool error. Beside an error: the blocks that tell of it, where
            its words do not tell all.
        note: what is left out of the result, and how to get it, where the tool's `result` has a
            budget; callers are sent it besides.
    """

    result: Any = None
    error: str | None = None
    content: Sequence[Mapping[str, Any]] | None = None
    note: str | None = None

    @property
    def success(self) -> bool:
        """True when there is no error."""
        return self.error is None

    def text(self) -> str:
        """The result as text: a string as it is, every other value as JSON."""
        if isinstance(self.result, str):
            return self.result
        return json.dumps(self.result, ensure_ascii=False)

    def model_dump(self) -> dict[str, Any]:
        """The result and the error as a plain mapping, and the note where there is one."""
        told = {"result": self.result, "error": self.error}
        return told if self.note is None else {**told, "note": self.note}


CallResult = tuple[ToolResponse, CallOutcome]
"""The response to a call, and what came of it."""


class Sent:
    """What becomes of a report. It may be awaited, in the call's loop, and need not be."""

    __slots__ = ("_until_sent",)

    def __init__(self, until_sent: Callable[[], Awaitable[None]] | None = None) -> None:
        self._until_sent = until_sent

    def __await__(self) -> Generator[Any, Any, None]:
        """Goes on when the report, or a newer one, was sent, or none is sent any more."""
        if self._until_sent is not None:
            yield from self._until_sent().__await__()


NOT_SENT = Sent()

Report = Callable[[float, float | None, str | None], Sent]
"""`(progress, total, message)`: hands a report over, from any thread."""


@dataclass(slots=True, eq=False)
class CallContext:
    """One call.

    Attributes:
        tool: the tool's name.
        client: who calls; None in a toolset without clients.
        report: tells the caller how far the call is; None when it did not ask.
        may_ask: makes what puts questions to a person, for the first of them; None where
            nobody can be asked.
        keep: keeps what a link leads to; None where nothing is kept.
        caller: who asks, and with which request.
        cancelled: nobody waits for the call any more: the caller has gone or called it off,
            its time is over, or the server ends. An async handler is cancelled as well; a
            plain function that takes long asks from time to time, and ends.
        questions: what has put questions to a person; None while none was put.
    """

    tool: str
    client: str | None = None
    report: Report | None = None
    may_ask: Callable[[], Questions] | None = None
    keep: Keep | None = None
    caller: Caller = field(default_factory=CALLER.get)
    cancelled: bool = field(default=False, init=False)
    _ends: float | None = field(default=None, init=False)
    _awaited: set[Future[Any]] | None = field(default=None, init=False)
    questions: Questions | None = field(default=None, init=False)

    @property
    def user(self) -> str | None:
        """The person or program that the caller's token names; None when nobody is known."""
        return self.caller.user

    @property
    def claims(self) -> Mapping[str, Any]:
        """What the caller's token says beside that."""
        return self.caller.claims

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers that the toolset asks for (`targets.mcp.http.headers`), in lower case."""
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
        """When the call has to be answered, in seconds of `time.monotonic`; None before it runs.

        The time that a person takes to answer is not counted.
        """
        if self._ends is None or self.questions is None:
            return self._ends
        return self._ends + self.questions.waited

    def begins(self, timeout: float) -> None:
        """Says that the handler runs from now on, for so many seconds at most."""
        self._ends = time.monotonic() + timeout

    def give_up(self) -> None:
        """Says that nobody waits any more, also to what the handler's threads wait for."""
        self.cancelled = True
        for future in tuple(self._awaited or ()):
            future.cancel()

    @contextmanager
    def awaiting(self, future: Future[Any]) -> Iterator[None]:
        """Cancels what a thread of the handler waits for when the call is given up."""
        if self._awaited is None:
            self._awaited = set()
        self._awaited.add(future)
        if self.cancelled:
            future.cancel()
        try:
            yield
        finally:
            self._awaited.discard(future)

    def asking(self) -> Questions:
        """What puts questions to a person, made for the first of them.

        Raises:
            DeclinedError: nobody can be asked.
        """
        if self.may_ask is None:
            raise DeclinedError(nobody_to_ask(self.tool))
        with _first_question:
            if self.questions is None:
                self.questions = self.may_ask()
            return self.questions

    def ask(
        self, schema: Mapping[str, Any], message: str, *, name: str | None = None
    ) -> Coroutine[Any, Any, Mapping[str, Any]]:
        """What a person filled in; returns only with an answer that the schema allows.

        To be awaited by an async handler; a plain function has `ask_sync`.

        On some surfaces the call ends here, and the handler is run again from its start
        when the answer is there; questions that were answered are not put again. So it
        does nothing that lasts before its last question, and asks the same each time.

        Args:
            schema: a form of plain fields, as MCP's elicitation has them.
            message: what the person reads.
            name: tells the question from others of the call; by default its number.

        Raises:
            DeclinedError: the person said no, or nobody can be asked. The caller is told.
            ValueError: no client can show such a form.
            RuntimeError: this is a plain function, which would go on without the answer.
        """
        return self.asking().form(schema, message, name)

    def ask_sync(
        self, schema: Mapping[str, Any], message: str, *, name: str | None = None
    ) -> Mapping[str, Any]:
        """The same for a plain function, which waits.

        Raises: as `ask`; RuntimeError in an async function.
        """
        content = self.asking().form_sync(schema, message, name)
        if self.cancelled:
            raise DeclinedError("nobody waits for the call any more; nothing was done")
        return content

    def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> Sent:
        """Reports how far the call is, from a sync or async handler; it never blocks.

        Nothing happens when the caller did not ask for it. While the caller takes in one
        report, only the newest of the later ones is kept. An async handler may await what
        it gives, and goes on when its report, or a newer one, was sent.

        Raises:
            ValueError: a number is infinite or none.
            TypeError: it is no number, or the message is no text.
        """
        if self.report is None:
            return NOT_SENT
        return self.report(progress, total, message)


def nobody_to_ask(tool: str) -> str:
    """Why a call that needs a person does not happen where there is none."""
    return (
        f"`{tool}` has to ask a person first, and nobody can be asked here; nothing was"
        " done"
    )


CURRENT_CALL: ContextVar[CallContext] = ContextVar("current_tool_call")


def current_call() -> CallContext:
    """The call that the running handler serves.

    Raises:
        LookupError: no call is running here.
    """
    return CURRENT_CALL.get()
