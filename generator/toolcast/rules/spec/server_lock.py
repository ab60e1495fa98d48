"""`spec/server-lock`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for server in toolset.mcp_servers:
        path = ("mcp_servers", server.name)
        update = f"`toolcast lock --update {server.name}` writes it"
        if server.lock is None:
            if "on_change" in server.fields:
                message = "`on_change` has no effect without `lock`"
                help_ = "remove `on_change`, or name a `lock`"
                yield RULE.at(
                    toolset, (*path, "on_change"), message, help_, at_key=True
                )
            continue
        if server.name in toolset.proxied_servers:
            message = f"`{server.name}` has a lock, and its tools are specs (`proxy`)"
            help_ = "remove `lock`: what is imported has its review in the specs"
            yield RULE.at(toolset, (*path, "lock"), message, help_, at_key=True)
            continue
        if server.locked is None:
            message = f"the lock `{toolset.folder}/{server.lock}` cannot be read"
            yield RULE.at(toolset, (*path, "lock"), message, update)
            continue
        # Its reader is not needed where there is no lock.
        from ...servers.lock_file import locked_listing
        from ...servers.server_listing import ListingError

        try:
            locked_listing(server.locked, f"{toolset.folder}/{server.lock}")
        except ListingError as error:
            yield RULE.at(toolset, (*path, "lock"), str(error), update)


RULE = Rule(
    id="spec/server-lock",
    severity=Severity.ERROR,
    purpose="Checks that a server's lock is there, can be read, and is its only review.",
    why=(
        "Without what was reviewed none of the server's tools can be offered: nobody could"
        " tell which of them have changed. What is imported as specs was reviewed there, and"
        " two reviews of one tool would differ one day."
    ),
    bad="""\
# toolset.yaml
mcp_servers: {time: {command: mcp-server-time, lock: locks/time.json}}
""",
    good="""\
# toolset.yaml
mcp_servers: {time: {command: mcp-server-time}}
""",
    check=check,
)
