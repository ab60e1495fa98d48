"""`expose/permission-unheld`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    oauth = toolset.targets.get("mcp", {}).get("http", {}).get("oauth")
    scopes = (
        [] if oauth is None else [given or {} for given in oauth["scopes"].values()]
    )
    given = {name for each in scopes for name in each.get("permissions", ())}
    for name in toolset.permissions:
        needing = [f"`{t.name}`" for t in toolset.tools if t.permission == name]
        if toolset.clients and not toolset.is_held(name):
            kept = f", so nobody may have {', '.join(needing)}" if needing else ""
            yield RULE.at(
                toolset,
                ("permissions", name),
                f"no client has the permission `{name}`{kept}",
                "add it to the `permissions` of a client in `clients`, or remove it",
                at_key=True,
            )
        elif oauth is not None and needing and name not in given:
            yield RULE.at(
                toolset,
                ("permissions", name),
                f"no scope gives the permission `{name}`, so nobody who logs in may have"
                f" {', '.join(needing)}",
                "add it to the `permissions` of a scope in `targets.mcp.http.oauth`",
                at_key=True,
            )


RULE = Rule(
    id="expose/permission-unheld",
    severity=Severity.WARNING,
    purpose="Checks that every permission is one that a client has, and a scope gives.",
    why=(
        "A client that lacks a tool's permission may not have the tool, whatever it allows."
        " One that nobody has takes the tool from everybody; one that no scope gives, from"
        " everybody who logs in."
    ),
    bad="""\
permission: notes.write
# toolset.yaml
permissions: {notes.write: May change notes.}
clients: {internal: {allow: "*"}}
targets: {registry: {}}
""",
    good="""\
permission: notes.write
# toolset.yaml
permissions: {notes.write: May change notes.}
clients: {internal: {allow: "*", permissions: [notes.write]}}
targets: {registry: {}}
""",
    check=check,
)
