"""`expose/cli-client`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule
from . import client_of

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    yield from client_of("cli", RULE, toolset)


RULE = Rule(
    id="expose/cli-client",
    severity=Severity.ERROR,
    purpose="Checks that it is said which client the command line acts as.",
    why="Access is closed by default: without a client the command line may call nothing.",
    bad="""\
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {cli: {}}
# note.yaml
cli: {keyword: note}
""",
    good="""\
# toolset.yaml
clients: {internal: {allow: "*"}}
targets: {cli: {client: internal}}
# note.yaml
cli: {keyword: note}
""",
    check=check,
)
