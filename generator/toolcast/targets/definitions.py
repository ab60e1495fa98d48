"""`tools/<tool>.json`: a tool as data, the one copy of what its spec says.

It is what MCP lists of the tool, and what else the runtime needs of it: nothing else in the
output says any of it again, but the prompt blocks that models read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..encoders.json_text import pretty
from ..encoders.names import module_name
from ..encoders.shell import word
from ..facts.cli_commands import CliCommand, cli_commands
from ..facts.mcp_definition import mcp_definition
from ..facts.prompt_docs import comment_of, tool_line, usage_lines
from ..model.model import Action, Example, Toolset, ToolSpec
from ..rendering.output_shape import JsonShape
from .target import Context, signature

__all__ = ["definition_files"]


def definition_files(toolset: Toolset, context: Context) -> Iterator[tuple[str, bytes]]:
    """The path and the bytes of the definition of each tool of the registry."""
    excluded: dict[str, dict[str, str]] = {}
    for exclusion in toolset.exclusions:
        excluded.setdefault(exclusion.tool, {})[exclusion.target] = exclusion.reason
    for tool in toolset.tools_in("registry"):
        definition = _definition(toolset, tool, context, excluded.get(tool.name, {}))
        path = f"tools/{module_name(tool.name)}.json"
        shape = JsonShape(tuple(definition))
        yield path, context.write(path, pretty(definition, ("mcp", "prompt")), shape)


def _definition(
    toolset: Toolset, tool: ToolSpec, context: Context, excluded: Mapping[str, str]
) -> dict[str, Any]:
    """What the definition says, in its order; what is not set is absent."""
    mcp = mcp_definition(tool)
    description = tool.model_description
    timeout = toolset.timeout if tool.timeout is None else tool.timeout
    has_prompt = "prompts" in context.targets and "prompts" not in excluded
    has_cli = "cli" in context.targets and "cli" not in excluded
    values: dict[str, Any] = {
        "generated": signature(f"{toolset.folder}/{tool.name}.yaml"),
        "mcp": mcp,
        "summary": tool.summary,
        "description": description if description != mcp.get("description") else None,
        "section": tool.section,
        "order": tool.order,
        "prompt": _prompt(tool) if has_prompt else None,
        "actions": _actions(tool),
        "cli": _cli(toolset, tool) if has_cli else None,
        "handler": str(tool.handler) if tool.handler else None,
        "timeout": int(timeout) if float(timeout).is_integer() else timeout,
        "clients": None if tool.clients is None else list(tool.clients),
        "exclusions": dict(excluded) or None,
        "renamed_from": list(tool.renamed_from) or None,
        "always": tool.always or None,
        "persistent": tool.persistent or None,
        "service": tool.service,
        "permission": tool.permission,
        "deprecated": tool.deprecated,
        "examples": [_example(example) for example in tool.examples] or None,
    }
    for target, part in context.definition_parts.items():
        if target in values:
            raise ValueError(f"a definition has a `{target}` of its own already")
        values[target] = part(toolset, tool)
    return {name: value for name, value in values.items() if value is not None}


def _prompt(tool: ToolSpec) -> dict[str, Any]:
    """The tool's part of the prompt docs, finished Markdown."""
    usage = [str(line) for line in usage_lines(tool)]
    return {"line": str(tool_line(tool)), **({"usage": usage} if usage else {})}


def _actions(tool: ToolSpec) -> dict[str, Any] | None:
    if tool.actions is None:
        return None
    values = {action.name: _action(action) for action in tool.actions.values}
    return {"parameter": tool.actions.parameter, "values": values}


def _action(action: Action) -> dict[str, Any]:
    values: dict[str, Any] = {
        "summary": action.summary or None,
        "requires": list(action.requires) or None,
        "requires_any": list(action.requires_any) or None,
        "accepts": None if action.accepts is None else list(action.accepts),
    }
    return {name: value for name, value in values.items() if value is not None}


def _cli(toolset: Toolset, tool: ToolSpec) -> dict[str, Any] | None:
    """The tool's commands, and their lines in the CLI block."""
    if tool.cli is None:
        return None
    if tool.cli.keyword is None:
        return {"command": None, "reason": tool.cli.reason}
    commands = list(cli_commands(toolset, [tool]))
    usage = [
        {
            "parameter": place.parameter,
            **({"optional": True} if place.optional else {}),
            **({"rest": True} if place.rest else {}),
        }
        for command in commands
        for place in command.positionals
    ]
    first = commands[0]
    return {
        "command": first.keyword,
        **({"flag": first.flag} if first.flag is not None else {}),
        **({"usage": usage} if usage else {}),
        **({"comment": tool.cli.comment} if tool.cli.comment else {}),
        "lines": [_line(command) for command in commands],
    }


def _line(command: CliCommand) -> dict[str, str]:
    """One command of the CLI block; without a comment of its own it has the summary."""
    action, decision = command.action, command.tool.cli
    has_own = bool(action and action.summary) or bool(decision and decision.comment)
    own = {"comment": str(comment_of(command))} if has_own else {}
    # As a shell reads them: an action may be called anything.
    words = " ".join(map(word, command.selectors))
    return {"words": words, "line": command.line, **own}


def _example(example: Example) -> dict[str, Any]:
    shown: dict[str, Any] = {"title": example.title} if example.title else {}
    shown["arguments"] = example.arguments
    if example.has_result:
        shown["result"] = example.result
    if example.error is not None:
        shown["error"] = example.error
    return shown
