"""`prompt/todo`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...facts.spec_texts import prose_of_tool, prose_of_toolset
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule, at_tool, at_toolset

__all__ = ["RULE"]

_TODO = re.compile(r"\s*(?:TODO|FIXME|TBD)(?::|\s*$)")
_MESSAGE = "the text is not written yet"
_HELP = "write it, or leave the field out"


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        for path, text in prose_of_tool(tool):
            if _TODO.match(text):
                yield at_tool(RULE, tool, path, _MESSAGE, _HELP)
    for path, text in prose_of_toolset(toolset):
        if _TODO.match(text):
            yield at_toolset(RULE, toolset, path, _MESSAGE, _HELP)


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
