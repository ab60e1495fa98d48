"""What `toolcast select` prints and writes: of one message, of every case, for other programs."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import textwrap
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from toolcast_runtime.mcp.tool_search import USUAL

from ..analysis.token_costs import estimate_tokens
from ..analysis.tool_search import has_tool_search
from ..reports.escaping import printable
from ..suggestions import format_first
from ..tool_selection.trial import (
    DeclaredCase,
    Selection,
    Trial,
    build_routed_tools,
    list_cases,
    list_catalogs,
    list_confusions,
    normalize_message,
)
from .exit_codes import counted, fail

if TYPE_CHECKING:
    from toolcast_runtime.router import ChatModel, Route, RoutedTool

    from ..model.model import Toolset, ToolSpec

_WIDTH = 80
_MAX_TOOLS = 40
"""Tools that the report lists for one message."""
_MAX_TOOL_CHARACTERS = 48
"""Width of the column of tool names."""
_MAX_WORDS = 6
"""Decisive words in the comparison of two or more tools."""
_MAX_HEADING_CHARACTERS = 28
"""Width of a tool name as the heading of a column."""
_MAX_NAMES_SHOWN = 30
"""Names of tools without cases that are listed."""
NO_CASES = """\
no selection cases

A case is something that a user says, and the tool that is meant. Add some to a
tool's spec, and the words of all tools are tried against each other:

  cases:
    - message: remind me tomorrow at nine to water the plants
      near: ["what did I plan for tomorrow?"]

`toolcast select "MESSAGE"` shows how the tools stand for a message of yours.
"""
# promptfoo renders texts as Nunjucks templates, which could read its environment or be wrong
# ones, and takes a text that begins so for the name of a file.
_TEMPLATE = re.compile(r"\{(?=[{%#])|#(?=\})")
_REFERENCE = re.compile(r"^(?=(?:file|package|https?|exec|python)://?)", re.IGNORECASE)
# As JSON, which no message can be taken for.
_PROMPT = '[{"role": "user", "content": {{message | dump}}}]'
# The F1 score of one tool among three that are called, and of one that is not called at all.
_AMONG_THREE = 0.5
_CALLED = 0.000001


def show_message(
    toolset: Toolset,
    client: str | None,
    message: str,
    history: Sequence[str],
    model: ChatModel | None,
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
    from toolcast_runtime.router import Router
    from toolcast_runtime.router.lexical_ranking import ranking

    offered = list_catalogs(toolset, client)[0].tools
    everything = build_routed_tools(offered)
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
            {"place": _place(one), "tool": one.case.tool}
            for one in list_cases(toolset)
            if normalize_message(one.case.message) == normalize_message(message)
        ],
    }
    if format_ == "json":
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        click.echo(_standings(route, len(tools), value))


def _tokens(tools: Sequence[RoutedTool]) -> int:
    """About how many tokens the tools take in a request."""
    shown = [_function(t.name, t.description, t.parameters) for t in tools]
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    return estimate_tokens(text) if tools else 0


def _standings(route: Route, number: int, value: Mapping[str, Any]) -> str:
    scores, always = value["scores"], value["always"]
    if not number and not always:
        return "there are no tools to choose from"
    doubt = f": all of them, as {route.doubt}" if route.doubt else ""
    head = f"{len(route.names)} of {counted(number, 'routed tool')}{doubt}"
    lines = _wrapped(head, hang="")
    # Where all are shown, those that no word speaks for would be a list of their own.
    silent = [] if route.doubt else [n for n in route.names if n not in scores]
    order = [*scores, *silent][:_MAX_TOOLS]
    width = min(max(map(len, order), default=0), _MAX_TOOL_CHARACTERS)
    for name in order:
        mark = "+" if name in always else "*" if name in route.names else " "
        score = f"{scores[name]:.0%}" if name in scores else "-"
        shown = _cut(name, _MAX_TOOL_CHARACTERS)
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
        asked = f"not asked for their tools: the external servers {servers}"
        lines += _wrapped(asked, hang="")
    for case in value["cases"]:
        meant = f"`{case['tool']}`" if case["tool"] else "no tool"
        lines += _wrapped(f"a case of {case['place']}: {meant} is meant", hang="")
    return "\n".join(lines)


def _given(words: Mapping[str, Mapping[str, float]], name: str, width: int) -> str:
    """What each word gives to a tool, the most first, as far as the line has room."""
    parts = [(given[name], word) for word, given in words.items() if name in given]
    parts.sort(key=lambda item: -item[0])
    started = ""
    for part, word in parts:
        longer = f"{started}{', ' if started else ''}{printable(word)} {part:.0%}"
        if len(longer) + len(", ...") > width:
            return f"{started}, ..." if started else "..."
        started = longer
    return started


def as_text(selection: Selection) -> str:
    """The messages that do not pass, what is confused, what has no case, and how many pass."""
    return "\n".join(_lines(selection)) + "\n"


def as_value(selection: Selection) -> dict[str, Any]:
    """The same for programs, with the messages that pass."""
    gates = selection.gates
    return {
        "toolset": selection.toolset.name,
        "passes": selection.passes,
        "gates": {
            "top": gates.top,
            "margin": gates.margin,
            "coverage": gates.coverage,
        },
        "covered": round(selection.coverage, 4),
        "without_case": list(selection.uncovered),
        "not_tried": [
            {"message": one.declared.case.message, "reason": one.reason}
            for one in selection.skipped
        ],
        "confused": [one._asdict() for one in list_confusions(selection.trials)],
        "messages": [_trial(trial) for trial in selection.trials],
        **(
            {"search": _search(selection)} if has_tool_search(selection.toolset) else {}
        ),
    }


def _search(selection: Selection) -> dict[str, int]:
    """For how many messages the tool that is meant is among those that `search_tools` finds."""
    ranks: dict[Hashable, int] = {}
    listed = {tool.name for tool in selection.toolset.tools if tool.always}
    for trial in selection.trials:
        if trial.tool_rank and not trial.is_near and trial.tool not in listed:
            rank = trial.tool_rank.rank or sys.maxsize
            ranks[_message(trial)] = max(ranks.get(_message(trial), 0), rank)
    found = sum(rank <= USUAL for rank in ranks.values())
    return {"first": USUAL, "messages": len(ranks), "found": found}


def _place(declared: DeclaredCase) -> str:
    """`file:line` of a case."""
    source = declared.owner.source
    line = source.span(declared.path)[0] if source.data else 0
    return f"{source.file}:{line}" if line else source.file


def _quoted(message: str, width: int = _WIDTH) -> str:
    """A message in quotes on one line, cut where it is too long."""
    text = printable(" ".join(message.split()))
    return f'"{text}"' if len(text) + 2 <= width else f'"{text[: width - 5]}..."'


def _trial(trial: Trial) -> dict[str, Any]:
    where = trial.tool_rank
    return {
        "message": trial.message,
        "is_near_miss": trial.is_near,
        "tool": trial.tool,
        "place": _place(trial.declared),
        "clients": list(trial.clients),
        "passes": not trial.problems,
        "problems": list(trial.problems),
        "first": trial.first or None,
        "chosen": None if trial.chosen is None else list(trial.chosen),
        "rank": where.rank if where else None,
        "margin": round(where.margin, 4) if where else None,
        "words": {
            word: {name: round(part, 3) for name, part in parts.items()}
            for word, parts in trial.words.items()
        },
    }


def _lines(selection: Selection) -> Iterator[str]:
    name = selection.toolset.name
    for trial, clients in _alike(selection.failed):
        yield f"{printable(_place(trial.declared))}:"
        near = "near miss " if trial.is_near else ""
        yield f"  {near}{_quoted(trial.message, _WIDTH - 2 - len(near))}"
        for problem in trial.problems:
            yield from _wrapped(problem, "    ")
        if trial.clients and len(clients) < len(selection.toolset.clients):
            yield from _wrapped(f"for {', '.join(clients)}", "    ")
        yield from _table(trial)
        yield ""
    pairs = list_confusions(selection.trials)
    if pairs:
        yield "Confused, the tool that is meant first:"
        for pair in pairs:
            text = f"{pair.tool} with {pair.other}, {counted(pair.messages, 'message')}"
            words = f": {', '.join(pair.words)}" if pair.words else ""
            yield from _wrapped(text + words, "  ")
        yield ""
    for one in selection.skipped:
        text = f"{_place(one.declared)}: not tried: {one.reason}"
        yield from _wrapped(text)
    yield from _coverage(selection)
    if has_tool_search(selection.toolset):
        first, number, found = _search(selection).values()
        have = f"{found} of {counted(number, 'message')}"
        yield f"search_tools: {have} have their tool among the first {first}"
    messages = {_message(trial) for trial in selection.trials}
    passed = len(messages) - len({_message(trial) for trial in selection.failed})
    yield f"{name}: {passed} of {counted(len(messages), 'message')} pass"


def _message(trial: Trial) -> Hashable:
    """The same for each client that is tried with a message."""
    declared = trial.declared
    return id(declared.owner), declared.path, trial.is_near, trial.message


def _coverage(selection: Selection) -> Iterator[str]:
    number = len(selection.toolset.list_target_tools("registry"))
    covered = number - len(selection.uncovered)
    verb = "has" if number == 1 else "have"
    text = f"{covered} of {counted(number, 'tool')} {verb} a case"
    least = selection.gates.coverage
    if selection.coverage < least:
        text += f", and {least:.0%} must"
    without = format_first(selection.uncovered, _MAX_NAMES_SHOWN)
    yield from _wrapped(f"{text}; without: {without}" if without else text)


def _alike(trials: Sequence[Trial]) -> Iterator[tuple[Trial, list[str]]]:
    """Trials of one message that say the same, as one, with all of their clients."""
    groups: dict[Hashable, tuple[Trial, list[str]]] = {}
    for trial in trials:
        key = _message(trial), *trial.problems
        groups.setdefault(key, (trial, []))[1].extend(trial.clients)
    yield from groups.values()


def _table(trial: Trial) -> Iterator[str]:
    """What each word gives to the two tools, the ones that decide most first."""
    names = list(dict.fromkeys(n for parts in trial.words.values() for n in parts))
    if trial.tool in names:
        names = [str(trial.tool), *(name for name in names if name != trial.tool)]
    if not names:
        return
    heads = [_cut(name, _MAX_HEADING_CHARACTERS) for name in names]
    widths = [max(len(head), 6) for head in heads]
    columns = "  ".join(h.rjust(w) for h, w in zip(heads, widths, strict=True))
    yield f"    {'word':16}  {columns}"
    decisive = sorted(
        trial.words.items(), key=lambda item: -_difference(item[1], names)
    )
    for word, parts in decisive[:_MAX_WORDS]:
        cells = (f"{parts[n]:.0%}" if n in parts else "-" for n in names)
        row = "  ".join(c.rjust(w) for c, w in zip(cells, widths, strict=True))
        yield f"    {_cut(word, 16):16}  {row}"


def _difference(parts: Mapping[str, float], names: Sequence[str]) -> float:
    own, *others = (parts.get(name, 0.0) for name in names)
    return abs(own - sum(others))


def _cut(text: str, width: int) -> str:
    """A text that cannot steer the terminal, cut where it is too long."""
    text = printable(text)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _wrapped(text: str, indent: str = "", hang: str = "  ") -> list[str]:
    return textwrap.wrap(
        printable(text),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + hang,
        break_on_hyphens=False,
    )


def promptfoo(
    toolset: Toolset,
    tools: Sequence[ToolSpec],
    model: str,
    endpoint: str | None,
    key_variable: str | None,
) -> str:
    """A configuration of promptfoo: the tools as functions, a test for each message.

    Args:
        tools: the tools that are offered.
        model: the name of the model of an OpenAI-compatible provider.
        endpoint: its address; None for the provider's own.
        key_variable: the environment variable of its key; None for the provider's own.
    """
    functions = [
        _function(t.name, t.model_description, t.listed_parameters) for t in tools
    ]
    config: dict[str, Any] = {"tools": _plain(functions)}
    if endpoint is not None:
        config["apiBaseUrl"] = endpoint
    if key_variable is not None:
        config["apiKeyEnvar"] = key_variable
    names = [tool.name for tool in tools]
    value = {
        "description": f"Selection cases of {_plain(toolset.name)}, from its tool specs",
        "prompts": [_PROMPT],
        "providers": [{"id": f"openai:chat:{model}", "config": config}],
        "tests": list(_tests(toolset, names)),
    }
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def agent_skills(toolset: Toolset) -> str:
    """Trigger evals of a skill that is the toolset: queries that should trigger it, or not.

    Every message that means one of its tools should; a message that means none should not.
    What a near miss means is not known.
    """
    means = {one.case.message: one.case.tool is not None for one in list_cases(toolset)}
    value = [{"query": text, "should_trigger": is_} for text, is_ in means.items()]
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def _tests(toolset: Toolset, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    for declared in list_cases(toolset):
        case = declared.case
        if case.tool is not None and case.tool not in names:
            continue
        called = [_called(case.tool)] if case.tool else [_not_called(*names)]
        never = [_not_called(name) for name in case.never if name in names]
        yield _test(case.message, [*called, *never])
        for message in case.near:
            if case.tool:
                yield _test(message, [_not_called(case.tool)])


def _test(message: str, asserted: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"vars": {"message": _plain(message)}, "assert": list(asserted)}


def _called(name: str) -> dict[str, Any]:
    return {"type": "tool-call-f1", "value": [name], "threshold": _AMONG_THREE}


def _not_called(*names: str) -> dict[str, Any]:
    return {"type": "not-tool-call-f1", "value": list(names), "threshold": _CALLED}


def _function(name: str, description: str, parameters: Any) -> dict[str, Any]:
    """A tool in OpenAI's form."""
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _plain(value: Any) -> Any:
    """A JSON value whose texts promptfoo takes as they are."""
    if isinstance(value, str):
        return _REFERENCE.sub(" ", _TEMPLATE.sub(r"\g<0> ", value))
    if isinstance(value, dict):
        return {_plain(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value
