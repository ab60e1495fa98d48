"""`prompt/todo`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...facts.texts import prose_of
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]

_TODO = re.compile(r"\s*(?:TODO|FIXME|TBD)(?::|\s*$)")


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for owner, path, text in prose_of(toolset):
        if _TODO.match(text):
            message = "the text is not written yet"
            help_ = "write it, or leave the field out"
            yield RULE.at(owner, path, message, help_)


RULE = Rule(
    id="prompt/todo",
    severity=Severity.WARNING,
    purpose="Checks that no text is a TODO.",
    why="`toolcast new` writes some, and a model would read them as they are.",
    bad="""\
summary: "TODO: say in one line what it does."
""",
    good="""\
summary: Stores a note.
""",
    check=check,
)
