"""The runbook of a toolset in Letta: a page for the toolset, and one a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcast.encoders.code import Code
from toolcast.encoders.markdown import block, fenced, inline, listed, phrase, span
from toolcast.encoders.names import module_name
from toolcast.encoders.shell import word
from toolcast.model.model import Toolset, ToolSpec
from toolcast.rendering.output_shape import MarkdownShape
from toolcast.targets.target import Context

from .config import changes_data, facts_of, settings_of, unattached

__all__ = ["runbook_pages"]

_PLAN = "letta.plan.json"
_NOTE = "Written by Toolcast from the specs; edit those, not this page."
_TOOLSET_HEADINGS = (
    *("## Add, change or remove a tool", "## When something went wrong"),
    *("## Settings", "## Agents", "## Before you apply, ask the agent", "## Tools"),
)
_TOOL_HEADINGS = ("## What it is", "## Before", "## In order")


@dataclass(frozen=True)
class ToolsetRunbook:
    """The toolset's page."""

    heading: Code
    note: Code
    folder: Code
    plan: Code
    apply: Code
    verify: Code
    rollback: Code
    settings: Sequence[Code]
    agents: Sequence[Code]
    tools: Sequence[Code]
    shape: MarkdownShape


@dataclass(frozen=True)
class ToolRunbook:
    """One tool's page."""

    heading: Code
    note: Code
    summary: Code
    facts: Sequence[Code]
    checks: Sequence[Code]
    steps: Sequence[Code]
    shape: MarkdownShape


def runbook_pages(
    toolset: Toolset, context: Context, data: Mapping[str, Any]
) -> dict[str, bytes]:
    """`runbook.md`, and `runbook/` with a page a tool.

    `data` is that of `letta_data`.
    """
    pages = {
        "runbook.md": context.render(
            "letta/runbook.md.jinja", _toolset_page(toolset, data)
        )
    }
    for tool in toolset.tools:
        page = _tool_page(toolset, tool, data)
        path = f"runbook/{module_name(tool.name)}.md"
        pages[path] = context.render("letta/tool_runbook.md.jinja", page)
    return pages


def _commands(*lines: str) -> Code:
    return fenced("\n".join(lines), "sh")


def _letta(verb: str, toolset: Toolset, rest: str = "") -> str:
    return f"toolcast letta {verb} --toolset {toolset.name}{rest}"


def _toolset_page(toolset: Toolset, data: Mapping[str, Any]) -> ToolsetRunbook:
    heading = phrase("Runbook: the tools of {} in Letta", inline(toolset.name))
    return ToolsetRunbook(
        heading,
        phrase(_NOTE),
        span(toolset.folder),
        _commands(_letta("plan", toolset, f" --out {_PLAN}")),
        _commands(_letta("apply", toolset, f" {_PLAN}")),
        _commands(_letta("verify", toolset)),
        _commands(_letta("rollback", toolset)),
        list(_settings(toolset)),
        list(_agents(data)) or [phrase("None is declared.")],
        list(_tools(toolset)),
        MarkdownShape((f"# {heading}", *_TOOLSET_HEADINGS)),
    )


def _settings(toolset: Toolset) -> Iterator[Code]:
    server = settings_of(toolset).server
    yield phrase(
        "* `LETTA_BASE_URL`: where Letta is; nothing reaches Letta's cloud by default."
    )
    yield phrase("* `LETTA_API_KEY`: its key or password, if it asks one.")
    if server.url_env:
        yield phrase("* {}: where Letta reaches the MCP server.", span(server.url_env))
    elif server.url:
        yield phrase("* Letta reaches the MCP server at {}.", span(server.url))
    if server.token_env:
        name = span(server.token_env)
        yield phrase("* {}: the bearer token that Letta sends to the MCP server.", name)
    if server.client:
        yield phrase("* The server takes Letta for the client {}.", span(server.client))
    for agent in settings_of(toolset).agents:
        if agent.id_env:
            yield phrase("* {}: the id of {}.", span(agent.id_env), span(agent.name))


def _agents(data: Mapping[str, Any]) -> Iterator[Code]:
    own = len(data["attached"])
    for agent in data["agents"]:
        expects = [name for name in agent["expects"] if name not in data["attached"]]
        text = phrase(
            "* {}, a `{}`: {} tools of this toolset",
            span(agent["name"]),
            inline(agent["type"]),
            inline(str(own)),
        )
        if expects:
            number = inline(str(len(expects)))
            text = phrase("{}, and {} of others: {}", text, number, _spans(expects))
        yield phrase("{}.", text)
        for name, reason in agent["forbids"].items():
            yield phrase("  * never {}: {}", span(name), inline(_one_line(reason)))


def _tools(toolset: Toolset) -> Iterator[Code]:
    reasons = unattached(toolset)
    for tool in sorted(toolset.tools, key=lambda tool: tool.name):
        state = phrase("attached")
        if tool.name in reasons:
            reason = _one_line(reasons[tool.name]) or "no reason is given"
            state = phrase("not attached: {}", inline(reason))
        page = phrase("runbook/{}.md", inline(module_name(tool.name)))
        yield phrase("* [{}]({}): {}", span(tool.name), page, state)


def _tool_page(
    toolset: Toolset, tool: ToolSpec, data: Mapping[str, Any]
) -> ToolRunbook:
    heading = phrase("Runbook: {}", span(tool.name))
    is_attached = tool.name in data["attached"]
    return ToolRunbook(
        heading,
        phrase(_NOTE),
        block(tool.summary),
        list(_facts(toolset, tool, data)),
        list(_checks(tool)),
        [
            phrase("{}. {}", inline(str(number)), step)
            for number, step in enumerate(
                _steps(toolset, tool, is_attached=is_attached), 1
            )
        ],
        MarkdownShape((f"# {heading}", *_TOOL_HEADINGS)),
    )


def _facts(toolset: Toolset, tool: ToolSpec, data: Mapping[str, Any]) -> Iterator[Code]:
    if tool.name in data["attached"]:
        agents = [agent["name"] for agent in data["agents"]]
        yield phrase(
            "* Attached to {}.", _spans(agents) if agents else phrase("no agent yet")
        )
        ends = tool.name in data["exit_tools"]
        yield phrase(
            "* {} the agent's turn.", phrase("Ends") if ends else phrase("Does not end")
        )
        if tool.name in data["approval_tools"]:
            yield phrase("* A person approves each call.")
    else:
        reason = _one_line(unattached(toolset)[tool.name]) or "no reason is given"
        yield phrase("* Not attached to an agent: {}", inline(reason))
    if tool.renamed_from:
        yield phrase("* Was called {}.", _spans(tool.renamed_from))
    if tool.handler is not None:
        yield phrase("* Its handler is {}.", span(str(tool.handler)))
    if tool.clients is not None:
        yield phrase(
            "* Clients: {}.", _spans(tool.clients) if tool.clients else phrase("none")
        )
    facts = tool.data or {}
    if facts.get("pool"):
        yield phrase("* Database pool: {}.", span(facts["pool"]))
    for verb in ("reads", "writes", "destroys"):
        if facts.get(verb):
            yield phrase("* {} {}.", inline(verb.capitalize()), _spans(facts[verb]))
    if facts.get("confirmation"):
        yield phrase(
            "* The first call only says what would go; the second one does it."
        )
    if not changes_data(tool):
        yield phrase("* Its spec names nothing that it changes.")


def _checks(tool: ToolSpec) -> Iterator[Code]:
    loops = bool(facts_of(tool).get("calls_agent_loop"))
    if loops:
        yield phrase(
            "* It calls the agent's own loop: attached, it would deadlock the agent's turn."
        )
    else:
        yield phrase(
            "* It must not send a message to the agent, directly or through others: that deadlocks the turn."
        )
    facts = tool.data or {}
    tables = [
        name
        for verb in ("reads", "writes", "destroys")
        for name in facts.get(verb) or ()
    ]
    if facts.get("pool") and tables:
        yield phrase(
            "* {} must be in the pool {}: the wrong pool answers with nothing, silently.",
            _spans(list(dict.fromkeys(tables))),
            span(facts["pool"]),
        )
    yield phrase(
        "* Its texts say what is, not what should be: agents read them as true."
    )


def _steps(toolset: Toolset, tool: ToolSpec, *, is_attached: bool) -> Iterator[Code]:
    yield phrase("Generate and check.\n\n{}", _commands("make generate", "make check"))
    yield phrase("Review the difference, commit it, and deploy the generated server.")
    plan = _letta("plan", toolset, f" --out {_PLAN}")
    apply = _letta("apply", toolset, f" {_PLAN}")
    yield phrase("Plan, read the plan, and apply it.\n\n{}", _commands(plan, apply))
    if not is_attached:
        verify = _letta("verify", toolset)
        yield phrase("Verify: no agent has it.\n\n{}", _commands(verify))
        return
    verify = _letta("verify", toolset, f" --tool {word(tool.name)}")
    text = phrase("Verify: it is attached, with its rules and schema.")
    if tool.examples:
        text = phrase("Verify: it is attached, and its example works.")
    yield phrase("{}\n\n{}", text, _commands(verify))
    if tool.examples:
        turn = _letta("verify", toolset, f" --turn {word(tool.name)}")
        yield phrase("Have an agent call it in a real turn.\n\n{}", _commands(turn))


def _spans(names: Sequence[str]) -> Code:
    return listed(map(span, names))


def _one_line(text: str) -> str:
    return " ".join(text.split())
