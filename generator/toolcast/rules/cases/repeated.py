"""`cases/repeated`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...selection.trial import messages_of
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds messages that stand twice, for the same tool and in the same sense."""
    seen: set[tuple[str, str | None, bool]] = set()
    for said in messages_of(toolset):
        key = said.same_words, said.tool, said.is_near
        if key in seen:
            yield RULE.at(
                said.owner,
                said.path,
                "the same message stands in another case already",
                "delete one of them; each counts once among those that pass",
            )
        seen.add(key)


RULE = Rule(
    id="cases/repeated",
    severity=Severity.WARNING,
    purpose="Checks that no message stands twice among the cases of a tool.",
    why="A case that counts twice hides that another one is missing.",
    bad="""\
cases: [{message: Remember the milk.}, {message: remember the milk}]
""",
    good="""\
cases: [{message: Remember the milk.}, {message: note down what Dana said}]
""",
    check=check,
)
