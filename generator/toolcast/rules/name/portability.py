"""`name/portability`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.provider_lists import name_problem
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        problem = name_problem(tool.name)
        if problem:
            yield RULE.at(
                tool,
                ("name",),
                f"the name `{tool.name}` {problem}",
                "letters, digits, `_` and `-`, a letter first and at most 64 characters,"
                " are taken everywhere",
            )


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
