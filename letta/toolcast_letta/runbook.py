"""The runbooks of a toolset and of a tool in Letta."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import NamedTuple

from toolcast.extension_api import (
    Code,
    MarkdownShape,
    Toolset,
    ToolSpec,
    Workspace,
    encode_block,
    encode_code_block,
    encode_code_span,
    encode_inline,
    encode_markdown_header,
    encode_shell_argument,
    join_values,
    render,
)

from .settings import LettaAgent
from .specs import build_settings, build_tool_part, can_change_data

TEMPLATES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "templates")
"""The folder of the extension's templates."""
_PLAN = "letta.plan.json"
_BLOCKS = "letta.blocks.json"


class ForbiddenView(NamedTuple):
    """A tool that an agent must not have, for the template."""

    name: Code
    reason: Code


class AgentView(NamedTuple):
    """An agent, for the template."""

    name: Code
    type: Code
    has_id_env: bool
    id_env: Code
    has_expects: bool
    expects: Code
    has_blocks: bool
    blocks: Code
    forbids: Sequence[ForbiddenView]


class ToolsetRunbook(NamedTuple):
    """The values of a toolset's runbook."""

    header: Code
    name: Code
    folder: Code
    generate: Code
    deploy: Code
    attaches_at_start: bool
    plan: Code
    apply: Code
    verify: Code
    pages: Code
    preview: Code
    rollback: Code
    has_blocks: bool
    show_blocks: Code
    write_blocks: Code
    has_url_env: bool
    url_env: Code
    has_url: bool
    url: Code
    has_token_env: bool
    token_env: Code
    has_client: bool
    client: Code
    agents: Sequence[AgentView]
    has_no_agents: bool
    shape: MarkdownShape


class ToolRunbook(NamedTuple):
    """The values of a tool's runbook."""

    name: Code
    summary: Code
    is_attached: bool
    agents: Code
    ends_turn: bool
    continues_turn: bool
    requires_approval: bool
    is_excluded: bool
    reason: Code
    has_former_names: bool
    former_names: Code
    has_handler: bool
    handler: Code
    has_clients: bool
    clients: Code
    has_pool: bool
    pool: Code
    has_reads: bool
    reads: Code
    has_writes: bool
    writes: Code
    has_deletes: bool
    deletes: Code
    asks_first: bool
    changes_nothing: bool
    calls_agent_loop: bool
    stays_out_of_loop: bool
    has_tables: bool
    tables: Code
    verify_first: Code
    generate: Code
    deploy: Code
    attaches_at_start: bool
    plan: Code
    verify: Code
    has_blocks: bool
    show_blocks: Code
    write_blocks: Code
    has_turn: bool
    turn: Code
    is_approved: bool


def build_toolset_runbook(toolset: Toolset, package: str) -> ToolsetRunbook:
    """Build the values of a toolset's runbook, which do not depend on its tools.

    Args:
        toolset: the toolset.
        package: the dotted name of its generated package.
    """
    settings = build_settings(toolset)
    server = settings.server
    name = encode_inline(toolset.name)
    return ToolsetRunbook(
        header=encode_markdown_header(toolset),
        name=name,
        folder=encode_code_span(toolset.folder),
        generate=_GENERATE,
        deploy=_encode_deploy_command(package),
        attaches_at_start=settings.on_start,
        plan=_encode_commands(_format_command("plan", toolset, f" --out {_PLAN}")),
        apply=_encode_commands(_format_command("apply", toolset, f" {_PLAN}")),
        verify=_encode_commands(_format_command("verify", toolset)),
        pages=_encode_commands(_format_command("runbook", toolset)),
        preview=_encode_commands(_format_command("rollback", toolset, " --dry-run")),
        rollback=_encode_commands(_format_command("rollback", toolset)),
        has_blocks=_has_blocks(toolset),
        show_blocks=_encode_show_blocks_command(toolset),
        write_blocks=_encode_write_blocks_command(toolset),
        has_url_env=server.url_env is not None,
        url_env=encode_code_span(server.url_env or ""),
        has_url=server.url is not None,
        url=encode_code_span(server.url or ""),
        has_token_env=server.token_env is not None,
        token_env=encode_code_span(server.token_env or ""),
        has_client=server.client is not None,
        client=encode_code_span(server.client or ""),
        agents=[_build_agent_view(agent) for agent in settings.agents],
        has_no_agents=not settings.agents,
        shape=MarkdownShape(
            (
                f"# Runbook: the tools of {name} in Letta",
                "## Add, change or remove a tool",
                "## Differences",
                "## The tools",
                *(["## The agents' memory blocks"] if _has_blocks(toolset) else []),
                "## Roll back",
                "## Settings",
                "## Agents",
                "## Questions for the agent",
            )
        ),
    )


def _build_agent_view(agent: LettaAgent) -> AgentView:
    return AgentView(
        name=encode_code_span(agent.name),
        type=encode_code_span(agent.type),
        has_id_env=agent.id_env is not None,
        id_env=encode_code_span(agent.id_env or ""),
        has_expects=bool(agent.expects),
        expects=_encode_names(sorted(agent.expects)),
        has_blocks=bool(agent.blocks),
        blocks=_encode_names([block.label for block in agent.blocks]),
        forbids=[
            ForbiddenView(
                encode_code_span(name), encode_inline(_collapse_whitespace(reason))
            )
            for name, reason in sorted(agent.forbids.items())
        ],
    )


def build_tool_runbook(toolset: Toolset, tool: ToolSpec, package: str) -> ToolRunbook:
    """Build a tool's runbook: its Letta settings, data, memory blocks and commands.

    Args:
        toolset: the toolset.
        tool: the tool.
        package: the dotted name of the toolset's generated package.
    """
    part = build_tool_part(toolset, tool)
    is_attached = bool(part.get("attached"))
    data = tool.data or {}
    tables = [*data.get("reads", ()), *data.get("writes", ())]
    tables = list(dict.fromkeys([*tables, *data.get("deletes", ())]))
    agents = [agent.name for agent in build_settings(toolset).agents]
    plan = _format_command("plan", toolset, f" --out {_PLAN}")
    name = encode_shell_argument(tool.name)
    is_approved = bool(part.get("requires_approval"))
    is_called = is_attached and bool(tool.examples)
    # Without this option, `toolcast letta verify` skips tools that change data or
    # require approval.
    changing = " --call-changing" if can_change_data(tool) or is_approved else ""
    only = f" --tool {name}{changing}" if is_called else " --no-calls"
    turn = f" --no-calls --turn {name}{changing}"
    return ToolRunbook(
        name=encode_code_span(tool.name),
        summary=encode_block(tool.summary),
        is_attached=is_attached,
        agents=_encode_names(agents) if agents else encode_inline("no agents yet"),
        ends_turn=is_attached and bool(part.get("ends_turn")),
        continues_turn=is_attached and not part.get("ends_turn"),
        requires_approval=is_attached and bool(part.get("requires_approval")),
        is_excluded=not is_attached,
        reason=encode_inline(_collapse_whitespace(part.get("reason", "no reason"))),
        has_former_names=bool(tool.renamed_from),
        former_names=_encode_names(tool.renamed_from),
        has_handler=tool.handler is not None,
        handler=encode_code_span(str(tool.handler)),
        has_clients=tool.clients is not None,
        clients=_encode_names(tool.clients) if tool.clients else encode_inline("none"),
        has_pool="pool" in data,
        pool=encode_code_span(data.get("pool", "")),
        has_reads=bool(data.get("reads")),
        reads=_encode_names(data.get("reads", ())),
        has_writes=bool(data.get("writes")),
        writes=_encode_names(data.get("writes", ())),
        has_deletes=bool(data.get("deletes")),
        deletes=_encode_names(data.get("deletes", ())),
        asks_first=bool(data.get("confirmation")),
        changes_nothing=not can_change_data(tool),
        calls_agent_loop=bool(part.get("calls_agent_loop")),
        stays_out_of_loop=not part.get("calls_agent_loop"),
        has_tables=bool(data.get("pool") and tables),
        tables=_encode_names(tables),
        verify_first=_encode_commands(_format_command("verify", toolset)),
        generate=_GENERATE,
        deploy=_encode_deploy_command(package),
        attaches_at_start=build_settings(toolset).on_start,
        plan=_encode_commands(plan, _format_command("apply", toolset, f" {_PLAN}")),
        verify=_encode_commands(_format_command("verify", toolset, only)),
        has_blocks=_has_blocks(toolset),
        show_blocks=_encode_show_blocks_command(toolset),
        write_blocks=_encode_write_blocks_command(toolset),
        has_turn=is_called and not is_approved,
        turn=_encode_commands(_format_command("verify", toolset, turn)),
        is_approved=is_attached and is_approved,
    )


def render_tool_page(workspace: Workspace, toolset: Toolset, name: str) -> str | None:
    """Return a tool's runbook as Markdown; None if the toolset lacks the tool.

    The name can be a current or a previous one.
    """
    for tool in toolset.tools:
        if name == tool.name or name in tool.renamed_from:
            package = ".".join(filter(None, (workspace.package, toolset.name)))
            view = build_tool_runbook(toolset, tool, package)
            page = render("letta/tool_runbook.md.jinja", view, (TEMPLATES,))
            return page.decode("utf-8")
    return None


def format_tool_list(toolset: Toolset) -> str:
    """Return one line for each tool, sorted: `attached`, or why it is not attached.

    The text ends with a newline; it is empty without tools.
    """
    lines = []
    for tool in sorted(toolset.tools, key=lambda tool: tool.name):
        part = build_tool_part(toolset, tool)
        state = "attached"
        if not part["attached"]:
            reason = _collapse_whitespace(part.get("reason", "no reason"))
            state = f"not attached: {reason}"
        lines.append(f"{tool.name}: {state}\n")
    return "".join(lines)


def _encode_commands(*lines: str) -> Code:
    return encode_code_block("\n".join(lines), "sh")


def _format_command(verb: str, toolset: Toolset, rest: str = "") -> str:
    return f".venv/bin/toolcast letta {verb} --toolset {toolset.name}{rest}"


def _encode_deploy_command(package: str) -> Code:
    """Return the command that starts the generated HTTP server, as a code block."""
    # Hosting platforms set host and port in these environment variables.
    options = '--host "${HOST:-127.0.0.1}" --port "${PORT:-8000}"'
    return _encode_commands(
        f".venv/bin/python -m {package}.mcp_server --http {options}"
    )


def _has_blocks(toolset: Toolset) -> bool:
    return any(agent.blocks for agent in build_settings(toolset).agents)


def _encode_show_blocks_command(toolset: Toolset) -> Code:
    return _encode_commands(_format_command("blocks", toolset, f" --out {_BLOCKS}"))


def _encode_write_blocks_command(toolset: Toolset) -> Code:
    return _encode_commands(_format_command("blocks", toolset, f" --write {_BLOCKS}"))


_GENERATE = _encode_commands("make generate", "make check")


def _encode_names(names: Sequence[str]) -> Code:
    return join_values(encode_code_span(name) for name in names)


def _collapse_whitespace(text: str) -> str:
    return " ".join(text.split())
