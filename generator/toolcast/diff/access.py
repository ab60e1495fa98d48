"""Compare which clients can use which tools, whichever fields decide it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..model.model import Toolset, ToolSpec, Workspace
from ..model.toolset_parts import Client, NameEntry, matches_entry
from ..parsing.tree import Path
from .change import (
    ABSENT,
    Change,
    Grades,
    SpecFiles,
    ToolPair,
    format_value,
    get_key,
    get_spec_value,
    list_unshared_items,
    pair_tools,
    pair_toolset_files,
)
from .name_lists import NameLists
from .table import make_change, make_presence_change


class _AccessPair(NamedTuple):
    """The old and the new version of a tool and of a client."""

    old_tool: ToolSpec
    new_tool: ToolSpec
    old_client: Client
    new_client: Client


class _Cause(NamedTuple):
    """The field that changed a client's access to a tool.

    Attributes:
        path: the path of the field.
        is_in_tool_spec: whether the path is in the tool's spec, otherwise in toolset.yaml.
        is_prohibition: whether the field prohibits the tool: `deny` of the client, or
            `permission` of the tool.
        text: a clause that describes the cause.
    """

    path: Path
    is_in_tool_spec: bool
    is_prohibition: bool
    text: str


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
            changes = _compare_client(
                before, after, files, pairs, old_client, new_client
            )
            changes += _list_undenied_tools(
                after, files, added_tools, old_client, new_client
            )
            # Lists that differ without an effect on any tool are reported as one safe change.
            yield from changes or _compare_lists(files, pairs, old_client, new_client)
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
) -> list[Change]:
    """Return the changes of the access and permissions of a client.

    A permission whose change affects a compared tool is not reported itself.
    """
    path = ("clients", new.name)
    changes: list[Change] = []
    # A permission that changed the access to a tool is not reported a second time.
    reported_permissions = set()
    # Sets keep the membership tests fast: a client can deny thousands of tools.
    old_denied, new_denied = frozenset(old.deny), frozenset(new.deny)
    for pair in pairs:
        if pair.old_tool is pair.new_tool and _get_lists(old) == _get_lists(new):
            continue
        had_access = before.is_offered(pair.old_tool, old)
        has_access = after.is_offered(pair.new_tool, new)
        was_denied = pair.old_tool.name in old_denied
        is_denied = pair.new_tool.name in new_denied
        if had_access != has_access or was_denied != is_denied:
            changes.append(_make_access_change(files, pair, had_access, has_access))
        if had_access != has_access:
            reported_permissions.add(pair.old_tool.permission)
            reported_permissions.add(pair.new_tool.permission)
    changes += _compare_external_tools(before, after, files, old, new)
    changes += _compare_mcp_access(before, after, files, old, new)
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
    return changes


def _compare_lists(
    files: SpecFiles, pairs: Sequence[_AccessPair], old: Client, new: Client
) -> Iterator[Change]:
    """Yield a safe change if the lists of a client differ."""
    new_names = {pair.old_tool.name: pair.new_tool.name for pair in pairs}
    old_lists = _normalize_lists(old, new_names)
    new_lists = _normalize_lists(new, new_names)
    if old_lists != new_lists:
        yield make_change(
            files,
            "tool.offered/unchanged",
            ("clients", new.name),
            old_lists,
            new_lists,
            form="client",
            client=new.name,
        )


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


def _list_undenied_tools(
    after: Toolset,
    files: SpecFiles,
    added_tools: Sequence[ToolSpec],
    old: Client,
    new: Client,
) -> Iterator[Change]:
    """Yield a change for each added tool that only the old `deny` of a client matches."""
    for tool in added_tools:
        # The old version does not have the tool, so its patterns do not list the name.
        section = f"section:{tool.section}"
        was_denied = any(
            entry.text == section or matches_entry(entry.text, tool.name)
            for entry in old.deny_entries
        )
        if was_denied and tool.name not in new.deny:
            yield make_presence_change(
                files._replace(tool=tool.name),
                "tool.prohibition",
                ("clients", new.name, "deny"),
                new.name,
                is_added=False,
                form="own" if after.is_offered(tool, new) else "own-unused",
                tool=tool.name,
                cause="its `deny` no longer includes the tool",
            )


def _make_access_change(
    files: SpecFiles, pair: _AccessPair, had_access: bool, has_access: bool
) -> Change:
    """Return the change of a client's access to a tool, located at its cause.

    If the access is the same, `deny` differs.
    """
    tool = pair.new_tool
    cause = _find_cause(pair)
    if cause.is_in_tool_spec:
        files = SpecFiles(files.toolset, tool.name, pair.old_tool.source, tool.source)
    else:
        files = files._replace(tool=tool.name)
    has_effect = had_access != has_access
    is_denied = pair.new_client.find_entry("deny", tool.name) is not None
    is_prohibited = not has_access if has_effect else is_denied
    return make_presence_change(
        files,
        "tool.prohibition" if cause.is_prohibition else "tool.offered",
        cause.path,
        pair.new_client.name,
        is_prohibited if cause.is_prohibition else has_access,
        form="own" if has_effect else "own-unused",
        tool=tool.name,
        cause=cause.text,
        **_grade_prohibition(is_prohibited, has_effect),
    )


def _grade_prohibition(is_added: bool, has_effect: bool) -> dict[str, Any]:
    """Return arguments of `make_change`: an added prohibition without effect is safe."""
    if is_added and not has_effect:
        return {"grades": Grades(), "reason": "the client could not use it before"}
    return {}


def _find_cause(pair: _AccessPair) -> _Cause:
    """Return the field that changed a client's access to a tool.

    Prohibitions are checked first, because a removed one has a worse grade than an added
    entry of `clients` or `allow`: `deny`, permissions, the tool's `clients`, `allow`.
    """
    name, old_tool, new_tool = pair.new_client.name, pair.old_tool, pair.new_tool
    is_denied = pair.new_client.find_entry("deny", new_tool.name) is not None
    if (pair.old_client.find_entry("deny", old_tool.name) is not None) != is_denied:
        return _describe_list_cause(pair, "deny")
    was_permitted = pair.old_client.has_permission(old_tool.permission)
    is_permitted = pair.new_client.has_permission(new_tool.permission)
    if was_permitted != is_permitted:
        permission = format_value(new_tool.permission or old_tool.permission)
        verb = "include" if is_permitted else "do not include"
        text = f"its permissions {verb} {permission}"
        if old_tool.permission != new_tool.permission:
            if new_tool.permission is None:
                text = f"the tool no longer requires {permission}"
            return _Cause(("permission",), True, True, text)
        return _Cause(("clients", name, "permissions"), False, False, text)
    was_listed = old_tool.clients is None or name in old_tool.clients
    is_listed = new_tool.clients is None or name in new_tool.clients
    if was_listed != is_listed:
        verb = "include" if is_listed else "do not include"
        return _Cause(("clients",), True, False, f"the tool's `clients` {verb} it")
    return _describe_list_cause(pair, "allow")


def _describe_list_cause(pair: _AccessPair, key: str) -> _Cause:
    """Return the cause of a tool that only one version of `allow` or `deny` has."""
    old_entry = pair.old_client.find_entry(key, pair.old_tool.name)
    new_entry = pair.new_client.find_entry(key, pair.new_tool.name)
    is_prohibition = key == "deny"
    path = ("clients", pair.new_client.name, key)
    entry = new_entry or old_entry
    if entry is not None and entry.is_pattern and entry.text != "*":
        verb = "matches" if new_entry else "no longer matches"
        text = f"{format_value(entry.text)} in its `{key}` {verb} the tool"
        has_pattern = entry.text in pair.old_client.get_entry_texts(key)
        if has_pattern and entry.text in pair.new_client.get_entry_texts(key):
            # Both versions have the pattern, so a changed field of the tool is the cause.
            return _Cause(entry.matched_path, True, is_prohibition, text)
        return _Cause(path, False, is_prohibition, text)
    verb = "includes" if new_entry else "no longer includes"
    return _Cause(path, False, is_prohibition, f"its `{key}` {verb} the tool")


def _compare_mcp_access(
    before: Toolset,
    after: Toolset,
    files: SpecFiles,
    old_client: Client,
    client: Client,
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
        was_denied, is_denied = old_client.denies(spec), client.denies(spec)
        if was_denied != is_denied and (old is not None or was_denied):
            yield make_presence_change(
                files,
                "client.mcp_prohibition",
                ("clients", client.name, f"mcp_{spec.kind}s"),
                spec.name,
                is_denied,
                form="used" if has_changed else "unused",
                client=client.name,
                kind=spec.kind,
                **_grade_prohibition(is_denied, has_changed),
            )
        elif has_changed and not is_own_change and not is_new_in_spec:
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
    for change in old_lists.compare(new_lists, names):
        if change.name not in own_names:
            is_prohibited = change.is_prohibition and change.is_denied
            yield make_presence_change(
                files,
                "tool.prohibition" if change.is_prohibition else "tool.offered",
                ("clients", new.name, change.key),
                change.name,
                change.is_denied if change.is_prohibition else change.is_admitted,
                form="external" if change.has_effect else "external-unused",
                client=new.name,
                **_grade_prohibition(is_prohibited, change.has_effect),
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

    If one of these fields changed the access of a client, `compare_toolsets` reports it.
    """
    causes = _list_causes(pair)
    old, new = pair.before, pair.after
    before, after = get_spec_value(old, "permission"), get_spec_value(new, "permission")
    if before != after and ("permission",) not in causes:
        event = "unset" if after is ABSENT else "set" if before is ABSENT else "changed"
        rule_id = f"tool.permission/{event}"
        yield make_change(pair.files, rule_id, ("permission",), before, after)
    old_clients = None if old.clients is None else sorted(old.clients)
    new_clients = None if new.clients is None else sorted(new.clients)
    if old_clients != new_clients and not causes:
        values = get_spec_value(old, "clients"), get_spec_value(new, "clients")
        rule_id = "tool.offered/unchanged"
        yield make_change(pair.files, rule_id, ("clients",), *values, form="tool")


def _list_causes(pair: ToolPair) -> set[Path]:
    """Return the fields by which clients of both versions gained or lost the tool."""
    before, after = pair.toolset_before, pair.toolset_after
    causes = set()
    for client in after.clients:
        old_client = before.find_client(client.name)
        if old_client is None:
            continue
        had_access = before.is_offered(pair.before, old_client)
        if had_access != after.is_offered(pair.after, client):
            access = _AccessPair(pair.before, pair.after, old_client, client)
            causes.add(_find_cause(access).path)
    return causes


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
