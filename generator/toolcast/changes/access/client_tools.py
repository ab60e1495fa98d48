"""Changes of which client may have which tool, whatever lines of whichever file say it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ...model.clients import Client, NameEntry
from ...model.mcp_servers import McpServer
from ...model.model import Toolset, ToolSpec, Workspace
from ...reading.tree import Path
from ..change import (
    ABSENT,
    Both,
    Change,
    Grade,
    Grades,
    SpecFiles,
    files_of,
    raw,
    tools_of_both,
)
from ..family import Family, Rules
from ..json_values import said
from .name_lists import NameLists

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
GAINED, LOST = RULES.pair(
    "access/gained",
    "A client may see and call a tool that it could not.",
    Grades(attachment=_R),
    "access/lost",
    "A client may no longer see and call a tool: its calls are refused.",
    Grades(call=_B, prompt=_R, attachment=_B),
)
MATCHED = RULES.alone(
    "access/gained-by-pattern",
    "A tool is new, and a client has it by a pattern: nobody has named it in a list.",
    Grades(attachment=_R),
)
OPENED, LISTED = RULES.pair(
    "access/opened",
    "A client may have every tool: those of external servers, and all to come.",
    Grades(attachment=_R),
    "access/listed",
    "A client may have the named tools alone, and none that come later.",
    Grades(attachment=_R),
)
SERVER_GAINED, SERVER_LOST = RULES.pair(
    "access/server-gained",
    "A client may have the tools of an external server.",
    Grades(attachment=_R),
    "access/server-lost",
    "A client may no longer have the tools of an external server.",
    Grades(call=_B, prompt=_R, attachment=_B),
)
PERMITTED, UNPERMITTED = RULES.pair(
    "access/permitted",
    "A client has a permission more, which no tool of today needs from it.",
    Grades(attachment=_R),
    "access/not-permitted",
    "A client has a permission less, which no tool of today needs from it.",
    Grades(),
)
PERMISSION = RULES.alone(
    "access/permission",
    "A tool needs another permission, or none; who has the tool stays the same.",
    Grades(attachment=_R),
)
SAME = RULES.alone(
    "access/written-otherwise",
    "The lists are others, and every client has the tools that it had.",
    Grades(),
)


class _Case(NamedTuple):
    """A tool and a client on both sides."""

    old: ToolSpec
    new: ToolSpec
    was: Client
    now: Client


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """Who gains and who loses which tool, one change for a client and tool."""
    files = files_of(before, after)
    tools = tools_of_both(before, after)
    known = {id(tool) for _, tool in tools}
    for client in after.clients:
        old = before.client(client.name)
        if old is not None:
            cases = [_Case(one, other, old, client) for one, other in tools]
            yield from _client(before, after, files, cases, old, client)
            new = [one for one in after.tools if id(one) not in known]
            yield from _matched(after, files, new, client)
    yield from _servers(before, after, files)


def _client(
    before: Toolset,
    after: Toolset,
    files: SpecFiles,
    cases: Sequence[_Case],
    old: Client,
    new: Client,
) -> Iterator[Change]:
    name, path = new.name, ("clients", new.name)
    changes: list[Change] = []
    permissions = set()
    for case in cases:
        if case.old is case.new and _lists(old) == _lists(new):
            continue
        had = before.is_offered(case.old, old)
        has = after.is_offered(case.new, new)
        if had != has:
            changes.append(_moved(files, case, has))
            permissions |= {case.old.permission, case.new.permission}
    changes += _outside(before, after, files, old, new)
    if (old.allow is None) != (new.allow is None):
        is_open = new.allow is None
        words = "every tool" if is_open else "the named tools alone"
        changes.append(
            files.changed(
                OPENED if is_open else LISTED,
                (*path, "allow"),
                f"{said(name)} may have {words}",
                _allow(old),
                _allow(new),
            )
        )
    permissions |= {*old.permissions} & {*new.permissions}
    where = (*path, "permissions")
    for permission in dict.fromkeys((*new.permissions, *old.permissions)):
        if permission in permissions:
            continue
        if permission in new.permissions:
            message = f"{said(name)} has the permission {said(permission)}"
            changes.append(files.changed(PERMITTED, where, message, after=permission))
        else:
            message = f"{said(name)} has no permission {said(permission)} any more"
            changes.append(files.changed(UNPERMITTED, where, message, permission))
    if not changes:
        message = f"the lists of {said(name)} are others, its tools are the same"
        called = {case.old.name: case.new.name for case in cases}
        lists = [list(_sorted(one, called)) for one in (old, new)]
        if lists[0] != lists[1]:
            changes.append(files.changed(SAME, path, message, lists[0], lists[1]))
    yield from changes


def _matched(
    after: Toolset, files: SpecFiles, new: Sequence[ToolSpec], client: Client
) -> Iterator[Change]:
    """The tools that only one side has, and that a client has without being named."""
    by_pattern: dict[str, tuple[int, NameEntry]] = {}
    for index, entry in enumerate(client.allow_entries):
        for name in entry.names:
            if name not in by_pattern or not entry.is_pattern:
                by_pattern[name] = index, entry
    for tool in new:
        if tool.name not in by_pattern or not after.is_offered(tool, client):
            continue
        index, entry = by_pattern[tool.name]
        if not entry.is_pattern:
            continue
        yield files._replace(tool=tool.name).changed(
            MATCHED,
            ("clients", client.name, "allow", index),
            f"{said(client.name)} has {said(tool.name)}, which is new:"
            f" {said(entry.text)} of its `allow` stands for it",
            after=client.name,
        )


def _moved(files: SpecFiles, case: _Case, has: bool) -> Change:
    """The change of one tool for one client, where its cause stands."""
    name, tool = case.now.name, case.new
    path, is_own, cause = _cause(case)
    where = (
        SpecFiles(files.toolset, tool.name, case.old.source, tool.source)
        if is_own
        else files._replace(tool=tool.name)
    )
    verb = "has" if has else "no longer has"
    return where.changed(
        GAINED if has else LOST,
        path,
        f"{said(name)} {verb} {said(tool.name)}: {cause}",
        ABSENT if has else name,
        name if has else ABSENT,
    )


def _cause(case: _Case) -> tuple[Path, bool, str]:
    """Where that stands which has changed, whether in the tool's own spec, and what it is."""
    name, tool = case.now.name, case.new
    listed = [
        one.clients is None or name in one.clients for one in (case.old, case.new)
    ]
    if listed[0] != listed[1]:
        verb = "name" if listed[1] else "do not name"
        return ("clients",), True, f"the tool's `clients` {verb} it"
    permits = [
        case.was.permits(case.old.permission),
        case.now.permits(case.new.permission),
    ]
    if permits[0] != permits[1]:
        is_own = case.old.permission != case.new.permission
        path = ("permission",) if is_own else ("clients", name, "permissions")
        verb = "permits" if permits[1] else "does not permit"
        needs = tool.permission or case.old.permission
        return path, is_own, f"what it has {verb} {said(needs)}"
    for key in ("restrict", "allow"):
        had = case.was.entry_for(key, case.old.name)
        has = case.now.entry_for(key, tool.name)
        if (had is None) != (has is None):
            break
    by = has or had
    if by is not None and by.is_pattern and by.text != "*":
        verb = "stands" if has else "stands no longer"
        words = f"{said(by.text)} of its `{key}` {verb} for the tool"
        if by.text in case.was.texts(key) and by.text in case.now.texts(key):
            # The lists are the same: the tool has come under it, or left it.
            return ("name",) if by.section is None else ("section",), True, words
        return ("clients", name, key), False, words
    verb = "names" if has else "does not name"
    return ("clients", name, key), False, f"its `{key}` {verb} the tool"


def _outside(
    before: Toolset, after: Toolset, files: SpecFiles, old: Client, new: Client
) -> Iterator[Change]:
    """The changes of what a client may have of external servers' tools."""
    shared = {server.name for server in before.mcp_servers}
    servers = [server for server in after.mcp_servers if server.name in shared]
    if not servers:
        return
    own = {tool.name for side in (before, after) for tool in side.tools}
    own |= {name for tool in after.tools for name in tool.renamed_from}
    names = dict.fromkeys(name for s in servers for name in s.declared_names)
    # Of what a server has beyond those, lists are all that is known.
    for client in (old, new):
        names |= dict.fromkeys((*(client.allow or ()), *client.restrict))
    before_, after_ = (NameLists(one.allow, one.restrict) for one in (old, new))
    for name in names:
        had, has = before_.have(name), after_.have(name)
        if name in own or had == has:
            continue
        verb = "has" if has else "no longer has"
        yield files.changed(
            GAINED if has else LOST,
            ("clients", new.name, before_.differing(after_, name)),
            f"{said(new.name)} {verb} {said(name)} of an external server",
            before=ABSENT if has else name,
            after=name if has else ABSENT,
        )


def _servers(before: Toolset, after: Toolset, files: SpecFiles) -> Iterator[Change]:
    """The changes of which clients may have the tools of a server at all."""
    known = {server.name: server for server in before.mcp_servers}
    for server in after.mcp_servers:
        old = known.get(server.name)
        if old is None or old.clients == server.clients:
            continue
        path = ("mcp_servers", server.name, "clients")
        is_found = False
        for client in after.clients:
            had, has = (_is_for(one, client.name) for one in (old, server))
            if had != has and before.client(client.name) is not None:
                is_found = True
                verb = "may have" if has else "may no longer have"
                yield files.changed(
                    SERVER_GAINED if has else SERVER_LOST,
                    path,
                    f"{said(client.name)} {verb} the tools of {said(server.name)}",
                    ABSENT if has else client.name,
                    client.name if has else ABSENT,
                )
        if not is_found:
            message = f"the clients of {said(server.name)} are written otherwise"
            values = [
                ABSENT if one.clients is None else list(one.clients)
                for one in (old, server)
            ]
            yield files.changed(SAME, path, message, values[0], values[1])


def compare_tools(both: Both) -> Iterator[Change]:
    """What a tool says of who may have it, where that changes nothing for anybody."""
    if _changes_access(both):
        return
    old, new = both.before, both.after
    before, after = raw(old, "permission"), raw(new, "permission")
    if before != after:
        needs = "no permission" if after is ABSENT else f"the permission {said(after)}"
        yield both.files.changed(
            PERMISSION, ("permission",), f"the tool needs {needs}", before, after
        )
    sides = [None if one.clients is None else sorted(one.clients) for one in (old, new)]
    if sides[0] != sides[1]:
        yield both.files.changed(
            SAME,
            ("clients",),
            "the tool's clients are written otherwise",
            raw(old, "clients"),
            raw(new, "clients"),
        )


def _changes_access(both: Both) -> bool:
    """Whether a client gains or loses the tool, which `compare_toolsets` says."""
    before, after = both.toolset_before, both.toolset_after
    for client in after.clients:
        old = before.client(client.name)
        if old is not None and before.is_offered(both.before, old) != after.is_offered(
            both.after, client
        ):
            return True
    return False


def _is_for(server: McpServer, client: str) -> bool:
    return server.clients is None or client in server.clients


def _lists(client: Client) -> tuple[object, ...]:
    return client.allow, client.restrict, client.permissions


def _sorted(client: Client, called: Mapping[str, str]) -> Iterator[list[str]]:
    """What a client's lists say, without what changes nothing: order, repeats, new names."""
    for names in (client.texts("allow"), client.texts("restrict"), client.permissions):
        yield sorted({called.get(name, name) for name in names})


def _allow(client: Client) -> object:
    if client.allow is None:
        return "*"
    return client.texts("allow") or ABSENT


FAMILY = Family(
    rules=RULES,
    tool_fields=frozenset(["clients", "permission"]),
    toolset_fields=frozenset(
        [
            "clients.*.allow",
            "clients.*.restrict",
            "clients.*.permissions",
            "mcp_servers.*.clients",
        ]
    ),
    compare_tools=compare_tools,
    compare_toolsets=compare_toolsets,
)
"""Which client has which tool."""
