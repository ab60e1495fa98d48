"""The rules `letta/...`; `rules.md` says what each is for."""

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
    format_quoted_list,
    list_enabled_targets,
    place,
    problem_at,
    rule,
    select_listed_tools,
    trace_handler,
    way_to,
)

from .handler_code import ANY_TOOL, SendingPlaces
from .schemas.health import schema_problem_places
from .schemas.stored import stored_parameters
from .settings import BUILT_INS, LettaAgent, LettaSettings, address
from .specs import facts_of, has_settings, offered_to_letta, settings_of, tool_part

LIMITS = (
    " What the text does not show is not found: an address that is put together from data or"
    " from a parameter, a module that is imported by a computed name, a program that is"
    " started."
)


def has_target(toolset: Toolset, workspace: Workspace) -> bool:
    """Whether the target `letta` is enabled."""
    chosen = list_enabled_targets(tuple(toolset.targets), workspace.extensions)
    return "letta" in {target.name for target in chosen}


def attaches(toolset: Toolset) -> bool:
    """Whether any tool of a toolset is attached to Letta agents."""
    return any(facts_of(tool).get("attached") for tool in toolset.tools)


def registered(toolset: Toolset) -> Sequence[ToolSpec]:
    """The tools that Letta registers when it gets to know the toolset's server.

    Those that the server offers it, attached or not; all of them when the toolset does not
    say whom the server takes Letta for.
    """
    return offered_to_letta(toolset) if has_settings(toolset) else toolset.tools


def reach(
    workspace: Workspace, toolset: Toolset, tool: ToolSpec
) -> ReachableCode | None:
    """What a tool's handler reaches, with the places that send an agent a message."""
    return trace_handler(workspace, toolset, tool, SendingPlaces)


def senders(workspace: Workspace, toolset: Toolset) -> dict[str, TracedObservation]:
    """The tools whose handlers send the agent a message, each with the first place.

    By themselves, or by calling another one of the toolset's tools that does, by its present
    or a former name.
    """
    noted: dict[str, tuple[TracedObservation, ...]] = {}
    present: dict[str, str] = {}
    for tool in toolset.tools:
        reached = reach(workspace, toolset, tool)
        noted[tool.name] = reached.observations if reached else ()
        present |= dict.fromkeys((*tool.renamed_from, tool.name), tool.name)
    found = {
        name: one
        for name, places in noted.items()
        for one in [next((place for place in places if not place.tools), None)]
        if one is not None
    }
    sending = {*found} | {
        tool.name for tool in toolset.tools if facts_of(tool).get("calls_agent_loop")
    }
    is_growing = True
    while is_growing:
        is_growing = False
        for name, places in noted.items():
            for spot in () if name in found else places:
                called = {present.get(tool, tool) for tool in spot.tools}
                if sending and (ANY_TOOL in called or called & sending):
                    found[name] = spot
                    is_growing = is_growing or name not in sending
                    sending.add(name)
                    break
    return found


def sent_text(sent: TracedObservation) -> str:
    """What a place does, in words that follow on where it is."""
    shown = f"`{sent.text[:80]}`"
    if not sent.tools:
        return f"sends a message into the agent's loop: {shown}"
    if ANY_TOOL in sent.tools:
        return f"may call any tool, those among them that message the agent: {shown}"
    return f"calls a tool that sends a message into the agent's loop: {shown}"


@rule("letta/duplicate-confirmation", on="tool", severity=Severity.WARNING)
def asked_twice(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if tool.confirm is not None and "requires_approval" in facts_of(tool):
        yield problem_at(
            tool,
            ("letta", "requires_approval"),
            f"`{tool.name}` has a `confirm`, by which Letta asks for approval already",
            "remove `requires_approval`: `confirm` says it for every surface",
        )


@rule("letta/circular-tool", on="tool", severity=Severity.ERROR)
def attached_circular(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    letta = facts_of(tool)
    if letta.get("attached") and letta.get("calls_agent_loop"):
        yield problem_at(
            tool,
            ("letta", "attached"),
            f"`{tool.name}` calls the agent's own loop and is attached to the agent",
            "set `attached: false`",
        )


@rule("letta/builtin-name", on="toolset", severity=Severity.ERROR)
def builtin_name(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Finds tools whose names Letta has tools of its own for.

    Registering a server registers every tool that it lists, attached or not.
    """
    if not attaches(toolset):
        return
    for tool in registered(toolset):
        if tool.name in BUILT_INS:
            yield problem_at(
                tool,
                ("name",),
                f"Letta has a tool `{tool.name}` of its own, and this one would take its place",
                "choose another name",
            )


@rule("letta/circular-handler", on="toolset", severity=Severity.ERROR)
def circular_handler(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    found = senders(workspace, toolset) if attaches(toolset) else {}
    for tool in toolset.tools:
        if not facts_of(tool).get("attached"):
            continue
        sent = found.get(tool.name)
        if sent is not None:
            where = place(sent.file, sent.line)
            yield problem_at(
                tool,
                ("letta", "attached"),
                f"{where} {sent_text(sent)}{way_to(sent.call_path)}",
                "set `attached: false` and `calls_agent_loop: true`, or take another way to"
                " the data: Letta's management API and databases are safe",
            )


@rule("letta/refused-approval", on="toolset", severity=Severity.WARNING)
def confirm_refused(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    client = toolset.find_client(settings_of(toolset).server.client or "")
    if client is not None and client.client_confirms:
        return
    for tool in toolset.tools:
        if tool.confirm is not None and facts_of(tool).get("attached"):
            yield problem_at(
                tool,
                ("letta", "attached"),
                f"a person approves `{tool.name}` in Letta, and the server refuses the call",
                "the client that Letta is takes `client_confirms: true`; else `attached: false`",
            )


_MAX_TIMEOUT_S = 120.0
"""Time that a call of an attached tool has."""


@rule("letta/long-timeout", on="tool", severity=Severity.ERROR)
def long_timeout(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    timeout = where.toolset.timeout if tool.timeout is None else tool.timeout
    if facts_of(tool).get("attached") and timeout > _MAX_TIMEOUT_S:
        own = tool.timeout is not None
        yield problem_at(
            tool,
            ("timeout",) if own else ("letta", "attached"),
            f"a call of `{tool.name}` may take {timeout:g} s{'' if own else ' by the toolset'}"
            f"; an attached tool has {_MAX_TIMEOUT_S:g} s",
            "set `timeout` lower, and let the tool hand long work over",
        )


@rule("letta/unused-loop-declaration", on="toolset", severity=Severity.NOTE)
def loop_not_reached(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    looping = [tool for tool in toolset.tools if facts_of(tool).get("calls_agent_loop")]
    found = senders(workspace, toolset) if looping else {}
    for tool in looping:
        reached = reach(workspace, toolset, tool)
        if reached is not None and tool.name not in found and not reached.problems:
            yield problem_at(
                tool,
                ("letta", "calls_agent_loop"),
                f"the handler of `{tool.name}` is not seen to send the agent a message",
                "remove it if that is past; it forbids the tool's attachment",
            )


_MAX_NAME_CHARACTERS = 48
"""Length of a tool name that Letta accepts."""


@rule("letta/name-too-long", on="tool", severity=Severity.ERROR)
def name_too_long(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if facts_of(tool).get("attached") and len(tool.name) > _MAX_NAME_CHARACTERS:
        yield problem_at(
            tool,
            ("name",),
            f"the name has {len(tool.name)} characters; Letta takes {_MAX_NAME_CHARACTERS}",
            "shorten the name, or set `letta.attached: false`",
        )


@rule("letta/nested-definition", on="tool", severity=Severity.ERROR)
def nested_definition(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    schema = tool.schemas["parameters"]
    nested = [r for r in schema.references if _is_nested(r)]
    if not nested or not facts_of(tool).get("attached"):
        return
    stored = stored_parameters(tool.parameters)
    for reference in nested:
        message = _misread(schema, reference, stored)
        if message:
            yield problem_at(
                tool,
                ("parameters", *reference.path),
                message,
                "write it out here, or name a definition right below `$defs`",
            )


def _is_nested(reference: Reference) -> bool:
    """Whether it names something below a definition, as those of shared ones do."""
    is_definition = reference.text.startswith("#/$defs/")
    return (
        is_definition
        and reference.text.count("/") > _FLAT
        and reference.target is not None
    )


def _misread(schema: JsonSchema, reference: Reference, stored: Any) -> str:
    """What Letta makes of a reference that it does not follow; empty where that is right."""
    named = schema.at(reference.target or ())
    shown = _at_of_nested_definition(stored, reference.path[:-1])
    last = reference.text.rpartition("/")[2]
    if not isinstance(shown, Mapping):
        return ""
    if "$ref" not in shown:
        taken = schema.value["$defs"].get(last)
        return "" if taken == named else f"Letta takes `#/$defs/{last}` for it"
    was = schema.at(reference.path[:-1])
    kind = named.get("type") if isinstance(named, Mapping) else None
    if "type" in was or shown.get("type") in (None, kind):
        return ""
    return f"Letta says that it is an object, and not what `{reference.text}` is"


def _at_of_nested_definition(value: Any, path: Path) -> Any:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


_FLAT = "#/$defs/name".count("/")


@rule("letta/missing-decision", on="toolset", severity=Severity.ERROR)
def no_decision(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if not has_target(toolset, workspace):
        return
    excluded = toolset.list_excluded_tools("letta")
    offered = {tool.name for tool in offered_to_letta(toolset)}
    for tool in toolset.tools:
        facts = facts_of(tool)
        wants = bool(facts.get("attached"))
        if wants and tool.name in excluded:
            message = f"`{tool.name}` is attached, and excluded from `letta`"
            yield problem_at(
                tool, ("letta", "attached"), message, "remove one of the two"
            )
        elif wants and tool.name not in offered:
            client = settings_of(toolset).server.client
            whom = f" to the client `{client}`" if client else " to Letta"
            message = f"`{tool.name}` is attached, and not offered{whom}"
            help_ = "offer it to that client, or set `letta.attached: false`"
            yield problem_at(tool, ("letta", "attached"), message, help_)
        elif not wants and "reason" not in tool_part(toolset, tool):
            path = ("letta",) if "letta" in tool.extensions else ()
            yield problem_at(
                tool,
                path,
                f"nothing says why `{tool.name}` is not attached to Letta's agents",
                "`letta: {attached: true}`, or `attached: false` with a `reason`",
            )


@rule("letta/duplicate-name", on="toolset", severity=Severity.ERROR)
def same_name(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if not attaches(toolset):
        return
    first: dict[str, str] = {}
    for other in workspace.toolsets:
        if other.name == toolset.name:
            break
        if attaches(other):
            for tool in registered(other):
                first.setdefault(tool.name, other.name)
    for tool in registered(toolset):
        if tool.name in first:
            yield problem_at(
                tool,
                ("name",),
                f"`{first[tool.name]}` brings a tool `{tool.name}` to Letta, too, and its"
                " registry has one tool a name",
                "rename one of the two; a prefix keeps toolsets apart",
            )


_Fault = tuple[tuple[str | int, ...], str, str]


@rule("letta/invalid-settings", on="toolset", severity=Severity.ERROR)
def settings(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if not has_target(toolset, workspace):
        return
    if not has_settings(toolset):
        message = "the target `letta` is enabled, and `letta` says nothing"
        help_ = "add `letta:` with `server` and `agents`"
        yield problem_at(toolset, ("targets", "letta"), message, help_)
        return
    settings = settings_of(toolset)
    problems = [*_server(toolset, settings)]
    for agent in settings.agents:
        problems += _agent(toolset, agent)
    for path, message, help_ in problems:
        yield problem_at(toolset, ("letta", *path), message, help_)


def _server(toolset: Toolset, settings: LettaSettings) -> Iterator[_Fault]:
    server = settings.server
    if server.url is None and server.url_env is None:
        yield (
            (),
            "nothing says where Letta reaches the MCP server",
            "`server: {url: ...}`, or `url_env` with the variable that holds it",
        )
    if server.url is not None and server.url_env is not None:
        message = "the URL is given, and a variable for it"
        yield ("server", "url_env"), message, "remove one of the two"
    if server.url is not None and not address(server.url).hostname:
        yield ("server", "url"), f"`{server.url}` names no host", ""
    names = [client.name for client in toolset.clients]
    if names and server.client is None:
        yield (
            (),
            "the toolset has clients, and nothing says which of them Letta is",
            f"`server: {{client: ...}}`, one of {format_quoted_list(names)}",
        )
    attached = [tool for tool in toolset.tools if facts_of(tool).get("attached")]
    hidden = [
        tool.name for tool in attached if not select_listed_tools(toolset, [tool])
    ]
    if hidden:
        message = (
            f"Letta attaches what the server lists, not {format_quoted_list(hidden)}"
        )
        help_ = "`always: true` in each of them, or no `search` in `targets.mcp`"
        yield (), message, help_
    if server.client is not None and server.client not in names:
        message = f"the toolset has no client `{server.client}`"
        help_ = did_you_mean(server.client, names) or "add it to `clients`"
        yield ("server", "client"), message, help_


def _agent(toolset: Toolset, agent: LettaAgent) -> Iterator[_Fault]:
    path = ("agents", agent.name)
    if (agent.id is None) == (agent.id_env is None):
        message = f"`{agent.name}` needs one of `id` and `id_env`"
        yield path, message, "names of agents are not unique in Letta; ids are"
    labels = [block.label for block in agent.blocks]
    for label in dict.fromkeys(labels):
        if labels.count(label) > 1:
            message = f"the block `{label}` is named {labels.count(label)} times"
            yield (*path, "blocks"), message, "one part of the specs stands in a block"
    for name in agent.ends_turn:
        if name not in agent.expects:
            message = f"`{name}` ends the turn, and `expects` does not name it"
            yield (*path, "ends_turn"), message, "add it to `expects`"
    for name in agent.expects:
        tool = next((tool for tool in toolset.tools if tool.name == name), None)
        if tool is not None:
            message = (
                f"`{name}` is the toolset's own: its spec says whether it is there"
            )
            yield (*path, "expects"), message, "take it from `expects`"
        if name in agent.forbids:
            message = f"`{name}` is both expected and forbidden"
            yield (*path, "forbids"), message, "remove one of the two"
    for tool in toolset.tools:
        if tool.name in agent.forbids and facts_of(tool).get("attached"):
            message = f"`{tool.name}` is attached, and `{agent.name}` forbids it"
            yield (*path, "forbids"), message, "remove one of the two"


@rule("letta/skipped-schema", on="tool", severity=Severity.ERROR)
def skipped_schema(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if not facts_of(tool).get("attached"):
        return
    for path, reason in schema_problem_places(tool.parameters):
        yield problem_at(
            tool,
            ("parameters", *path),
            f"Letta skips `{tool.name}`: {reason}",
            "give it a `type`, `items` or properties, as the place needs",
        )


@rule("letta/undeclared-loop", on="toolset", severity=Severity.WARNING)
def undeclared_loop(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    if not any(facts_of(tool) for tool in toolset.tools):
        return
    found = senders(workspace, toolset)
    for tool in toolset.tools:
        letta = facts_of(tool)
        if letta.get("attached") or letta.get("calls_agent_loop"):
            continue
        sent = found.get(tool.name)
        if sent is not None:
            yield problem_at(
                tool,
                ("letta",) if letta else ("name",),
                f"{place(sent.file, sent.line)} {sent_text(sent)}{way_to(sent.call_path)}; the spec does"
                " not say so",
                "add `calls_agent_loop: true` to `letta`: the server then refuses the call"
                " when the agent itself makes it",
                at_key=bool(letta),
            )


@rule("letta/unanalyzed-code", on="toolset", severity=Severity.WARNING)
def unfollowed(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Finds handlers beside Letta agents of which a part could not be followed.

    Those that declare data are found by `handler/unanalyzed-code`.
    """
    for tool in toolset.tools:
        if not facts_of(tool) or tool.data:
            continue
        reached = reach(workspace, toolset, tool)
        for reason in reached.problems[:3] if reached else ():
            yield problem_at(
                tool,
                ("handler",),
                f"what the handler does cannot be followed to the end: {reason}",
                "until then nobody knows whether it calls the agent",
            )
