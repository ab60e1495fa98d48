"""`spec/server-lock`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Place, Severity
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    owners: dict[str, str] = {}
    for server in toolset.listed_servers:
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
        other = owners.setdefault(server.lock, server.name)
        if other != server.name:
            message = f"`{server.lock}` is the lock of `{other}`, too"
            yield RULE.at(toolset, (*path, "lock"), message, "name another file")
            continue
        file = f"{toolset.folder}/{server.lock}"
        if server.locked is None:
            message = f"the lock `{file}` cannot be read"
            yield RULE.at(toolset, (*path, "lock"), message, update)
            continue
        # Its reader is not needed where there is no lock.
        from ...reading.exact_json import JsonProblem, read_json
        from ...servers.server_listing import ListingError, locked_listing

        anew = f"take it from a commit, or {update} anew"
        try:
            read_json(server.locked)
        except JsonProblem as problem:
            place = Place(file, problem.line, problem.column)
            message = f"the lock of `{server.name}` is no JSON: {problem}"
            yield Finding(RULE.id, RULE.severity, place, message, anew)
            continue
        try:
            locked_listing(server.locked, file)
        except ListingError as error:
            yield RULE.at(toolset, (*path, "lock"), str(error), anew)


RULE = Rule(
    id="spec/server-lock",
    severity=Severity.ERROR,
    purpose="Checks that a server's lock is there, can be read, and is of it alone.",
    why=(
        "Without what was reviewed none of the server's tools can be offered: nobody could"
        " tell which of them have changed."
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
