"""Turns of an agent with a scripted model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import RequestRefusedError
from .model_steps import Script, next_step
from .rows import Agent, Tool
from .world import World

__all__ = ["run_turn"]

_MAX_STEPS = 20
_AGENT_TYPES_ENDING_WITH_TEXT = frozenset(["letta_v1_agent"])


def run_turn(
    world: World, agent: Agent, body: Mapping[str, Any], script: Script
) -> dict[str, Any]:
    """Run a turn and return Letta's answer.

    Source: `letta_agent_v2.py` of 0.16.6. An agent of a memgpt type continues its turn
    after a tool with a `continue_loop` rule or with `request_heartbeat`; a
    `letta_v1_agent` ends its turn with a text.
    """
    messages: list[dict[str, Any]] = []
    steps = 0
    stop = "end_turn"
    approvals = [m for m in body.get("messages") or () if m.get("type") == "approval"]
    if agent.pending_approval is not None:
        if not approvals:
            raise RequestRefusedError(
                409,
                {
                    "code": "PENDING_APPROVAL",
                    "message": "Cannot send a new message: The agent is waiting for"
                    " approval on a tool call.",
                },
            )
        call, agent.pending_approval = agent.pending_approval, None
        if approvals[0]["approvals"][0]["approve"]:
            messages += _run_tool(world, agent, call)[1:]
    is_begun = False
    while steps < _MAX_STEPS:
        offered = _list_offered_tools(world, agent, is_first=not messages)
        step = next_step(agent, offered, script, is_begun=is_begun)
        if step is None:
            break
        is_begun = is_begun or bool(script)
        steps += 1
        if "text" in step:
            messages.append({"message_type": "assistant_message", **_encode_text(step)})
            break
        name = step["tool"]
        if _has_rule(agent, name, "requires_approval"):
            agent.pending_approval = dict(step)
            approval_request = {
                "id": world.new_id("message"),
                "tool_call": _encode_call(step),
            }
            messages.append(
                {"message_type": "approval_request_message", **approval_request}
            )
            stop = "requires_approval"
            break
        is_v1 = agent.agent_type in _AGENT_TYPES_ENDING_WITH_TEXT
        if name == "send_message" and not is_v1:
            final_message = {"text": step.get("args", {}).get("message")}
            messages.append(
                {"message_type": "assistant_message", **_encode_text(final_message)}
            )
        else:
            messages += _run_tool(world, agent, step)
        if _has_rule(agent, name, "exit_loop"):
            stop = "tool_rule" if is_v1 else "end_turn"
            break
        heartbeat = bool(step.get("args", {}).get("request_heartbeat"))
        continues = heartbeat or _has_rule(agent, name, "continue_loop")
        if not is_v1 and not continues:
            break
    agent.last_stop_reason = stop
    agent.messages += [*(body.get("messages") or ()), *messages]
    return {
        "messages": messages,
        "stop_reason": {"message_type": "stop_reason", "stop_reason": stop},
        "usage": {"message_type": "usage_statistics", "step_count": steps},
    }


def _encode_text(step: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": step["text"]}


def _encode_call(step: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": step["tool"],
        "arguments": step.get("args", {}),
        "tool_call_id": step.get("id", "call-1"),
    }


def _has_rule(agent: Agent, name: str, kind: str) -> bool:
    return any(
        rule["tool_name"] == name and rule["type"] == kind for rule in agent.tool_rules
    )


def _list_offered_tools(world: World, agent: Agent, *, is_first: bool) -> list[Tool]:
    """Return the tools that the model may call; `run_first` restricts the first call."""
    attached = world.list_attached_tools(agent)
    rules = agent.tool_rules
    first = {rule["tool_name"] for rule in rules if rule["type"] == "run_first"}
    if not first or not is_first:
        return attached
    return [tool for tool in attached if tool.name in first]


def _run_tool(
    world: World, agent: Agent, step: Mapping[str, Any]
) -> list[dict[str, Any]]:
    name = step["tool"]
    tool = next(
        (
            attached_tool
            for attached_tool in world.list_attached_tools(agent)
            if attached_tool.name == name
        ),
        None,
    )
    if tool is None:
        offered = sorted(
            attached_tool.name for attached_tool in world.list_attached_tools(agent)
        )
        text = (
            f"[ToolConstraintError] Cannot call {name}, valid tools include: {offered}"
        )
        success = False
    else:
        arguments = dict(step.get("args", {}))
        arguments.pop("request_heartbeat", None)
        text, success = world.run_tool(agent, tool, arguments)
    return [
        {"message_type": "tool_call_message", "tool_call": _encode_call(step)},
        {
            "message_type": "tool_return_message",
            "name": name,
            "tool_return": text or "Empty response from tool",
            "status": "success" if success else "error",
        },
    ]
