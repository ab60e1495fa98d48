"""`prompt/summary-long`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


_MOST = 200


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        if len(tool.summary) > _MOST:
            yield RULE.at(
                tool,
                ("summary",),
                f"the summary has {len(tool.summary)} characters; {_MOST} are a line",
                "keep what the tool does; the rest belongs in `description`",
            )


RULE = Rule(
    id="prompt/summary-long",
    severity=Severity.WARNING,
    purpose="Checks that no summary is longer than 200 characters.",
    why="It is a bullet in prompts and catalogues and a line of `--help`.",
    bad="",
    good="""\
summary: Stores a note.
""",
    check=check,
)
