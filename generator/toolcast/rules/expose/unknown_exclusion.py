"""`expose/unknown-exclusion`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Exclusion, Toolset, Workspace
from ...targets.table import enabled
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for index, exclusion in enumerate(toolset.exclusions):
        for key, message, help_ in _problems(toolset, exclusion, workspace):
            path = ("exclusions", index, key)
            yield RULE.at(toolset, path, message, help_)


def _problems(
    toolset: Toolset, exclusion: Exclusion, workspace: Workspace
) -> Iterator[tuple[str, str, str]]:
    tool, target = exclusion.tool, exclusion.target
    names = [tool.name for tool in toolset.tools]
    if tool not in names:
        yield "tool", f"there is no tool `{tool}`", did_you_mean(tool, names)
        return
    chosen = enabled(tuple(toolset.targets), workspace.extensions)
    enabled_names = [one.name for one in chosen]
    if target not in enabled_names:
        meant = did_you_mean(target, enabled_names) or "remove the exclusion"
        yield "target", f"`{target}` is not generated from the toolset", meant
        return
    for one in chosen:
        if target in one.needs and tool not in toolset.excluded(one.name):
            yield (
                "target",
                f"`{one.name}` needs `{tool}` in `{target}`",
                f"exclude `{tool}` from `{one.name}` as well",
            )


RULE = Rule(
    id="expose/unknown-exclusion",
    severity=Severity.ERROR,
    purpose="Checks that every exclusion leaves a tool out of a target that can spare it.",
    why=(
        "An exclusion that names nothing is a decision without effect, and one that another"
        " target builds on gives code that cannot be imported."
    ),
    bad="""\
# store_note.yaml
summary: Stores a note.
# toolset.yaml
exclusions: [{tool: store_notes, target: mcp, reason: Not ready.}]
""",
    good="""\
# store_note.yaml
summary: Stores a note.
# toolset.yaml
exclusions: [{tool: store_note, target: mcp, reason: Not ready.}]
""",
    check=check,
)
