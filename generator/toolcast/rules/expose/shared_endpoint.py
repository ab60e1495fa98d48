"""`expose/shared-endpoint`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.endpoints import AGREED, said_of_server, toolsets_of
from ...model.model import SharedEndpoint, Toolset, Workspace
from ...wording import known_instead, quoted_list
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    if toolset is not workspace.toolsets[0]:
        return
    for endpoint in workspace.endpoints:
        place = ("endpoints", endpoint.name)
        for message, help_ in _problems(endpoint, workspace):
            yield workspace.source.finding(
                RULE.id, RULE.severity, place, message, help_, at_key=True
            )


def _problems(
    endpoint: SharedEndpoint, workspace: Workspace
) -> Iterator[tuple[str, str]]:
    names = [one.name for one in workspace.toolsets]
    if endpoint.name in names:
        yield (
            f"`{endpoint.name}` is a toolset, whose package has that name",
            "give the endpoint another one",
        )
    for name in endpoint.toolsets:
        if name not in names:
            yield f"there is no toolset `{name}`", known_instead(name, names)
    shared = toolsets_of(workspace, endpoint)
    for one in shared:
        if "mcp" not in one.targets:
            yield (
                f"`{one.name}` has no MCP server to share",
                "add the target `mcp` to it",
            )
    without = [one.name for one in shared if not one.clients]
    if without and len(without) < len(shared):
        yield (
            f"{quoted_list(without)} names no clients, and others of the endpoint do:"
            " who may have its tools is not said",
            "name the clients in its toolset.yaml",
        )
    for option in AGREED:
        said = [(one, said_of_server(one, option)) for one in shared]
        given = [(one, value) for one, value in said if value is not None]
        for one, value in given[1:]:
            if value != given[0][1]:
                yield (
                    f"`{given[0][0].name}` and `{one.name}` differ in"
                    f" `targets.mcp.{option}`, which is the server's",
                    "say the same in both, or in one alone",
                )


RULE = Rule(
    id="expose/shared-endpoint",
    severity=Severity.ERROR,
    purpose="Checks that toolsets which share an endpoint can be one server.",
    why=(
        "One server has one default client, one key and one authorization server. A toolset"
        " without clients is open to its one caller: beside others it would be open to all."
    ),
    bad="""\
# toolcast.yaml
toolsets: [specs/example, specs/other]
endpoints: {desk: {toolsets: [example, other]}}
# toolset.yaml
name: example
# note.yaml
name: note
# specs/other/toolset.yaml
name: other
clients: {inner: {allow: "*"}}
targets: {mcp: {client: inner}, registry: {}}
# specs/other/find.yaml
name: find
""",
    good="""\
# toolcast.yaml
toolsets: [specs/example, specs/other]
endpoints: {desk: {toolsets: [example, other]}}
# toolset.yaml
name: example
# note.yaml
name: note
# specs/other/toolset.yaml
name: other
# specs/other/find.yaml
name: find
""",
    check=check,
    can_be_suppressed=False,
)
