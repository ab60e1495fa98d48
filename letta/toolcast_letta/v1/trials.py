"""Calls attached tools through Letta, without a model and in a real turn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..plan.backend import Calls, Trial
from ..plan.current_state import CurrentState
from ..plan.desired_state import DesiredAgent, DesiredState, DesiredTool
from .api import LettaApi, LettaError

_NO_REASON = (
    "the tool failed, and Letta does not say why; the MCP server's log does, with"
    " `--log-level debug`"
)


def trials_of(
    api: LettaApi,
    desired: DesiredState,
    agent: DesiredAgent,
    current: CurrentState,
    calls: Calls,
) -> Iterator[Trial]:
    """Calls the examples of an agent's tools, and one tool in a real turn."""
    attached = current.agents[agent.name].tools
    for name in desired.canonical:
        tool = desired.tools[name]
        if not calls.has(tool):
            continue
        why = calls.omission_reason(tool)
        if name not in attached:
            yield Trial(agent.name, name, "run", False, "it is not attached")
        elif why:
            is_asked = bool(calls.tools)
            yield Trial(agent.name, name, "run", None, why, is_asked)
        else:
            wrong = _wrong_example(api, agent, tool, current)
            yield Trial.of_examples(agent.name, tool, wrong)
    if calls.turn:
        yield _turn(api, agent, desired.tools[calls.turn], calls)


def _wrong_example(
    api: LettaApi, agent: DesiredAgent, tool: DesiredTool, current: CurrentState
) -> str:
    """What is wrong with the first answer that is; empty where all are right."""
    for example in tool.examples:
        try:
            answer = api.run_attached(agent.id, tool.name, example["arguments"])
        except LettaError as error:
            return str(error)
        wanted = "error" if "error" in example else "success"
        if answer.get("status") != wanted:
            said = _output(answer, api)
            if wanted == "error":
                said = said or "nothing"
                return f"the example says that it fails, and it gave {said}"
            return said or _reason(api, tool, example["arguments"], current)
    return ""


def _reason(
    api: LettaApi,
    tool: DesiredTool,
    arguments: Mapping[str, Any],
    current: CurrentState,
) -> str:
    """Why a call failed of which Letta says nothing.

    It drops the words of what fails for an agent, and gives them where nobody's agent asks: a
    tool that only reads is asked so once more.
    """
    if tool.is_serious or current.entry is None:
        return _NO_REASON
    try:
        tool_id = current.registry[tool.name].id
        again = api.run_registered(current.entry.id, tool_id, arguments)
    except LettaError:
        return _NO_REASON
    if again.get("status") == "success":
        return "the tool failed for the agent, and then not, without an agent"
    return _output(again, api) or _NO_REASON


def _output(answer: Mapping[str, Any], api: LettaApi) -> str:
    """What a tool gave, on one line, cut."""
    output = answer.get("func_return") or answer.get("stderr") or ""
    text = "\n".join(map(str, output)) if isinstance(output, list) else str(output)
    return " ".join(api.hidden(text).split())[:200]


def _turn(api: LettaApi, agent: DesiredAgent, tool: DesiredTool, calls: Calls) -> Trial:
    """The only proof that an agent can call a tool: that it does."""

    def result(passed: bool | None, detail: str) -> Trial:
        return Trial(agent.name, tool.name, "turn", passed, detail, is_asked=True)

    if tool.requires_approval:
        return result(None, "a person would have to approve it in the middle")
    if tool.changes_data and not calls.changing:
        return result(None, "it changes data; --call-changing makes the turn")
    arguments = tool.examples[0]["arguments"] if tool.examples else {}
    text = (
        f"Please call your tool `{tool.name}` once, with exactly these arguments:"
        f" {json.dumps(arguments, ensure_ascii=False)}. Then say in one sentence what it"
        " gave."
    )
    try:
        answer = api.turn(agent.id, text)
    except LettaError as error:
        return result(False, str(error))
    messages: Sequence[Mapping[str, Any]] = answer.get("messages") or ()
    called = [
        message
        for message in messages
        if message.get("message_type") == "tool_return_message"
        and message.get("name") == tool.name
    ]
    steps = (answer.get("usage") or {}).get("step_count") or 0
    if not called:
        asked = [
            (m.get("tool_call") or {}).get("name")
            for m in messages
            if m.get("message_type") == "tool_call_message"
        ]
        return result(
            False, f"it was not called; the agent called {asked or 'nothing'}"
        )
    if called[-1].get("status") != "success":
        output = str(called[-1].get("tool_return"))
        return result(False, f"it failed: {api.hidden(output)[:200]}")
    if steps < 2 and not tool.ends_turn:
        return result(False, "the turn ended after one step: its rule is missing")
    return result(True, f"{steps} step{'' if steps == 1 else 's'}")
