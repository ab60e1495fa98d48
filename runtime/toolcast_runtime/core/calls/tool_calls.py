"""Calls of tools. Each call goes through five stages:

1. find: `Registry.find` looks the tool up by name, for a client that may have it.
2. admit: `ToolCalls.admit` applies the guard of the request and builds the call's context.
3. record: `ToolCalls.record` writes the start of a persistent tool's call to the ledger before
   the next stages, and its end after them.
4. prepare: `ToolCalls.prepare` validates the arguments, loads the handler, asks the user to
   confirm, and opens the resources.
5. run: `run_call` runs the handler within its timeout and validates the result.

Each stage calls the next one. A stage that refuses a call returns an error response, and the
stages after it do not take place.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from .. import optional
from ..access import AccessError
from ..context import (
    CALL_GUARD,
    CALLER,
    TURNS,
    CallContext,
    CallOutcome,
    CallResult,
    DeclinedError,
    Keep,
    ReportProgress,
    ToolError,
    ToolResponse,
    nobody_to_ask,
)
from ..definitions.tool import Confirm, Proxies, Tool, ToolProvider, deprecation_line
from ..optional import OptionalPartError
from ..question import InputRequiredError
from ..toolset_settings import LedgerError, LifespanError
from .call_telemetry import Reports, is_watched, log_call, span
from .execution import (
    Runner,
    invalid,
    no_problems,
    run_call,
    run_function,
    run_in_loop,
    run_provider,
    run_proxied,
)
from .handlers import HandlerAdapter, adapt_handler
from .tool_validators import Validators
from .worker_threads import Outcome

if TYPE_CHECKING:
    from ...consent.questions import Questions
    from ...ledger.recorder import Recorder
    from ...lifespan.dependencies import Resources
    from ..question import Approvals, AskPerson
    from ..toolset import Found
    from ..toolset_settings import LedgerSettings
    from ..validation.checker import Checker

_logger = logging.getLogger("toolcast")

Stage = Callable[
    [Tool, ToolProvider | None, Mapping[str, Any], CallContext], Awaitable[CallResult]
]
"""`record` or `prepare`: the stages that return a response with its outcome."""


async def call_tool(
    found: Awaitable[Found],
    name: str,
    arguments: Mapping[str, Any] | None,
    client: str | None,
    report_progress: ReportProgress | None,
    ask: AskPerson | None,
    keep: Keep | None,
) -> ToolResponse:
    """Await the result of `Registry.find` and call the tool that it found.

    Every failure is a response with an error. The other arguments: see `Registry.call_tool`.
    """
    started = time.perf_counter()
    try:
        tool, provider, toolset = await found
        calls = toolset.calls
    except LookupError as error:
        refused = ToolResponse(error=str(error))
    except AccessError:
        refused = _refused(
            "no tool can be called: who may have which cannot be found out"
        )
    except Exception:
        refused = _refused(f"the tool `{name}` is not available: it cannot be loaded")
    else:
        return await calls.admit(
            tool, provider, arguments, client, report_progress, ask, keep
        )
    log_call(name, "refused", started, client, CALLER.get())
    return refused


class ToolCalls:
    """Runs the calls of one registry.

    Args:
        ledger: see `Registry`.
        handlers: the package that defines every handler, and the ledger's function.
        resources: gives what tools use; None when the toolset has no lifespan.

    Attributes:
        proxies: the providers; one that is `Proxies` answers tools that name a server.
    """

    def __init__(
        self,
        ledger: LedgerSettings | None = None,
        handlers: str | None = None,
        *,
        resources: Callable[[], Resources] | None = None,
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

    async def admit(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any] | None,
        client: str | None,
        report_progress: ReportProgress | None = None,
        ask: AskPerson | None = None,
        keep: Keep | None = None,
    ) -> ToolResponse:
        """Apply the guard of the request and call the tool, in a context of its own.

        Every failure is a response with an error.

        Args:
            tool: a tool that the client may have.
            provider: the tool's provider; None for a local tool, which alone is guarded.
            arguments: as of `Registry.call_tool`, like the others.
        """
        guard = None if provider is not None else CALL_GUARD.get()
        reason = None if guard is None else guard(tool.name)
        if reason is not None:
            log_call(tool.name, "refused", time.perf_counter(), client, CALLER.get())
            return ToolResponse(error=reason)
        given: Mapping[str, Any] = {} if arguments is None else arguments
        may_ask = None if ask is None else self.may_ask(ask, tool, client, given)
        context = CallContext(tool.name, client, None, may_ask, keep)
        if report_progress is None:
            return await self.call(tool, provider, given, context)
        async with Reports(report_progress) as reports:
            context.report = reports.report
            return await self.call(tool, provider, given, context)

    async def call(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> ToolResponse:
        """Record, prepare and run an admitted call; log it and trace it.

        Every failure is a response with an error.
        """
        if tool.deprecated is not None and tool.name not in self._told:
            self._told.add(tool.name)
            line = deprecation_line(tool.deprecated)
            _logger.warning("%s is called. %s", tool.name, line)
        started = time.perf_counter()
        outcome: CallOutcome = "cancelled"
        error: str | None = None
        stage: Stage = self.record if tool.persistent else self.prepare
        try:
            if tool.result is not None:
                # Outside of the record, which has the whole result.
                stage = optional.truncation.shape_results(stage)
            if is_watched():
                with span(context) as set_outcome:
                    response, outcome = await stage(tool, provider, arguments, context)
                    set_outcome(outcome)
            else:
                response, outcome = await stage(tool, provider, arguments, context)
            error = response.error
        except OptionalPartError as missing:
            response, outcome = _without(tool, missing), "error"
            error = response.error
        finally:
            log_call(tool.name, outcome, started, context.client, context.caller, error)
        return response

    def may_ask(
        self,
        ask: AskPerson,
        tool: Tool,
        client: str | None,
        arguments: Mapping[str, Any],
    ) -> Callable[[], Questions]:
        """What makes the questions of a call that runs in this loop, when one is put.

        It raises DeclinedError when they cannot be put.
        """
        loop = asyncio.get_running_loop()

        def questions() -> Questions:
            try:
                made, kept = optional.questions.Questions, self.approvals()
            except OptionalPartError as missing:
                _logger.exception("nobody can be asked about a call of %s", tool.name)
                raise DeclinedError(
                    f"`{tool.name}` has to ask a person first, and {missing}; nothing was"
                    " done"
                ) from None
            return made(ask, lambda: kept, tool, client, arguments, loop)

        return questions

    async def run_handler(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
        shaped: Callable[[Any], ToolResponse],
    ) -> CallResult:
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
        prepared: Runner | ToolResponse = partial(run_function, handler, None)
        if tool.uses:
            prepared = await self._with_resources(tool, handler)
        if isinstance(prepared, ToolResponse):
            return prepared, "error"

        async def run(given: Mapping[str, Any], context: CallContext) -> Outcome:
            result, error = await prepared(given, context)
            try:
                return (result, error) if error else (shaped(result), None)
            except ToolError as refused:
                return None, refused

        return await run_call(tool, run, arguments, context, no_problems)

    async def record(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> CallResult:
        """Record, prepare and run a call; one that cannot be recorded is not run."""
        turns = TURNS.get()
        if turns is not None:
            await turns.wait_for(arguments)

        prepare = partial(self.prepare, tool, provider, arguments, context)
        return await self._recorder.record(tool, arguments, context, prepare)

    async def check_ledger(self) -> None:
        """Returns when calls can be recorded.

        Raises:
            LedgerError: they cannot.
        """
        try:
            await self._recorder.check()
        except OptionalPartError as missing:
            raise LedgerError(str(missing)) from missing

    async def close(self) -> None:
        """Returns when every call is recorded that has to be."""
        if "_recorder" in self.__dict__:
            await self._recorder.close()

    @cached_property
    def _recorder(self) -> Recorder:
        return optional.recorder.Recorder(self._ledger, self._package)

    async def prepare(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> CallResult:
        """Prepare and run a call; one that is invalid or not confirmed is not run."""
        turns = TURNS.get()
        if turns is not None:
            await turns.wait_for(arguments)
        if provider is not None:
            remote = partial(run_provider, provider, tool)
            return await run_call(tool, remote, arguments, context, no_problems)
        problems = self.validators.problems_with_arguments(tool, arguments)
        if problems:
            return ToolResponse(error=invalid(tool, problems)), "invalid"
        arguments = tool.handled(arguments)
        if tool.proxy is not None:
            run = self._proxied(tool)
        elif tool.handler is None:
            unwritten = "is not implemented: its spec names no handler"
            return ToolResponse(error=f"the tool `{tool.name}` {unwritten}"), "error"
        else:
            try:
                handler = self._handlers.get(tool.name) or self.handler(tool)
            except OptionalPartError as missing:
                return _without(tool, missing), "error"
            except Exception:
                _logger.exception("the handler of %s cannot be loaded", tool.name)
                return _unavailable(tool, "its handler cannot be loaded"), "error"
            unknown = handler.not_taken(arguments)
            if unknown:
                problems = [f"`{argument}` is not a parameter" for argument in unknown]
                return ToolResponse(error=invalid(tool, problems)), "invalid"
            run = partial(run_function, handler, None)
        if isinstance(run, ToolResponse):
            return run, "error"
        if tool.confirm is not None:
            try:
                arguments = optional.confirmation.copied(arguments)
            except OptionalPartError as missing:
                return _without(tool, missing), "error"
            refused = await self._confirmed(tool, tool.confirm, arguments, context)
            if refused is not None:
                return refused
        if tool.uses and tool.proxy is None:
            run = await self._with_resources(tool, handler)
            if isinstance(run, ToolResponse):
                return run, "error"
        check = self.validators.problems_with_result
        return await run_call(tool, run, arguments, context, check)

    def _proxied(self, tool: Tool) -> Runner | ToolResponse:
        """Return the runner on the server that the tool names, or an error response."""
        proxies = next((p for p in self.proxies if isinstance(p, Proxies)), None)
        if proxies is None:
            text = f"the server of the tool `{tool.name}` is not declared"
            return ToolResponse(error=text)
        return partial(run_proxied, proxies, tool)

    async def _with_resources(
        self, tool: Tool, handler: HandlerAdapter
    ) -> Runner | ToolResponse:
        """Return the handler's runner with its resources, or an error response."""
        try:
            if self._resources is None:
                raise LifespanError("the toolset has no lifespan")
            resources, loop = await self._resources().of(tool.uses)
        except OptionalPartError as missing:
            return _without(tool, missing)
        except LifespanError as error:
            _logger.error("tool %s: %s", tool.name, error, exc_info=error.__cause__)
            return _unavailable(tool, "what it uses cannot be had")
        run = partial(run_function, handler, resources)
        return run if loop is None else partial(run_in_loop, loop, run)

    async def _confirmed(
        self,
        tool: Tool,
        confirm: Confirm,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> CallResult | None:
        """The answer to a call that a person has not allowed; None when it may go on."""
        confirmation = optional.confirmation
        if not confirmation.is_needed(confirm, self._conditions, arguments):
            return None
        try:
            questions = context.asking()
            question = confirmation.confirmation(tool.name, confirm, arguments)
            await questions.ask(question, confirm.message)
        except InputRequiredError as needed:
            return ToolResponse(error=str(needed)), "asked"
        except DeclinedError as declined:
            return ToolResponse(error=str(declined)), "declined"
        except Exception:
            _logger.exception("nobody can be asked about a call of %s", tool.name)
            text = f"{nobody_to_ask(tool.name)}; the log says why"
            return ToolResponse(error=text), "declined"
        return None

    def approvals(self) -> Approvals:
        """Where questions and answers are kept, the same for all calls of the registry.

        Raises:
            OptionalPartError: it cannot be loaded.
        """
        if self._kept is None:
            self._kept = (
                optional.questions.ApprovalsInMemory()
                if self._ledger is None
                else optional.ledger_tables.ApprovalsTable(self._ledger)
            )
        return self._kept

    def handler(self, tool: Tool) -> HandlerAdapter:
        """The handler of a tool that names one, imported when it is first asked for.

        Raises:
            Exception: it, or a class that it is given or gives, cannot be had.
        """
        handler = self._handlers.get(tool.name)
        if handler is None:
            handler = self._handlers[tool.name] = adapt_handler(tool, self._package)
        return handler


def _refused(why: str) -> ToolResponse:
    """The answer when something is wrong here, with the present exception in the log."""
    _logger.exception("a call is refused: %s", why)
    return ToolResponse(error=f"{why}; the log says why")


def _unavailable(tool: Tool, why: str) -> ToolResponse:
    whose = f"tool `{tool.name}`" if tool.kind == "tool" else tool.kind
    text = f"the {whose} is not available: {why}; the log has the details"
    return ToolResponse(error=text)


def _without(tool: Tool, missing: OptionalPartError) -> ToolResponse:
    """The answer of a call that a part of the runtime is missing for."""
    _logger.error("tool %s: %s", tool.name, missing, exc_info=missing.__cause__)
    return _unavailable(tool, str(missing))
