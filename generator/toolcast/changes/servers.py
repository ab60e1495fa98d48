"""Changes of external servers, and of what a toolset reaches beyond its own process."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any

from ..facts.network_reach import reach_of, secret_places, sent_variables
from ..model.endpoints import endpoints, variable
from ..model.mcp_servers import McpServer
from ..model.model import Toolset, Workspace
from ..reading.tree import Path
from ..servers.server_listing import ListingError, locked_listing
from .access import NameLists
from .change import ABSENT, HIDDEN, Change, SpecFiles, files_of, place_of, quoted
from .lists import Owner, listing_changes
from .table import row_of

__all__ = ["compare_toolsets"]


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """What no line of a server alone says; who may have its tools is told elsewhere."""
    files = files_of(before, after)
    old, new = ({s.name: s for s in side.mcp_servers} for side in (before, after))
    for name in new:
        if name in old:
            path = ("mcp_servers", name)
            yield from _reached_by(files, path, old[name], new[name])
            yield from _names(files, path, old[name], new[name])
            yield from _taken(files, path, old[name], new[name])
            yield from _lock(files, path, old[name], new[name])
            yield from _own_list(before, after, old[name], new[name])
    yield from _reach(before, after)


def _reached_by(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    """The changes of a server's program or address."""
    lines = [(one.command, one.args, one.url) for one in (old, new)]
    if lines[0] == lines[1]:
        return
    before, after = (_line(one) for one in (old, new))
    rule = row_of("server.transport/changed")
    field = "url" if new.command is None else "command"
    if old.command is not None and new.command is not None:
        rule = row_of("server.command/changed")
        field = "args" if old.command == new.command else "command"
    elif old.url is not None and new.url is not None:
        rule = row_of("server.url/changed")
    message = (
        f"the server {quoted(new.name)} is {quoted(after)} instead of {quoted(before)}"
    )
    if before == after:
        message = (
            f"the server {quoted(new.name)} is another one, which may hold a secret"
        )
    yield files.changed(rule, (*path, field), message, before, after)


def _line(server: McpServer) -> str:
    """The command line or address, without what looks like a secret."""
    if server.command is None:
        return str(_shown(server, ("url",), server.url or ""))
    words = [_shown(server, ("command",), server.command)]
    words += [_shown(server, ("args", i), word) for i, word in enumerate(server.args)]
    return " ".join(words)


def _shown(server: McpServer, path: Path, text: str | None) -> Any:
    """A text of a server that may be printed; ABSENT where there is none."""
    if text is None:
        return ABSENT
    return HIDDEN if path in set(secret_places(server)) else text


def _names(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    of = f"of the server {quoted(new.name)}"
    for own in dict.fromkeys((*new.tools, *old.tools)):
        before, after = old.tools.get(own), new.tools.get(own)
        if before == after:
            continue
        called = [
            given or f"{one.prefix}{own}"
            for given, one in ((before, old), (after, new))
        ]
        if called[0] == called[1]:
            continue  # its default, written out
        message = f"the tool {quoted(own)} {of} is called {quoted(called[1])}"
        yield files.changed(
            row_of("server.tools/changed"),
            (*path, "tools", own),
            message,
            ABSENT if before is None else before,
            ABSENT if after is None else after,
        )


def _taken(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    of = f"of the server {quoted(new.name)}"
    if (old.allow is None) != (new.allow is None):
        is_open = new.allow is None
        words = "every tool" if is_open else "the named tools alone"
        lists = [ABSENT if one.allow is None else list(one.allow) for one in (old, new)]
        yield files.changed(
            row_of("server.allow/opened" if is_open else "server.allow/listed"),
            (*path, "allow"),
            f"{words} {of} {'is' if is_open else 'are'} taken",
            lists[0],
            lists[1],
        )
    names = (*(new.allow or ()), *(old.allow or ()), *new.restrict, *old.restrict)
    before, after = (NameLists(one.allow, one.restrict) for one in (old, new))
    for own in dict.fromkeys(names):
        was, is_ = before.have(own), after.have(own)
        if was == is_:
            continue
        field = before.differing(after, own)
        verb = "taken" if is_ else "no longer taken"
        yield files.changed(
            row_of("server.taken/added" if is_ else "server.taken/removed"),
            (*path, field),
            f"the tool {quoted(own)} {of} is {verb}",
            ABSENT if is_ else own,
            own if is_ else ABSENT,
        )


def _own_list(
    before: Toolset, after: Toolset, old: McpServer, new: McpServer
) -> Iterator[Change]:
    """Whether a server's own list is offered: that of one that answers for tools is not."""
    files, path = files_of(before, after), ("mcp_servers", new.name)
    was, is_ = (new.name not in side.proxied_servers for side in (before, after))
    of = f"of the server {quoted(new.name)}"
    if is_ and not was and new.allow != ():
        message = f"the list {of} is offered: it answers for no tool any more"
        rule = row_of("server.list/opened")
        yield files.changed(rule, path, message, "answers for tools", "is listed")
    elif was and not is_ and old.allow != ():
        message = f"the list {of} is not offered any more: it answers for tools"
        rule = row_of("server.list/closed")
        yield files.changed(rule, path, message, "is listed", "answers for tools")


def _lock(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    if old.locked is None or new.locked is None or old.locked == new.locked:
        return
    place = f"{posixpath.dirname(files.after.file)}/{new.lock}"
    try:
        before, after = (
            replace(locked_listing(one, place), varying=())
            for one in (old.locked, new.locked)
        )
    except ListingError:
        return  # a rule of the specs tells what is wrong with it
    for change in listing_changes(before, after, Owner(files.toolset, place)).changes:
        side = files.before if change.is_gone else files.after
        yield replace(change, place=place_of(side, (*path, "lock")))


_REACHED = (("program", "started"), ("host", "spoken to"), ("variable", "read"))
"""In the order of `NetworkReach`, each with what is done to it."""


def _reach(before: Toolset, after: Toolset) -> Iterator[Change]:
    """What a toolset comes to reach, and reaches no more, each once."""
    files = files_of(before, after)
    # That a server has another program is told as a change of that server.
    named = {s.name for s in before.mcp_servers if s.command is not None}
    shared = {s.name for s in after.mcp_servers if s.command is not None} & named
    unsaid = [_by_default(side) for side in (before, after)]
    reached = [_reached(side, shared) for side in (before, after)]
    there = [_reached(side, ()) for side in (before, after)]
    for index, (kind, done) in enumerate(_REACHED):
        came, gone = (row_of(f"toolset.{kind}s/{e}") for e in ("added", "removed"))
        for name, path in reached[1][index].items():
            if name not in there[0][index] and name not in unsaid[0]:
                message = f"the {kind} {quoted(name)} is {done}, and was not"
                yield files.changed(came, path, message, after=name)
        for name, path in reached[0][index].items():
            if name not in there[1][index] and name not in unsaid[1]:
                message = f"the {kind} {quoted(name)} is no longer {done}"
                yield files.changed(gone, path, message, before=name)
    yield from _sent(before, after, files)


def _reached(
    toolset: Toolset, shared: Collection[str]
) -> tuple[dict[str, Path], dict[str, Path], dict[str, Path]]:
    """The programs, hosts and variables that a toolset reaches, and where it says so first."""
    found: tuple[dict[str, Path], ...] = ({}, {}, {})
    for path, part in _parts(toolset):
        reached = reach_of(part)
        if len(path) == 2 and path[0] == "mcp_servers" and path[1] in shared:
            reached = reached._replace(programs=())
        for names, known in zip(reached, found, strict=True):
            for name in names:
                known.setdefault(name, path)
    return found[0], found[1], found[2]


def _by_default(toolset: Toolset) -> set[str]:
    """The variables of tokens that are read where the toolset names none."""
    names = {plan.token_variable for plan in endpoints(toolset)}
    return names | {variable(toolset, "ADMIN", "TOKEN")}


def _parts(toolset: Toolset) -> Iterator[tuple[Path, Toolset]]:
    """A toolset cut into what can reach something, each with its path."""
    rest = replace(
        toolset, mcp_servers=(), router=None, clients=(), targets={}, extensions={}
    )
    for server in toolset.mcp_servers:
        yield ("mcp_servers", server.name), replace(rest, mcp_servers=(server,))
    if toolset.router is not None:
        yield ("router",), replace(rest, router=toolset.router)
    for client in toolset.clients:
        path = ("clients", client.name, "token_variable")
        yield path, replace(rest, clients=(client,))
    for name, options in toolset.targets.items():
        yield ("targets", name), replace(rest, targets={name: options})
    for field, content in toolset.extensions.items():
        yield (field,), replace(rest, extensions={field: content})


def _sent(before: Toolset, after: Toolset, files: SpecFiles) -> Iterator[Change]:
    old, new = (
        {(owner, name): path for path, owner, name in sent_variables(side)}
        for side in (before, after)
    )
    rule = row_of("toolset.variables_sent/added")
    for (owner, name), path in new.items():
        if (owner, name) not in old:
            message = f"the variable {quoted(name)} is sent to {quoted(owner)}"
            yield files.changed(rule, path, message, after=name)
    rule = row_of("toolset.variables_sent/removed")
    for (owner, name), path in old.items():
        if (owner, name) not in new:
            message = (
                f"the variable {quoted(name)} is no longer sent to {quoted(owner)}"
            )
            yield files.changed(rule, path, message, before=name)
