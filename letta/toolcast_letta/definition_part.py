"""The `letta` object in a tool's definition, for generator and generated tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .plan.desired_state import LOOP_REASON


def build_definition_part(
    spec: Mapping[str, Any], excluded_because: str | None
) -> dict[str, Any]:
    """Return the `letta` object of a tool's definition.

    It has `attached`, the `reason` if it is false and a reason is known, and those of
    the flags `ends_turn`, `requires_approval`, `calls_agent_loop` and `changes_data`
    that are true. A tool with a `confirm` requires approval.

    Args:
        spec: the tool's spec; its `letta`, `annotations`, `data` and `confirm` are
            read.
        excluded_because: the reason of the toolset's exclusion; None if there is none.
    """
    facts = spec.get("letta", {})
    is_attached = bool(facts.get("attached")) and excluded_because is None
    part: dict[str, Any] = {"attached": is_attached}
    if not is_attached:
        # A tool that calls the agent's own loop needs no written reason: it would
        # deadlock.
        default = LOOP_REASON if facts.get("calls_agent_loop") else None
        reason = excluded_because or facts.get("reason") or default
        if reason:
            part["reason"] = reason
    for key in ("ends_turn", "requires_approval", "calls_agent_loop"):
        if facts.get(key):
            part[key] = True
    if "confirm" in spec:
        part["requires_approval"] = True
    if is_changing_data(spec):
        part["changes_data"] = True
    return part


def is_changing_data(spec: Mapping[str, Any]) -> bool:
    """Return whether a tool's spec declares that a call changes something.

    Evidence is a table under `data.writes` or `data.deletes`, or the annotation
    `destructiveHint: true` or `readOnlyHint: false`. A missing `readOnlyHint` is none.
    """
    data, hints = spec.get("data") or {}, spec.get("annotations") or {}
    if data.get("writes") or data.get("deletes") or hints.get("destructiveHint"):
        return True
    return hints.get("readOnlyHint") is False
