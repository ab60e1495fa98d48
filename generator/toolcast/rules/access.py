"""Rules of the family `access`: which clients may list and call which tools.

`access.md` explains each rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolcast_runtime.http.endpoints import is_safe_url

from ..analysis.client_kinds import (
    LimitKind,
    find_client_kind,
    list_callers,
    list_client_limits,
    list_crossed_limits,
)
from ..analysis.network_reach import get_network_reach
from ..analysis.prompt_docs import OTHER_SECTION
from ..analysis.skill_texts import build_front_matter, get_name_path, list_skill_owners
from ..analysis.tool_search import count_listed_tools, get_server_tool_names
from ..findings import Severity
from ..model.endpoints import (
    SHARED_OPTIONS,
    build_variable_name,
    get_server_option,
    list_endpoint_toolsets,
    list_endpoints,
)
from ..model.mcp_servers import McpServer
from ..model.model import SharedEndpoint, Toolset, ToolSpec, Workspace
from ..model.toolset_parts import Client, PromptSpec, ResourceSpec
from ..parsing.tree import Path
from ..suggestions import did_you_mean, format_quoted_list, suggest_name
from ..targets.table import list_enabled_targets
from .rule import Problem, problem_at, rule
from .subjects import Scope
from .unknown_names import unknown_names

unknown_client = unknown_names("access/unknown-client", "client")
unknown_exclusion = unknown_names(
    "access/unknown-exclusion", "excluded_tool", "enabled_target"
)
unknown_tool = unknown_names("access/unknown-tool", "tool_entry", "mcp_entry")


@rule("access/absent-tool", on="toolset", severity=Severity.NOTE)
def check_absent_tools(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report entries of `deny` and `exclusions` whose tool was removed.

    The name of such a tool is in `reserved_names`. Other unknown names are reported by
    `access/unknown-tool` and `access/unknown-exclusion`.
    """
    absent = toolset.reserved_names.keys() - {tool.name for tool in toolset.tools}
    entries: list[tuple[Path, str]] = [
        (("clients", client.name, "deny", index), entry.text)
        for client in toolset.clients
        for index, entry in enumerate(client.deny_entries)
    ]
    entries += [
        (("exclusions", index, "tool"), exclusion.tool)
        for index, exclusion in enumerate(toolset.exclusions)
    ]
    for path, name in entries:
        if name in absent:
            message = f"the tool `{name}` does not exist; its name is reserved"
            help_ = "keep the entry: it applies if the tool is imported again"
            yield problem_at(toolset, path, message, help_)


@rule("access/task-support", on="tool", severity=Severity.ERROR, target="mcp")
def check_required_tasks(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool that clients may only call as a task."""
    message = "clients may call this tool only as a task, but the server has no tasks"
    help_ = "remove `taskSupport`, and set `timeout` for long calls"
    yield from _check_task_support(tool, "required", message, help_)


@rule("access/task-support", on="tool", severity=Severity.NOTE, target="mcp")
def check_optional_tasks(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool that clients may call as a task."""
    message = "the tool is listed with support for tasks, but the server has no tasks"
    help_ = "remove `taskSupport`; calls without a task work in either case"
    yield from _check_task_support(tool, "optional", message, help_)


def _check_task_support(
    tool: ToolSpec, value: str, message: str, help_: str
) -> Iterator[Problem]:
    if (tool.execution or {}).get("taskSupport") == value:
        yield problem_at(tool, ("execution", "taskSupport"), message, help_)


@rule("access/default-client", on="toolset", severity=Severity.ERROR, target="mcp")
def check_mcp_client(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report a missing or unknown `targets.mcp.client` in a toolset with clients.

    In a toolset without clients, any `client` is unknown.
    """
    yield from _check_target_client(toolset, "mcp")


@rule("access/default-client", on="toolset", severity=Severity.ERROR, target="cli")
def check_cli_client(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report a missing or unknown `targets.cli.client` in a toolset with clients.

    In a toolset without clients, any `client` is unknown.
    """
    yield from _check_target_client(toolset, "cli")


def _check_target_client(toolset: Toolset, target: str) -> Iterator[Problem]:
    names = [client.name for client in toolset.clients]
    name = toolset.targets[target].get("client")
    path: Path = ("targets", target)
    if name is None and names:
        message = f"the toolset has clients, but the target `{target}` has no `client`"
        help_ = f"add `client:` with one of {format_quoted_list(names)}"
        yield problem_at(toolset, path, message, help_)
    elif name is not None and name not in names:
        message = f"the toolset has no client `{name}`"
        help_ = did_you_mean(str(name), names) or "add it to `clients`"
        yield problem_at(toolset, (*path, "client"), message, help_)


@rule("access/client-contradiction", on="toolset", severity=Severity.ERROR)
def check_contradictions(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report clients, servers and tools whose lists contradict each other."""
    for client in toolset.clients:
        yield from _check_client_lists(toolset, client)
    for server in toolset.listed_servers:
        for index, name in enumerate(server.allow or ()):
            if name in server.deny:
                path = ("mcp_servers", server.name, "allow", index)
                yield _report_allowed_and_denied(toolset, path, server.name, name)
    for tool in toolset.tools:
        yield from _check_tool_clients(toolset, tool)


def _check_client_lists(toolset: Toolset, client: Client) -> Iterator[Problem]:
    tools = {tool.name: tool for tool in toolset.tools}
    denied = {entry.text for entry in client.deny_entries}
    # A pattern is not a key of `tools`, so it is skipped below: a client need not have access
    # to every tool that a pattern matches.
    for index, (name, _) in enumerate(client.allow_entries):
        path: Path = ("clients", client.name, "allow", index)
        if name in denied:
            yield _report_allowed_and_denied(toolset, path, client.name, name)
        tool = tools.get(name)
        if tool is None:
            continue
        if tool.clients is not None and client.name not in tool.clients:
            message = (
                f"`{client.name}` allows `{name}`, but `clients` of `{name}` does not"
                f" include `{client.name}`"
            )
            help_ = "remove the tool here, or add the client to the tool's `clients`"
            yield problem_at(toolset, path, message, help_)
        elif _lacks_permission(toolset, client, tool):
            message = (
                f"`{client.name}` allows `{name}`, but does not have its permission"
                f" `{tool.permission}`"
            )
            help_ = "add it to the client's `permissions`, or remove the tool here"
            yield problem_at(toolset, path, message, help_)


def _check_tool_clients(toolset: Toolset, tool: ToolSpec) -> Iterator[Problem]:
    for index, name in enumerate(tool.clients or ()):
        client = toolset.find_client(name)
        if client is None:
            continue
        if not client.allows(tool.name):
            reason = "does not allow it"
            help_ = "remove the client here, or allow the tool in toolset.yaml"
            if tool.name in client.deny:
                reason = "denies it"
                help_ = "remove the client here, or change its `deny`"
        elif _lacks_permission(toolset, client, tool):
            reason = f"does not have its permission `{tool.permission}`"
            help_ = "add it to the client's `permissions`, or remove the client here"
        else:
            continue
        message = f"`clients` of `{tool.name}` includes `{name}`, which {reason}"
        yield problem_at(tool, ("clients", index), message, help_)


def _report_allowed_and_denied(
    toolset: Toolset, path: Path, owner: str, name: str
) -> Problem:
    message = f"`{owner}` both allows and denies `{name}`"
    help_ = "remove it from one of the two lists; `deny` takes precedence"
    return problem_at(toolset, path, message, help_)


def _lacks_permission(toolset: Toolset, client: Client, tool: ToolSpec) -> bool:
    """Return whether a client lacks the tool's permission, but another client has it.

    False if no client has the permission: `access/unassigned-permission` reports that.
    """
    has_holder = toolset.is_granted(tool.permission or "")
    return has_holder and not client.has_permission(tool.permission)


@rule("access/endpoint-clash", on="toolset", severity=Severity.ERROR, target="mcp")
def check_endpoints(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report clients that share an HTTP path or a token, and reserved paths."""
    http = toolset.targets["mcp"].get("http", {})
    admin_variable = http.get(
        "admin_token_variable", build_variable_name(toolset, "ADMIN_TOKEN")
    )
    path_owners: dict[str, str] = {}
    variable_owners = {admin_variable: "the administrator"}
    for plan in list_endpoints(toolset):
        path: Path = ("clients", plan.client) if plan.client else ("targets", "mcp")
        name = f"`{plan.client}`" if plan.client else "the endpoint"
        # Paths that differ only in a final slash are the same endpoint.
        url_path = plan.path.rstrip("/")
        other = path_owners.setdefault(url_path, name)
        if other != name:
            message = f"{other} and {name} are both served at `{plan.path}`"
            yield problem_at(
                toolset, path, message, "set another `path` for one of them"
            )
        if url_path in ("/health", "/ready") or f"{url_path}/".startswith(
            "/api/admin/"
        ):
            message = f"{name} is served at `{plan.path}`, which the server itself uses"
            yield problem_at(toolset, path, message, "set another `path`")
        other = variable_owners.setdefault(plan.token_variable, name)
        if other != name:
            message = f"{other} and {name} have the same token variable `{plan.token_variable}`"
            help_ = "set another `token_variable` for one of them"
            yield problem_at(toolset, path, message, help_)


@rule("access/tool-count", on="toolset", severity=Severity.WARNING)
def check_tool_count(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report clients with more tools than their program or provider accepts."""
    for client in list_callers(toolset):
        tools = [
            tool
            for tool in toolset.tools
            if client is None or toolset.is_offered(tool, client)
        ]
        kind = find_client_kind(toolset, client)
        # An MCP server with tool search lists only some tools. A request to a provider's API
        # contains all tools.
        is_api = kind is not None and kind.is_api
        count = len(tools) if is_api else count_listed_tools(toolset, tools)
        for limit in list_crossed_limits(
            list_client_limits(toolset, client, LimitKind.TOOLS), 0, count
        ):
            path: Path = ("client_kind",)
            if client is not None and client.kind is not None:
                path = ("clients", client.name, "kind")
            message = (
                f"{_format_caller(client)} has {count} tools; {limit.client} accepts"
                f" {limit.maximum} in a request ({limit.source})"
            )
            help_ = "offer fewer tools: use `allow` or `deny`, or split the toolset"
            yield problem_at(toolset, path, message, help_)


def _format_caller(client: Client | None) -> str:
    return f"`{client.name}`" if client else "the caller"


@rule("access/tool-count", on="toolset", severity=Severity.NOTE)
def check_namespace_size(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report sections with more tools than the client recommends for a namespace.

    A namespace is a group of tools that the tool search of a client program or provider loads
    together. Always-listed tools are not part of a namespace.
    """
    section_names = {section.name for section in toolset.sections}
    for client in list_callers(toolset):
        limits = list(list_client_limits(toolset, client, LimitKind.NAMESPACE))
        namespaces: dict[str, list[ToolSpec]] = {}
        for tool in toolset.tools:
            if tool.always or (client and not toolset.is_offered(tool, client)):
                continue
            section = tool.section if tool.section in section_names else None
            namespaces.setdefault(section or OTHER_SECTION, []).append(tool)
        for name, tools in namespaces.items():
            for limit in list_crossed_limits(limits, 0, len(tools)):
                is_section = name in section_names
                path = ("sections", name) if is_section else ("name",)
                message = (
                    f"the section `{name}` is a namespace of {len(tools)} tools for"
                    f" {_format_caller(client)}; {limit.client} recommends at most"
                    f" {limit.maximum}"
                )
                help_ = "split the section"
                yield problem_at(toolset, path, message, help_, at_key=is_section)


@rule("access/unreachable", on="toolset", severity=Severity.WARNING)
def check_unreachable_tools(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report tools and external servers that no client can use.

    Tools with `always` or with an empty `clients` are left out.
    """
    for tool in toolset.tools:
        # The author hides a tool on purpose with `clients: []`. Tools with `always` are
        # reported as errors by `check_unreachable_always_tools`.
        is_excepted = tool.clients == () or tool.always
        # If no client has the permission, `access/unassigned-permission` reports this once
        # for all of its tools.
        is_held = tool.permission is None or toolset.is_granted(tool.permission)
        if is_held and not is_excepted and _has_no_client(toolset, tool):
            field = "clients" if tool.clients is not None else "name"
            message = f"no client may use `{tool.name}`"
            help_ = "add it to `allow` of a client, or remove the tool"
            if tool.permission:
                help_ = (
                    f"add it to `allow` of a client with the permission"
                    f" `{tool.permission}`, or remove the tool"
                )
            yield problem_at(tool, (field,), message, help_)
    for server in toolset.listed_servers:
        clients = toolset.clients
        if clients and not any(_may_use_server(client, server) for client in clients):
            message = f"no client may use a tool of `{server.name}`"
            help_ = "add its tools to `allow` of a client, or remove the server"
            path = ("mcp_servers", server.name)
            yield problem_at(toolset, path, message, help_)


@rule("access/unreachable", on="tool", severity=Severity.ERROR)
def check_unreachable_always_tools(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool with `always` that no client can use."""
    if tool.always and _has_no_client(scope.toolset, tool):
        message = f"`{tool.name}` is always listed, but no client may use it"
        help_ = "add it to `allow` of a client, or remove `always`"
        yield problem_at(tool, ("always",), message, help_)


def _has_no_client(toolset: Toolset, tool: ToolSpec) -> bool:
    """Return whether a toolset has clients, and none of them may use a tool."""
    clients = toolset.clients
    return bool(clients) and not any(
        toolset.is_offered(tool, client) for client in clients
    )


@rule("access/unreachable", on="toolset", severity=Severity.WARNING)
def check_unreachable_mcp_specs(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report MCP resources and MCP prompts that no client can use.

    A toolset without an MCP server serves none. In a toolset with clients, a resource or
    prompt is served only to those in its `clients`.
    """
    for spec in toolset.mcp_specs:
        message = f"no client may use the {spec.kind} `{spec.name}`"
        if "mcp" not in toolset.targets:
            message = f"{message}: the toolset has no MCP server"
            help_ = "add `mcp` to the targets"
            yield problem_at(spec, ("name",), message, help_)
        elif toolset.clients and spec.clients is None:
            help_ = f"list clients in `clients` of the {spec.kind}, or allow it in toolset.yaml"
            yield problem_at(spec, ("name",), message, help_)


def _may_use_server(client: Client, server: McpServer) -> bool:
    """Return whether a client may be allowed to use a tool of an external server."""
    if server.clients is not None and client.name not in server.clients:
        return False
    if client.allow is None:
        return True
    allowed = (name for name in client.allow if name not in client.deny)
    return any(server.declares_tool(name) for name in allowed)


@rule(
    "access/invalid-oauth",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def check_oauth(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report insecure OAuth URLs, unknown names in scopes, and scopes without a client.

    If the toolset has clients, at least one scope must give access to one of them.
    """
    oauth = toolset.targets.get("mcp", {}).get("http", {}).get("oauth")
    if oauth is None:
        return
    path: Path = ("targets", "mcp", "http", "oauth")
    for key in ("issuer", "jwks_uri"):
        if key in oauth and not is_safe_url(oauth[key]):
            message = f"`{key}` is not a URL that can be trusted"
            help_ = (
                "use an https URL without user, query and fragment; http is allowed only for"
                " loopback addresses"
            )
            yield problem_at(toolset, (*path, key), message, help_)
    clients = {client.name for client in toolset.clients}
    names_by_key = {"clients": clients, "permissions": set(toolset.permissions)}
    opens_client = False
    for scope, grants in oauth["scopes"].items():
        for key, names in grants.items():
            for index, name in enumerate(names):
                opens_client |= key == "clients" and name in clients
                if name not in names_by_key[key]:
                    message = (
                        f"the scope `{scope}` contains `{name}`, which is not in `{key}` of"
                        " the toolset"
                    )
                    help_ = f"declare it in `{key}` of toolset.yaml, or remove it"
                    name_path = (*path, "scopes", scope, key, index)
                    yield problem_at(toolset, name_path, message, help_)
    if clients and not opens_client:
        message = "no scope gives access to a client's endpoint"
        help_ = "add `clients` to a scope"
        yield problem_at(toolset, (*path, "scopes"), message, help_)


@rule("access/incomplete-deny-pattern", on="toolset", severity=Severity.ERROR)
def check_deny_patterns(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report patterns in `deny` if the client can use servers with unknown tools.

    The tools of an external server without `allow` are known only when the server runs. A
    client whose `allow` is `*` would have access to those that the pattern should deny.
    """
    servers_without_list = [s for s in toolset.listed_servers if s.allow is None]
    for client in toolset.clients:
        names = [
            server.name
            for server in servers_without_list
            if server.clients is None or client.name in server.clients
        ]
        if not names or client.allow is not None:
            continue
        server_name = names[0]
        for index, entry in enumerate(client.deny_entries):
            # Entries such as `section:NAME` and `FIELD:KEY` never match tools of servers.
            if entry.is_pattern and entry.matched_path == ("name",):
                path = ("clients", client.name, "deny", index)
                message = (
                    f"`deny: {entry.text}` cannot cover the tools of `{server_name}`, which"
                    " are not known before it runs"
                )
                help_ = f"list them in `mcp_servers.{server_name}.allow`"
                yield problem_at(toolset, path, message, help_)


_MAX_NAME_CHARACTERS = 120
"""Maximum number of characters of a name in a message; longer names are cut."""
_MAX_NAMES_SHOWN = 12
"""Maximum number of names in a message; further names are counted."""


@rule(
    "access/external-systems",
    on="toolset",
    severity=Severity.NOTE,
    can_be_suppressed=False,
)
def list_external_systems(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """List the programs, hosts and environment variables that a toolset uses."""
    reach = get_network_reach(toolset)
    parts = [
        _format_systems("program", reach.programs),
        _format_systems("host", reach.hosts),
        _format_systems("variable", reach.variables),
    ]
    systems = ", ".join(part for part in parts if part)
    if systems:
        keys = ("mcp_servers", "router", *toolset.extensions)
        keys += ("clients", "targets", "name")
        path = next((key,) for key in keys if key in toolset.fields)
        message = f"external systems used: {systems}"
        help_ = "check that you expect each of them; no other action is needed"
        yield problem_at(toolset, path, message, help_, at_key=True)


def _format_systems(noun: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    shown_names = [
        (
            f"`{name}`"
            if len(name) <= _MAX_NAME_CHARACTERS
            else f"`{name[:_MAX_NAME_CHARACTERS]}...`"
        )
        for name in names[:_MAX_NAMES_SHOWN]
    ]
    omitted = len(names) - len(shown_names)
    more = f" and {omitted} more" if omitted else ""
    return f"{noun}{'s' if len(names) > 1 else ''} {', '.join(shown_names)}{more}"


@rule("access/unassigned-permission", on="toolset", severity=Severity.WARNING)
def check_unassigned_permissions(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report permissions that no client has.

    With OAuth, also report permissions that tools need and no scope grants.
    """
    oauth = toolset.targets.get("mcp", {}).get("http", {}).get("oauth")
    scopes = [] if oauth is None else list(oauth["scopes"].values())
    granted = {name for scope in scopes for name in scope.get("permissions", ())}
    for name in toolset.permissions:
        tools = [f"`{t.name}`" for t in toolset.tools if t.permission == name]
        path = ("permissions", name)
        if toolset.clients and not toolset.is_granted(name):
            effect = f", so no client may use {', '.join(tools)}" if tools else ""
            message = f"no client has the permission `{name}`{effect}"
            help_ = "add it to the `permissions` of a client in `clients`, or remove it"
            yield problem_at(toolset, path, message, help_, at_key=True)
        elif oauth is not None and tools and name not in granted:
            message = (
                f"no scope grants the permission `{name}`, so OAuth users may not use"
                f" {', '.join(tools)}"
            )
            help_ = "add it to the `permissions` of a scope in `targets.mcp.http.oauth`"
            yield problem_at(toolset, path, message, help_, at_key=True)


@rule("access/server-tool-not-allowed", on="toolset", severity=Severity.WARNING)
def check_renamed_server_tools(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report external tools that `tools` renames, but `allow` or `deny` excludes."""
    for server in toolset.mcp_servers:
        for name in server.tools:
            if not server.is_allowed(name):
                message = (
                    f"`mcp_servers.{server.name}.tools` renames `{name}`, which `allow` or"
                    " `deny` excludes"
                )
                help_ = did_you_mean(name, server.allow or ()) or (
                    "allow it, or remove it from `tools`"
                )
                path = ("mcp_servers", server.name, "tools", name)
                yield problem_at(toolset, path, message, help_, at_key=True)


@rule(
    "access/shared-endpoint",
    on="workspace",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def check_shared_endpoints(workspace: Workspace) -> Iterator[Problem]:
    """Report endpoints whose toolsets cannot share one server.

    The toolsets must exist, have the target `mcp`, agree on having clients, and have equal
    values of `SHARED_OPTIONS` if set.
    """
    for endpoint in workspace.endpoints:
        path = ("endpoints", endpoint.name)
        for message, help_ in _check_shared_endpoint(endpoint, workspace):
            yield problem_at(workspace, path, message, help_)


def _check_shared_endpoint(
    endpoint: SharedEndpoint, workspace: Workspace
) -> Iterator[tuple[str, str]]:
    names = [toolset.name for toolset in workspace.toolsets]
    if endpoint.name in names:
        message = f"the endpoint `{endpoint.name}` has the name of a toolset"
        yield message, "rename the endpoint: it is generated as a package of that name"
    for name in endpoint.toolsets:
        if name not in names:
            yield f"the toolset `{name}` does not exist", suggest_name(name, names)
    toolsets = list_endpoint_toolsets(workspace, endpoint)
    for toolset in toolsets:
        if "mcp" not in toolset.targets:
            message = f"`{toolset.name}` has no MCP server"
            yield message, f"add the target `mcp` to `{toolset.name}`"
    open_names = [toolset.name for toolset in toolsets if not toolset.clients]
    if open_names and len(open_names) < len(toolsets):
        verb = "have" if len(open_names) > 1 else "has"
        yield (
            f"{format_quoted_list(open_names)} {verb} no `clients`, but other toolsets of"
            " the endpoint have some",
            "add `clients` to each toolset of the endpoint",
        )
    for option in SHARED_OPTIONS:
        settings = [
            (toolset.name, get_server_option(toolset, option)) for toolset in toolsets
        ]
        settings = [(name, value) for name, value in settings if value is not None]
        for name, value in settings[1:]:
            first_name, first_value = settings[0]
            if value != first_value:
                message = (
                    f"`{first_name}` and `{name}` share a server, but differ in"
                    f" `targets.mcp.{option}`"
                )
                yield message, "set the same value in both, or set it in only one"


Owner = Toolset | ToolSpec | ResourceSpec | PromptSpec


class _DeclaredName(NamedTuple):
    """A name by which callers use a tool, resource, prompt or skill.

    Attributes:
        owner: the object that declares the name.
        path: path of the name in the owner's file.
        kind: `tool`, `resource`, `prompt` or `skill`.
        name: the name.
        server: the external server that has the tool, or the setting that adds the tool;
            empty for the toolset's own tools.
    """

    owner: Owner
    path: Path
    kind: str
    name: str
    server: str = ""


@rule(
    "access/duplicate-name",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def check_duplicate_names(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report names that an earlier toolset of a shared endpoint already has."""
    for endpoint in workspace.endpoints:
        toolsets = list_endpoint_toolsets(workspace, endpoint)
        if toolset not in toolsets:
            continue
        first: dict[tuple[str, str], tuple[Toolset, str]] = {}
        for earlier in toolsets[: toolsets.index(toolset)]:
            for declared in _list_names(earlier):
                key = declared.kind, declared.name
                first.setdefault(key, (earlier, declared.server))
        for declared in _list_names(toolset):
            other, other_server = first.get((declared.kind, declared.name), (None, ""))
            # Two toolsets can use the same external server. Its tools are then listed once, for
            # the first toolset, which is not a conflict.
            is_same_server = declared.server and declared.server == other_server
            if other is None or is_same_server:
                continue
            origin = f" of `{other_server}`" if other_server else ""
            message = (
                f"`{other.name}`, which is served at the same endpoint `{endpoint.name}`,"
                f" also has the {declared.kind} `{declared.name}`{origin}"
            )
            help_ = "rename one of the two, or serve the toolsets at separate endpoints"
            at_key = bool(declared.server)
            yield problem_at(
                declared.owner, declared.path, message, help_, at_key=at_key
            )


def _list_names(toolset: Toolset) -> Iterator[_DeclaredName]:
    """Yield the names that callers can use, each with its kind and location.

    Previous names of tools, the tools of tool search, and listed tools of external servers
    are included.
    """
    for name in get_server_tool_names(toolset):
        search = ("targets", "mcp", "search")
        yield _DeclaredName(toolset, search, "tool", name, "targets.mcp.search")
    for tool in toolset.tools:
        yield _DeclaredName(tool, ("name",), "tool", tool.name)
        for index, name in enumerate(tool.renamed_from):
            yield _DeclaredName(tool, ("renamed_from", index), "tool", name)
    if get_server_option(toolset, "external"):
        for server in toolset.listed_servers:
            for name in server.declared_names:
                path = ("mcp_servers", server.name)
                yield _DeclaredName(toolset, path, "tool", name, server.name)
    for resource in toolset.mcp_resources:
        key = "uri" if "uri" in resource.mcp else "uriTemplate"
        uri = str(resource.mcp.get(key))
        yield _DeclaredName(resource, ("uri",), "resource", uri)
    for prompt in toolset.mcp_prompts:
        yield _DeclaredName(prompt, ("name",), "prompt", prompt.name)
    if "skills" in toolset.targets:
        for owner in list_skill_owners(toolset):
            name = build_front_matter(owner)["name"]
            yield _DeclaredName(owner, get_name_path(owner), "skill", name)


@rule("access/unknown-exclusion", on="toolset", severity=Severity.ERROR)
def check_incomplete_exclusions(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report tools that are excluded from a target, but not from targets that need it."""
    enabled = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    names = {tool.name for tool in toolset.tools}
    for index, (tool, excluded_target, _) in enumerate(toolset.exclusions):
        if tool not in names:
            continue
        for target in enabled:
            needs_tool = tool not in toolset.list_excluded_tools(target.name)
            if excluded_target in target.needs and needs_tool:
                path = ("exclusions", index, "target")
                message = (
                    f"`{tool}` is excluded from `{excluded_target}`, which `{target.name}`"
                    " requires"
                )
                help_ = f"also exclude `{tool}` from `{target.name}`"
                yield problem_at(toolset, path, message, help_)
