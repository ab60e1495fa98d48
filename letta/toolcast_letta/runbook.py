"""The runbook of a toolset in Letta: a page for the toolset, and one a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolcast.encoders.code import Code
from toolcast.encoders.markdown import block, fenced, inline, span
from toolcast.encoders.names import module_name
from toolcast.encoders.shell import word
from toolcast.model.model import Toolset, ToolSpec
from toolcast.rendering.output_guard import MarkdownShape
from toolcast.targets.target import Context

from .config import changes_data, excluded_tools, facts_of, settings_of

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
    heading = Code(f"Runbook: the tools of {toolset.name} in Letta")
    return ToolsetRunbook(
        heading,
        Code(_NOTE),
        span(toolset.folder),
        _commands(_letta("plan", toolset, f" --out {_PLAN}")),
        _commands(_letta("apply", toolset, f" {_PLAN}")),
        _commands(_letta("verify", toolset)),
        _commands(_letta("rollback", toolset)),
        list(_settings(toolset)),
        list(_agents(data)) or [Code("None is declared.")],
        list(_tools(toolset)),
        MarkdownShape((f"# {heading}", *_TOOLSET_HEADINGS)),
    )


def _settings(toolset: Toolset) -> Iterator[Code]:
    server = settings_of(toolset).server
    yield Code(
        "* `LETTA_BASE_URL`: where Letta is; nothing reaches Letta's cloud by default."
    )
    yield Code("* `LETTA_API_KEY`: its key or password, if it asks one.")
    if server.url_env:
        yield Code(f"* {span(server.url_env)}: where Letta reaches the MCP server.")
    elif server.url:
        yield Code(f"* Letta reaches the MCP server at {span(server.url)}.")
    if server.token_env:
        name = span(server.token_env)
        yield Code(f"* {name}: the bearer token that Letta sends to the MCP server.")
    if server.client:
        yield Code(f"* The server takes Letta for the client {span(server.client)}.")
    for agent in settings_of(toolset).agents:
        if agent.id_env:
            yield Code(f"* {span(agent.id_env)}: the id of {span(agent.name)}.")


def _agents(data: Mapping[str, Any]) -> Iterator[Code]:
    own = len(data["attached"])
    for agent in data["agents"]:
        expects = [name for name in agent["expects"] if name not in data["attached"]]
        text = (
            f"* {span(agent['name'])}, a `{agent['type']}`: {own} tools of this toolset"
        )
        if expects:
            text += f", and {len(expects)} of others: {_spans(expects)}"
        yield Code(f"{text}.")
        for name, reason in agent["forbids"].items():
            yield Code(f"  * never {span(name)}: {inline(_one_line(reason))}")


def _tools(toolset: Toolset) -> Iterator[Code]:
    reasons = excluded_tools(toolset)
    for tool in sorted(toolset.tools, key=lambda tool: tool.name):
        state = "attached"
        if tool.name in reasons:
            reason = _one_line(reasons[tool.name]) or "no reason is given"
            state = f"not attached: {inline(reason)}"
        page = Code(f"runbook/{module_name(tool.name)}.md")
        yield Code(f"* [{span(tool.name)}]({page}): {state}")


def _tool_page(
    toolset: Toolset, tool: ToolSpec, data: Mapping[str, Any]
) -> ToolRunbook:
    heading = Code(f"Runbook: {span(tool.name)}")
    is_attached = tool.name in data["attached"]
    return ToolRunbook(
        heading,
        Code(_NOTE),
        block(tool.summary),
        list(_facts(toolset, tool, data)),
        list(_checks(tool)),
        [
            Code(f"{number}. {step}")
            for number, step in enumerate(
                _steps(toolset, tool, is_attached=is_attached), 1
            )
        ],
        MarkdownShape((f"# {heading}", *_TOOL_HEADINGS)),
    )


def _facts(toolset: Toolset, tool: ToolSpec, data: Mapping[str, Any]) -> Iterator[Code]:
    if tool.name in data["attached"]:
        agents = [agent["name"] for agent in data["agents"]]
        yield Code(f"* Attached to {_spans(agents) if agents else 'no agent yet'}.")
        ends = tool.name in data["exit_tools"]
        yield Code(f"* {'Ends' if ends else 'Does not end'} the agent's turn.")
        if tool.name in data["approval_tools"]:
            yield Code("* A person approves each call.")
    else:
        reason = _one_line(excluded_tools(toolset)[tool.name]) or "no reason is given"
        yield Code(f"* Not attached to an agent: {inline(reason)}")
    if tool.renamed_from:
        yield Code(f"* Was called {_spans(tool.renamed_from)}.")
    if tool.handler is not None:
        yield Code(f"* Its handler is {span(str(tool.handler))}.")
    if tool.clients is not None:
        yield Code(f"* Clients: {_spans(tool.clients) if tool.clients else 'none'}.")
    facts = tool.data or {}
    if facts.get("pool"):
        yield Code(f"* Database pool: {span(facts['pool'])}.")
    for verb in ("reads", "writes", "destroys"):
        if facts.get(verb):
            yield Code(f"* {verb.capitalize()} {_spans(facts[verb])}.")
    if facts.get("confirmation"):
        yield Code("* The first call only says what would go; the second one does it.")
    if not changes_data(tool):
        yield Code("* Its spec names nothing that it changes.")


def _checks(tool: ToolSpec) -> Iterator[Code]:
    loops = bool(facts_of(tool).get("calls_agent_loop"))
    if loops:
        yield Code(
            "* It calls the agent's own loop: attached, it would deadlock the agent's turn."
        )
    else:
        yield Code(
            "* It must not send a message to the agent, directly or through others:"
            " that deadlocks the turn."
        )
    facts = tool.data or {}
    tables = [
        name
        for verb in ("reads", "writes", "destroys")
        for name in facts.get(verb) or ()
    ]
    if facts.get("pool") and tables:
        yield Code(
            f"* {_spans(list(dict.fromkeys(tables)))} must be in the pool"
            f" {span(facts['pool'])}: the wrong pool answers with nothing, silently."
        )
    yield Code("* Its texts say what is, not what should be: agents read them as true.")


def _steps(toolset: Toolset, tool: ToolSpec, *, is_attached: bool) -> Iterator[Code]:
    yield Code(f"Generate and check.\n\n{_commands('make generate', 'make check')}")
    yield Code("Review the difference, commit it, and deploy the generated server.")
    plan = _letta("plan", toolset, f" --out {_PLAN}")
    apply = _letta("apply", toolset, f" {_PLAN}")
    yield Code(f"Plan, read the plan, and apply it.\n\n{_commands(plan, apply)}")
    if not is_attached:
        verify = _letta("verify", toolset)
        yield Code(f"Verify: no agent has it.\n\n{_commands(verify)}")
        return
    verify = _letta("verify", toolset, f" --tool {word(tool.name)}")
    text = "Verify: it is attached, with its rules and schema"
    text += ", and its example works." if tool.examples else "."
    yield Code(f"{text}\n\n{_commands(verify)}")
    if tool.examples:
        turn = _letta("verify", toolset, f" --turn {word(tool.name)}")
        yield Code(f"Have an agent call it in a real turn.\n\n{_commands(turn)}")


def _spans(names: Sequence[str]) -> str:
    return ", ".join(span(name) for name in names)


def _one_line(text: str) -> str:
    return " ".join(text.split())
