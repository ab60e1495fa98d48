"""The rules `owners/...`; `rules.md` says what each is for."""

from collections.abc import Iterator

from toolcast.findings import Severity
from toolcast.model.model import ToolSpec
from toolcast.rules.rule import Problem, at, rule
from toolcast.rules.subjects import Where


@rule("owners/missing", on="tool", severity=Severity.WARNING)
def missing(tool: ToolSpec, where: Where) -> Iterator[Problem]:
    if "owner" not in tool.extensions:
        message = f"nobody answers for `{tool.name}`"
        yield at(tool, ("name",), message, "add `owner: {team: ...}`")
