"""Compare external servers and the resources that a toolset reaches."""

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
from .name_lists import NameLists
from .table import make_change, make_presence_change


def compare_toolsets(
    before: Toolset,
    after: Toolset,
    workspace_before: Workspace,
    workspace_after: Workspace,
) -> Iterator[Change]:
    """Yield the changes of a toolset's external servers that depend on several fields.

    The access of clients to the servers' tools is compared in `access`.
    """
    files = pair_toolset_files(before, after)
    old_servers = {server.name: server for server in before.mcp_servers}
    for new in after.mcp_servers:
        old = old_servers.get(new.name)
        if old is not None:
            path = ("mcp_servers", new.name)
            yield from _compare_transport(files, path, old, new)
            yield from _compare_tool_names(files, path, old, new)
            yield from _compare_offered_tools(files, path, old, new)
            yield from _compare_lock(files, path, old, new)
            yield from _compare_proxy_use(before, after, old, new)
    yield from _compare_reached_resources(before, after)


def _compare_transport(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    """Yield the change of a server's command line or URL, with secrets masked.

    The kind is `command`, `url`, or `transport` if a server changed between both forms.
    """
    if (old.command, old.args, old.url) == (new.command, new.args, new.url):
        return
    kind, field = "transport", "url" if new.command is None else "command"
    if old.command is not None and new.command is not None:
        kind, field = "command", "args" if old.command == new.command else "command"
    elif old.url is not None and new.url is not None:
        kind = "url"
    before, after = _format_transport(old), _format_transport(new)
    # Equal texts mean that only a masked secret differs.
    form = "secret" if before == after else "seen"
    yield make_change(
        files,
        f"server.{kind}/changed",
        (*path, field),
        before,
        after,
        form=form,
        server=new.name,
    )


def _format_transport(server: McpServer) -> str:
    """Return a server's command line or URL, with secrets masked."""
    if server.command is not None:
        return format_command_line(server)
    has_secret_url = ("url",) in find_secret_paths(server)
    return MASKED_VALUE if has_secret_url else server.url or ""


def _compare_tool_names(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    """Yield the tools of a server that have another name in the toolset."""
    for tool in dict.fromkeys((*new.tools, *old.tools)):
        before, after = old.tools.get(tool), new.tools.get(tool)
        old_name = before or f"{old.prefix}{tool}"
        new_name = after or f"{new.prefix}{tool}"
        # A name that only becomes explicit, or the default again, is not a change.
        if before == after or old_name == new_name:
            continue
        yield make_change(
            files,
            "server.tools/changed",
            (*path, "tools", tool),
            before or ABSENT,
            after or ABSENT,
            tool=tool,
            server=new.name,
            called=new_name,
        )


def _compare_offered_tools(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    """Yield the changes of a server's `allow` and `deny`.

    A change between a list and all tools is reported first, then each named tool that
    was gained or lost.
    """
    if (old.allow is None) != (new.allow is None):
        rule_id = "server.allow/opened" if new.allow is None else "server.allow/listed"
        lists = [
            ABSENT if server.allow is None else list(server.allow)
            for server in (old, new)
        ]
        yield make_change(files, rule_id, (*path, "allow"), *lists, server=new.name)
    names = (*(new.allow or ()), *(old.allow or ()), *new.deny, *old.deny)
    old_lists = NameLists(old.allow, old.deny)
    new_lists = NameLists(new.allow, new.deny)
    for change in old_lists.compare(new_lists, names):
        if change.has_effect:
            yield make_presence_change(
                files,
                "server.prohibition" if change.is_prohibition else "server.taken",
                (*path, change.key),
                change.name,
                change.is_denied if change.is_prohibition else change.is_admitted,
                server=new.name,
            )


def _compare_proxy_use(
    before: Toolset, after: Toolset, old: McpServer, new: McpServer
) -> Iterator[Change]:
    """Yield a change if a server became the proxy of tools, or no longer is.

    A toolset does not offer the listed tools of a server that its specs use as a proxy.
    """
    files, path = pair_toolset_files(before, after), ("mcp_servers", new.name)
    was_listed = new.name not in before.proxied_servers
    is_listed = new.name not in after.proxied_servers
    proxy, listed = "answers for tools", "is listed"
    if is_listed and not was_listed and new.allow != ():
        yield make_change(
            files, "server.list/opened", path, proxy, listed, server=new.name
        )
    elif was_listed and not is_listed and old.allow != ():
        yield make_change(
            files, "server.list/closed", path, listed, proxy, server=new.name
        )


def _compare_lock(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    """Yield the changes between the locked listings of a server.

    Yields nothing if a lock is missing or invalid.
    """
    if old.locked is None or new.locked is None or old.locked == new.locked:
        return
    lock_file = f"{posixpath.dirname(files.after.file)}/{new.lock}"
    try:
        # Without variations, every difference between the locks is a change.
        before = replace(parse_lock(old.locked, lock_file), variations=())
        after = replace(parse_lock(new.locked, lock_file), variations=())
    except ListingError:
        # `toolcast check` reports an invalid lock file, so the comparison skips it.
        return
    owner = ListingOwner(files.toolset, lock_file)
    for change in compare_listings(before, after, owner).changes:
        source = files.before if change.is_in_old_version else files.after
        yield replace(change, location=locate_path(source, (*path, "lock")))


def _compare_reached_resources(before: Toolset, after: Toolset) -> Iterator[Change]:
    """Yield added and removed programs, hosts and variables, each once.

    Last are the variables whose values the toolset started or stopped sending to a
    server.
    """
    files = pair_toolset_files(before, after)
    old_resources, new_resources = _index_resources(before), _index_resources(after)
    # If a server starts a program in both versions, its `command` change is reported
    # already.
    old_programs = {s.name for s in before.mcp_servers if s.command is not None}
    new_programs = {s.name for s in after.mcp_servers if s.command is not None}
    servers_with_programs = old_programs & new_programs
    for (kind, name), path, is_added in list_unshared_items(
        old_resources, new_resources
    ):
        is_server_change = kind == "programs" and path[1] in servers_with_programs
        other_version = before if is_added else after
        # A default name that becomes explicit, or the reverse, is the same variable.
        if not is_server_change and name not in _list_default_variables(other_version):
            yield make_presence_change(files, f"toolset.{kind}", path, name, is_added)
    old_sent = {
        (owner, name): path for path, owner, name in list_sent_variables(before)
    }
    new_sent = {(owner, name): path for path, owner, name in list_sent_variables(after)}
    for (owner, name), path, is_added in list_unshared_items(old_sent, new_sent):
        yield make_presence_change(
            files, "toolset.variables_sent", path, name, is_added, owner=owner
        )


def _index_resources(toolset: Toolset) -> dict[tuple[str, str], Path]:
    """Return the first path of each program, host and variable, by kind and name."""
    resources: dict[tuple[str, str], Path] = {}
    for kind, name, path in list_reached_resources(toolset):
        resources.setdefault((kind, name), path)
    return resources


def _list_default_variables(toolset: Toolset) -> set[str]:
    """Return the names of the token variables of endpoints and of the admin page."""
    names = {endpoint.token_variable for endpoint in list_endpoints(toolset)}
    return names | {build_variable_name(toolset, "ADMIN", "TOKEN")}
