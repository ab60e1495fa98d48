"""Compare which clients can use which tools, whichever fields decide it."""

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
    get_key,
    get_spec_value,
    list_unshared_items,
    pair_tools,
    pair_toolset_files,
)
from .table import make_change, make_presence_change


class NameLists:
    """The names that an `allow` and a `deny` list admit.

    The lists are stored as sets, because many names are looked up in long lists.

    Args:
        allow: the admitted names; None for all names.
        deny: names that are not admitted, even if `allow` has them.
    """

    def __init__(self, allow: Iterable[str] | None, deny: Iterable[str]) -> None:
        self._allow = None if allow is None else frozenset(allow)
        self._deny = frozenset(deny)

    def admits(self, name: str) -> bool:
        """Return whether the lists admit a name."""
        is_allowed = self._allow is None or name in self._allow
        return is_allowed and name not in self._deny

    def compare(
        self, new: NameLists, names: Iterable[str]
    ) -> Iterator[tuple[str, str, bool]]:
        """Yield the names that only the old or only the new lists admit.

        Yields tuples: the name, the list that causes the difference (`allow` or `deny`),
        and whether the new lists admit the name. Repeated names are yielded once.

        Args:
            new: the new version of the lists.
            names: the names to compare.
        """
        for name in dict.fromkeys(names):
            if self.admits(name) != new.admits(name):
                is_denied_alike = (name in self._deny) == (name in new._deny)
                yield name, "allow" if is_denied_alike else "deny", new.admits(name)


class _AccessPair(NamedTuple):
    """The old and the new version of a tool and of a client."""

    old_tool: ToolSpec
    new_tool: ToolSpec
    old_client: Client
    new_client: Client


def compare_toolsets(
    before: Toolset,
    after: Toolset,
    workspace_before: Workspace,
    workspace_after: Workspace,
) -> Iterator[Change]:
    """Yield the changes of a toolset's clients and of their access to tools.

    These are added and removed clients; for a client of both versions, the tools that it
    gained or lost, its lists and permissions; and `clients` of external servers.
    """
    files = pair_toolset_files(before, after)
    yield from _compare_client_names(before, after, files)
    tool_pairs = pair_tools(before, after)
    paired_ids = {id(new) for _, new in tool_pairs}
    added_tools = [tool for tool in after.tools if id(tool) not in paired_ids]
    for new_client in after.clients:
        old_client = before.find_client(new_client.name)
        if old_client is not None:
            pairs = [
                _AccessPair(old, new, old_client, new_client) for old, new in tool_pairs
            ]
            yield from _compare_client(
                before, after, files, pairs, old_client, new_client
            )
            yield from _list_pattern_matches(after, files, added_tools, new_client)
    yield from _compare_server_clients(before, after, files)


def _compare_client_names(
    before: Toolset, after: Toolset, files: SpecFiles
) -> Iterator[Change]:
    """Yield the added and removed clients.

    If only one version has clients, the first change reports that: without clients, a
    toolset has one caller with all tools.
    """
    if bool(before.clients) != bool(after.clients):
        event = "required" if after.clients else "not-required"
        counts = [len(toolset.clients) or ABSENT for toolset in (before, after)]
        yield make_change(files, f"client/{event}", ("clients",), *counts)
    old_clients = {client.name: client for client in before.clients}
    new_clients = {client.name: client for client in after.clients}
    for name, client, is_added in list_unshared_items(old_clients, new_clients):
        toolset = after if is_added else before
        count = sum(toolset.is_offered(tool, client) for tool in toolset.tools)
        tools = f"{count} tool{'' if count == 1 else 's'}"
        path = "clients", name
        yield make_presence_change(files, "client", path, name, is_added, tools=tools)


def _compare_client(
    before: Toolset,
    after: Toolset,
    files: SpecFiles,
    pairs: Sequence[_AccessPair],
    old: Client,
    new: Client,
) -> Iterator[Change]:
    """Yield the changes of the access, lists and permissions of a client.

    A permission whose change affects a compared tool is not reported itself. If nothing
    else changed, lists that differ are one safe change.
    """
    path = ("clients", new.name)
    changes: list[Change] = []
    # A permission that changed the access to a tool is not reported a second time.
    reported_permissions = set()
    for pair in pairs:
        if pair.old_tool is pair.new_tool and _get_lists(old) == _get_lists(new):
            continue
        had_access = before.is_offered(pair.old_tool, old)
        has_access = after.is_offered(pair.new_tool, new)
        if had_access != has_access:
            changes.append(_make_access_change(files, pair, has_access))
            reported_permissions.add(pair.old_tool.permission)
            reported_permissions.add(pair.new_tool.permission)
    changes += _compare_external_tools(before, after, files, old, new)
    changes += _compare_mcp_access(before, after, files, new)
    if (old.allow is None) != (new.allow is None):
        rule_id = "client.allow/opened" if new.allow is None else "client.allow/listed"
        values = _format_allow(old), _format_allow(new)
        changes.append(
            make_change(files, rule_id, (*path, "allow"), *values, client=new.name)
        )
    # Sets keep the membership tests fast: a client can have thousands of permissions.
    old_permissions, new_permissions = set(old.permissions), set(new.permissions)
    omitted_permissions = (old_permissions & new_permissions) | reported_permissions
    for permission in dict.fromkeys((*new.permissions, *old.permissions)):
        if permission not in omitted_permissions:
            changes.append(
                make_presence_change(
                    files,
                    "client.permissions",
                    (*path, "permissions"),
                    permission,
                    permission in new_permissions,
                    client=new.name,
                )
            )
    # Lists that differ without an effect on any tool are reported as one safe change.
    if not changes:
        new_names = {pair.old_tool.name: pair.new_tool.name for pair in pairs}
        old_lists = _normalize_lists(old, new_names)
        new_lists = _normalize_lists(new, new_names)
        if old_lists != new_lists:
            yield make_change(
                files,
                "tool.offered/unchanged",
                path,
                old_lists,
                new_lists,
                form="client",
                client=new.name,
            )
    yield from changes


def _list_pattern_matches(
    after: Toolset, files: SpecFiles, added_tools: Sequence[ToolSpec], client: Client
) -> Iterator[Change]:
    """Yield a change for each added tool that only a pattern of `allow` admits."""
    # An exact name in `allow` takes precedence over a pattern that matches the name.
    entries: dict[str, tuple[int, NameEntry]] = {}
    for index, entry in enumerate(client.allow_entries):
        for name in entry.names:
            if name not in entries or not entry.is_pattern:
                entries[name] = index, entry
    for tool in added_tools:
        if tool.name not in entries or not after.is_offered(tool, client):
            continue
        index, entry = entries[tool.name]
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


def _make_access_change(
    files: SpecFiles, pair: _AccessPair, has_access: bool
) -> Change:
    """Return the change of a client's access to a tool, located at its cause."""
    tool = pair.new_tool
    path, is_in_tool_spec, cause = _find_cause(pair)
    if is_in_tool_spec:
        files = SpecFiles(files.toolset, tool.name, pair.old_tool.source, tool.source)
    else:
        files = files._replace(tool=tool.name)
    return make_presence_change(
        files,
        "tool.offered",
        path,
        pair.new_client.name,
        has_access,
        form="own",
        tool=tool.name,
        cause=cause,
    )


def _find_cause(pair: _AccessPair) -> tuple[Path, bool, str]:
    """Return the field that changed a client's access to a tool.

    The three values are the path of the field, whether the path is in the tool's spec
    (otherwise in toolset.yaml), and a clause that describes the cause. The tool's `clients`
    are checked first, then permissions, `deny` and `allow`.
    """
    name, old_tool, new_tool = pair.new_client.name, pair.old_tool, pair.new_tool
    was_listed = old_tool.clients is None or name in old_tool.clients
    is_listed = new_tool.clients is None or name in new_tool.clients
    if was_listed != is_listed:
        verb = "include" if is_listed else "do not include"
        return ("clients",), True, f"the tool's `clients` {verb} it"
    was_permitted = pair.old_client.has_permission(old_tool.permission)
    is_permitted = pair.new_client.has_permission(new_tool.permission)
    if was_permitted != is_permitted:
        permission = format_value(new_tool.permission or old_tool.permission)
        verb = "include" if is_permitted else "do not include"
        is_in_tool_spec = old_tool.permission != new_tool.permission
        path = ("permission",) if is_in_tool_spec else ("clients", name, "permissions")
        return path, is_in_tool_spec, f"its permissions {verb} {permission}"
    # `deny` takes precedence over `allow`, so it is the cause if both changed.
    for key in ("deny", "allow"):
        old_entry = pair.old_client.find_entry(key, old_tool.name)
        new_entry = pair.new_client.find_entry(key, new_tool.name)
        if (old_entry is None) != (new_entry is None):
            break
    entry = new_entry or old_entry
    if entry is not None and entry.is_pattern and entry.text != "*":
        verb = "matches" if new_entry else "no longer matches"
        cause = f"{format_value(entry.text)} in its `{key}` {verb} the tool"
        has_pattern = entry.text in pair.old_client.get_entry_texts(key)
        if has_pattern and entry.text in pair.new_client.get_entry_texts(key):
            # Both versions have the pattern, so a changed field of the tool is the cause.
            return entry.matched_path, True, cause
        return ("clients", name, key), False, cause
    verb = "includes" if new_entry else "does not include"
    return ("clients", name, key), False, f"its `{key}` {verb} the tool"


def _compare_mcp_access(
    before: Toolset, after: Toolset, files: SpecFiles, client: Client
) -> Iterator[Change]:
    """Yield the resources and prompts that the lists of a client admit differently."""
    old_specs = {(spec.kind, spec.name): spec for spec in before.mcp_specs}
    for spec in after.mcp_specs:
        old = old_specs.get((spec.kind, spec.name))
        old_clients = (old and old.clients) or ()
        has_access = client.name in (spec.clients or ())
        old_tree = spec.source.tree if old is None else old.source.tree
        # A change of `clients` in the spec is reported there.
        is_own_change = get_key(old_tree, "clients") != get_key(
            spec.source.tree, "clients"
        )
        is_new_in_spec = old is None and "clients" in spec.source.tree
        has_changed = (client.name in old_clients) != has_access
        if has_changed and not is_own_change and not is_new_in_spec:
            yield make_presence_change(
                files,
                "client.mcp",
                ("clients", client.name, f"mcp_{spec.kind}s"),
                spec.name,
                has_access,
                client=client.name,
                kind=spec.kind,
            )


def _compare_external_tools(
    before: Toolset, after: Toolset, files: SpecFiles, old: Client, new: Client
) -> Iterator[Change]:
    """Yield the changes of a client's access to tools of external servers.

    Only servers of both versions are compared, and only by the client's `allow` and `deny`.
    """
    shared_names = {server.name for server in before.mcp_servers}
    servers = [server for server in after.mcp_servers if server.name in shared_names]
    if not servers:
        return
    own_names = {tool.name for toolset in (before, after) for tool in toolset.tools}
    own_names |= {former for tool in after.tools for former in tool.renamed_from}
    names = dict.fromkeys(name for server in servers for name in server.declared_names)
    # A server can list undeclared tools, so names in the client's lists are compared too.
    for client in (old, new):
        names |= dict.fromkeys((*(client.allow or ()), *client.deny))
    old_lists = NameLists(old.allow, old.deny)
    new_lists = NameLists(new.allow, new.deny)
    for name, key, is_admitted in old_lists.compare(new_lists, names):
        if name not in own_names:
            yield make_presence_change(
                files,
                "tool.offered",
                ("clients", new.name, key),
                name,
                is_admitted,
                form="external",
                client=new.name,
            )


def _compare_server_clients(
    before: Toolset, after: Toolset, files: SpecFiles
) -> Iterator[Change]:
    """Yield the changes of `clients` of external servers.

    There is one change for each client of both versions that gained or lost a server. If
    `clients` differ, but no such client exists, there is one safe change.
    """
    old_servers = {server.name: server for server in before.mcp_servers}
    for new in after.mcp_servers:
        old = old_servers.get(new.name)
        if old is None or old.clients == new.clients:
            continue
        path = ("mcp_servers", new.name, "clients")
        has_changes = False
        for client in after.clients:
            had_access = old.clients is None or client.name in old.clients
            has_access = new.clients is None or client.name in new.clients
            if had_access != has_access and before.find_client(client.name) is not None:
                has_changes = True
                yield make_presence_change(
                    files,
                    "server.clients",
                    path,
                    client.name,
                    has_access,
                    server=new.name,
                )
        # Changed `clients` without an effect on a client of both versions are a safe change.
        if not has_changes:
            values = [
                ABSENT if server.clients is None else list(server.clients)
                for server in (old, new)
            ]
            rule_id = "tool.offered/unchanged"
            yield make_change(
                files, rule_id, path, *values, form="server", server=new.name
            )


def compare_tools(pair: ToolPair) -> Iterator[Change]:
    """Yield the changes of a tool's `permission` and `clients` that change no access.

    Yields nothing if any client gained or lost the tool: `compare_toolsets` reports that.
    """
    # `compare_toolsets` already reports a changed access with these fields as the cause.
    if _has_access_change(pair):
        return
    old, new = pair.before, pair.after
    before, after = get_spec_value(old, "permission"), get_spec_value(new, "permission")
    if before != after:
        form = "none" if after is ABSENT else "one"
        yield make_change(
            pair.files,
            "tool.permission/changed",
            ("permission",),
            before,
            after,
            form=form,
        )
    old_clients = None if old.clients is None else sorted(old.clients)
    new_clients = None if new.clients is None else sorted(new.clients)
    if old_clients != new_clients:
        values = get_spec_value(old, "clients"), get_spec_value(new, "clients")
        rule_id = "tool.offered/unchanged"
        yield make_change(pair.files, rule_id, ("clients",), *values, form="tool")


def _has_access_change(pair: ToolPair) -> bool:
    """Return whether a client of both versions gained or lost the tool."""
    before, after = pair.toolset_before, pair.toolset_after
    for client in after.clients:
        old_client = before.find_client(client.name)
        if old_client is None:
            continue
        had_access = before.is_offered(pair.before, old_client)
        if had_access != after.is_offered(pair.after, client):
            return True
    return False


def _get_lists(client: Client) -> tuple[object, ...]:
    return client.allow, client.deny, client.permissions


def _normalize_lists(client: Client, new_names: Mapping[str, str]) -> list[list[str]]:
    """Return a client's `allow`, `deny` and permissions, sorted and without duplicates.

    Old names of tools are replaced by their values in `new_names`.
    """
    lists = (
        client.get_entry_texts("allow"),
        client.get_entry_texts("deny"),
        client.permissions,
    )
    mcp_lists = (
        [f"{key}: {name}" for name in names]
        for kind in (client.mcp_resources, client.mcp_prompts)
        for key, names in kind.items()
    )
    return [
        *(sorted({new_names.get(name, name) for name in names}) for names in lists),
        *map(sorted, mcp_lists),
    ]


def _format_allow(client: Client) -> object:
    if client.allow is None:
        return "*"
    return client.get_entry_texts("allow") or ABSENT
