"""`spec/server-transport`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...findings import Finding, Severity
from ...model.mcp.mcp_servers import McpServer, reference_problem
from ...model.model import Toolset, Workspace
from ..rule import Rule

__all__ = ["RULE"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# A path and a variable's default may have spaces; a name that is looked for has none.
_ONE_PROGRAM = re.compile(r"[/\\]|\$\{[^}]*$")
_BELONGS = {"args": "command", "env": "command", "cwd": "command", "headers": "url"}


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for server in toolset.mcp_servers:
        path = ("mcp_servers", server.name)
        for key, message, help in _problems(server):
            place = (*path, key) if key else path
            yield RULE.at(toolset, place, message, help, at_key=True)
        for inner, text in server.texts:
            problem = reference_problem(text)
            if problem is not None:
                where = f"`{server.name}` names a variable in a way that is not read"
                yield RULE.at(toolset, (*path, *inner), where, problem)
    if toolset.router is not None:
        for key in ("base_url", "model"):
            problem = reference_problem(getattr(toolset.router, key))
            if problem is not None:
                where = "the router names a variable in a way that is not read"
                yield RULE.at(toolset, ("router", key), where, problem)


def _problems(server: McpServer) -> Iterator[tuple[str, str, str]]:
    """Key, message and help of each problem with the keys of a server."""
    if not _NAME.fullmatch(server.name):
        message = f"`{server.name}` is no name of a server"
        yield "", message, "letters, digits, `_` and `-`, at most 64 of them"
    for key, name_form, what in (
        ("headers", _HEADER, "a header"),
        ("env", _VARIABLE, "a variable"),
    ):
        for name, text in getattr(server, key).items():
            if not name_form.fullmatch(name) or "\n" in text or "\r" in text:
                message = (
                    f"`{key}` of `{server.name}` has what is no name or value of {what}"
                )
                yield key, message, f"`{name}` cannot be sent as it is"
    if server.command is None and server.url is None:
        message = f"the server `{server.name}` has neither `command` nor `url`"
        yield "", message, "say how it is reached: a program to start, or an address"
        return
    if server.command is not None and server.url is not None:
        message = f"the server `{server.name}` has both `command` and `url`"
        yield "url", message, "remove one of the two"
        return
    words = (server.command or "").split()
    if len(words) > 1 and not _ONE_PROGRAM.search(words[0]):
        message = f"`command` of `{server.name}` is a program with its arguments"
        help_ = f"`command: {words[0]}`, and the words after it as a list in `args`"
        yield "command", message, help_
    for key, other in _BELONGS.items():
        if key in server.fields and getattr(server, other) is None:
            message = f"`{key}` has no effect without `{other}`"
            yield key, message, f"remove `{key}`, or give `{other}`"


RULE = Rule(
    id="spec/server-transport",
    severity=Severity.ERROR,
    purpose="Checks that every external server is described as a command or a URL.",
    why=(
        "A server that has both, or headers for a program, is understood one way by its"
        " author and another way by the program."
    ),
    bad="""\
# toolset.yaml
mcp_servers: {time: {command: mcp-server-time, headers: {X-Zone: UTC}}}
""",
    good="""\
# toolset.yaml
mcp_servers: {time: {command: mcp-server-time, args: ["--local-timezone=UTC"]}}
""",
    check=check,
)
