"""Every built-in rule; others come as entry points of the group `toolcast.rules`."""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points

from . import cli_decision, required_unknown

from . import name_shadowing, name_similar  # isort: skip
from . import prompt_markup, prompt_mixed_script, prompt_other_tools  # isort: skip
from . import prompt_secrecy, prompt_secret_parameter, prompt_secrets  # isort: skip
from .rule import Rule

__all__ = ["BUILT_IN", "rules"]

BUILT_IN: tuple[Rule, ...] = (
    required_unknown.RULE,
    cli_decision.RULE,
    # What attacks models: texts and names.
    prompt_markup.RULE,
    prompt_other_tools.RULE,
    prompt_secrecy.RULE,
    prompt_secrets.RULE,
    prompt_secret_parameter.RULE,
    prompt_mixed_script.RULE,
    name_similar.RULE,
    name_shadowing.RULE,
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
