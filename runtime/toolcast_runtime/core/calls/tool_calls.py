"""Calls of tools, from the caller's request to the response.

Each call goes through five stages:

1. find: `Registry.find` looks the tool up by name, for a client that may call it.
2. admit: `ToolCalls.admit` applies the guard of the request and builds the call's context.
3. record: `ToolCalls.record` writes the start of a persistent tool's call to the ledger before
   the next stages, and its end after them.
4. prepare: `ToolCalls.prepare` validates the arguments, loads the handler, asks the user to
   confirm, and opens the dependencies.
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
    ReportProgress,
    StoreContent,
    ToolError,
    ToolResponse,
    format_no_user,
)
from ..definitions.tool import Confirm, Proxies, Tool, ToolProvider, format_deprecation
from ..optional import OptionalPartError
from ..question import InputRequiredError
from ..toolset_settings import LedgerError, LifespanError
from .call_telemetry import ProgressReporter, log_call, should_trace_call, trace_call
from .execution import (
    Runner,
    accept_any_result,
    format_problems,
    run_call,
    run_call_in_loop,
    run_function,
    run_provider,
    run_proxied,
)
from .handlers import HandlerAdapter, adapt_handler
from .tool_validators import Validators
from .worker_threads import Outcome

if TYPE_CHECKING:
    from ...consent.questions import Questions
    from ...ledger.recorder import Recorder
    from ...lifespan.dependencies import Dependencies
    from ..question import Approvals, AskUser
    from ..toolset import ToolMatch
    from ..toolset_settings import LedgerSettings
    from ..validation.checker import Checker

_logger = logging.getLogger("toolcast")

Stage = Callable[
    [Tool, ToolProvider | None, Mapping[str, Any], CallContext], Awaitable[CallResult]
]
"""A stage of a call, `record` or `prepare`: returns a response with its outcome."""


async def call_tool(
    found: Awaitable[ToolMatch],
    name: str,
    arguments: Mapping[str, Any] | None,
    client: str | None,
    report_progress: ReportProgress | None,
    ask: AskUser | None,
    store_content: StoreContent | None,
) -> ToolResponse:
    """Call the tool that `Registry.find` returns, after awaiting `found`.

    Every failure is a response with an error. The other arguments: see `Registry.call_tool`.
    """
    started = time.perf_counter()
    try:
        tool, provider, toolset = await found
        calls = toolset.calls
    except LookupError as error:
        response = ToolResponse(error=str(error))
    except AccessError:
        response = _refuse("no tool can be called: the access rules cannot be loaded")
    except Exception:
        response = _refuse(f"the tool `{name}` is not available: it cannot be loaded")
    else:
        return await calls.admit(
            tool, provider, arguments, client, report_progress, ask, store_content
        )
    log_call(name, "refused", started, client, CALLER.get())
    return response


class ToolCalls:
    """Calls of one toolset's tools, from admission to the response.

    Args:
        ledger: the ledger for calls of persistent tools; None if such calls are refused.
        handlers: the package that defines every handler, and the ledger's sink function.
        dependencies: returns the lifespan's dependencies; None without a lifespan.
        dependency_names: the names of these dependencies.

    Attributes:
        proxies: the toolset's providers; the first that is a `Proxies` runs the calls of
            proxied tools.
    """

    def __init__(
        self,
        ledger: LedgerSettings | None = None,
        handlers: str | None = None,
        *,
        dependencies: Callable[[], Dependencies] | None = None,
        dependency_names: Sequence[str] = (),
    ) -> None:
        self._dependencies = dependencies
        self._dependency_names = dependency_names
        self.proxies: Sequence[ToolProvider] = ()
        self._ledger = ledger
        self._package = handlers
        self._handlers: dict[str, HandlerAdapter] = {}
        self.validators = Validators(asserts_formats=True)
        # Names of deprecated tools whose warning was logged: it is logged once per tool.
        self._logged_deprecations: set[str] = set()
        self._conditions: dict[str, Checker | None] = {}
        self._approvals: Approvals | None = None

    async def admit(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any] | None,
        client: str | None,
        report_progress: ReportProgress | None = None,
        ask: AskUser | None = None,
        store_content: StoreContent | None = None,
    ) -> ToolResponse:
        """Call a tool in a new context, unless the request's guard refuses the call.

        A refused call, like every failure, is a response with an error.

        Args:
            tool: a tool that the client may call.
            provider: the tool's provider; None for a local tool. The guard applies only to
                local tools.
            arguments: see `Registry.call_tool`, also for the other arguments.
        """
        guard = None if provider is not None else CALL_GUARD.get()
        reason = None if guard is None else guard(tool.name)
        if reason is not None:
            log_call(tool.name, "refused", time.perf_counter(), client, CALLER.get())
            return ToolResponse(error=reason)
        arguments = {} if arguments is None else arguments
        make_questions = None
        if ask is not None:
            make_questions = self.make_questions(ask, tool, client, arguments)
        context = CallContext(tool.name, client, None, make_questions, store_content)
        if report_progress is None:
            return await self.call(tool, provider, arguments, context)
        async with ProgressReporter(report_progress) as reporter:
            context.report = reporter.report
            return await self.call(tool, provider, arguments, context)

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
        if tool.deprecated is not None and tool.name not in self._logged_deprecations:
            self._logged_deprecations.add(tool.name)
            line = format_deprecation(tool.deprecated)
            _logger.warning("%s is called. %s", tool.name, line)
        started = time.perf_counter()
        outcome: CallOutcome = "cancelled"
        error: str | None = None
        stage: Stage = self.record if tool.persistent else self.prepare
        try:
            if tool.result is not None:
                # Wrap the outermost stage: the ledger then records the whole result, and only
                # the response is shortened.
                stage = optional.truncation.shape_results(stage)
            if should_trace_call():
                with trace_call(context) as set_outcome:
                    response, outcome = await stage(tool, provider, arguments, context)
                    set_outcome(outcome)
            else:
                response, outcome = await stage(tool, provider, arguments, context)
            error = response.error
        except OptionalPartError as missing:
            response, outcome = _log_missing_part(tool, missing), "error"
            error = response.error
        finally:
            log_call(tool.name, outcome, started, context.client, context.caller, error)
        return response

    def make_questions(
        self,
        ask: AskUser,
        tool: Tool,
        client: str | None,
        arguments: Mapping[str, Any],
    ) -> Callable[[], Questions]:
        """Return a function that creates the call's `Questions`.

        The function raises DeclinedError if an optional part cannot be loaded.
        """
        loop = asyncio.get_running_loop()

        def create_questions() -> Questions:
            try:
                questions_class = optional.questions.Questions
                store = self.get_approvals()
            except OptionalPartError as missing:
                _logger.exception("no user can be asked about a call of %s", tool.name)
                raise DeclinedError(
                    f"`{tool.name}` has to ask the user first, and {missing}; nothing was"
                    " done"
                ) from None
            return questions_class(ask, lambda: store, tool, client, arguments, loop)

        return create_questions

    async def run_handler(
        self,
        tool: Tool,
        arguments: Mapping[str, Any],
        context: CallContext,
        build_response: Callable[[Any], ToolResponse],
    ) -> CallResult:
        """Run the handler of an MCP resource or prompt; return its response and outcome.

        Args:
            tool: the resource or prompt as a tool with a handler; `kind` states which one.
            arguments: the handler's arguments, already validated.
            context: the context of the request.
            build_response: converts the handler's return value; may raise ToolError.
        """
        try:
            handler = self.get_handler(tool)
        except Exception:
            _logger.exception("the handler of %s cannot be loaded", tool.name)
            text = f"the {tool.kind} is not available; the log has the details"
            return ToolResponse(error=text), "error"
        prepared: Runner | ToolResponse = partial(run_function, handler, None)
        if handler.uses:
            prepared = await self._bind_dependencies(tool, handler)
        if isinstance(prepared, ToolResponse):
            return prepared, "error"

        async def run(arguments: Mapping[str, Any], context: CallContext) -> Outcome:
            result, error = await prepared(arguments, context)
            try:
                return (result, error) if error else (build_response(result), None)
            except ToolError as refused:
                return None, refused

        return await run_call(tool, run, arguments, context, accept_any_result)

    async def record(
        self,
        tool: Tool,
        provider: ToolProvider | None,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> CallResult:
        """Record, prepare and run a call; a call that cannot be recorded is not run."""
        turns = TURNS.get()
        if turns is not None:
            await turns.wait_for(arguments)

        prepare = partial(self.prepare, tool, provider, arguments, context)
        return await self._recorder.record(tool, arguments, context, prepare)

    async def check_ledger(self) -> None:
        """Check that calls can be recorded.

        Raises:
            LedgerError: calls cannot be recorded.
        """
        try:
            await self._recorder.check()
        except OptionalPartError as missing:
            raise LedgerError(str(missing)) from missing

    async def close(self) -> None:
        """Wait until every finished call is recorded, and close the ledger."""
        # `_recorder` is a cached property: it is in `__dict__` only after its first use.
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
        """Prepare and run a call; a call that is invalid or not confirmed is not run."""
        turns = TURNS.get()
        if turns is not None:
            await turns.wait_for(arguments)
        if provider is not None:
            remote = partial(run_provider, provider, tool)
            return await run_call(tool, remote, arguments, context, accept_any_result)
        problems = self.validators.check_arguments(tool, arguments)
        if problems:
            return ToolResponse(error=format_problems(tool, problems)), "invalid"
        # The runtime handles the parameter that selects result fields; handlers have no
        # parameter for it.
        arguments = tool.strip_field_selection(arguments)
        if tool.proxy is not None:
            run = self._build_proxy_runner(tool)
        elif tool.handler is None:
            unwritten = "is not implemented: its spec names no handler"
            return ToolResponse(error=f"the tool `{tool.name}` {unwritten}"), "error"
        else:
            try:
                handler = self._handlers.get(tool.name) or self.get_handler(tool)
            except OptionalPartError as missing:
                return _log_missing_part(tool, missing), "error"
            except Exception:
                _logger.exception("the handler of %s cannot be loaded", tool.name)
                return _unavailable(tool, "its handler cannot be loaded"), "error"
            # The schema may accept properties for which the function has no parameter.
            rejected = handler.find_rejected(arguments)
            if rejected:
                problems = [f"`{argument}` is not a parameter" for argument in rejected]
                return ToolResponse(error=format_problems(tool, problems)), "invalid"
            run = partial(run_function, handler, None)
        if isinstance(run, ToolResponse):
            return run, "error"
        if tool.confirm is not None:
            try:
                # Copy the arguments, so that the call runs with those that the user saw even if
                # the caller changes its object in the meantime.
                arguments = optional.confirmation.copy_arguments(arguments)
            except OptionalPartError as missing:
                return _log_missing_part(tool, missing), "error"
            refused = await self._confirm(tool, tool.confirm, arguments, context)
            if refused is not None:
                return refused
        # Bind dependencies only after the confirmation: a declined call opens none.
        if tool.proxy is None and handler.uses:
            run = await self._bind_dependencies(tool, handler)
            if isinstance(run, ToolResponse):
                return run, "error"
        check_result = self.validators.check_result
        return await run_call(tool, run, arguments, context, check_result)

    def _build_proxy_runner(self, tool: Tool) -> Runner | ToolResponse:
        """Return a function that runs a proxied tool's call, or an error response.

        The response is an error if the toolset declares no external server.
        """
        proxies = next((p for p in self.proxies if isinstance(p, Proxies)), None)
        if proxies is None:
            text = f"the server of the tool `{tool.name}` is not declared"
            return ToolResponse(error=text)
        return partial(run_proxied, proxies, tool)

    async def _bind_dependencies(
        self, tool: Tool, handler: HandlerAdapter
    ) -> Runner | ToolResponse:
        """Return a function that runs the handler with its dependencies.

        Starts the lifespan if needed. Returns an error response if that fails.
        """
        try:
            if self._dependencies is None:
                raise LifespanError("the toolset has no lifespan")
            dependencies, loop = await self._dependencies().resolve(handler.uses)
        except OptionalPartError as missing:
            return _log_missing_part(tool, missing)
        except LifespanError as error:
            _logger.error("tool %s: %s", tool.name, error, exc_info=error.__cause__)
            return _unavailable(tool, "its dependencies cannot be opened")
        run = partial(run_function, handler, dependencies)
        return run if loop is None else partial(run_call_in_loop, loop, run)

    async def _confirm(
        self,
        tool: Tool,
        confirm: Confirm,
        arguments: Mapping[str, Any],
        context: CallContext,
    ) -> CallResult | None:
        """Ask the user to confirm a call if `confirm` requires it.

        Returns None if the call may continue, otherwise the response that ends it.
        """
        confirmation = optional.confirmation
        if not confirmation.is_confirmation_needed(
            confirm, self._conditions, arguments
        ):
            return None
        try:
            questions = context.get_questions()
            question = confirmation.build_question(tool.name, confirm, arguments)
            await questions.ask(question, confirm.message)
        except InputRequiredError as needed:
            return ToolResponse(error=str(needed)), "asked"
        except DeclinedError as declined:
            return ToolResponse(error=str(declined)), "declined"
        except Exception:
            _logger.exception("no user can be asked about a call of %s", tool.name)
            text = f"{format_no_user(tool.name)}; the log has the details"
            return ToolResponse(error=text), "declined"
        return None

    def get_approvals(self) -> Approvals:
        """Return the store of questions and answers, which all calls of the registry share.

        Raises:
            OptionalPartError: the store cannot be loaded.
        """
        if self._approvals is None:
            if self._ledger is None:
                self._approvals = optional.questions.ApprovalsInMemory()
            else:
                self._approvals = optional.ledger_tables.ApprovalsTable(self._ledger)
        return self._approvals

    def get_handler(self, tool: Tool) -> HandlerAdapter:
        """Return the handler that a tool names; import it on first use.

        Raises:
            Exception: the handler, or its argument or result class, cannot be loaded.
        """
        handler = self._handlers.get(tool.name)
        if handler is None:
            handler = self._handlers[tool.name] = adapt_handler(
                tool, self._package, self._dependency_names
            )
        return handler


def _refuse(reason: str) -> ToolResponse:
    """Return an error response for a refused call; log the exception being handled."""
    _logger.exception("a call is refused: %s", reason)
    return ToolResponse(error=f"{reason}; the log has the details")


def _unavailable(tool: Tool, reason: str) -> ToolResponse:
    subject = f"tool `{tool.name}`" if tool.kind == "tool" else tool.kind
    text = f"the {subject} is not available: {reason}; the log has the details"
    return ToolResponse(error=text)


def _log_missing_part(tool: Tool, missing: OptionalPartError) -> ToolResponse:
    """Return an error response for a call that needs a missing optional part; log why."""
    _logger.error("tool %s: %s", tool.name, missing, exc_info=missing.__cause__)
    return _unavailable(tool, str(missing))
