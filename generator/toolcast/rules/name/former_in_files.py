"""`name/former-in-files`."""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.former_names import scanned
from ...facts.tool_names import tool_names
from ...findings import Finding, Place, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    found = scanned(workspace)
    gone = tool_names(toolset, workspace).gone
    for said in found.said:
        if said.name in gone:
            end = said.column + len(said.name)
            yield Finding(
                RULE.id,
                RULE.severity,
                Place(said.file, said.line, said.column, end),
                f"the file still says `{said.name}`",
                gone[said.name],
                said.text,
            )
    if toolset is workspace.toolsets[0]:
        for index, problem in found.problems:
            yield workspace.source.finding(
                RULE.id, RULE.severity, ("scan", index), problem
            )


RULE = Rule(
    id="name/former-in-files",
    severity=Severity.WARNING,
    purpose="Checks that files which `scan` names say no former or reserved name.",
    why=(
        "A tool was renamed in its specs. The system prompt of an agent, a file of the same"
        " repository, told models to call it by its old name. A file that may say such names,"
        " a changelog for one, stands in `not_scanned`."
    ),
    bad="""\
# recall.yaml
renamed_from: [search_memory]
# toolcast.yaml
scan: [prompts]
# prompts/agent.md
Call search_memory before you answer.
""",
    good="""\
# recall.yaml
renamed_from: [search_memory]
# toolcast.yaml
scan: [prompts]
# prompts/agent.md
Call recall before you answer.
""",
    check=check,
)
