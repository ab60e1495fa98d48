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
unknown_tool = unknown_names("access/unknown-tool", "tool_entry")


@rule("access/task-support", on="tool", severity=Severity.ERROR, target="mcp")
def task_required(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    message = "clients may call this tool as a task only, and the server has no tasks"
    help_ = "leave `taskSupport` out: long calls have `timeout`"
    yield from _task_support(tool, "required", message, help_)


@rule("access/task-support", on="tool", severity=Severity.NOTE, target="mcp")
def task_optional(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    message = "the tool is listed as one for tasks, and the server has none"
    help_ = "leave `taskSupport` out; plain calls work either way"
    yield from _task_support(tool, "optional", message, help_)


def _task_support(
    tool: ToolSpec, value: str, message: str, help_: str
) -> Iterator[Problem]:
    if (tool.execution or {}).get("taskSupport") == value:
        yield problem_at(tool, ("execution", "taskSupport"), message, help_)


@rule("access/default-client", on="toolset", severity=Severity.ERROR, target="mcp")
def mcp_client(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    yield from _served_client(toolset, "mcp")


@rule("access/default-client", on="toolset", severity=Severity.ERROR, target="cli")
def cli_client(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    yield from _served_client(toolset, "cli")


def _served_client(toolset: Toolset, target: str) -> Iterator[Problem]:
    names = [client.name for client in toolset.clients]
    chosen = toolset.targets[target].get("client")
    path: Path = ("targets", target)
    if chosen is None and names:
        message = (
            f"the toolset has clients, and `{target}` does not say which one it serves"
        )
        yield problem_at(
            toolset, path, message, f"add `client:`, one of {format_quoted_list(names)}"
        )
    elif chosen is not None and chosen not in names:
        help_ = did_you_mean(str(chosen), names) or "add it to `clients`"
        message = f"the toolset has no client `{chosen}`"
        yield problem_at(toolset, (*path, "client"), message, help_)


@rule("access/client-contradiction", on="toolset", severity=Severity.ERROR)
def client_contradiction(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    tools = {tool.name: tool for tool in toolset.tools}
    for client in toolset.clients:
        denied = {entry.text for entry in client.deny_entries}
        # A pattern stands for many tools, of which it need not have each.
        for index, (name, _) in enumerate(client.allow_entries):
            path: Path = ("clients", client.name, "allow", index)
            tool, own = tools.get(name), f"`{client.name}` allows `{name}`"
            if name in denied:
                yield problem_at(toolset, path, *_both(client.name, name))
            if tool and tool.clients is not None and client.name not in tool.clients:
                message = f"{own}, whose own `clients` leave it out"
                help_ = "both must agree; remove it here or add it there"
                yield problem_at(toolset, path, message, help_)
            elif tool and _lacks(toolset, client, tool):
                message = f"{own}, and lacks its permission `{tool.permission}`"
                help_ = "add it to the client's `permissions`, or remove the tool here"
                yield problem_at(toolset, path, message, help_)
    for server in toolset.listed_servers:
        for index, name in enumerate(server.allow or ()):
            if name in server.deny:
                path = ("mcp_servers", server.name, "allow", index)
                yield problem_at(toolset, path, *_both(server.name, name))
    for tool in toolset.tools:
        for index, name in enumerate(tool.clients or ()):
            meant = toolset.find_client(name)
            if meant is None:
                continue
            if not meant.allows(tool.name):
                is_denied = tool.name in meant.deny
                how = "denies it" if is_denied else "does not allow it"
                help_ = "both must agree; change `clients` here or in toolset.yaml"
            elif _lacks(toolset, meant, tool):
                how = f"lacks its permission `{tool.permission}`"
                help_ = (
                    "add it to the client's `permissions`, or remove the client here"
                )
            else:
                continue
            message = f"`{tool.name}` is meant for `{name}`, which {how}"
            yield problem_at(tool, ("clients", index), message, help_)


def _both(owner: str, name: str) -> tuple[str, str]:
    return (
        f"`{owner}` allows and denies `{name}`",
        "remove it from one of the two lists; as it stands it is denied",
    )


def _lacks(toolset: Toolset, client: Client, tool: ToolSpec) -> bool:
    """Whether another client has the tool's permission, and this one does not.

    A permission that no client has, and one that is not there, have rules of their own.
    """
    return not client.has_permission(tool.permission) and toolset.is_granted(
        tool.permission or ""
    )


@rule("access/endpoint-clash", on="toolset", severity=Severity.ERROR, target="mcp")
def endpoint_clash(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    http = toolset.targets["mcp"].get("http", {})
    admin = http.get(
        "admin_token_variable", build_variable_name(toolset, "ADMIN_TOKEN")
    )
    paths: dict[str, str] = {}
    variables = {admin: "the administrator"}
    for plan in list_endpoints(toolset):
        place: Path = ("clients", plan.client) if plan.client else ("targets", "mcp")
        name = f"`{plan.client}`" if plan.client else "the endpoint"
        path = plan.path.rstrip("/")
        other = paths.setdefault(path, name)
        if other != name:
            message = f"{other} and {name} are both served at `{plan.path}`"
            yield problem_at(toolset, place, message, "give one of them another `path`")
        if path in ("/health", "/ready") or f"{path}/".startswith("/api/admin/"):
            message = (
                f"{name} is served at `{plan.path}`, which the server itself answers"
            )
            yield problem_at(toolset, place, message, "give it another `path`")
        owner = variables.setdefault(plan.token_variable, name)
        if owner != name:
            message = f"the token of {owner} and that of {name} are both `{plan.token_variable}`"
            help_ = "give one of them another `token_variable`"
            yield problem_at(toolset, place, message, help_)


@rule("access/tool-count", on="toolset", severity=Severity.WARNING)
def too_many_tools(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for client in list_callers(toolset):
        tools = [
            t for t in toolset.tools if client is None or toolset.is_offered(t, client)
        ]
        is_api = (kind := find_client_kind(toolset, client)) is not None and kind.is_api
        count = len(tools) if is_api else count_listed_tools(toolset, tools)
        for limit in list_crossed_limits(
            list_client_limits(toolset, client, LimitKind.TOOLS), 0, count
        ):
            path: Path = ("client_kind",)
            if client is not None and client.kind is not None:
                path = ("clients", client.name, "kind")
            message = (
                f"{f'`{client.name}`' if client else 'the caller'} has {count} tools;"
                f" {limit.client} takes {limit.maximum} in a request ({limit.source})"
            )
            help_ = "offer it fewer: `allow`, `deny`, or a toolset of their own"
            yield problem_at(toolset, path, message, help_)


@rule("access/tool-count", on="toolset", severity=Severity.NOTE)
def large_namespaces(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    known = {section.name for section in toolset.sections}
    for client in list_callers(toolset):
        limits = list(list_client_limits(toolset, client, LimitKind.NAMESPACE))
        members: dict[str, list[ToolSpec]] = {}
        for tool in toolset.tools:
            if tool.always or (client and not toolset.is_offered(tool, client)):
                continue
            section = tool.section if tool.section in known else None
            members.setdefault(section or OTHER_SECTION, []).append(tool)
        for section, tools in members.items():
            for limit in list_crossed_limits(limits, 0, len(tools)):
                path = ("sections", section) if section in known else ("name",)
                message = (
                    f"the section `{section}` is a namespace of {len(tools)} tools for"
                    f" {f'`{client.name}`' if client else 'the caller'};"
                    f" {limit.client} advises at most {limit.maximum}"
                )
                at_key = section in known
                yield problem_at(
                    toolset, path, message, "split the section", at_key=at_key
                )


@rule("access/unreachable", on="toolset", severity=Severity.WARNING)
def without_clients(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for tool in toolset.tools:
        # `clients: []` is a decision, and an `always` tool has a rule of its own.
        is_decided = tool.clients == () or tool.always
        # So is a permission that no client has: there it is told once, with every tool.
        is_held = tool.permission is None or toolset.is_granted(tool.permission)
        if is_held and not is_decided and _has_nobody(toolset, tool):
            place = "clients" if tool.clients is not None else "name"
            who = (
                "the `allow` of a client that is permitted it"
                if tool.permission
                else "a client's `allow`"
            )
            help_ = f"add it to {who}, or remove the tool"
            yield problem_at(tool, (place,), f"no client may have `{tool.name}`", help_)
    for server in toolset.listed_servers:
        clients = toolset.clients
        if clients and not any(_may_have(client, server) for client in clients):
            message = f"no client may have a tool of `{server.name}`"
            help_ = "name its tools in a client's `allow`, or remove the server"
            yield problem_at(
                toolset, ("mcp_servers", server.name), message, help_, at_key=True
            )


@rule("access/unreachable", on="tool", severity=Severity.ERROR)
def always_without_clients(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    """What the system prompt counts on, and nobody has."""
    if tool.always and _has_nobody(where.toolset, tool):
        message = f"`{tool.name}` is always offered, and no client may have it"
        yield problem_at(
            tool, ("always",), message, "let a client have it, or remove `always`"
        )


def _has_nobody(toolset: Toolset, tool: ToolSpec) -> bool:
    clients = toolset.clients
    return bool(clients) and not any(toolset.is_offered(tool, one) for one in clients)


@rule("access/unreachable", on="toolset", severity=Severity.WARNING)
def offers(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Resources and prompts that no client has."""
    for spec in toolset.mcp_specs:
        what = f"no client may have the {spec.kind} `{spec.name}`"
        if "mcp" not in toolset.targets:
            message = f"{what}: the toolset has no MCP server"
            yield problem_at(spec, ("name",), message, "add `mcp` to its targets")
        elif toolset.clients and spec.clients is None:
            yield problem_at(spec, ("name",), what, "name them in its `clients`")


def _may_have(client: Client, server: McpServer) -> bool:
    if server.clients is not None and client.name not in server.clients:
        return False
    if client.allow is None:
        return True
    named = (name for name in client.allow if name not in client.deny)
    return any(server.declares_tool(name) for name in named)


@rule(
    "access/invalid-oauth",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def oauth_setting(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    oauth = toolset.targets.get("mcp", {}).get("http", {}).get("oauth")
    if oauth is None:
        return
    place = ("targets", "mcp", "http", "oauth")
    for key in ("issuer", "jwks_uri"):
        if key in oauth and not is_safe_url(oauth[key]):
            message = f"`{key}` is no URL that can be trusted"
            help_ = "give an https URL without user, query and fragment; http is for loopback alone"
            yield problem_at(toolset, (*place, key), message, help_)
    clients = {client.name for client in toolset.clients}
    known = {"clients": clients, "permissions": set(toolset.permissions)}
    opened = False
    for scope, given in oauth["scopes"].items():
        for key, names in given.items():
            for index, name in enumerate(names):
                opened |= key == "clients" and name in clients
                if name not in known[key]:
                    what = f"the scope `{scope}` names `{name}`"
                    message = f"{what}, which is none of the toolset's {key}"
                    help_ = f"declare it in `{key}` of toolset.yaml, or remove it"
                    path = (*place, "scopes", scope, key, index)
                    yield problem_at(toolset, path, message, help_)
    if clients and not opened:
        message = "no scope opens the endpoint of a client"
        help_ = "give one of them `clients`"
        yield problem_at(toolset, (*place, "scopes"), message, help_, at_key=True)


@rule("access/incomplete-deny-pattern", on="toolset", severity=Severity.ERROR)
def open_restriction(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    open_servers = [one for one in toolset.listed_servers if one.allow is None]
    for client in toolset.clients:
        has = [
            f"`{one.name}`"
            for one in open_servers
            if one.clients is None or client.name in one.clients
        ]
        entries = client.deny_entries if has and client.allow is None else ()
        for index, entry in enumerate(entries):
            if entry.is_pattern and entry.matched_path == ("name",):
                path = ("clients", client.name, "deny", index)
                what = f"`{entry.text}` keeps no tool from `{client.name}`"
                message = f"{what} that {has[0]} lists by itself"
                help_ = f"name the tools that are taken of it, `allow` of {has[0]}"
                yield problem_at(toolset, path, message, help_)


_MAX_NAME_CHARACTERS = 120
"""Characters of a name in a message."""
_MAX_NAMES_SHOWN = 12
"""Names in a message."""


@rule(
    "access/external-systems",
    on="toolset",
    severity=Severity.NOTE,
    can_be_suppressed=False,
)
def outside(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    outside = get_network_reach(toolset)
    parts = [
        _listed("starts", "program", outside.programs),
        _listed("speaks to", "host", outside.hosts),
        _listed("reads", "environment variable", outside.variables),
    ]
    reach = "; ".join(part for part in parts if part)
    if reach:
        places = ("mcp_servers", "router", *toolset.extensions)
        places += ("clients", "targets", "name")
        path = next((key,) for key in places if key in toolset.fields)
        help_ = "nothing is wrong: see that you know each of them"
        yield problem_at(toolset, path, f"the toolset {reach}", help_, at_key=True)


def _listed(verb: str, noun: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    cut = [
        n if len(n) <= _MAX_NAME_CHARACTERS else f"{n[:_MAX_NAME_CHARACTERS]}..."
        for n in names[:_MAX_NAMES_SHOWN]
    ]
    more = f" and {len(names) - len(cut)} more" if len(names) > len(cut) else ""
    listed = ", ".join(f"`{name}`" for name in cut)
    return f"{verb} the {noun}{'s' if len(names) > 1 else ''} {listed}{more}"


@rule("access/unassigned-permission", on="toolset", severity=Severity.WARNING)
def permission_unheld(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    oauth = toolset.targets.get("mcp", {}).get("http", {}).get("oauth")
    scopes = [] if oauth is None else list(oauth["scopes"].values())
    given = {name for each in scopes for name in each.get("permissions", ())}
    for name in toolset.permissions:
        needing = [f"`{t.name}`" for t in toolset.tools if t.permission == name]
        if toolset.clients and not toolset.is_granted(name):
            kept = f", so nobody may have {', '.join(needing)}" if needing else ""
            message = f"no client has the permission `{name}`{kept}"
            help_ = "add it to the `permissions` of a client in `clients`, or remove it"
            yield problem_at(
                toolset, ("permissions", name), message, help_, at_key=True
            )
        elif oauth is not None and needing and name not in given:
            message = (
                f"no scope gives the permission `{name}`, so nobody who logs in may have"
                f" {', '.join(needing)}"
            )
            help_ = "add it to the `permissions` of a scope in `targets.mcp.http.oauth`"
            yield problem_at(
                toolset, ("permissions", name), message, help_, at_key=True
            )


@rule("access/server-tool-not-allowed", on="toolset", severity=Severity.WARNING)
def server_tools(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for server in toolset.mcp_servers:
        for own in server.tools:
            if not server.is_allowed(own):
                message = f"`{own}` gets a name, and is not taken from `{server.name}`"
                near = did_you_mean(own, server.allow or ())
                help_ = (
                    near or "add it to the server's `allow`, or remove it from `tools`"
                )
                path = ("mcp_servers", server.name, "tools", own)
                yield problem_at(toolset, path, message, help_, at_key=True)


@rule(
    "access/shared-endpoint",
    on="workspace",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def shared_endpoint(workspace: Workspace) -> Iterator[Problem]:
    for endpoint in workspace.endpoints:
        place = ("endpoints", endpoint.name)
        for message, help_ in _problems_of_shared_endpoint(endpoint, workspace):
            yield problem_at(workspace, place, message, help_, at_key=True)


def _problems_of_shared_endpoint(
    endpoint: SharedEndpoint, workspace: Workspace
) -> Iterator[tuple[str, str]]:
    names = [one.name for one in workspace.toolsets]
    if endpoint.name in names:
        message = f"`{endpoint.name}` is a toolset, whose package has that name"
        yield message, "give the endpoint another one"
    for name in endpoint.toolsets:
        if name not in names:
            yield f"there is no toolset `{name}`", suggest_name(name, names)
    shared = list_endpoint_toolsets(workspace, endpoint)
    for one in shared:
        if "mcp" not in one.targets:
            message = f"`{one.name}` has no MCP server to share"
            yield message, "add the target `mcp` to it"
    without = [one.name for one in shared if not one.clients]
    if without and len(without) < len(shared):
        yield (
            f"{format_quoted_list(without)} names no clients, and others of the endpoint do:"
            " who may have its tools is not said",
            "name the clients in its toolset.yaml",
        )
    for option in SHARED_OPTIONS:
        settings = [(one.name, get_server_option(one, option)) for one in shared]
        given = [(name, value) for name, value in settings if value is not None]
        for name, value in given[1:]:
            first, meant = given[0]
            if value != meant:
                differ = f"`{first}` and `{name}` differ in `targets.mcp.{option}`"
                help_ = "say the same in both, or in one alone"
                yield f"{differ}, which is the server's", help_


Owner = Toolset | ToolSpec | ResourceSpec | PromptSpec


class _Name(NamedTuple):
    """What callers name, with its place; `server` is whose tool it is where that is not ours."""

    owner: Owner
    path: Path
    what: str
    name: str
    server: str = ""


@rule(
    "access/duplicate-name",
    on="toolset",
    severity=Severity.ERROR,
    can_be_suppressed=False,
)
def shared_name(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for endpoint in workspace.endpoints:
        shared = list_endpoint_toolsets(workspace, endpoint)
        if toolset not in shared:
            continue
        first: dict[tuple[str, str], tuple[Toolset, str]] = {}
        for one in shared[: shared.index(toolset)]:
            for named in _names(one):
                first.setdefault((named.what, named.name), (one, named.server))
        for owner, path, what, name, server in _names(toolset):
            other, others_server = first.get((what, name), (None, ""))
            # Toolsets may use one server: its tools are then the first one's.
            if other is not None and not (server and server == others_server):
                whose = f" of `{others_server}`" if others_server else ""
                message = (
                    f"`{other.name}` has a {what} `{name}`{whose}, too, and both are"
                    f" served at the endpoint `{endpoint.name}`"
                )
                help_ = "rename one of the two, or serve them apart"
                yield problem_at(owner, path, message, help_, at_key=bool(server))


def _names(toolset: Toolset) -> Iterator[_Name]:
    """What callers name; former names are called, too."""
    for name in get_server_tool_names(toolset):
        search = ("targets", "mcp", "search")
        yield _Name(toolset, search, "tool", name, "targets.mcp.search")
    for tool in toolset.tools:
        yield _Name(tool, ("name",), "tool", tool.name)
        for index, name in enumerate(tool.renamed_from):
            yield _Name(tool, ("renamed_from", index), "tool", name)
    if get_server_option(toolset, "external"):
        for server in toolset.listed_servers:
            for name in server.declared_names:
                path = ("mcp_servers", server.name)
                yield _Name(toolset, path, "tool", name, server.name)
    for spec in toolset.mcp_resources:
        key = "uri" if "uri" in spec.mcp else "uriTemplate"
        yield _Name(spec, ("uri",), "resource", str(spec.mcp.get(key)))
    for prompt in toolset.mcp_prompts:
        yield _Name(prompt, ("name",), "prompt", prompt.name)
    if "skills" in toolset.targets:
        for one in list_skill_owners(toolset):
            yield _Name(
                one, get_name_path(one), "skill", build_front_matter(one)["name"]
            )


@rule("access/unknown-exclusion", on="toolset", severity=Severity.ERROR)
def half_excluded(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    chosen = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    is_there = {tool.name for tool in toolset.tools}
    for index, (tool, target, _) in enumerate(toolset.exclusions):
        for one in chosen if tool in is_there else ():
            if target in one.needs and tool not in toolset.list_excluded_tools(
                one.name
            ):
                message = f"`{one.name}` needs `{tool}` in `{target}`"
                help_ = f"exclude `{tool}` from `{one.name}` as well"
                yield problem_at(
                    toolset, ("exclusions", index, "target"), message, help_
                )
