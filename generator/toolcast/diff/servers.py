"""Changes of external servers, and of what a toolset reaches beyond its own process."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import replace

from ..analysis.network_reach import (
    find_secret_paths,
    format_command_line,
    list_reached_resources,
    list_sent_variables,
)
from ..mcp_client.server_listing import ListingError, parse_lock
from ..model.endpoints import build_variable_name, list_endpoints
from ..model.mcp_servers import McpServer
from ..model.model import Toolset, Workspace
from ..parsing.tree import Path
from .access import NameLists
from .change import (
    ABSENT,
    MASKED_VALUE,
    Change,
    SpecFiles,
    list_unshared_items,
    locate_path,
    pair_toolset_files,
)
from .listing_changes import compare_listings
from .listing_workspace import ListingOwner
from .table import make_change, make_presence_change


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """What no line of a server alone says; who may have its tools is told elsewhere."""
    files = pair_toolset_files(before, after)
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
    what, field = "transport", "url" if new.command is None else "command"
    if old.command is not None and new.command is not None:
        what, field = "command", "args" if old.command == new.command else "command"
    elif old.url is not None and new.url is not None:
        what = "url"
    sides = (*path, field), before, after
    form = "secret" if before == after else "seen"
    yield make_change(
        files, f"server.{what}/changed", *sides, form=form, server=new.name
    )


def _line(server: McpServer) -> str:
    """The command line or address, without what looks like a secret."""
    if server.command is not None:
        return format_command_line(server)
    return MASKED_VALUE if ("url",) in find_secret_paths(server) else server.url or ""


def _names(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
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
        yield make_change(
            files,
            "server.tools/changed",
            (*path, "tools", own),
            ABSENT if before is None else before,
            ABSENT if after is None else after,
            tool=own,
            server=new.name,
            called=called[1],
        )


def _taken(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    if (old.allow is None) != (new.allow is None):
        id_ = "server.allow/opened" if new.allow is None else "server.allow/listed"
        lists = [ABSENT if one.allow is None else list(one.allow) for one in (old, new)]
        yield make_change(files, id_, (*path, "allow"), *lists, server=new.name)
    names = (*(new.allow or ()), *(old.allow or ()), *new.deny, *old.deny)
    before, after = (NameLists(one.allow, one.deny) for one in (old, new))
    for own, key, is_taken in before.compare(after, names):
        what = "server.taken", (*path, key), own, is_taken
        yield make_presence_change(files, *what, server=new.name)


def _own_list(
    before: Toolset, after: Toolset, old: McpServer, new: McpServer
) -> Iterator[Change]:
    """Whether a server's own list is offered: that of one that answers for tools is not."""
    files, path = pair_toolset_files(before, after), ("mcp_servers", new.name)
    was, is_ = (new.name not in side.proxied_servers for side in (before, after))
    states = "answers for tools", "is listed"
    if is_ and not was and new.allow != ():
        yield make_change(files, "server.list/opened", path, *states, server=new.name)
    elif was and not is_ and old.allow != ():
        yield make_change(
            files, "server.list/closed", path, *states[::-1], server=new.name
        )


def _lock(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    if old.locked is None or new.locked is None or old.locked == new.locked:
        return
    place = f"{posixpath.dirname(files.after.file)}/{new.lock}"
    try:
        before, after = (
            replace(parse_lock(one, place), variations=())
            for one in (old.locked, new.locked)
        )
    except ListingError:
        return  # a rule of the specs tells what is wrong with it
    for change in compare_listings(
        before, after, ListingOwner(files.toolset, place)
    ).changes:
        side = files.before if change.is_in_old_version else files.after
        yield replace(change, location=locate_path(side, (*path, "lock")))


def _reach(before: Toolset, after: Toolset) -> Iterator[Change]:
    """What a toolset comes to reach or send, and reaches or sends no more, each once."""
    files = pair_toolset_files(before, after)
    # That a server has another program is told as a change of that server.
    named = {s.name for s in before.mcp_servers if s.command is not None}
    shared = {s.name for s in after.mcp_servers if s.command is not None} & named
    found: list[dict[tuple[str, str], Path]] = [{}, {}]
    sides = before, after
    for side, own in zip(sides, found, strict=True):
        for kind, name, path in list_reached_resources(side):
            own.setdefault((kind, name), path)
    for (kind, name), path, is_there in list_unshared_items(*found):
        is_program = kind == "programs" and path[1] in shared
        if not is_program and name not in _by_default(sides[not is_there]):
            yield make_presence_change(files, f"toolset.{kind}", path, name, is_there)
    old, new = (
        {(owner, name): path for path, owner, name in list_sent_variables(side)}
        for side in sides
    )
    for (owner, name), path, is_there in list_unshared_items(old, new):
        what = "toolset.variables_sent", path, name, is_there
        yield make_presence_change(files, *what, owner=owner)


def _by_default(toolset: Toolset) -> set[str]:
    """The variables of tokens that are read where the toolset names none."""
    names = {plan.token_variable for plan in list_endpoints(toolset)}
    return names | {build_variable_name(toolset, "ADMIN", "TOKEN")}
