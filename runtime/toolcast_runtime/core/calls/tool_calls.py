"""Calls of tools that the caller may have: checked arguments, the handler, the answer."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...rooms.consent.questions import Questions
from ...serve.http.turns import turn
from ..access.clients import AccessError
from ..context import (
    CALL_GUARD,
    CALLER,
    CallContext,
    CallOutcome,
    Keep,
    ReportProgress,
    ToolError,
    ToolResponse,
    nobody_to_ask,
)
from ..definitions.provider import Proxies, ToolProvider
from ..definitions.tool import Confirm, Tool, deprecation_line
from ..toolset_settings import LifespanError
from .calling import (
    Invoke,
    awaited,
    invalid,
    invoke_handler,
    invoked_in,
    run_call,
)
from .handlers import HandlerAdapter, Wrap, adapt_handler
from .progress import Reports
from .tool_validators import Validators
from .watching import is_watched, log_call, span
from .work import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...rooms.ledger.recorder import Recorder
    from ...rooms.lifespan.resources import Resources
    from ..question import Approvals, AskPerson
    from ..toolset_settings import LedgerSettings
    from ..validation.checker import Checker

_logger = logging.getLogger("toolcast")


class ToolCalls:
    """Runs the calls of one registry.

    Args:
        ledger: where calls of persistent tools are recorded; None refuses them.
        handlers: the package that defines every handler, and the ledger's function; None
            when there are none.
        resources: what tools use; None when the toolset has no lifespan.

    Attributes:
        proxies: the providers; one that is `Proxies` answers tools that name a server.
    """

    def __init__(
        self,
        ledger: LedgerSettings | None = None,
        handlers: str | None = None,
        *,
        resources: Resources | None = None,
    ) -> None:
        self._resources = resources
        self.proxies: Sequence[ToolProvider] = ()
        self._ledger = ledger
        self._package = handlers
        self._handlers: dict[str, HandlerAdapter] = {}
        self.validators = Validators(asserts_formats=True)
        self._told: set[str] = set()
        self._conditions: dict[str, Checker | None] = {}
        self._kept: Approvals | None = None

    async def find_and_call(
        self,
        found: Awaitable[tuple[Tool, ToolProvider | None]],
        name: str,
        arguments: Mapping[str, Any] | None,
        client: str | None,
        report_progress: ReportProgress | None,
        ask: AskPerson | None = None,
        keep: Keep | None = None,
    ) -> ToolResponse:
        """The answer of the tool that is found. Every failure is an answer, too."""
        started = time.perf_counter()
        refused: ToolResponse | None = None
        try:
            tool, provider = await found
        except LookupError as error:
            refused = ToolResponse(error=str(error))
        except AccessError:
            refused = _refused(
                "no tool can be called: who may have which cannot be found out"
            )
        except Exception:
            refused = _refused(
                f"the tool `{name}` is not available: it cannot be loaded"
            )
        else:
            guard = CALL_GUARD.get()
            reason = None if guard is None or provider is not None else guard(tool.name)
            if reason is not None:
                refused = ToolResponse(error=reason)
        if refused is not None:
            log_call(name, "refused", started, client, CALLER.get())
            return refused
        given: Mapping[str, Any] = {} if arguments is None else arguments
        questions = None
        if ask is not None:
            questions = Questions(ask, self.approvals, tool, client, given)
        if report_progress is None:
            context = CallContext(tool.name, client, None, questions, keep)
            return await self.call(tool, provider, given, context)
        async with Reports(report_progress) as reports:
            context = CallContext(tool.name, client, reports.report, questions, keep)
            return await self.call(tool, provider, given, context)

    async def call(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> ToolResponse:
        """The answer of a tool, local or its provider's. Every failure is an answer, too."""
        if tool.deprecated is not None and tool.name not in self._told:
            self._told.add(tool.name)
            line = deprecation_line(tool.deprecated)
            _logger.warning("%s is called. %s", tool.name, line)
        started = time.perf_counter()
        outcome: CallOutcome = "cancelled"
        answer = self._traced if is_watched() else self._recorded
        try:
            response, outcome = await answer(tool, provider, arguments, context)
        finally:
            log_call(tool.name, outcome, started, context.client, context.caller)
        return response

    async def _traced(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> tuple[ToolResponse, CallOutcome]:
        with span(context) as set_outcome:
            answered = await self._recorded(tool, provider, arguments, context)
            set_outcome(answered[1])
        return answered

    async def run_handler(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
        shaped: Callable[[Any], ToolResponse],
    ) -> tuple[ToolResponse, CallOutcome]:
        """What the handler of a resource or an MCP prompt answers, and what came of it.

        Args:
            tool: it as a tool, with a handler; its `kind` says what it is.
            arguments: what the handler gets, checked.
            context: the request's.
            shaped: makes the answer of what the handler gives; may raise ToolError.
        """
        try:
            handler = self.handler(tool)
        except Exception:
            _logger.exception("the handler of %s cannot be loaded", tool.name)
            text = f"the {tool.kind} is not available; the log has the details"
            return ToolResponse(error=text), "error"
        work: Invoke | ToolResponse = invoke_handler(handler)
        if tool.uses:
            work = await self._with_resources(tool, handler)
        if isinstance(work, ToolResponse):
            return work, "error"
        run = work

        async def invoke(given: Mapping[str, Any], context: CallContext) -> Outcome:
            result, error = await run(given, context)
            try:
                return (result, error) if error else (shaped(result), None)
            except ToolError as refused:
                return None, refused

        return await run_call(tool, invoke, arguments, context, _no_problems)

    async def _recorded(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> tuple[ToolResponse, CallOutcome]:
        await turn(arguments)
        if not tool.persistent:
            return await self._work(tool, provider, arguments, context)

        async def work() -> tuple[ToolResponse, CallOutcome]:
            await turn(arguments)
            return await self._work(tool, provider, arguments, context)

        return await self._recorder.record(tool, arguments, context, work)

    async def check_ledger(self) -> None:
        """Returns when calls can be recorded.

        Raises:
            LedgerError: they cannot.
        """
        await self._recorder.check()

    async def close(self) -> None:
        """Returns when every call is recorded that has to be."""
        if "_recorder" in self.__dict__:
            await self._recorder.close()

    @cached_property
    def _recorder(self) -> Recorder:
        from ...rooms.ledger.recorder import Recorder

        return Recorder(self._ledger, self._package)

    async def _work(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> tuple[ToolResponse, CallOutcome]:
        if provider is not None:
            invoke = _invoke_provider(provider, tool)
            return await run_call(tool, invoke, arguments, context, _no_problems)
        problems = self.validators.problems_with_arguments(tool, arguments)
        if problems:
            return ToolResponse(error=invalid(tool, problems)), "invalid"
        if tool.proxy is not None:
            return await self._proxied(tool, arguments, context)
        if tool.handler is None:
            unwritten = "is not implemented: its spec names no handler"
            return ToolResponse(error=f"the tool `{tool.name}` {unwritten}"), "error"
        try:
            handler = self.handler(tool)
        except Exception:
            _logger.exception("the handler of %s cannot be loaded", tool.name)
            missing = "is not available: its handler cannot be loaded"
            text = f"the tool `{tool.name}` {missing}; the log has the details"
            return ToolResponse(error=text), "error"
        unknown = handler.not_taken(arguments)
        if unknown:
            problems = [f"`{argument}` is not a parameter" for argument in unknown]
            return ToolResponse(error=invalid(tool, problems)), "invalid"
        if tool.confirm is not None:
            from ...rooms.consent.confirmation import copied

            arguments = copied(arguments)
            refused = await self._confirmed(tool, tool.confirm, arguments, context)
            if refused is not None:
                return refused
        check = self.validators.problems_with_result
        if not tool.uses:
            invoke = invoke_handler(handler)
            return await run_call(tool, invoke, arguments, context, check)
        work = await self._with_resources(tool, handler)
        if isinstance(work, ToolResponse):
            return work, "error"
        return await run_call(tool, work, arguments, context, check)

    async def _proxied(
        self, tool: Tool, arguments: Mapping[str, Any], context: CallContext
    ) -> tuple[ToolResponse, CallOutcome]:
        """The answer of the server that the tool names, once a person has allowed the call."""
        proxies = next((p for p in self.proxies if isinstance(p, Proxies)), None)
        if proxies is None:
            text = f"the server of the tool `{tool.name}` is not declared"
            return ToolResponse(error=text), "error"
        if tool.confirm is not None:
            from ...rooms.consent.confirmation import copied

            arguments = copied(arguments)
            refused = await self._confirmed(tool, tool.confirm, arguments, context)
            if refused is not None:
                return refused

        async def invoke(given: Mapping[str, Any], context: CallContext) -> Outcome:
            return await awaited(lambda: proxies.call_proxied(tool, given, context))

        check = self.validators.problems_with_result
        return await run_call(tool, invoke, arguments, context, check)

    async def _with_resources(
        self, tool: Tool, handler: HandlerAdapter
    ) -> Invoke | ToolResponse:
        """The handler's work where its resources are to be used, or why they are not there."""
        try:
            if self._resources is None:
                raise LifespanError("the toolset has no lifespan")
            resources, loop = await self._resources.of(tool.uses)
        except LifespanError as error:
            _logger.error("tool %s: %s", tool.name, error, exc_info=error.__cause__)
            missing = "is not available: what it uses cannot be had"
            whose = f"tool `{tool.name}`" if tool.kind == "tool" else tool.kind
            text = f"the {whose} {missing}; the log has the details"
            return ToolResponse(error=text)
        invoke = invoke_handler(handler, resources)
        return invoke if loop is None else invoked_in(loop, invoke)

    async def _confirmed(
        self,
        tool: Tool,
        confirm: Confirm,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> tuple[ToolResponse, CallOutcome] | None:
        """The answer to a call that a person has not allowed; None when it may go on."""
        from ...rooms.consent.confirmation import confirmation, is_needed
        from ..context import Declined
        from ..question import InputNeeded

        if not is_needed(confirm, self._conditions, arguments):
            return None
        try:
            if context.questions is None:
                raise Declined(nobody_to_ask(tool.name))
            question = confirmation(tool.name, confirm, arguments)
            await context.questions.ask(question, confirm.message)
        except InputNeeded as needed:
            return ToolResponse(error=str(needed)), "asked"
        except Declined as declined:
            return ToolResponse(error=str(declined)), "declined"
        except Exception:
            _logger.exception("nobody can be asked about a call of %s", tool.name)
            text = f"{nobody_to_ask(tool.name)}; the log says why"
            return ToolResponse(error=text), "declined"
        return None

    def approvals(self) -> Approvals:
        """Where questions and answers are kept, the same for all calls of the registry."""
        if self._kept is None:
            if self._ledger is None:
                from ...rooms.consent.questions import ApprovalsInMemory

                self._kept = ApprovalsInMemory()
            else:
                from ...rooms.ledger.approvals_table import ApprovalsTable

                self._kept = ApprovalsTable(self._ledger)
        return self._kept

    def handler(self, tool: Tool) -> HandlerAdapter:
        """The handler of a tool that names one, imported when it is first asked for.

        Raises:
            Exception: it, or a class that it is given or gives, cannot be had.
        """
        handler = self._handlers.get(tool.name)
        if handler is None:
            named = tool.handler or ""
            schema, typed = tool.parameters, self._typed(tool)
            handler = adapt_handler(named, schema, self._package, tool.uses, typed)
            self._handlers[tool.name] = handler
        return handler

    def _typed(self, tool: Tool) -> Wrap | None:
        """What stands around a handler that is not given JSON values."""
        if not (tool.has_python_values or tool.arguments_type or tool.result_type):
            return None
        from ...rooms.values.typed_function import typed_function

        return lambda function: typed_function(function, tool, self._package)


def _refused(why: str) -> ToolResponse:
    """The answer when something is wrong here, with the present exception in the log."""
    _logger.exception("a call is refused: %s", why)
    return ToolResponse(error=f"{why}; the log says why")


def _invoke_provider(provider: ToolProvider, tool: Tool) -> Invoke:
    async def invoke(arguments: Mapping[str, Any], context: CallContext) -> Any:
        return await awaited(lambda: provider.call_tool(tool, arguments, context))

    return invoke


def _no_problems(tool: Tool, result: Any) -> list[str]:
    """A provider's results are checked by itself, if by anybody."""
    return []
