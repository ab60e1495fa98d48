"""The rules `owners/...`; `rules.md` says what each is for."""

from collections.abc import Iterator

from toolcast.extension_api import Problem, Scope, Severity, ToolSpec, problem_at, rule


@rule("owners/missing", on="tool", severity=Severity.WARNING)
def missing(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if "owner" not in tool.extensions:
        message = f"nobody answers for `{tool.name}`"
        yield problem_at(tool, ("name",), message, "add `owner: {team: ...}`")
