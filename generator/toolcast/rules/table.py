"""Every built-in rule; others come as entry points of the group `toolcast.rules`."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..extensions import ExtensionFailure, extensions
from .rule import Rule

__all__ = ["BUILT_IN", "built_in", "checking_ids", "known_ids", "rule", "rules"]

BUILT_IN: dict[str, str] = {
    "yaml/syntax": "reading_catalogue",
    "yaml/ambiguous": "reading_catalogue",
    "yaml/anchor": "reading_catalogue",
    "yaml/tag": "reading_catalogue",
    "yaml/duplicate-key": "reading_catalogue",
    "yaml/key": "reading_catalogue",
    "yaml/documents": "reading_catalogue",
    "yaml/directive": "reading_catalogue",
    "yaml/empty": "reading_catalogue",
    "yaml/encoding": "reading_catalogue",
    "yaml/forbidden-character": "reading_catalogue",
    "yaml/invisible-character": "reading_catalogue",
    "yaml/too-deep": "reading_catalogue",
    "yaml/too-large": "reading_catalogue",
    "spec/unknown-key": "spec_catalogue",
    "spec/missing-key": "spec_catalogue",
    "spec/wrong-type": "spec_catalogue",
    "spec/invalid-value": "spec_catalogue",
    "spec/file-stem": "spec_catalogue",
    "spec/duplicate-tool": "spec_catalogue",
    "spec/duplicate-toolset": "spec_catalogue",
    "spec/unknown-toolset": "spec_catalogue",
    "spec/outside-project": "spec_catalogue",
    "spec/output-over-input": "spec_catalogue",
    "spec/many-findings": "spec_catalogue",
    "spec/unreadable": "spec_catalogue",
    "spec/unknown-rule": "spec_catalogue",
    "spec/suppression-over": "spec_catalogue",
    "spec/unused-suppression": "spec_catalogue",
    "spec/actions": "actions",
    "spec/section-missing": "section_missing",
    "spec/server-secret": "server_secret",
    "spec/server-transport": "server_transport",
    "spec/unknown-permission": "unknown_permission",
    "spec/unknown-section": "unknown_section",
    "spec/unread-field": "unread_field",
    "schema/bad-pattern": "bad_pattern",
    "schema/cyclic-ref": "schema_cyclic_ref",
    "schema/default-mismatch": "default_mismatch",
    "schema/duplicate-enum": "duplicate_enum",
    "schema/ecma-pattern": "ecma_pattern",
    "schema/empty-enum": "empty_enum",
    "schema/example-mismatch": "example_mismatch",
    "schema/invalid": "schema_invalid",
    "schema/no-type": "schema_no_type",
    "schema/remote-ref": "schema_remote_ref",
    "schema/required-undeclared": "required_undeclared",
    "schema/required-unknown": "required_unknown",
    "schema/root-not-object": "schema_root_not_object",
    "schema/slow-pattern": "slow_pattern",
    "schema/unknown-keyword": "unknown_keyword",
    "schema/unresolved-ref": "schema_unresolved_ref",
    "schema/multiplying": "multiplying",
    "name/collision": "name_collision",
    "name/former-alive": "former_alive",
    "name/langchain-lost": "langchain_lost",
    "name/not-importable": "not_importable",
    "name/portability": "portability",
    "name/python-keyword": "python_keyword",
    "name/server-clash": "server_clash",
    "prompt/description-long": "description_long",
    "prompt/description-missing": "description_missing",
    "prompt/parameter-undescribed": "parameter_undescribed",
    "prompt/summary-long": "summary_long",
    "expose/always-unreachable": "always_unreachable",
    "expose/cli-client": "cli_client",
    "expose/cli-decision": "cli_decision",
    "expose/cli-flag": "cli_flag",
    "expose/cli-keyword": "cli_keyword",
    "expose/cli-usage": "cli_usage",
    "expose/client-contradiction": "client_contradiction",
    "expose/endpoint-clash": "endpoint_clash",
    "expose/mcp-client": "mcp_client",
    "expose/nobody": "nobody",
    "expose/unknown-client": "unknown_client",
    "expose/unknown-exclusion": "unknown_exclusion",
    "expose/unknown-tool": "unknown_tool",
    "target/unknown": "unknown_target",
    "target/unknown-option": "unknown_option",
    "handler/default": "handler_default",
    "handler/missing": "handler_missing",
    "handler/not-found": "handler_not_found",
    "handler/outside-package": "handler_outside",
    "handler/ledger-sink": "ledger_sink",
    "handler/signature": "handler_signature",
    "handler/unfollowed": "handler_unfollowed",
    "data/unknown-pool": "unknown_pool",
    "data/unknown-table": "unknown_table",
    "data/unknown-accessor": "unknown_accessor",
    "data/wrong-pool": "wrong_pool",
    "data/undeclared-table": "undeclared_table",
    "data/undeclared-effect": "undeclared_effect",
    "data/untouched-table": "untouched_table",
    "letta/attached-circular": "attached_circular",
    "letta/name-too-long": "letta_name",
    "letta/builtin-name": "letta_builtin",
    "letta/same-name": "letta_same_name",
    "letta/skipped-schema": "letta_schema",
    "letta/long-timeout": "letta_timeout",
    "letta/circular-handler": "circular_handler",
    "letta/undeclared-loop": "undeclared_loop",
    "letta/loop-not-reached": "loop_not_reached",
    "letta/no-decision": "letta_decision",
    "letta/settings": "letta_settings",
    "output/missing": "output_catalogue",
    "output/stale": "output_catalogue",
    "output/hand-edited": "output_catalogue",
    "output/orphaned": "output_catalogue",
    "output/foreign": "output_catalogue",
    "output/link": "output_catalogue",
    "target/template": "output_catalogue",
    # What attacks models: texts and names.
    "name/shadowing": "name_shadowing",
    "name/similar": "name_similar",
    "prompt/markup": "prompt_markup",
    "prompt/mixed-script": "prompt_mixed_script",
    "prompt/other-tools": "prompt_other_tools",
    "prompt/secrecy": "prompt_secrecy",
    "prompt/secret-parameter": "prompt_secret_parameter",
    "prompt/secrets": "prompt_secrets",
}
"""The module of each rule by the rule's id. A run that builds on an earlier one loads only
the rules that it needs."""


def rule(id: str) -> Rule:
    """The rule of an id, which is the only one that is loaded when it is built in.

    Raises:
        KeyError: there is none.
        ExtensionFailure: see `rules`.
    """
    if id in BUILT_IN:
        return _of_module(BUILT_IN[id])[id]
    return _extensions()[id]


def built_in() -> tuple[Rule, ...]:
    """The built-in rules."""
    return tuple(map(rule, BUILT_IN))


def rules() -> dict[str, Rule]:
    """Every rule by id: the built-in ones, then those of `toolcast.rules`.

    Raises:
        ExtensionFailure: one cannot be loaded, or takes an id that is taken.
    """
    return {**{id: rule(id) for id in BUILT_IN}, **_extensions()}


def checking_ids() -> set[str]:
    """The ids of the built-in rules that check something: a catalogue tells of others."""
    return {id for id, name in BUILT_IN.items() if not name.endswith("_catalogue")}


def known_ids() -> list[str]:
    """The ids of every rule, none of which is loaded when it is built in.

    Raises:
        ExtensionFailure: see `rules`.
    """
    return [*BUILT_IN, *_extensions()]


@cache
def _of_module(name: str) -> dict[str, Rule]:
    module = import_module(f".{name}", __package__)
    found = vars(module).get("RULES") or (module.RULE,)
    return {rule.id: rule for rule in found}


@cache
def _extensions() -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for value, rule in extensions("toolcast.rules", Rule):
        if rule.id in BUILT_IN or rule.id in found:
            raise ExtensionFailure(f"the rule `{rule.id}` of {value} is there already")
        found[rule.id] = rule
    return found
