"""Changes of which client may have which tool, whatever lines of whichever file say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import Client, NameEntry
from ..parsing.tree import Path
from .change import (
    ABSENT,
    Change,
    SpecFiles,
    ToolPair,
    format_value,
    get_spec_value,
    list_unshared_items,
    pair_tools,
    pair_toolset_files,
)
from .table import make_change, make_presence_change


class NameLists:
    """Which names two lists let through: long ones are asked for each of many names.

    Args:
        allow: the only names; None for every one.
        deny: the names that are kept out whatever `allow` says.
    """

    def __init__(self, allow: Iterable[str] | None, deny: Iterable[str]) -> None:
        self._allow = None if allow is None else frozenset(allow)
        self._deny = frozenset(deny)

    def admits(self, name: str) -> bool:
        """Whether they let a name through."""
        is_allowed = self._allow is None or name in self._allow
        return is_allowed and name not in self._deny

    def compare(
        self, other: NameLists, names: Iterable[str]
    ) -> Iterator[tuple[str, str, bool]]:
        """Of names those that two of a kind differ about: name, list, whether it gets through.

        The list is the one in which they differ: `deny`, or `allow`.
        """
        for name in dict.fromkeys(names):
            if self.admits(name) != other.admits(name):
                is_same = (name in self._deny) == (name in other._deny)
                yield name, "allow" if is_same else "deny", other.admits(name)


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
    files = pair_toolset_files(before, after)
    yield from _clients(before, after, files)
    tools = pair_tools(before, after)
    known = {id(tool) for _, tool in tools}
    for client in after.clients:
        old = before.client(client.name)
        if old is not None:
            cases = [_Case(one, other, old, client) for one, other in tools]
            yield from _client(before, after, files, cases, old, client)
            new = [one for one in after.tools if id(one) not in known]
            yield from _matched(after, files, new, client)
    yield from _servers(before, after, files)


def _clients(before: Toolset, after: Toolset, files: SpecFiles) -> Iterator[Change]:
    """Which clients there are, and whether the toolset asks who calls at all."""
    if bool(before.clients) != bool(after.clients):
        event = "asked-for" if after.clients else "not-asked-for"
        counts = [len(side.clients) or ABSENT for side in (before, after)]
        yield make_change(files, f"client/{event}", ("clients",), *counts)
    old, new = ({one.name: one for one in side.clients} for side in (before, after))
    for name, client, is_new in list_unshared_items(old, new):
        side = after if is_new else before
        number = sum(side.is_offered(tool, client) for tool in side.tools)
        tools = f"{number} tool{'' if number == 1 else 's'}"
        path = "clients", name
        yield make_presence_change(files, "client", path, name, is_new, tools=tools)


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
        id_ = "client.allow/opened" if new.allow is None else "client.allow/listed"
        where, values = (*path, "allow"), (_allow(old), _allow(new))
        changes.append(make_change(files, id_, where, *values, client=name))
    permissions |= {*old.permissions} & {*new.permissions}
    where = (*path, "permissions")
    for permission in dict.fromkeys((*new.permissions, *old.permissions)):
        if permission not in permissions:
            what = "client.permissions", where, permission
            is_there = permission in new.permissions
            changes.append(make_presence_change(files, *what, is_there, client=name))
    if not changes:
        called = {case.old.name: case.new.name for case in cases}
        lists = [list(_sorted(one, called)) for one in (old, new)]
        if lists[0] != lists[1]:
            id_ = "tool.offered/unchanged"
            changes.append(
                make_change(files, id_, path, *lists, form="client", client=name)
            )
    yield from changes


def _matched(
    after: Toolset, files: SpecFiles, new: Sequence[ToolSpec], client: Client
) -> Iterator[Change]:
    """The new tools that a client has by a pattern alone."""
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
        yield make_change(
            files._replace(tool=tool.name),
            "tool.offered/by-pattern",
            ("clients", client.name, "allow", index),
            after=client.name,
            tool=tool.name,
            pattern=entry.text,
        )


def _moved(files: SpecFiles, case: _Case, has: bool) -> Change:
    """The change of one tool for one client, where its cause stands."""
    tool = case.new
    path, is_own, cause = _cause(case)
    where = (
        SpecFiles(files.toolset, tool.name, case.old.source, tool.source)
        if is_own
        else files._replace(tool=tool.name)
    )
    what = "tool.offered", path, case.now.name, has
    return make_presence_change(where, *what, form="own", tool=tool.name, cause=cause)


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
        return path, is_own, f"what it has {verb} {format_value(needs)}"
    for key in ("deny", "allow"):
        had = case.was.entry_for(key, case.old.name)
        has = case.now.entry_for(key, tool.name)
        if (had is None) != (has is None):
            break
    by = has or had
    if by is not None and by.is_pattern and by.text != "*":
        verb = "stands" if has else "stands no longer"
        words = f"{format_value(by.text)} of its `{key}` {verb} for the tool"
        if by.text in case.was.texts(key) and by.text in case.now.texts(key):
            # The lists are the same: the tool has come under it, or left it.
            return by.said_at, True, words
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
        names |= dict.fromkeys((*(client.allow or ()), *client.deny))
    before_, after_ = (NameLists(one.allow, one.deny) for one in (old, new))
    for name, key, has in before_.compare(after_, names):
        if name not in own:
            what = "tool.offered", ("clients", new.name, key), name, has
            yield make_presence_change(files, *what, form="external", client=new.name)


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
            had, has = (
                one.clients is None or client.name in one.clients
                for one in (old, server)
            )
            if had != has and before.client(client.name) is not None:
                is_found = True
                what = "server.clients", path, client.name, has
                yield make_presence_change(files, *what, server=server.name)
        if not is_found:
            values = [
                ABSENT if one.clients is None else list(one.clients)
                for one in (old, server)
            ]
            id_ = "tool.offered/unchanged"
            yield make_change(
                files, id_, path, *values, form="server", server=server.name
            )


def compare_tools(both: ToolPair) -> Iterator[Change]:
    """What a tool says of who may have it, where that changes nothing for anybody."""
    if _changes_access(both):
        return
    old, new = both.before, both.after
    before, after = get_spec_value(old, "permission"), get_spec_value(new, "permission")
    if before != after:
        path, form = ("permission",), "none" if after is ABSENT else "one"
        yield make_change(
            both.files, "tool.permission/changed", path, before, after, form=form
        )
    sides = [None if one.clients is None else sorted(one.clients) for one in (old, new)]
    if sides[0] != sides[1]:
        values = get_spec_value(old, "clients"), get_spec_value(new, "clients")
        id_ = "tool.offered/unchanged"
        yield make_change(both.files, id_, ("clients",), *values, form="tool")


def _changes_access(both: ToolPair) -> bool:
    """Whether a client gains or loses the tool, which `compare_toolsets` says."""
    before, after = both.toolset_before, both.toolset_after
    for client in after.clients:
        old = before.client(client.name)
        if old is not None and before.is_offered(both.before, old) != after.is_offered(
            both.after, client
        ):
            return True
    return False


def _lists(client: Client) -> tuple[object, ...]:
    return client.allow, client.deny, client.permissions


def _sorted(client: Client, called: Mapping[str, str]) -> Iterator[list[str]]:
    """What a client's lists say, without what changes nothing: order, repeats, new names."""
    for names in (client.texts("allow"), client.texts("deny"), client.permissions):
        yield sorted({called.get(name, name) for name in names})


def _allow(client: Client) -> object:
    if client.allow is None:
        return "*"
    return client.texts("allow") or ABSENT
