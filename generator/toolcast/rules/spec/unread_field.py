"""`spec/unread-field`."""

from __future__ import annotations

from collections.abc import Iterator

from ...extensions import fields_of
from ...findings import Finding, Severity
from ...language.spec_language import read_by
from ...model.model import Toolset, Workspace
from ...targets.table import enabled, targets
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    chosen = enabled(tuple(toolset.targets), workspace.extensions)
    by_rules = fields_of(workspace.extensions).read_by_rules
    always = read_by("tool", "rules")
    read = always.union(by_rules, *(target.reads for target in chosen))
    for tool in toolset.tools:
        for field in tool.fields:
            if field not in read:
                message = f"none of the toolset's targets reads `{field}`"
                yield RULE.at(tool, (field,), message, at_key=True)
    known = targets(workspace.extensions).values()
    with_reader = {
        *toolset.extensions,
        *(f for one in known for f in one.reads_toolset),
    }
    read = by_rules.union(*(target.reads_toolset for target in chosen))
    for field in toolset.fields:
        if field in with_reader and field not in read:
            message = f"none of the toolset's targets reads `{field}`"
            yield RULE.at(toolset, (field,), message, at_key=True)


RULE = Rule(
    id="spec/unread-field",
    severity=Severity.NOTE,
    purpose="Checks that every field of a spec is read by a target of its toolset.",
    why="Who fills a field in expects it to have an effect.",
    bad="""\
guidance: Keep a note to one line.
# toolset.yaml
targets: {mcp: {}, registry: {}}
""",
    good="""\
guidance: Keep a note to one line.
# toolset.yaml
targets: {mcp: {}, registry: {}, prompts: {}}
""",
    check=check,
)
