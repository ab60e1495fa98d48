"""`expose/endpoint-clash`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.endpoints import endpoints, variable
from ...model.model import Toolset, Workspace
from ...reading.tree import Path
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if "mcp" not in toolset.targets:
        return
    http = toolset.targets["mcp"].get("http", {})
    admin = http.get("admin_token_variable", variable(toolset, "ADMIN_TOKEN"))
    paths: dict[str, str] = {}
    variables = {admin: "the administrator"}
    for plan in endpoints(toolset):
        place: Path = ("clients", plan.client) if plan.client else ("targets", "mcp")
        name = f"`{plan.client}`" if plan.client else "the endpoint"
        path = plan.path.rstrip("/")
        other = paths.setdefault(path, name)
        if other != name:
            yield RULE.at(
                toolset,
                place,
                f"{other} and {name} are both served at `{plan.path}`",
                "give one of them another `path`",
            )
        if path in ("/health", "/ready") or f"{path}/".startswith("/api/admin/"):
            yield RULE.at(
                toolset,
                place,
                f"{name} is served at `{plan.path}`, which the server itself answers",
                "give it another `path`",
            )
        owner = variables.setdefault(plan.token_variable, name)
        if owner != name:
            yield RULE.at(
                toolset,
                place,
                f"the token of {owner} and that of {name} are both"
                f" `{plan.token_variable}`",
                "give one of them another `token_variable`",
            )


RULE = Rule(
    id="expose/endpoint-clash",
    severity=Severity.ERROR,
    purpose="Checks that each client has an HTTP endpoint and a token of its own.",
    why="With one token for two, whoever may be the one may be the other.",
    bad="""\
# toolset.yaml
clients: {inner: {allow: "*"}, outer: {allow: "*", token_variable: EXAMPLE_TOKEN_INNER}}
targets: {mcp: {client: inner}}
# note.yaml
cli: {keyword: note}
""",
    good="""\
# toolset.yaml
clients: {inner: {allow: "*"}, outer: {allow: "*"}}
targets: {mcp: {client: inner}}
# note.yaml
cli: {keyword: note}
""",
    check=check,
)
