"""The rules `letta/...`; `rules.md` documents them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from toolcast.extension_api import (
    JsonSchema,
    Path,
    Problem,
    ReachableCode,
    Reference,
    Scope,
    Severity,
    Toolset,
    ToolSpec,
    TracedObservation,
    Workspace,
    did_you_mean,
    format_call_path,
    format_location,
    format_quoted_list,
    list_enabled_targets,
    problem_at,
    rule,
    select_listed_tools,
    trace_handler,
)

from .handler_code import ANY_TOOL, MessageSendVisitor
from .schemas.health import find_schema_problems
from .schemas.stored import build_stored_parameters
from .settings import BUILT_INS, LettaAgent, LettaSettings, parse_url
from .specs import (
    build_settings,
    build_tool_part,
    get_letta_fields,
    has_settings,
    list_offered_tools,
)


def has_target(toolset: Toolset, workspace: Workspace) -> bool:
    """Return whether the target `letta` is enabled for a toolset."""
    chosen = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    return "letta" in {target.name for target in chosen}


def has_attached_tools(toolset: Toolset) -> bool:
    """Return whether any tool of a toolset is attached to Letta agents."""
    return any(get_letta_fields(tool).get("attached") for tool in toolset.tools)


def list_registered_tools(toolset: Toolset) -> Sequence[ToolSpec]:
    """Return the tools that Letta registers for the toolset's MCP server.

    These are the tools that the server offers to Letta, attached or not; all tools if
    the toolset has no `letta` object.
    """
    return list_offered_tools(toolset) if has_settings(toolset) else toolset.tools


def analyze_handler(
    workspace: Workspace, toolset: Toolset, tool: ToolSpec
) -> ReachableCode | None:
    """Return the code that a tool's handler reaches, with its message-sending uses.

    None if the tool has no handler that can be found.
    """
    return trace_handler(workspace, toolset, tool, MessageSendVisitor)


def find_sending_uses(
    workspace: Workspace, toolset: Toolset
) -> dict[str, TracedObservation]:
    """Return the first message-sending use of each handler that has one, by tool name.

    A handler sends a message to the agent itself, or calls a tool that does: a tool
    with such a handler or with `calls_agent_loop`. A call of an unknown tool counts if
    any tool of the toolset sends messages.
    """
    uses_by_tool: dict[str, tuple[TracedObservation, ...]] = {}
    current_names: dict[str, str] = {}
    for tool in toolset.tools:
        reached = analyze_handler(workspace, toolset, tool)
        uses_by_tool[tool.name] = reached.observations if reached else ()
        # Code can still call a tool by a previous name.
        current_names |= dict.fromkeys((*tool.renamed_from, tool.name), tool.name)
    sending_uses: dict[str, TracedObservation] = {}
    for name, uses in uses_by_tool.items():
        direct_use = next((use for use in uses if not use.tools), None)
        if direct_use is not None:
            sending_uses[name] = direct_use
    sending = {*sending_uses} | {
        tool.name
        for tool in toolset.tools
        if get_letta_fields(tool).get("calls_agent_loop")
    }
    # A tool that calls a tool which sends messages also sends messages: repeat until no
    # tool is added.
    is_growing = True
    while is_growing:
        is_growing = False
        for name, uses in uses_by_tool.items():
            if name in sending_uses:
                continue
            for use in uses:
                called = {current_names.get(tool, tool) for tool in use.tools}
                if sending and (ANY_TOOL in called or called & sending):
                    sending_uses[name] = use
                    is_growing = is_growing or name not in sending
                    sending.add(name)
                    break
    return sending_uses


def describe_sending_use(use: TracedObservation) -> str:
    """Return what a use does, as a verb phrase for a message after its location."""
    code = f"`{use.text[:80]}`"
    if not use.tools:
        return f"sends a message to the agent: {code}"
    if ANY_TOOL in use.tools:
        return f"can call any tool, including tools that send a message to the agent: {code}"
    return f"calls a tool that sends a message to the agent: {code}"


@rule("letta/duplicate-confirmation", on="tool", severity=Severity.WARNING)
def check_duplicate_confirmation(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Yield a problem if a tool with `confirm` also declares `requires_approval`."""
    if tool.confirm is not None and "requires_approval" in get_letta_fields(tool):
        yield problem_at(
            tool,
            ("letta", "requires_approval"),
            f"`{tool.name}` declares both `confirm` and `letta.requires_approval`",
            "remove `requires_approval`: Letta already requires approval for `confirm`",
        )


@rule("letta/circular-tool", on="tool", severity=Severity.ERROR)
def check_circular_tool(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Yield a problem if an attached tool declares `calls_agent_loop`."""
    letta = get_letta_fields(tool)
    if letta.get("attached") and letta.get("calls_agent_loop"):
        yield problem_at(
            tool,
            ("letta", "attached"),
            f"`{tool.name}` is attached to agents, but calls the agent's own loop",
            "set `attached: false`",
        )


@rule("letta/builtin-name", on="toolset", severity=Severity.ERROR)
def check_builtin_name(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Yield the tools that would replace a built-in tool of Letta.

    Registering a server registers every tool that it lists, attached or not.
    """
    if not has_attached_tools(toolset):
        return
    for tool in list_registered_tools(toolset):
        if tool.name in BUILT_INS:
            yield problem_at(
                tool,
                ("name",),
                f"`{tool.name}` would replace the built-in tool of Letta with this name",
                "rename the tool",
            )


@rule("letta/circular-handler", on="toolset", severity=Severity.ERROR)
def check_circular_handler(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Yield the attached tools whose handlers send a message to the agent."""
    sending_uses = (
        find_sending_uses(workspace, toolset) if has_attached_tools(toolset) else {}
    )
    for tool in toolset.tools:
        if not get_letta_fields(tool).get("attached"):
            continue
        use = sending_uses.get(tool.name)
        if use is not None:
            location = format_location(use.file, use.line)
            yield problem_at(
                tool,
                ("letta", "attached"),
                f"{location} {describe_sending_use(use)}{format_call_path(use.call_path)}",
                "set `attached: false` and `calls_agent_loop: true`, or get the data from a"
                " database or Letta's management API instead",
            )


@rule("letta/refused-approval", on="toolset", severity=Severity.WARNING)
def check_refused_approval(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report tools of agents whose `confirm` the server enforces without `client_confirms`.

    The server refuses their calls, although the user approved the call in Letta.
    """
    client = toolset.find_client(build_settings(toolset).server.client or "")
    # With `client_confirms`, the server accepts an approval that the client requested.
    if client is not None and client.client_confirms:
        return
    for tool in toolset.tools:
        if tool.confirm is not None and get_letta_fields(tool).get("attached"):
            yield problem_at(
                tool,
                ("letta", "attached"),
                f"the server refuses calls of `{tool.name}` that a user approved in Letta",
                "set `client_confirms: true` for Letta's client, or `attached: false`",
            )


_MAX_TIMEOUT_S = 120.0
"""The maximum timeout of an attached tool."""


@rule("letta/long-timeout", on="tool", severity=Severity.ERROR)
def check_long_timeout(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Yield a problem if the timeout of an attached tool is more than two minutes.

    The toolset's timeout counts for a tool without its own.
    """
    timeout = scope.toolset.timeout if tool.timeout is None else tool.timeout
    if get_letta_fields(tool).get("attached") and timeout > _MAX_TIMEOUT_S:
        is_own = tool.timeout is not None
        yield problem_at(
            tool,
            ("timeout",) if is_own else ("letta", "attached"),
            f"`{tool.name}` has a timeout of {timeout:g} s"
            f"{'' if is_own else ' from the toolset'}; attached tools can have at most"
            f" {_MAX_TIMEOUT_S:g} s",
            "set a lower `timeout`, and move long work out of the call",
        )


@rule("letta/unused-loop-declaration", on="toolset", severity=Severity.NOTE)
def check_unused_loop_declaration(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Yield tools with `calls_agent_loop` whose handlers send no message.

    Handlers that cannot be analyzed completely are skipped.
    """
    looping = [
        tool for tool in toolset.tools if get_letta_fields(tool).get("calls_agent_loop")
    ]
    sending_uses = find_sending_uses(workspace, toolset) if looping else {}
    for tool in looping:
        reached = analyze_handler(workspace, toolset, tool)
        if (
            reached is not None
            and tool.name not in sending_uses
            and not reached.problems
        ):
            yield problem_at(
                tool,
                ("letta", "calls_agent_loop"),
                f"`{tool.name}` declares `calls_agent_loop`, but its handler was not found to"
                " send a message to the agent",
                "remove `calls_agent_loop` if it no longer applies; it prevents attachment",
            )


_MAX_NAME_CHARACTERS = 48
"""The maximum length of a tool name in Letta."""


@rule("letta/name-too-long", on="tool", severity=Severity.ERROR)
def check_name_too_long(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Yield a problem if an attached tool's name has more than 48 characters."""
    if get_letta_fields(tool).get("attached") and len(tool.name) > _MAX_NAME_CHARACTERS:
        yield problem_at(
            tool,
            ("name",),
            f"the name has {len(tool.name)} characters; Letta accepts at most"
            f" {_MAX_NAME_CHARACTERS}",
            "shorten the name, or set `letta.attached: false`",
        )


@rule("letta/nested-definition", on="tool", severity=Severity.ERROR)
def check_nested_definition(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Yield the references of an attached tool that Letta resolves incorrectly.

    Letta resolves a reference by its last name only, as if it were in `$defs` directly.
    """
    schema = tool.schemas["parameters"]
    nested = [r for r in schema.references if _is_nested(r)]
    if not nested or not get_letta_fields(tool).get("attached"):
        return
    stored = build_stored_parameters(tool.parameters)
    for reference in nested:
        message = _describe_misread_reference(schema, reference, stored)
        if message:
            yield problem_at(
                tool,
                ("parameters", *reference.path),
                message,
                "write the schema inline, or refer to a definition directly in `$defs`",
            )


def _is_nested(reference: Reference) -> bool:
    """Return whether a reference names an existing schema inside a definition.

    Example: `#/$defs/order/properties/item`.
    """
    is_definition = reference.text.startswith("#/$defs/")
    return (
        is_definition
        and reference.text.count("/") > _DEFINITION_SLASHES
        and reference.target is not None
    )


def _describe_misread_reference(
    schema: JsonSchema, reference: Reference, stored: Any
) -> str:
    """Return how Letta misreads a reference; empty if it resolves it correctly."""
    definition = schema.get_value(reference.target or ())
    stored_node = _find_value(stored, reference.path[:-1])
    last = reference.text.rpartition("/")[2]
    if not isinstance(stored_node, Mapping):
        return ""
    if "$ref" not in stored_node:
        used_definition = schema.value["$defs"].get(last)
        if used_definition == definition:
            return ""
        return f"Letta uses `#/$defs/{last}` instead of `{reference.text}`"
    node = schema.get_value(reference.path[:-1])
    kind = definition.get("type") if isinstance(definition, Mapping) else None
    if "type" in node or stored_node.get("type") in (None, kind):
        return ""
    return f"Letta does not resolve `{reference.text}`, and declares an object instead"


def _find_value(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


_DEFINITION_SLASHES = "#/$defs/name".count("/")


@rule("letta/missing-decision", on="toolset", severity=Severity.ERROR)
def check_missing_decision(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Yield the tools without a valid decision about their attachment.

    These are attached tools that are excluded or not offered to Letta, and unattached
    tools without a reason. Only toolsets with the target `letta` are checked.
    """
    if not has_target(toolset, workspace):
        return
    excluded = toolset.list_excluded_tools("letta")
    offered = {tool.name for tool in list_offered_tools(toolset)}
    for tool in toolset.tools:
        is_attached = bool(get_letta_fields(tool).get("attached"))
        if is_attached and tool.name in excluded:
            message = f"`{tool.name}` is attached, but excluded from the target `letta`"
            help_ = "remove the exclusion, or set `attached: false`"
            yield problem_at(tool, ("letta", "attached"), message, help_)
        elif is_attached and tool.name not in offered:
            client = build_settings(toolset).server.client
            recipient = f"the client `{client}`" if client else "Letta"
            message = f"`{tool.name}` is attached, but not offered to {recipient}"
            help_ = "allow the tool for the client, or set `letta.attached: false`"
            yield problem_at(tool, ("letta", "attached"), message, help_)
        elif not is_attached and "reason" not in build_tool_part(toolset, tool):
            path = ("letta",) if "letta" in tool.extensions else ()
            yield problem_at(
                tool,
                path,
                f"`{tool.name}` is not attached to Letta's agents, and has no reason",
                "set `letta: {attached: true}`, or `attached: false` with a `reason`",
            )


@rule("letta/duplicate-name", on="toolset", severity=Severity.ERROR)
def check_duplicate_name(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Yield the tools whose names an earlier toolset also registers in Letta.

    Only toolsets with attached tools are compared.
    """
    if not has_attached_tools(toolset):
        return
    first: dict[str, str] = {}
    for other in workspace.toolsets:
        # If two toolsets have a tool of the same name, only the later toolset gets the
        # finding.
        if other.name == toolset.name:
            break
        if has_attached_tools(other):
            for tool in list_registered_tools(other):
                first.setdefault(tool.name, other.name)
    for tool in list_registered_tools(toolset):
        if tool.name in first:
            yield problem_at(
                tool,
                ("name",),
                f"the toolset `{first[tool.name]}` also registers a tool `{tool.name}`, but"
                " Letta has one tool per name",
                "rename one of the tools, for example with a prefix",
            )


_Fault = tuple[tuple[str | int, ...], str, str]


@rule("letta/invalid-settings", on="toolset", severity=Severity.ERROR)
def check_settings(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Yield the problems of the toolset's settings for Letta.

    Only toolsets with the target `letta` are checked.
    """
    if not has_target(toolset, workspace):
        return
    if not has_settings(toolset):
        message = "the target `letta` is enabled, but the toolset has no `letta`"
        help_ = "add `letta` with `server` and `agents`"
        yield problem_at(toolset, ("targets", "letta"), message, help_)
        return
    settings = build_settings(toolset)
    problems = [*_check_server(toolset, settings)]
    for agent in settings.agents:
        problems += _check_agent(toolset, agent)
    for path, message, help_ in problems:
        yield problem_at(toolset, ("letta", *path), message, help_)


def _check_server(toolset: Toolset, settings: LettaSettings) -> Iterator[_Fault]:
    server = settings.server
    if server.url is None and server.url_env is None:
        yield (
            (),
            "the URL at which Letta reaches the MCP server is not set",
            "set `server: {url: ...}`, or `url_env` with an environment variable",
        )
    if server.url is not None and server.url_env is not None:
        message = "`url` and `url_env` are both set"
        yield ("server", "url_env"), message, "remove one of them"
    if server.url is not None and not parse_url(server.url).hostname:
        yield (
            "server",
            "url",
        ), f"`{server.url}` has no host name", "add a host name to the URL"
    names = [client.name for client in toolset.clients]
    if names and server.client is None:
        yield (
            (),
            "`server.client` is not set, but the toolset has clients",
            f"set `server: {{client: ...}}` to one of {format_quoted_list(names)}",
        )
    attached = [
        tool for tool in toolset.tools if get_letta_fields(tool).get("attached")
    ]
    hidden = [
        tool.name for tool in attached if not select_listed_tools(toolset, [tool])
    ]
    if hidden:
        message = (
            f"Letta cannot attach tools that the server does not list:"
            f" {format_quoted_list(hidden)}"
        )
        help_ = "set `always: true` for them, or remove `search` from `targets.mcp`"
        yield (), message, help_
    if server.client is not None and server.client not in names:
        message = f"the toolset has no client `{server.client}`"
        help_ = did_you_mean(server.client, names) or "add it to `clients`"
        yield ("server", "client"), message, help_


def _check_agent(toolset: Toolset, agent: LettaAgent) -> Iterator[_Fault]:
    path = ("agents", agent.name)
    if (agent.id is None) == (agent.id_env is None):
        message = f"`{agent.name}` needs either `id` or `id_env`"
        help_ = "set one of them: Letta's agents are identified by id, not by name"
        yield path, message, help_
    labels = [block.label for block in agent.blocks]
    for label in dict.fromkeys(labels):
        if labels.count(label) > 1:
            message = f"the block `{label}` is declared {labels.count(label)} times"
            yield (*path, "blocks"), message, "declare each block once"
    for name in agent.ends_turn:
        if name not in agent.expects:
            message = f"`{name}` is in `ends_turn`, but not in `expects`"
            yield (*path, "ends_turn"), message, "add it to `expects`"
    for name in agent.expects:
        tool = next((tool for tool in toolset.tools if tool.name == name), None)
        if tool is not None:
            message = f"`{name}` belongs to the toolset: its spec decides about its attachment"
            yield (*path, "expects"), message, "remove it from `expects`"
        if name in agent.forbids:
            message = f"`{name}` is in both `expects` and `forbids`"
            yield (*path, "forbids"), message, "remove it from one of them"
    for tool in toolset.tools:
        if tool.name in agent.forbids and get_letta_fields(tool).get("attached"):
            message = f"`{tool.name}` is attached, but `{agent.name}` forbids it"
            help_ = "remove it from `forbids`, or set `attached: false` in its spec"
            yield (*path, "forbids"), message, help_


@rule("letta/skipped-schema", on="tool", severity=Severity.ERROR)
def check_skipped_schema(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Yield the reasons why Letta would skip an attached tool because of its schema."""
    if not get_letta_fields(tool).get("attached"):
        return
    for path, reason in find_schema_problems(tool.parameters):
        yield problem_at(
            tool,
            ("parameters", *path),
            f"Letta skips `{tool.name}`: {reason}",
            "add the missing `type`, `items` or `properties` to the schema",
        )


@rule("letta/undeclared-loop", on="toolset", severity=Severity.WARNING)
def check_undeclared_loop(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Yield the unattached tools that send a message without declaring it.

    Toolsets without any `letta` in their specs are skipped; `letta/circular-handler`
    reports attached tools.
    """
    # A toolset that does not use Letta needs no declaration.
    if not any(get_letta_fields(tool) for tool in toolset.tools):
        return
    sending_uses = find_sending_uses(workspace, toolset)
    for tool in toolset.tools:
        letta = get_letta_fields(tool)
        # `letta/circular-handler` reports attached tools, and declared tools need no
        # finding.
        if letta.get("attached") or letta.get("calls_agent_loop"):
            continue
        use = sending_uses.get(tool.name)
        if use is not None:
            yield problem_at(
                tool,
                ("letta",) if letta else ("name",),
                f"{format_location(use.file, use.line)} {describe_sending_use(use)}{format_call_path(use.call_path)}; the spec does"
                " not declare it",
                "add `calls_agent_loop: true` to `letta`: the server then refuses calls by"
                " the agent itself",
                at_key=bool(letta),
            )


@rule("letta/unanalyzed-code", on="toolset", severity=Severity.WARNING)
def check_unanalyzed_code(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Yield the handlers of tools with `letta` whose code cannot be analyzed.

    At most three reasons are reported for each tool. Tools that declare data are
    skipped: `handler/unanalyzed-code` reports them.
    """
    for tool in toolset.tools:
        if not get_letta_fields(tool) or tool.data:
            continue
        reached = analyze_handler(workspace, toolset, tool)
        for reason in reached.problems[:3] if reached else ():
            yield problem_at(
                tool,
                ("handler",),
                f"the handler of `{tool.name}` cannot be analyzed completely: {reason}",
                "fix the reason: until then, messages to the agent can go undetected",
            )
