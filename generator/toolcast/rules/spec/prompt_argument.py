"""`spec/prompt-argument`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.mcp.mcp_specs import PromptSpec
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]

_BRACES = re.compile(r"\{\{([^{}]*)\}\}")


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for prompt in toolset.mcp_prompts:
        names = [argument.name for argument in prompt.arguments]
        for index, name in enumerate(names):
            if name in names[:index]:
                message = f"the argument `{name}` is there twice"
                yield RULE.at(prompt, ("arguments", index, "name"), message)
        if prompt.messages:
            yield from _places(prompt, names)


def _places(prompt: PromptSpec, names: list[str]) -> Iterator[Finding]:
    used: set[str] = set()
    for index, message in enumerate(prompt.messages):
        for match in _BRACES.finditer(message.text):
            name = match[1].strip(" ")
            used.add(name)
            if name not in names:
                said = f"`{match[0]}` stands for no argument"
                help_ = did_you_mean(name, names) or f"add `{name}` to `arguments`"
                yield RULE.at(prompt, ("messages", index, "text"), said, help_)
    for index, name in enumerate(names):
        if name not in used and name not in names[:index]:
            said = f"nothing that the prompt says has `{{{{{name}}}}}`"
            yield RULE.at(
                prompt, ("arguments", index, "name"), said, "use it, or remove it"
            )


RULE = Rule(
    id="spec/prompt-argument",
    severity=Severity.ERROR,
    purpose="Checks that each argument of an MCP prompt stands in it, and nothing else.",
    why=(
        "A misspelled place is empty in what the model reads, and an argument that is not used"
        " is asked of people for nothing."
    ),
    bad="""\
# mcp_prompts/review.yaml
arguments: [{name: language}]
messages: [{text: "Review this {{langauge}} code."}]
""",
    good="""\
# mcp_prompts/review.yaml
arguments: [{name: language}]
messages: [{text: "Review this {{language}} code."}]
""",
    check=check,
)
