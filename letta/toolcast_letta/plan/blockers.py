"""Why a plan must not be applied, and what a person should know of it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from ..server.desired_state import Attachment
from ..server.state import World
from ..server.tool_rules import is_stale
from .plan import AgentPlan, Objection, Permits

__all__ = ["objections", "warnings"]

_OLDEST = (0, 13, 0)
_NEWEST = (0, 16)
_REFUSES_PRIVATE = (0, 16, 7)
_LONGEST_NAME = 48


def objections(
    wish: Attachment, world: World, agents: Sequence[AgentPlan], permits: Permits
) -> Iterator[Objection]:
    """Everything that speaks against applying, each with what to do."""
    yield from _about_versions(world)
    yield from _about_the_entry(wish, world)
    if world.unreachable:
        yield Objection(
            "unreachable",
            f"Letta cannot list the MCP server's tools: {world.unreachable}",
            "nothing is touched while the server is away; start it, or mend URL or token",
        )
    else:
        yield from _about_the_deployment(wish, world)
    yield from _about_owners(wish, world, permits)
    for name, others in sorted(world.holders.items()):
        if name not in permits.delete:
            yield Objection(
                "other-agents",
                f"`{name}` is to be deleted, and other agents have it:"
                f" {', '.join(others)}",
                f"detach it there first, or name it: --allow-delete {name}",
            )
    for agent in agents:
        yield from _about_an_agent(wish, world, agent)


def _about_versions(world: World) -> Iterator[Objection]:
    version = _version(world.version)
    if version is None or version < _OLDEST or version[:2] > _NEWEST:
        yield Objection(
            "version",
            f"Letta {world.version} is not known: this is for 0.13.0 to 0.16",
            "what is measured holds for those; use the version that fits",
        )


def _version(text: str) -> tuple[int, ...] | None:
    match = re.match(r"(\d+)\.(\d+)\.(\d+)", text)
    return None if match is None else tuple(int(part) for part in match.groups())


def _about_the_entry(wish: Attachment, world: World) -> Iterator[Objection]:
    if world.entry is not None and not world.entry.is_http:
        yield Objection(
            "server-kind",
            f"the entry `{wish.server_name}` is not of the kind streamable HTTP",
            "give the toolset's entry another name",
        )


def _about_the_deployment(wish: Attachment, world: World) -> Iterator[Objection]:
    """The server must offer what the specs say before the registry is touched."""
    if not world.live:
        yield Objection(
            "empty-list",
            "the MCP server offers no tool at all, as during a deployment:"
            " refreshing would delete every tool of it",
            "wait until it is deployed",
        )
        return
    missing = [name for name in sorted(wish.tools) if name not in world.live]
    if missing:
        yield Objection(
            "not-deployed",
            f"the MCP server does not offer {_listed(missing)} on its first page",
            "deploy the generated server first, then plan again",
        )
    for name, tool in sorted(wish.tools.items()):
        live = world.live.get(name)
        if live is None:
            continue
        if live.problem and tool.attached:
            yield Objection(
                "skipped-schema",
                f"Letta would skip `{name}` in silence: {live.problem}",
                "mend its parameters",
            )
        elif live.digest != tool.digest:
            yield Objection(
                "not-deployed",
                f"the MCP server shows `{name}` otherwise than its spec",
                "deploy the generated server first, then plan again",
            )
        if len(name) > _LONGEST_NAME:
            yield Objection(
                "name-too-long",
                f"`{name}` has {len(name)} characters; Letta takes {_LONGEST_NAME} and"
                " stops half-way at such a name",
                "shorten the name",
            )


def _about_owners(
    wish: Attachment, world: World, permits: Permits
) -> Iterator[Objection]:
    """Names are unique in an organisation: who registers one takes it over."""
    for name in sorted({*wish.tools, *world.live}):
        there = world.registry.get(name)
        if there is None or world.is_ours(name):
            continue
        if there.is_built_in:
            yield Objection(
                "capture",
                f"`{name}` is Letta's own tool: registering the server would take it"
                " away from every agent of the organisation",
                "rename the tool; a prefix helps",
            )
        elif name not in permits.capture:
            owner = there.server_id or f"a {there.type} tool"
            yield Objection(
                "capture",
                f"`{name}` belongs to {owner}: registering the server takes it over",
                f"rename the tool, or name it: --allow-capture {name}",
            )


def _about_an_agent(
    wish: Attachment, world: World, plan: AgentPlan
) -> Iterator[Objection]:
    wanted = next(agent for agent in wish.agents if agent.name == plan.name)
    if plan.type != wanted.type:
        yield Objection(
            "agent-type",
            f"{plan.name} is a {plan.type}; the toolset says {wanted.type}, whose tools"
            " need other rules",
            f"`type: {plan.type}` in the toolset",
        )
    for name in sorted(wanted.expects):
        if name not in world.registry:
            yield Objection(
                "expected-missing",
                f"{plan.name} must have `{name}`, and Letta knows no such tool",
                "register it, or take it from `expects`",
            )
        if name in wanted.forbids:
            yield Objection(
                "expected-missing",
                f"{plan.name} both expects and forbids `{name}`",
                "take it from one of the two",
            )
    for name in plan.before:
        there = world.registry.get(name)
        if there is None and name not in wish.tools:
            yield Objection(
                "unknown-tool",
                f"{plan.name} has `{name}`, which the registry does not show",
                "plan again; it was deleted in between",
            )


def warnings(
    wish: Attachment, world: World, agents: Sequence[AgentPlan], permits: Permits
) -> Iterator[str]:
    """What a person should know; nothing of it stops the plan."""
    version = _version(world.version)
    if version and version >= _REFUSES_PRIVATE and _is_private(wish.server_url):
        yield (
            f"Letta {world.version} refuses MCP servers at private addresses such as"
            f" {urlsplit(wish.server_url).hostname}, without an opt-out"
        )
    undeclared = sorted(n for n in world.live if n not in wish.tools)
    if undeclared:
        yield (
            f"the MCP server also offers {_listed(undeclared)}, which the specs do not"
            " have; Letta registers them along, and agents keep them as they are"
        )
    skipped = [n for n in sorted(wish.tools) if n in world.live]
    skipped = [n for n in skipped if world.live[n].problem]
    skipped = [n for n in skipped if not wish.tools[n].attached]
    if skipped:
        yield f"Letta does not register {_listed(skipped)}: their schemas are not to its taste"
    for agent in agents:
        if "origin:letta-code" in world.agents[agent.name].tags:
            yield (
                f"{agent.name} is opened by Letta Code, which clears every rule when it"
                " starts: verify again later"
            )
        for rule in agent.rules_after:
            if is_stale(rule, agent.after) and rule["tool_name"]:
                yield (
                    f"{agent.name} has a rule {rule['type']} of `{rule['tool_name']}`"
                    " that names a tool which is not attached; it misleads the model."
                    f" --drop-stale {rule['tool_name']} removes it"
                )
        if not agent.rules_before and agent.before and "memgpt" in agent.type:
            yield (
                f"{agent.name} has no rule at all: a {agent.type} then stops after one"
                " step. The rules of tools that are not the toolset's are not known here"
            )


def _is_private(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith((".local", ".svc", ".internal")):
        return True
    try:
        return not ipaddress.ip_address(host).is_global
    except ValueError:
        return False


def _listed(names: Sequence[str]) -> str:
    shown = [f"`{name}`" for name in names[:8]]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
