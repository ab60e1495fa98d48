"""`handler/missing`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...targets.table import enabled
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "registry" not in {*toolset.targets}.union(
        *(
            target.needs
            for target in enabled(tuple(toolset.targets), workspace.extensions)
        )
    ):
        return
    shown = toolset.tools_in("registry")
    missing = [t for t in shown if t.handler is None and toolset.proxy_of(t) is None]
    if toolset.handlers is None and len(missing) > 1 and len(missing) == len(shown):
        # What was imported: nobody would read the same of each.
        yield RULE.at(
            toolset,
            ("name",),
            f"none of the {len(shown)} tools of `{toolset.name}` has a handler: they can be"
            " shown and not called",
            "name the package of their `handlers` here and a `handler` in each, or `proxy`"
            " with a server that answers",
        )
        return
    for tool in missing:
        yield RULE.at(
            tool,
            ("name",),
            f"`{tool.name}` has no handler: it can be shown and not called",
            "add `handler: module:function`, or `proxy` with a server that answers;"
            " `toolcast new NAME --kind handler` writes a stub",
        )


RULE = Rule(
    id="handler/missing",
    severity=Severity.WARNING,
    purpose="Checks that every tool that can be called has a handler.",
    why="Models are offered the tool, and each call answers that it is not implemented.",
    bad="""\
# note.yaml
summary: Stores a note.
# handler: still to be written
""",
    good="""\
# note.yaml
handler: handlers.notes:note
# toolset.yaml
handlers: handlers
# handlers/notes.py
def note(): ...
""",
    check=check,
)
