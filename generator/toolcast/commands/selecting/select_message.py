"""`toolcast select MESSAGE`: how the tools stand for one message, and what that saves."""

from __future__ import annotations

import asyncio
import json
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from toolcast_runtime.router import Route, RoutedTool, Router
from toolcast_runtime.router.lexical_ranking import ranking

from ...facts.token_count import estimated_tokens
from ...reports.escaping import printable
from ...selection.trial import cases_of, catalogues, routed, same_words
from ..exit_codes import counted, fail
from .select_report import cut, place_of_case

if TYPE_CHECKING:
    from ...model.model import Toolset

__all__ = ["show_message"]

_WIDTH = 80
_MOST_TOOLS = 40
_LONGEST_NAME = 48


def show_message(
    toolset: Toolset,
    client: str | None,
    message: str,
    history: Sequence[str],
    model: Any,
    format_: str,
) -> None:
    """Prints how the tools of a client stand for a message.

    Args:
        model: asked instead of the words; None for the words.
    """
    if toolset.clients and client is None:
        names = ", ".join(one.name for one in toolset.clients)
        fail(
            f"which client? the toolset `{toolset.name}` has {names}"
            "\n  help: add --client NAME"
        )
    offered = catalogues(toolset, client)[0].tools
    everything = routed(offered)
    always = [tool.name for tool in offered if tool.always]
    tools = [tool for tool in everything if tool.name not in always]
    route = asyncio.run(Router(model).route(message, tools, history))
    index = ranking(everything)
    scores = {} if model else index.route(message, history).scores
    words = {} if model else index.evidence(message)
    # By themselves the numbers tell a person nothing.
    best = max(scores.values(), default=1.0)
    value = {
        "tools": list(route.names),
        "always": always,
        "scores": {name: round(score / best, 3) for name, score in scores.items()},
        "words": {
            word: {name: round(part / best, 3) for name, part in parts.items()}
            for word, parts in words.items()
        },
        "doubt": route.doubt or None,
        "routed_tools": len(tools),
        "estimated_tokens": {
            "all": _tokens(tools),
            "chosen": _tokens([tool for tool in tools if tool.name in route.names]),
        },
        "servers_not_asked": [server.name for server in toolset.mcp_servers],
        "cases": [
            {"place": place_of_case(one), "tool": one.case.tool}
            for one in cases_of(toolset)
            if same_words(one.case.message) == same_words(message)
        ],
    }
    if format_ == "json":
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        click.echo(_text(route, len(tools), value))


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
    return estimated_tokens(text) if tools else 0


def _text(route: Route, number: int, value: Mapping[str, Any]) -> str:
    scores, always = value["scores"], value["always"]
    if not number and not always:
        return "there are no tools to choose from"
    doubt = f": all of them, as {route.doubt}" if route.doubt else ""
    lines = _wrapped(f"{len(route.names)} of {counted(number, 'routed tool')}{doubt}")
    # Where all are shown, those that no word speaks for would be a list of their own.
    silent = [] if route.doubt else [n for n in route.names if n not in scores]
    order = [*scores, *silent][:_MOST_TOOLS]
    width = min(max(map(len, order), default=0), _LONGEST_NAME)
    for name in order:
        mark = "+" if name in always else "*" if name in route.names else " "
        score = f"{scores[name]:.0%}" if name in scores else "-"
        shown = cut(name, _LONGEST_NAME)
        given = _given(value["words"], name, _WIDTH - width - 11)
        lines.append(f"{score:>5} {mark} {shown:{width}}  {given}".rstrip())
    more = len(scores) + len(silent) - len(order)
    if more:
        lines.append(f"        {counted(more, 'more tool')}: --format json has all")
    rest = number + len(always) - len(scores) - len(silent)
    if rest and value["words"]:
        lines.append(f"    -   {counted(rest, 'tool')} that no word speaks for")
    lines.append("* the router shows it; + it is offered in every turn")
    before = value["estimated_tokens"]["all"]
    after = value["estimated_tokens"]["chosen"]
    lines.append(
        f"about {before - after:,} of {before:,} tokens saved (an estimate, as of"
        " `toolcast tokens`)"
    )
    servers = ", ".join(value["servers_not_asked"])
    if servers:
        lines += _wrapped(f"not asked for their tools: the external servers {servers}")
    for case in value["cases"]:
        meant = f"`{case['tool']}`" if case["tool"] else "no tool"
        lines += _wrapped(f"a case of {case['place']}: {meant} is meant")
    return "\n".join(lines)


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(printable(text), _WIDTH, break_on_hyphens=False)


def _given(words: Mapping[str, Mapping[str, float]], name: str, width: int) -> str:
    """What each word gives to a tool, the most first, as far as the line has room."""
    parts = [(given[name], word) for word, given in words.items() if name in given]
    parts.sort(key=lambda item: -item[0])
    told = ""
    for part, word in parts:
        longer = f"{told}{', ' if told else ''}{printable(word)} {part:.0%}"
        if len(longer) + len(", ...") > width:
            return f"{told}, ..." if told else "..."
        told = longer
    return told
