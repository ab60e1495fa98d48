"""`name/portability`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


_MOST = 64


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        problem = _problem(tool.name)
        if problem:
            yield RULE.at(
                tool,
                ("name",),
                f"the name `{tool.name}` {problem}",
                "letters, digits, `_` and `-`, a letter first and at most 64 characters,"
                " are taken everywhere",
            )


def _problem(name: str) -> str:
    if len(name) > _MOST:
        return f"has {len(name)} characters; OpenAI, Anthropic and Bedrock take {_MOST}"
    if "." in name:
        return "has a dot, which OpenAI, Anthropic and Bedrock refuse"
    if not re.match(r"[A-Za-z_]", name):
        return f"begins with `{name[0]}`, which Gemini refuses"
    return ""


RULE = Rule(
    id="name/portability",
    severity=Severity.WARNING,
    purpose="Checks that every model provider takes the tool's name.",
    why=(
        "A provider that refuses one name refuses the whole request, with all other tools"
        " in it."
    ),
    bad="""\
# notes.list.yaml
summary: Lists notes.
""",
    good="""\
# notes_list.yaml
summary: Lists notes.
""",
    check=check,
)
