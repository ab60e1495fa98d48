"""`expose/mcp-client`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import client_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    yield from client_of("mcp", RULE, toolset)


RULE = Rule(
    id="expose/mcp-client",
    severity=Severity.ERROR,
    purpose="Checks that it is said which client stdio and the default HTTP path serve.",
    why="Access is closed by default: without a client the server's list is empty.",
    bad="""\
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {mcp: {}}
# note.yaml
cli: {keyword: note}
""",
    good="""\
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {mcp: {client: internal}}
# note.yaml
cli: {keyword: note}
""",
    check=check,
)
