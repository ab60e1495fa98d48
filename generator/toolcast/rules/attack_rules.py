"""The rules about texts and names that attack models."""

from __future__ import annotations

from . import (
    name_shadowing,
    name_similar,
    prompt_markup,
    prompt_mixed_script,
    prompt_other_tools,
    prompt_secrecy,
    prompt_secret_parameter,
    prompt_secrets,
)

__all__ = ["RULES"]

RULES = (
    prompt_markup.RULE,
    prompt_other_tools.RULE,
    prompt_secrecy.RULE,
    prompt_secrets.RULE,
    prompt_secret_parameter.RULE,
    prompt_mixed_script.RULE,
    name_similar.RULE,
    name_shadowing.RULE,
)
