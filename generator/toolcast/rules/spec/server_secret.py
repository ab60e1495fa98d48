"""`spec/server-secret`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...facts.network_reach import is_secret_text, secret_places
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...reading.tree import Path
from ..rule import Rule

__all__ = ["RULE"]

_HELP = "put it into an environment variable and write `${NAME}` here"


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for server in toolset.mcp_servers:
        for inner in secret_places(server):
            path = ("mcp_servers", server.name, *inner)
            message = f"the server `{server.name}` has a secret written out"
            yield _found(toolset, path, message)
    router = toolset.router
    if router is not None and is_secret_text(router.base_url):
        message = "the router's address has a secret written out"
        yield _found(toolset, ("router", "base_url"), message)


def _found(toolset: Toolset, path: Path, message: str) -> Finding:
    """Says where it is, and shows neither the value nor its line."""
    at_key = isinstance(path[-1], str)
    found = RULE.at(toolset, path, message, _HELP, at_key=at_key)
    return replace(found, source_line="")


RULE = Rule(
    id="spec/server-secret",
    severity=Severity.ERROR,
    purpose="Checks that external servers get their secrets from the environment.",
    why=(
        "What stands in a toolset is in the repository, in generated code, and in whatever"
        " is made of both; a secret that was there once has to be replaced."
    ),
    bad="""\
# toolset.yaml
mcp_servers:
  mail: {url: "https://mail.example/mcp", headers: {Authorization: Bearer 7f3a9c}}
""",
    good="""\
# toolset.yaml
mcp_servers:
  mail: {url: "https://mail.example/mcp", headers: {Authorization: "Bearer ${MAIL}"}}
""",
    check=check,
)
