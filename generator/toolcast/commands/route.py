"""`toolcast route`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import click

from .exit_codes import USAGE, counted, fail, print_findings, project_root
from .options import project_option

if TYPE_CHECKING:
    from toolcast_runtime.router import Route, RoutedTool

    from ..model.mcp_servers import ToolRouter
    from ..model.model import Toolset, Workspace

__all__ = ["command"]

_CHARACTERS_A_TOKEN = 4


@click.command(name="route")
@click.argument("message")
@click.option("--toolset", metavar="NAME", help="Needed where there are several.")
@click.option("--client", metavar="NAME", help="Needed where the toolset has clients.")
@click.option(
    "--history",
    metavar="TEXT",
    multiple=True,
    help="A message before it; may be repeated, the oldest first.",
)
@click.option(
    "--with-model",
    is_flag=True,
    help="Ask the model of `router:` instead of choosing by words.",
)
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text"
)
@project_option
def command(
    message: str,
    toolset: str | None,
    client: str | None,
    history: tuple[str, ...],
    with_model: bool,
    format_: str,
    project: str | None,
) -> None:
    """Show which tools the router chooses for a message, and what that saves.

    It reads the specs alone: no handler is imported, and no external server is asked, so
    its tools are not among them. Tokens are an estimate: a quarter of the characters of
    the tools in OpenAI's format.
    """
    import asyncio

    from toolcast_runtime.router import Router

    from ..findings import has_errors, in_order
    from ..model.loading import load_workspace

    loaded = load_workspace(project_root(project))
    if loaded.workspace is None or has_errors(loaded.findings):
        print_findings(in_order(loaded.findings), "text")
        sys.exit(USAGE)
    chosen = _toolset(loaded.workspace, toolset)
    tools = _routed_tools(chosen, client)
    if with_model and chosen.router is None:
        fail(f"the toolset `{chosen.name}` has no `router:` whose model could be asked")
    router = Router(_model(chosen.router) if with_model and chosen.router else None)
    route = asyncio.run(router.route(message, tools, history))
    show = _as_json if format_ == "json" else _as_text
    click.echo(show(route, tools, [server.name for server in chosen.mcp_servers]))


def _toolset(workspace: Workspace, name: str | None) -> Toolset:
    toolsets = {toolset.name: toolset for toolset in workspace.toolsets}
    if name is None and len(toolsets) == 1:
        return next(iter(toolsets.values()))
    names = ", ".join(toolsets)
    if name is None:
        fail(f"which toolset? there are {names}\n  help: add --toolset NAME")
    if name not in toolsets:
        fail(f"there is no toolset `{name}`; there are {names}")
    return toolsets[name]


def _routed_tools(toolset: Toolset, client: str | None) -> list[RoutedTool]:
    """What a client's catalogue has of the toolset's own tools."""
    from toolcast_runtime.router import RoutedTool

    from ..facts.prompt_docs import usage_lines

    who = None if client is None else toolset.client(client)
    if who is None and (toolset.clients or client is not None):
        names = ", ".join(one.name for one in toolset.clients) or "none"
        what = "which client?" if client is None else f"there is no client `{client}`;"
        fail(
            f"{what} the toolset `{toolset.name}` has {names}\n  help: add --client NAME"
        )
    return [
        RoutedTool(
            tool.name,
            tool.summary,
            tool.model_description,
            # The first paragraph of the docs, as the running router reads them.
            "\n".join(takewhile(bool, map(str, usage_lines(tool)))),
            tool.parameters,
        )
        for tool in toolset.tools_in("registry")
        if not tool.always and (who is None or toolset.is_offered(tool, who))
    ]


def _model(router: ToolRouter) -> Any:
    from toolcast_runtime.router.chat_model import ChatModel

    return ChatModel(
        router.base_url, router.model, router.api_key, router.timeout, router.history
    )


def _tokens(tools: Sequence[RoutedTool]) -> int:
    """About how many tokens the tools take in a request."""
    shown = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in tools
    ]
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    return len(text) // _CHARACTERS_A_TOKEN if tools else 0


def _parts(route: Route) -> dict[str, float]:
    """The scores as parts of the best one: by themselves they tell a person nothing."""
    best = max(route.scores.values(), default=0.0)
    return {name: score / best for name, score in route.scores.items() if best > 0}


def _as_json(route: Route, tools: Sequence[RoutedTool], unasked: Sequence[str]) -> str:
    chosen = [tool for tool in tools if tool.name in route.names]
    value = {
        "tools": list(route.names),
        "scores": {name: round(part, 3) for name, part in _parts(route).items()},
        "doubt": route.doubt or None,
        "routed_tools": len(tools),
        "estimated_tokens": {"all": _tokens(tools), "chosen": _tokens(chosen)},
        "servers_not_asked": list(unasked),
    }
    return json.dumps(value, ensure_ascii=False, indent=2)


def _as_text(route: Route, tools: Sequence[RoutedTool], unasked: Sequence[str]) -> str:
    chosen = [tool for tool in tools if tool.name in route.names]
    lines = [f"{len(chosen)} of {counted(len(tools), 'routed tool')}"]
    if route.doubt:
        lines[0] += f": all of them, as {route.doubt}"
    parts = _parts(route)
    order = [*route.scores, *(t.name for t in tools if t.name not in route.scores)]
    for name in order:
        mark = "*" if name in route.names else " "
        score = f"{parts[name]:.0%}" if name in parts else "-"
        lines.append(f"{score:>5} {mark} {name}")
    before, after = _tokens(tools), _tokens(chosen)
    lines.append(
        f"about {before - after:,} of {before:,} tokens saved"
        f" (an estimate: {_CHARACTERS_A_TOKEN} characters a token)"
    )
    if unasked:
        names = ", ".join(unasked)
        lines.append(f"not asked for their tools: the external servers {names}")
    return "\n".join(lines)
