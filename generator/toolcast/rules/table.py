"""Every built-in rule; others come as entry points of the group `toolcast.rules`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from . import (
    actions,
    always_unreachable,
    attached_circular,
    bad_pattern,
    cli_client,
    cli_decision,
    cli_flag,
    cli_keyword,
    cli_usage,
    client_contradiction,
    default_mismatch,
    description_long,
    description_missing,
    duplicate_enum,
    ecma_pattern,
    empty_enum,
    example_mismatch,
    former_alive,
    handler_default,
    handler_missing,
    handler_not_found,
    handler_outside,
    handler_signature,
    langchain_lost,
    letta_name,
    mcp_client,
    name_collision,
    nobody,
    not_importable,
    output_catalogue,
    parameter_undescribed,
    portability,
    python_keyword,
    reading_catalogue,
    required_undeclared,
    required_unknown,
    schema_cyclic_ref,
    schema_invalid,
    schema_no_type,
    schema_remote_ref,
    schema_root_not_object,
    schema_unresolved_ref,
    section_missing,
    slow_pattern,
    spec_catalogue,
    summary_long,
    unknown_client,
    unknown_exclusion,
    unknown_keyword,
    unknown_option,
    unknown_permission,
    unknown_pool,
    unknown_section,
    unknown_table,
    unknown_target,
    unknown_tool,
    unread_field,
)
from .rule import Rule

__all__ = ["BUILT_IN", "rules"]

BUILT_IN: tuple[Rule, ...] = (
    *reading_catalogue.RULES,
    *spec_catalogue.RULES,
    actions.RULE,
    section_missing.RULE,
    unknown_permission.RULE,
    unknown_section.RULE,
    unread_field.RULE,
    bad_pattern.RULE,
    schema_cyclic_ref.RULE,
    default_mismatch.RULE,
    duplicate_enum.RULE,
    ecma_pattern.RULE,
    empty_enum.RULE,
    example_mismatch.RULE,
    schema_invalid.RULE,
    schema_no_type.RULE,
    schema_remote_ref.RULE,
    required_undeclared.RULE,
    required_unknown.RULE,
    schema_root_not_object.RULE,
    slow_pattern.RULE,
    unknown_keyword.RULE,
    schema_unresolved_ref.RULE,
    name_collision.RULE,
    former_alive.RULE,
    langchain_lost.RULE,
    not_importable.RULE,
    portability.RULE,
    python_keyword.RULE,
    description_long.RULE,
    description_missing.RULE,
    parameter_undescribed.RULE,
    summary_long.RULE,
    always_unreachable.RULE,
    cli_client.RULE,
    cli_decision.RULE,
    cli_flag.RULE,
    cli_keyword.RULE,
    cli_usage.RULE,
    client_contradiction.RULE,
    mcp_client.RULE,
    nobody.RULE,
    unknown_client.RULE,
    unknown_exclusion.RULE,
    unknown_tool.RULE,
    unknown_target.RULE,
    unknown_option.RULE,
    handler_default.RULE,
    handler_missing.RULE,
    handler_not_found.RULE,
    handler_outside.RULE,
    handler_signature.RULE,
    unknown_pool.RULE,
    unknown_table.RULE,
    attached_circular.RULE,
    letta_name.RULE,
    *output_catalogue.RULES,
)


@cache
def rules() -> dict[str, Rule]:
    """Every rule by id: the built-in ones, then those of `toolcast.rules`.

    Raises:
        ValueError: an entry point takes an id that is taken, or is no Rule.
    """
    known = {rule.id: rule for rule in BUILT_IN}
    for entry in sorted(entry_points(group="toolcast.rules"), key=lambda e: e.name):
        rule = entry.load()
        if not isinstance(rule, Rule):
            raise ValueError(f"the entry point {entry.name} is not a toolcast Rule")
        if rule.id in known:
            raise ValueError(f"the rule {rule.id} of {entry.value} is there already")
        known[rule.id] = rule
    return known
