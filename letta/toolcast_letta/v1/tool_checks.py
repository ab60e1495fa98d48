"""Call attached tools through a Letta server, without a model or in a turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..plan.backend import CallOptions, CheckResult
from ..plan.current_state import CurrentState
from ..plan.desired_state import DesiredAgent, DesiredState, DesiredTool
from .api import LettaApi, LettaError

_NO_REASON = (
    "the tool failed, and Letta returned no reason; see the log of the MCP server with"
    " `--log-level debug`"
)


def run_agent_checks(
    api: LettaApi,
    desired: DesiredState,
    agent: DesiredAgent,
    current: CurrentState,
    calls: CallOptions,
) -> Iterator[CheckResult]:
    """Call the examples of an agent's tools, and one tool in a turn if requested.

    Yield a result for each selected tool of the toolset. A tool that is not attached
    fails; a tool that must not be called is skipped with the reason.
    """
    attached = current.agents[agent.name].tools
    for name in desired.canonical:
        tool = desired.tools[name]
        if not calls.selects(tool):
            continue
        reason = calls.omission_reason(tool)
        if name not in attached:
            yield CheckResult(agent.name, name, "run", False, "it is not attached")
        elif reason:
            # The user named this tool with `--tool`: verification then fails if it is
            # skipped.
            is_asked = bool(calls.tools)
            yield CheckResult(agent.name, name, "run", None, reason, is_asked)
        else:
            problem = _run_examples(api, agent, tool, current)
            yield CheckResult.from_examples(agent.name, tool, problem)
    if calls.turn:
        yield _run_turn(api, agent, desired.tools[calls.turn], calls)


def _run_examples(
    api: LettaApi, agent: DesiredAgent, tool: DesiredTool, current: CurrentState
) -> str:
    """Return the problem with the first example that fails; empty if all succeed.

    An example succeeds if the call ends as the example declares: with or without an
    error. The returned value is not compared.
    """
    for example in tool.examples:
        try:
            answer = api.run_attached(agent.id, tool.name, example["arguments"])
        except LettaError as error:
            return str(error)
        expected = "error" if "error" in example else "success"
        if answer.get("status") != expected:
            output = _format_output(answer, api)
            if expected == "error":
                output = output or "nothing"
                return f"the example declares an error, but the call returned {output}"
            return output or _find_failure_reason(
                api, tool, example["arguments"], current
            )
    return ""


def _find_failure_reason(
    api: LettaApi,
    tool: DesiredTool,
    arguments: Mapping[str, Any],
    current: CurrentState,
) -> str:
    """Return why a call failed for which Letta returned no message.

    Letta drops the error message of a tool that runs for an agent, but not of one that
    runs without an agent. So the tool is called a second time, without an agent, unless
    it changes data or requires approval.
    """
    if tool.needs_opt_in or current.entry is None:
        return _NO_REASON
    try:
        tool_id = current.registry[tool.name].id
        answer = api.run_registered(current.entry.id, tool_id, arguments)
    except LettaError:
        return _NO_REASON
    if answer.get("status") == "success":
        return "the tool failed for the agent and succeeded without an agent"
    return _format_output(answer, api) or _NO_REASON


def _format_output(answer: Mapping[str, Any], api: LettaApi) -> str:
    """Return a tool's output as one line of at most 200 characters; may be empty."""
    output = answer.get("func_return") or answer.get("stderr") or ""
    text = "\n".join(map(str, output)) if isinstance(output, list) else str(output)
    return " ".join(api.redact(text).split())[:200]


def _run_turn(
    api: LettaApi, agent: DesiredAgent, tool: DesiredTool, calls: CallOptions
) -> CheckResult:
    """Make the agent call the tool with its own model, and return the result.

    The check is skipped for a tool that requires approval, and for a tool that changes
    data without `--call-changing`.
    """

    def result(passed: bool | None, detail: str) -> CheckResult:
        return CheckResult(agent.name, tool.name, "turn", passed, detail, is_asked=True)

    if tool.requires_approval:
        return result(None, "a user would have to approve the call during the turn")
    if tool.changes_data and not calls.changing:
        return result(None, "it changes data; pass --call-changing to run the turn")
    arguments = tool.examples[0]["arguments"] if tool.examples else {}
    text = (
        f"Please call your tool `{tool.name}` once, with exactly these arguments:"
        f" {json.dumps(arguments, ensure_ascii=False)}. Then say in one sentence what it"
        " gave."
    )
    try:
        answer = api.run_turn(agent.id, text)
    except LettaError as error:
        return result(False, str(error))
    messages: Sequence[Mapping[str, Any]] = answer.get("messages") or ()
    returns = [
        message
        for message in messages
        if message.get("message_type") == "tool_return_message"
        and message.get("name") == tool.name
    ]
    steps = (answer.get("usage") or {}).get("step_count") or 0
    if not returns:
        called_names = [
            (m.get("tool_call") or {}).get("name")
            for m in messages
            if m.get("message_type") == "tool_call_message"
        ]
        return result(
            False, f"it was not called; the agent called {called_names or 'no tool'}"
        )
    if returns[-1].get("status") != "success":
        output = str(returns[-1].get("tool_return"))
        return result(False, f"it failed: {api.redact(output)[:200]}")
    # After a tool that does not end the turn, the model must get at least one more
    # step.
    if steps < 2 and not tool.ends_turn:
        return result(False, "the turn ended after one step: its rule is missing")
    return result(True, f"{steps} step{'' if steps == 1 else 's'}")
