"""Tool rules of agents, parsed as Letta parses them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .errors import RequestRefusedError

__all__ = ["parse_rule"]

_RULE_FIELDS: dict[str, dict[str, Any]] = {
    "run_first": {"prompt_template": None, "args": None},
    "exit_loop": {"prompt_template": None},
    "continue_loop": {"prompt_template": None},
    "constrain_child_tools": {
        "prompt_template": None,
        "children": ...,
        "child_arg_nodes": None,
    },
    "parent_last_tool": {"prompt_template": None, "children": ...},
    "conditional": {
        "prompt_template": None,
        "default_child": None,
        "child_output_mapping": ...,
        "require_output_mapping": False,
    },
    "max_count_per_step": {"prompt_template": None, "max_count_limit": ...},
    "required_before_exit": {"prompt_template": None},
    "requires_approval": {"prompt_template": None},
}


def parse_rule(value: Any) -> dict[str, Any]:
    """Return a rule with its defaults.

    Raises:
        RequestRefusedError: 422 for an unknown type or a missing field; nothing else is
            checked.
    """
    if not isinstance(value, Mapping) or value.get("type") not in _RULE_FIELDS:
        raise RequestRefusedError(
            422, "[{'type': 'union_tag_invalid', 'loc': ('tool_rules',)}]"
        )
    rule = {"tool_name": value.get("tool_name"), "type": value["type"]}
    for key, default in _RULE_FIELDS[value["type"]].items():
        if default is ... and key not in value:
            raise RequestRefusedError(
                422, f"[{{'type': 'missing', 'loc': ('tool_rules', '{key}')}}]"
            )
        rule[key] = value.get(key, None if default is ... else default)
    if not isinstance(rule["tool_name"], str):
        raise RequestRefusedError(
            422, "[{'type': 'missing', 'loc': ('tool_rules', 'tool_name')}]"
        )
    return rule
