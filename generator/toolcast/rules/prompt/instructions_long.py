"""`prompt/instructions-long`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.client_kinds import Limited, crossed, limits_here
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if toolset.instructions is None or "mcp" not in toolset.targets:
        return
    length = len(toolset.instructions)
    limits = limits_here(toolset, None, Limited.INSTRUCTIONS)
    for least in crossed(limits, 0, length)[:1]:
        yield RULE.at(
            toolset,
            ("instructions",),
            f"the instructions have {length:,} characters; {least.client} takes"
            f" {least.most:,} and cuts off the rest",
            "keep what holds for the server as a whole; what is about one tool belongs into"
            " that tool's description",
        )


RULE = Rule(
    id="prompt/instructions-long",
    severity=Severity.WARNING,
    purpose="Checks that the server's instructions are not longer than clients take.",
    why=(
        "What is beyond the limit is cut off without a word. Which limits count says `kind`"
        " of a client; a client of no known kind has Claude Code's."
    ),
    bad="",
    good="""\
# toolset.yaml
instructions: Store what has to last as a note.
""",
    check=check,
)
