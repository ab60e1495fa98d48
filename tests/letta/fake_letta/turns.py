"""Turns of an agent with a scripted model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .world import Agent, Refused, World

__all__ = ["Script", "run_turn"]

Script = list[dict[str, Any]]
"""What the model does in order: `{"tool": name, "args": {...}}` or `{"text": ...}`."""

_MOST_STEPS = 20
_FINISHES_WITH_TEXT = frozenset(["letta_v1_agent"])


def run_turn(
    world: World, agent: Agent, body: Mapping[str, Any], script: Script
) -> dict[str, Any]:
    """One turn.

    Source: `letta_agent_v2.py` of 0.16.6: an agent of a memgpt type goes on after a tool
    with a `continue_loop` rule or with `request_heartbeat`, and ends otherwise; a
    `letta_v1_agent` ends with a text.
    """
    messages: list[dict[str, Any]] = []
    steps = 0
    stop = "end_turn"
    approvals = [m for m in body.get("messages") or () if m.get("type") == "approval"]
    if agent.pending_approval is not None:
        if not approvals:
            raise Refused(
                409,
                {
                    "code": "PENDING_APPROVAL",
                    "message": "Cannot send a new message: The agent is waiting for"
                    " approval on a tool call.",
                },
            )
        call, agent.pending_approval = agent.pending_approval, None
        if approvals[0]["approvals"][0]["approve"]:
            messages += _run(world, agent, call)
        steps += 1
    while script and steps < _MOST_STEPS:
        step = script.pop(0)
        steps += 1
        if "text" in step:
            messages.append({"message_type": "assistant_message", **_text(step)})
            break
        name = step["tool"]
        if _has_rule(agent, name, "requires_approval"):
            agent.pending_approval = step
            messages.append(
                {"message_type": "approval_request_message", "tool_call": _call(step)}
            )
            stop = "requires_approval"
            break
        messages += _run(world, agent, step)
        if _has_rule(agent, name, "exit_loop"):
            stop = "tool_rule"
            break
        heartbeat = bool(step.get("args", {}).get("request_heartbeat"))
        goes_on = heartbeat or _has_rule(agent, name, "continue_loop")
        if agent.agent_type not in _FINISHES_WITH_TEXT and not goes_on:
            break
    agent.last_stop_reason = stop
    agent.messages += [*(body.get("messages") or ()), *messages]
    return {
        "messages": messages,
        "stop_reason": {"message_type": "stop_reason", "stop_reason": stop},
        "usage": {"message_type": "usage_statistics", "step_count": steps},
    }


def _text(step: Mapping[str, Any]) -> dict[str, Any]:
    return {"content": step["text"]}


def _call(step: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": step["tool"],
        "arguments": step.get("args", {}),
        "tool_call_id": "call-1",
    }


def _has_rule(agent: Agent, name: str, kind: str) -> bool:
    return any(
        rule["tool_name"] == name and rule["type"] == kind for rule in agent.tool_rules
    )


def _run(world: World, agent: Agent, step: Mapping[str, Any]) -> list[dict[str, Any]]:
    name = step["tool"]
    tool = next((one for one in world.attached(agent) if one.name == name), None)
    if tool is None:
        offered = sorted(one.name for one in world.attached(agent))
        text = (
            f"[ToolConstraintError] Cannot call {name}, valid tools include: {offered}"
        )
        success = False
    else:
        arguments = dict(step.get("args", {}))
        arguments.pop("request_heartbeat", None)
        text, success = world.run_tool(agent, tool, arguments)
    return [
        {"message_type": "tool_call_message", "tool_call": _call(step)},
        {
            "message_type": "tool_return_message",
            "name": name,
            "tool_return": text or "Empty response from tool",
            "status": "success" if success else "error",
        },
    ]
