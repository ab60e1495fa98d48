"""What a running call knows of itself, for handlers that ask."""

from __future__ import annotations

import time
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterator,
    Mapping,
)
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from ..access.caller import CALLER, Caller

if TYPE_CHECKING:
    from concurrent.futures import Future

    from ...rooms.consent.questions import Questions

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
        questions: puts questions to a person; None where nobody can be asked.
        keep: keeps what a link leads to; None where nothing is kept.
        caller: who asks, and with which request.
        cancelled: nobody waits for the call any more: the caller has gone or called it off,
            its time is over, or the server ends. An async handler is cancelled as well; a
            plain function that takes long asks from time to time, and ends.
    """

    tool: str
    client: str | None = None
    report: Report | None = None
    questions: Questions | None = None
    keep: Keep | None = None
    caller: Caller = field(default_factory=CALLER.get)
    cancelled: bool = field(default=False, init=False)
    _ends: float | None = field(default=None, init=False)
    _awaited: set[Future[Any]] | None = field(default=None, init=False)

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
            Declined: the person said no, or nobody can be asked. The caller is told.
            ValueError: no client can show such a form.
            RuntimeError: this is a plain function, which would go on without the answer.
        """
        return self._asked().form(schema, message, name)

    def ask_sync(
        self, schema: Mapping[str, Any], message: str, *, name: str | None = None
    ) -> Mapping[str, Any]:
        """The same for a plain function, which waits.

        Raises: as `ask`; RuntimeError in an async function.
        """
        content = self._asked().form_sync(schema, message, name)
        if self.cancelled:
            from ...rooms.consent.question import Declined

            raise Declined("nobody waits for the call any more; nothing was done")
        return content

    def _asked(self) -> Questions:
        from ...rooms.consent.question import Declined

        if self.questions is None:
            raise Declined(nobody_to_ask(self.tool))
        return self.questions

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
