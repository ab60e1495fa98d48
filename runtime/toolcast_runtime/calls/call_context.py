"""What a running call knows of itself, for handlers that ask."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from .background_loop import in_loop

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from ..consent.questions import Questions

__all__ = [
    "CALLER_LOOP",
    "CALL_GUARD",
    "CURRENT_CALL",
    "CallContext",
    "CallGuard",
    "CallOutcome",
    "ReportProgress",
    "current_call",
    "nobody_to_ask",
]

_Given = TypeVar("_Given")

CallOutcome = Literal[
    "ok", "error", "invalid", "timeout", "cancelled", "asked", "declined"
]
"""What came of a call.

`invalid`: its arguments were refused. `asked`: it is made again with a person's answer.
`declined`: it needed a person's yes, and there was none.
"""

ReportProgress = Callable[[float, float | None, str | None], Awaitable[None]]
"""`(progress, total, message)`, sent to the caller if it asked for progress."""


CallGuard = Callable[[str], str | None]
"""Why a tool of a name may not be called now; None when it may."""

CALL_GUARD: ContextVar[CallGuard | None] = ContextVar("call_guard", default=None)
"""Holds for a request and for every call that its handler makes in its own context."""

CALLER_LOOP: ContextVar[AbstractEventLoop | None] = ContextVar(
    "caller_loop", default=None
)
"""Where the caller is, when the call was handed to the loop of what its tool uses."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call.

    Attributes:
        tool: the tool's name.
        client: who calls; None in a toolset without clients.
        report_progress: tells the caller how far the call is; None when it did not ask.
        questions: puts questions to a person; None where nobody can be asked.
    """

    tool: str
    client: str | None = None
    report_progress: ReportProgress | None = None
    questions: Questions | None = None

    async def ask(
        self, schema: Mapping[str, Any], message: str, *, name: str | None = None
    ) -> Mapping[str, Any]:
        """What a person filled in; returns only with an answer that the schema allows.

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
        """
        from ..consent.question import Declined

        if self.questions is None:
            raise Declined(nobody_to_ask(self.tool))
        return await _at_caller(self.questions.ask_form(schema, message, name))

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Reports progress; does nothing when the caller did not ask for it."""
        if self.report_progress is not None:
            report = self.report_progress

            async def reported() -> None:
                await report(progress, total, message)

            await _at_caller(reported())


async def _at_caller(work: Coroutine[Any, Any, _Given]) -> _Given:
    """What a coroutine gives in the caller's loop."""
    loop = CALLER_LOOP.get()
    return await (work if loop is None else in_loop(loop, work))


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
