"""`handler/proxy`."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule

__all__ = ["RULE"]

_UNREAD = {
    "lock": "what its tools say is in your specs, which need no lock",
    "on_change": "what its tools say is in your specs, which need no lock",
    "clients": "the clients of a tool are in its spec, `clients`",
    "persistent": "what is recorded is in a tool's spec, `persistent`",
    "max_tools": "which of its tools there are is what the specs say",
    "list_timeout": "a proxied server is not asked for its list",
    "call_timeout": "the time-out of a call is the tool's own, `timeout`",
}


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    servers = {server.name: server for server in toolset.mcp_servers}
    if toolset.proxy is not None and toolset.proxy not in servers:
        yield RULE.at(toolset, ("proxy",), *_unknown(toolset.proxy, [*servers]))
    for tool in toolset.tools:
        if tool.proxy is not None and tool.proxy not in servers:
            yield RULE.at(tool, ("proxy",), *_unknown(tool.proxy, [*servers]))
        if tool.proxy is not None and tool.handler is not None:
            yield RULE.at(
                tool,
                ("proxy",),
                f"`{tool.name}` has a handler and a proxy: one of them answers a call",
                "remove `handler`, or `proxy`",
            )
        server = servers.get(toolset.proxy_of(tool) or "")
        own = "" if server is None else server.own_name(tool.name)
        if server is not None and not server.takes(own):
            yield RULE.at(
                tool,
                ("name",),
                f"`{own}` is not taken from `{server.name}`, which is to answer its calls",
                "remove the server's `allow` and `restrict`, or the tool's proxy",
            )
    for name in sorted(toolset.proxied_servers & servers.keys()):
        for field in servers[name].fields:
            if field in _UNREAD:
                yield RULE.at(
                    toolset,
                    ("mcp_servers", name, field),
                    f"`{field}` of `{name}` is not read: its tools are the toolset's own",
                    f"remove it: {_UNREAD[field]}",
                    at_key=True,
                )


def _unknown(name: str, known: list[str]) -> tuple[str, str]:
    return (
        f"`{name}` is no entry of `mcp_servers`",
        did_you_mean(name, known) or "declare the server, or remove `proxy`",
    )


RULE = Rule(
    id="handler/proxy",
    severity=Severity.ERROR,
    purpose="Checks that a tool's proxy is a server that can answer its calls.",
    why=(
        "A call is passed on to the server that `proxy` names. Where there is none, where it"
        " does not have the tool, or where a handler answers already, calls would end other"
        " than the spec says."
    ),
    bad="""\
# note.yaml
summary: Stores a note.
proxy: note
# toolset.yaml
mcp_servers: {notes: {command: notes-server}}
""",
    good="""\
# note.yaml
# handler: none, the server does the work
proxy: notes
# toolset.yaml
mcp_servers: {notes: {command: notes-server}}
""",
    check=check,
)
