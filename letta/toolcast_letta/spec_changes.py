"""What changes of the extension's fields mean for agents: attachment, above all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolcast.changes.change import ABSENT, Change, Grade, Grades, SpecFiles, files_of
from toolcast.changes.family import Family, Rules
from toolcast.changes.field_rows import (
    amount,
    changes_of,
    entries,
    fields_of_rows,
    flag,
    items,
    value,
)
from toolcast.changes.json_values import said
from toolcast.model.model import Toolset, Workspace

from .config import settings_of

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
ATTACHED, DETACHED = RULES.pair(
    "agents/attached",
    "The agents get a tool at the next `letta apply`.",
    Grades(prompt=_R, attachment=_R),
    "agents/detached",
    "The agents lose a tool at the next `letta apply`.",
    Grades(call=_B, prompt=_R, attachment=_B),
)
ENDS, GOES_ON = RULES.pair(
    "agents/ends-turn",
    "A call ends the agent's turn: it does nothing with the answer.",
    Grades(call=_R, attachment=_B),
    "agents/goes-on",
    "A call no longer ends the agent's turn: it goes on, and may call more.",
    Grades(call=_R, attachment=_B),
)
APPROVED, UNAPPROVED = RULES.pair(
    "agents/approval",
    "A person has to approve each call: until then the agent waits.",
    Grades(call=_R, attachment=_R),
    "agents/no-approval",
    "Calls run without a person's approval.",
    Grades(attachment=_B),
)
LOOP, NO_LOOP = RULES.pair(
    "agents/calls-loop",
    "A tool's handler calls the agent's own loop: it may not be attached.",
    Grades(attachment=_B),
    "agents/calls-no-loop",
    "A tool's handler is said to leave the agent's loop alone: it may be attached.",
    Grades(attachment=_R),
)
REASON = RULES.alone(
    "agents/reason", "There is another reason why a tool is not attached.", Grades()
)
MANAGED, UNMANAGED = RULES.pair(
    "agents/managed",
    "The toolset has agents, whose tools `letta apply` brings in order.",
    Grades(attachment=_R),
    "agents/not-managed",
    "The toolset has no agents any more: nothing is attached or looked after.",
    Grades(attachment=_B),
)
BACKEND = RULES.alone(
    "agents/backend",
    "Agents are of another kind of Letta, which is set up in another way.",
    Grades(attachment=_B),
)
AT_START, NOT_AT_START = RULES.pair(
    "agents/at-start",
    "The server attaches what is missing when it starts.",
    Grades(attachment=_R),
    "agents/not-at-start",
    "The server no longer attaches what is missing when it starts.",
    Grades(attachment=_R),
)
PATIENT, IMPATIENT = RULES.pair(
    "agents/patience-longer",
    "A server that starts tries longer to reach Letta.",
    Grades(),
    "agents/patience-shorter",
    "A server that starts gives Letta up earlier; then tools may not be attached.",
    Grades(attachment=_R),
)
ENTRY = RULES.alone(
    "agents/entry",
    "The server's entry in Letta has another name: Letta loses every tool of the old one.",
    Grades(call=_B, attachment=_B),
)
ADDRESS = RULES.alone(
    "agents/address",
    "Letta is told another address of the MCP server.",
    Grades(attachment=_B),
)
TOKEN = RULES.alone(
    "agents/token",
    "Letta sends another variable's token to the MCP server.",
    Grades(attachment=_R),
)
CLIENT = RULES.alone(
    "agents/client",
    "Letta is another client of the toolset, with other tools.",
    Grades(call=_R, attachment=_B),
)
AGENT_ADDED, AGENT_REMOVED = RULES.pair(
    "agents/agent-added",
    "An agent more gets the attached tools.",
    Grades(attachment=_R),
    "agents/agent-removed",
    "An agent is no longer looked after; what it has stays as it is.",
    Grades(attachment=_B),
)
IDENTITY = RULES.alone(
    "agents/identity", "Another agent of Letta is meant.", Grades(attachment=_B)
)
TYPE = RULES.alone(
    "agents/type",
    "An agent is of another type, which needs other rules for its tools.",
    Grades(call=_R, attachment=_B),
)
EXPECTED, UNEXPECTED = RULES.pair(
    "agents/expected",
    "An agent has to have a tool of somebody else: it is attached.",
    Grades(prompt=_R, attachment=_R),
    "agents/not-expected",
    "A tool of somebody else is no longer looked after.",
    Grades(attachment=_R),
)
FORBIDDEN, ALLOWED = RULES.pair(
    "agents/forbidden",
    "An agent must not have a tool: it is detached.",
    Grades(call=_B, prompt=_R, attachment=_B),
    "agents/not-forbidden",
    "An agent may have a tool that was kept from it.",
    Grades(attachment=_R),
)
FORBIDDEN_REASON = RULES.alone(
    "agents/forbidden-reason",
    "There is another reason why an agent must not have a tool.",
    Grades(),
)
BLOCK_ADDED, BLOCK_REMOVED = RULES.pair(
    "agents/block-added",
    "A part of a memory block is written from the specs.",
    Grades(prompt=_R, attachment=_R),
    "agents/block-removed",
    "A part of a memory block is no longer written from the specs, and grows old.",
    Grades(prompt=_R),
)
BLOCK_CONTENT = RULES.alone(
    "agents/block-content",
    "A part of a memory block says something else of the specs.",
    Grades(prompt=_R),
)

_TOOL = (
    flag(
        "letta.requires_approval",
        "calls",
        APPROVED,
        UNAPPROVED,
        ("wait for a person's approval", "run without a person's approval"),
    ),
    flag(
        "letta.ends_turn",
        "a call",
        ENDS,
        GOES_ON,
        ("ends the agent's turn", "no longer ends the agent's turn"),
    ),
    flag(
        "letta.calls_agent_loop",
        "the handler",
        LOOP,
        NO_LOOP,
        ("calls the agent's own loop", "does not call the agent's own loop"),
    ),
    flag(
        "letta.attached",
        "the tool is",
        ATTACHED,
        DETACHED,
        ("attached to the agents", "no longer attached to the agents"),
    ),
    value("letta.reason", "the reason why the tool is not attached", REASON),
)
_AGENT = "the agent {}"
_TOOLSET = (
    value("letta.backend", "the kind of Letta", BACKEND, default="v1"),
    flag(
        "letta.on_start",
        "what is missing",
        AT_START,
        NOT_AT_START,
        ("is attached at the start", "is no longer attached at the start"),
    ),
    amount(
        "letta.on_start_patience",
        "the time-out of a server that starts and does not reach Letta",
        IMPATIENT,
        PATIENT,
        120,
    ),
    value("letta.server.url", "the address that Letta is told", ADDRESS),
    value("letta.server.url_env", "the variable of the address", ADDRESS),
    value("letta.server.token_env", "the variable of the token", TOKEN),
    value("letta.server.client", "the client that Letta is", CLIENT),
    entries("letta.agents", "the agents", AGENT_ADDED, AGENT_REMOVED),
    value("letta.agents.*.id", f"the id of {_AGENT}", IDENTITY),
    value("letta.agents.*.id_env", f"the variable of the id of {_AGENT}", IDENTITY),
    value(
        "letta.agents.*.type", f"the type of {_AGENT}", TYPE, default="letta_v1_agent"
    ),
    items(
        "letta.agents.*.expects",
        f"the tools that {_AGENT} must have",
        EXPECTED,
        UNEXPECTED,
    ),
    items(
        "letta.agents.*.ends_turn",
        f"the tools that end the turn of {_AGENT}",
        ENDS,
        GOES_ON,
    ),
)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's agents."""
    files = files_of(before, after)
    old, new = (side.extensions.get("letta") for side in (before, after))
    if old is None or new is None:
        yield from _whole(files, old, new)
        return
    yield from changes_of(_TOOLSET, files)
    names = [settings_of(side).server.name for side in (before, after)]
    if names[0] != names[1] and before.name == after.name:
        message = f"the entry in Letta is {said(names[1])} instead of {said(names[0])}"
        path = ("letta", "server", "name")
        yield files.changed(ENTRY, path, message, names[0], names[1])
    for name, agent in new["agents"].items():
        if name in old["agents"]:
            yield from _agent(files, name, old["agents"][name], agent)


def _whole(files: SpecFiles, old: Any, new: Any) -> Iterator[Change]:
    if old is new:
        return
    rule, words = (
        (MANAGED, "has agents") if new else (UNMANAGED, "has no agents any more")
    )
    agents = [ABSENT if side is None else list(side["agents"]) for side in (old, new)]
    message = f"the toolset {words}"
    yield files.changed(rule, ("letta",), message, agents[0], agents[1])


def _agent(
    files: SpecFiles, name: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Change]:
    """The changes of what an agent must not have, and of its memory blocks."""
    for field, key, rest, kinds in (
        ("forbids", "name", "reason", _FORBIDS),
        ("blocks", "label", "content", _BLOCKS),
    ):
        before, after = (
            {entry[key]: entry[rest] for entry in side.get(field, ())}
            for side in (old, new)
        )
        path = ("letta", "agents", name, field)
        for each in dict.fromkeys((*after, *before)):
            was, is_ = (
                {each: side[each]} if each in side else ABSENT
                for side in (before, after)
            )
            if was != is_:
                place = 0 if was is ABSENT else 1 if is_ is ABSENT else 2
                rule, words = kinds[place]
                message = words.format(agent=said(name), each=said(each))
                yield files.changed(rule, path, message, was, is_)


# What comes, what goes, and what is otherwise.
_FORBIDS = (
    (FORBIDDEN, "the agent {agent} must not have {each}"),
    (ALLOWED, "the agent {agent} may have {each}"),
    (FORBIDDEN_REASON, "the agent {agent} must not have {each} for another reason"),
)
_BLOCKS = (
    (BLOCK_ADDED, "the block {each} of the agent {agent} has a part from the specs"),
    (BLOCK_REMOVED, "the block {each} of the agent {agent} has no part from the specs"),
    (BLOCK_CONTENT, "the block {each} of the agent {agent} says something else"),
)

FAMILY = Family(
    rules=RULES,
    tool_rows=_TOOL,
    toolset_fields=fields_of_rows(_TOOLSET)
    | {"letta.server.name"}
    | {f"letta.agents.*.{f}" for f in ("forbids", "forbids.*.name", "forbids.*.reason")}
    | {f"letta.agents.*.{f}" for f in ("blocks", "blocks.*.label", "blocks.*.content")},
    compare_toolsets=compare_toolsets,
)
"""The extension's fields. Programs, hosts and variables that come in are Toolcast's own to
tell."""
