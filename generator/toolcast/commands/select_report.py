"""Reports of `toolcast select`: ranking of a message, results of cases, exports."""

from __future__ import annotations

import asyncio
import json
import re
import sys
import textwrap
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from toolcast_runtime.mcp.tool_search import DEFAULT_RESULTS

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
from .exit_codes import fail, format_count

if TYPE_CHECKING:
    from toolcast_runtime.router import ChatModel, Route, RoutedTool

    from ..model.model import Toolset, ToolSpec

_WIDTH = 80
_MAX_TOOLS = 40
"""Maximum number of tools that the ranking of a message lists."""
_MAX_TOOL_CHARACTERS = 48
"""Maximum width of the column of tool names."""
_MAX_TERMS = 6
"""Maximum number of words in the table that compares the scores of tools."""
_MAX_HEADING_CHARACTERS = 28
"""Maximum width of a tool's name as the heading of a column."""
_MAX_NAMES_SHOWN = 30
"""Maximum number of tools without cases that are listed."""
NO_CASES = """\
no selection cases

A case is a user's message with the tool that should be selected. Add cases to
a tool's spec; this command then ranks all tools for each message:

  cases:
    - message: remind me tomorrow at nine to water the plants
      near: ["what did I plan for tomorrow?"]

`toolcast select "MESSAGE"` ranks the tools for any message.
"""
"""Output for a project without cases."""
# promptfoo renders each string as a Nunjucks template, which could be invalid or read
# environment variables, and loads the file of a string that begins with `file://`. Text of
# specs must have neither effect, so matches of these patterns are changed.
_TEMPLATE = re.compile(r"\{(?=[{%#])|#(?=\})")
_REFERENCE = re.compile(r"^(?=(?:file|package|https?|exec|python)://?)", re.IGNORECASE)
# The prompt is a chat as JSON. `dump` encodes the message as a JSON string, so that the message
# cannot change the structure of the chat.
_PROMPT = '[{"role": "user", "content": {{message | dump}}}]'
_MIN_F1_CALLED = 0.5
"""Minimum F1 score: the expected tool is called, with at most two other calls."""
_MIN_F1_ANY = 0.000001
"""A small F1 score, which is exceeded if a forbidden tool is called."""


def print_ranking(
    toolset: Toolset,
    client: str | None,
    message: str,
    history: Sequence[str],
    model: ChatModel | None,
    format_: str,
) -> None:
    """Rank the tools of a client for a message, and print the ranking.

    Ends the program with exit code 2 if the toolset has clients and none is named.

    Args:
        history: the messages before `message`, oldest first.
        model: the model that selects the tools; None to rank by words.
        format_: `text` or `json`.
    """
    if toolset.clients and client is None:
        names = ", ".join(client.name for client in toolset.clients)
        fail(
            f"MESSAGE requires a client of the toolset `{toolset.name}`"
            f"\n  help: add `--client` with one of {names}"
        )
    from toolcast_runtime.router import Router
    from toolcast_runtime.router.lexical_ranking import get_ranking

    offered = list_catalogs(toolset, client)[0].tools
    all_tools = build_routed_tools(offered)
    always = [tool.name for tool in offered if tool.always]
    tools = [tool for tool in all_tools if tool.name not in always]
    route = asyncio.run(Router(model).route(message, tools, history))
    index = get_ranking(all_tools)
    # A model only selects tools. Scores exist only if tools are ranked by words.
    scores = {} if model else index.route(message, history).scores
    terms = {} if model else index.evidence(message)
    # Scores are meaningful only relative to each other, so the best score becomes 1.
    best = max(scores.values(), default=1.0)
    report = {
        "tools": list(route.names),
        "always": always,
        "scores": {name: round(score / best, 3) for name, score in scores.items()},
        "words": {
            word: {name: round(part / best, 3) for name, part in parts.items()}
            for word, parts in terms.items()
        },
        "doubt": route.doubt or None,
        "routed_tools": len(tools),
        "estimated_tokens": {
            "all": _estimate(tools),
            "chosen": _estimate([tool for tool in tools if tool.name in route.names]),
        },
        "servers_skipped": [server.name for server in toolset.mcp_servers],
        "cases": [
            {"location": _format_location(case), "tool": case.case.tool}
            for case in list_cases(toolset)
            if normalize_message(case.case.message) == normalize_message(message)
        ],
    }
    if format_ == "json":
        click.echo(json.dumps(report, ensure_ascii=False, indent=2))
    else:
        click.echo(_format_ranking(route, len(tools), report))


def _estimate(tools: Sequence[RoutedTool]) -> int:
    """Return the estimated number of tokens of tools in a request to a model."""
    functions = [
        _build_function(tool.name, tool.description, tool.parameters) for tool in tools
    ]
    text = json.dumps(functions, ensure_ascii=False, separators=(",", ":"))
    return estimate_tokens(text) if tools else 0


def _format_ranking(route: Route, count: int, report: Mapping[str, Any]) -> str:
    """Return the text of a ranking.

    Args:
        count: the number of tools that the router selects from.
        report: the ranking as JSON.
    """
    scores, always = report["scores"], report["always"]
    if not count and not always:
        return "there are no tools to choose from"
    doubt = f": all of them, as {route.doubt}" if route.doubt else ""
    head = f"{len(route.names)} of {format_count(count, 'routed tool')}{doubt}"
    lines = _wrap(head, hanging_indent="")
    # In doubt, the router selects all tools. Then do not list the tools without a score.
    without_score = []
    if not route.doubt:
        without_score = [name for name in route.names if name not in scores]
    names = [*scores, *without_score][:_MAX_TOOLS]
    width = min(max(map(len, names), default=0), _MAX_TOOL_CHARACTERS)
    for name in names:
        mark = "*" if name in route.names else " "
        if name in always:
            mark = "+"
        score = f"{scores[name]:.0%}" if name in scores else "-"
        label = _cut(name, _MAX_TOOL_CHARACTERS)
        terms = _format_terms(report["words"], name, _WIDTH - width - 11)
        lines.append(f"{score:>5} {mark} {label:{width}}  {terms}".rstrip())
    hidden = len(scores) + len(without_score) - len(names)
    if hidden:
        more = format_count(hidden, "more tool")
        lines.append(f"        {more}; --format json lists all")
    unmatched = count + len(always) - len(scores) - len(without_score)
    if unmatched and report["words"]:
        lines.append(
            f"    -   {format_count(unmatched, 'tool')} without a matching word"
        )
    lines.append("* selected by the router; + always listed")
    all_tokens = report["estimated_tokens"]["all"]
    selected_tokens = report["estimated_tokens"]["chosen"]
    lines.append(
        f"about {all_tokens - selected_tokens:,} of {all_tokens:,} tokens saved"
        " (estimated as in `toolcast tokens`)"
    )
    servers = ", ".join(report["servers_skipped"])
    if servers:
        note = f"not included: tools of the external servers {servers}"
        lines += _wrap(note, hanging_indent="")
    for case in report["cases"]:
        expected = f"`{case['tool']}`" if case["tool"] else "no tool"
        text = f"the case at {case['location']} expects {expected}"
        lines += _wrap(text, hanging_indent="")
    return "\n".join(lines)


def _format_terms(
    terms: Mapping[str, Mapping[str, float]], tool: str, width: int
) -> str:
    """Return the matching words with their percentage of a tool's score, highest first.

    Words that do not fit into the width are replaced by `...`.
    """
    parts = [(scores[tool], term) for term, scores in terms.items() if tool in scores]
    parts.sort(key=lambda item: -item[0])
    text = ""
    for part, term in parts:
        separator = ", " if text else ""
        longer = f"{text}{separator}{printable(term)} {part:.0%}"
        if len(longer) + len(", ...") > width:
            return f"{text}, ..." if text else "..."
        text = longer
    return text


def format_selection(selection: Selection) -> str:
    """Return the results of a toolset's selection cases as text.

    The text lists failed messages, confused tools, cases that were not run, tools without
    cases, and totals.
    """
    return "\n".join(_list_lines(selection)) + "\n"


def build_selection_report(selection: Selection) -> dict[str, Any]:
    """Return the results of a toolset's selection cases as JSON.

    Unlike the text, the JSON also contains the messages that pass.
    """
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
        "without_case": list(selection.uncovered_tools),
        "skipped_cases": [
            {"message": skipped.declared.case.message, "reason": skipped.reason}
            for skipped in selection.skipped_cases
        ],
        "confused": [pair._asdict() for pair in list_confusions(selection.trials)],
        "messages": [_build_trial(trial) for trial in selection.trials],
        **(
            {"search": _count_search_hits(selection)}
            if has_tool_search(selection.toolset)
            else {}
        ),
    }


def _count_search_hits(selection: Selection) -> dict[str, int]:
    """Return for how many messages the tool `search_tools` would find the expected tool.

    The keys are `first` (the number of results), `messages` and `found`. If a message was
    ranked for several clients, the worst rank counts. Always-listed tools need no search and
    are left out.
    """
    ranks: dict[Hashable, int] = {}
    listed = {tool.name for tool in selection.toolset.tools if tool.always}
    for trial in selection.trials:
        if trial.tool_rank and not trial.is_near and trial.tool not in listed:
            # A tool that was not found has no rank and counts as the last one.
            rank = trial.tool_rank.rank or sys.maxsize
            key = _get_message_key(trial)
            ranks[key] = max(ranks.get(key, 0), rank)
    hits = sum(rank <= DEFAULT_RESULTS for rank in ranks.values())
    return {"first": DEFAULT_RESULTS, "messages": len(ranks), "found": hits}


def _format_location(declared: DeclaredCase) -> str:
    """Return `file:line` of a case; only the file if the line is unknown."""
    source = declared.owner.source
    line = source.span(declared.path)[0] if source.data else 0
    return f"{source.file}:{line}" if line else source.file


def _quote(message: str, width: int = _WIDTH) -> str:
    """Return a message in quotes on one line; a longer message is cut, with `...`."""
    text = printable(" ".join(message.split()))
    return f'"{text}"' if len(text) + 2 <= width else f'"{text[: width - 5]}..."'


def _build_trial(trial: Trial) -> dict[str, Any]:
    standing = trial.tool_rank
    return {
        "message": trial.message,
        "is_near_miss": trial.is_near,
        "tool": trial.tool,
        "location": _format_location(trial.declared),
        "clients": list(trial.clients),
        "passes": not trial.problems,
        "problems": list(trial.problems),
        "first": trial.first or None,
        "chosen": None if trial.chosen is None else list(trial.chosen),
        "rank": standing.rank if standing else None,
        "margin": round(standing.margin, 4) if standing else None,
        "words": {
            word: {name: round(part, 3) for name, part in parts.items()}
            for word, parts in trial.word_scores.items()
        },
    }


def _list_lines(selection: Selection) -> Iterator[str]:
    name = selection.toolset.name
    for trial, clients in _merge_clients(selection.failed_trials):
        yield f"{printable(_format_location(trial.declared))}:"
        prefix = "near miss " if trial.is_near else ""
        yield f"  {prefix}{_quote(trial.message, _WIDTH - 2 - len(prefix))}"
        for problem in trial.problems:
            yield from _wrap(problem, "    ")
        if trial.clients and len(clients) < len(selection.toolset.clients):
            yield from _wrap(f"for {', '.join(clients)}", "    ")
        yield from _list_table_lines(trial)
        yield ""
    pairs = list_confusions(selection.trials)
    if pairs:
        yield "Confused tools, the expected one first:"
        for pair in pairs:
            count = format_count(pair.messages, "message")
            terms = f": {', '.join(pair.words)}" if pair.words else ""
            yield from _wrap(f"{pair.tool} with {pair.other}, {count}{terms}", "  ")
        yield ""
    for skipped in selection.skipped_cases:
        location = _format_location(skipped.declared)
        yield from _wrap(f"{location}: not run: {skipped.reason}")
    yield from _list_coverage_lines(selection)
    if has_tool_search(selection.toolset):
        first, number, hits = _count_search_hits(selection).values()
        messages = format_count(number, "message")
        yield (
            f"search_tools: the expected tool is among the first {first} for {hits} of"
            f" {messages}"
        )
    keys = {_get_message_key(trial) for trial in selection.trials}
    failed_keys = {_get_message_key(trial) for trial in selection.failed_trials}
    passed = len(keys) - len(failed_keys)
    yield f"{name}: {passed} of {format_count(len(keys), 'message')} pass"


def _get_message_key(trial: Trial) -> Hashable:
    """Return a key of the message of a case, equal for the trials of all clients."""
    declared = trial.declared
    return id(declared.owner), declared.path, trial.is_near, trial.message


def _list_coverage_lines(selection: Selection) -> Iterator[str]:
    number = len(selection.toolset.list_target_tools("registry"))
    covered = number - len(selection.uncovered_tools)
    verb = "has" if number == 1 else "have"
    text = f"{covered} of {format_count(number, 'tool')} {verb} a case"
    required = selection.gates.coverage
    if selection.coverage < required:
        text += f", but {required:.0%} must have one"
    uncovered = format_first(selection.uncovered_tools, _MAX_NAMES_SHOWN)
    yield from _wrap(f"{text}; without a case: {uncovered}" if uncovered else text)


def _merge_clients(trials: Sequence[Trial]) -> Iterator[tuple[Trial, list[str]]]:
    """Yield trials with their clients, merged if message and problems are equal."""
    groups: dict[Hashable, tuple[Trial, list[str]]] = {}
    for trial in trials:
        key = _get_message_key(trial), *trial.problems
        groups.setdefault(key, (trial, []))[1].extend(trial.clients)
    yield from groups.values()


def _list_table_lines(trial: Trial) -> Iterator[str]:
    """Yield the lines of a table with the percentage of each word in each tool's score.

    The words with the largest difference between the tools are first. Nothing is yielded for
    a trial without scores.
    """
    names = list(
        dict.fromkeys(name for parts in trial.word_scores.values() for name in parts)
    )
    if trial.tool in names:
        names = [str(trial.tool), *(name for name in names if name != trial.tool)]
    if not names:
        return
    headings = [_cut(name, _MAX_HEADING_CHARACTERS) for name in names]
    widths = [max(len(heading), 6) for heading in headings]
    yield f"    {'word':16}  {_join_columns(headings, widths)}"
    decisive = sorted(
        trial.word_scores.items(), key=lambda item: -_measure_difference(item[1], names)
    )
    for term, parts in decisive[:_MAX_TERMS]:
        cells = [f"{parts[name]:.0%}" if name in parts else "-" for name in names]
        yield f"    {_cut(term, 16):16}  {_join_columns(cells, widths)}"


def _join_columns(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(
        cell.rjust(width) for cell, width in zip(cells, widths, strict=True)
    )


def _measure_difference(parts: Mapping[str, float], names: Sequence[str]) -> float:
    """Return the difference of a word's score for the first tool and for all others."""
    first, *others = (parts.get(name, 0.0) for name in names)
    return abs(first - sum(others))


def _cut(text: str, width: int) -> str:
    """Escape a text, and cut it to the width."""
    text = printable(text)
    return text if len(text) <= width else f"{text[: width - 3]}..."


def _wrap(text: str, indent: str = "", hanging_indent: str = "  ") -> list[str]:
    return textwrap.wrap(
        printable(text),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + hanging_indent,
        break_on_hyphens=False,
    )


def encode_promptfoo(
    toolset: Toolset,
    tools: Sequence[ToolSpec],
    model: str,
    endpoint: str | None,
    key_variable: str | None,
) -> str:
    """Return a promptfoo configuration with a test for each message.

    Args:
        tools: the tools that the model can call.
        model: the name of a model of an OpenAI-compatible provider.
        endpoint: the base URL of the provider; None for OpenAI's.
        key_variable: the environment variable with the key; None for promptfoo's default.
    """
    functions = [
        _build_function(tool.name, tool.model_description, tool.listed_parameters)
        for tool in tools
    ]
    config: dict[str, Any] = {"tools": _disarm(functions)}
    if endpoint is not None:
        config["apiBaseUrl"] = endpoint
    if key_variable is not None:
        config["apiKeyEnvar"] = key_variable
    names = [tool.name for tool in tools]
    configuration = {
        "description": f"Selection cases of {_disarm(toolset.name)}, from its tool specs",
        "prompts": [_PROMPT],
        "providers": [{"id": f"openai:chat:{model}", "config": config}],
        "tests": list(_build_tests(toolset, names)),
    }
    return json.dumps(configuration, ensure_ascii=False, indent=2) + "\n"


def encode_agent_skills(toolset: Toolset) -> str:
    """Return a JSON array of messages that should or should not trigger an Agent Skill.

    A message should trigger the skill of the toolset if its case expects a tool. Messages in
    `near` are left out, because their cases do not declare which tool they need.
    """
    triggers = {
        declared.case.message: declared.case.tool is not None
        for declared in list_cases(toolset)
    }
    evals = [
        {"query": message, "should_trigger": should_trigger}
        for message, should_trigger in triggers.items()
    ]
    return json.dumps(evals, ensure_ascii=False, indent=2) + "\n"


def _build_tests(toolset: Toolset, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield a promptfoo test per message; cases of tools that are not named are skipped."""
    for declared in list_cases(toolset):
        case = declared.case
        if case.tool is not None and case.tool not in names:
            continue
        if case.tool:
            assertions = [_assert_called(case.tool)]
        else:
            assertions = [_assert_not_called(*names)]
        assertions += [_assert_not_called(name) for name in case.never if name in names]
        yield _build_test(case.message, assertions)
        for message in case.near:
            if case.tool:
                yield _build_test(message, [_assert_not_called(case.tool)])


def _build_test(message: str, assertions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {"vars": {"message": _disarm(message)}, "assert": list(assertions)}


def _assert_called(name: str) -> dict[str, Any]:
    return {"type": "tool-call-f1", "value": [name], "threshold": _MIN_F1_CALLED}


def _assert_not_called(*names: str) -> dict[str, Any]:
    return {"type": "not-tool-call-f1", "value": list(names), "threshold": _MIN_F1_ANY}


def _build_function(name: str, description: str, parameters: Any) -> dict[str, Any]:
    """Return a tool in the format of OpenAI's Chat Completions API."""
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _disarm(value: Any) -> Any:
    """Return a JSON value with spaces in the strings that promptfoo would interpret."""
    if isinstance(value, str):
        return _REFERENCE.sub(" ", _TEMPLATE.sub(r"\g<0> ", value))
    if isinstance(value, dict):
        return {_disarm(key): _disarm(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_disarm(item) for item in value]
    return value
