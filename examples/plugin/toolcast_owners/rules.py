"""The rules `owners/...`; `rules.md` says what each is for."""

from collections.abc import Iterator

from toolcast.findings import Severity
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Problem, at, rule


@rule("owners/missing", on="toolset", severity=Severity.WARNING)
def missing(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for tool in toolset.tools:
        if "owner" not in tool.extensions:
            message = f"nobody answers for `{tool.name}`"
            yield at(tool, ("name",), message, "add `owner: {team: ...}`")
