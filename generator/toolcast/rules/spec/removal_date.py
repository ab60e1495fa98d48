"""`spec/removal-date`."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        deprecated = tool.deprecated or {}
        removal = deprecated.get("removal")
        if removal is None:
            continue
        path = ("deprecated", "removal")
        day = _date(removal)
        if day is None:
            message = f"the removal `{removal}` is no date"
            yield RULE.at(tool, path, message, 'write it as "2030-01-31"')
            continue
        since = _date(deprecated["since"])
        if since is not None and day < since:
            message = f"the removal is before the deprecation of {since}"
            yield RULE.at(tool, path, message, "name a later day")


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None


RULE = Rule(
    id="spec/removal-date",
    severity=Severity.ERROR,
    purpose="Checks that a removal has a date, which is not before the deprecation.",
    why="Nobody can plan by a day that is none, or that was over when it was announced.",
    bad="""\
deprecated: {since: "2030-06-01", removal: "2030-01-31"}
""",
    good="""\
deprecated: {since: "2030-06-01", removal: "2030-12-31"}
""",
    check=check,
)
