"""Rules of the family `owners`; `rules.md` explains each rule."""

from collections.abc import Iterator

from toolcast.extension_api import Problem, Scope, Severity, ToolSpec, problem_at, rule


@rule("owners/missing", on="tool", severity=Severity.WARNING)
def check_owner(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool without an owner."""
    if "owner" not in tool.extensions:
        message = f"`{tool.name}` has no owner"
        yield problem_at(tool, ("name",), message, "add `owner: {team: ...}`")
