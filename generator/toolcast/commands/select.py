"""`toolcast select`."""

from __future__ import annotations

import asyncio
import json
import sys
import textwrap
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..facts.token_costs import estimated_tokens
from ..reports.escaping import printable
from ..selection.trial import (
    DeclaredCase,
    Selection,
    Trial,
    cases_of,
    catalogues,
    confusions,
    routed,
    same_words,
    try_cases,
)
from .exit_codes import (
    CLEAN,
    FINDINGS,
    counted,
    fail,
    toolsets_or_end,
    workspace_or_end,
)
from .options import (
    complete_clients,
    complete_toolsets,
    project_option,
    value_format_option,
)

if TYPE_CHECKING:
    from toolcast_runtime.router import ChatModel, Route, RoutedTool

    from ..model.model import Toolset

__all__ = ["command"]

_WIDTH = 80
_MOST_TOOLS = 40
_LONGEST_TOOL = 48
_MOST_WORDS = 6
_LONGEST_NAME = 28
_MOST_NAMED = 30
_NO_CASES = """\
no selection cases

A case is something that a user says, and the tool that is meant. Add some to a
tool's spec, and the words of all tools are tried against each other:

  cases:
    - message: remind me tomorrow at nine to water the plants
      near: ["what did I plan for tomorrow?"]

`toolcast select "MESSAGE"` shows how the tools stand for a message of yours.
"""


@click.command(name="select")
@click.argument("message", required=False)
@click.option(
    "--toolset",
    metavar="NAME",
    help="This toolset alone.",
    shell_complete=complete_toolsets,
)
@click.option(
    "--client",
    metavar="NAME",
    help="With what this client is offered.",
    shell_complete=complete_clients,
)
@click.option(
    "--with-model", is_flag=True, help="Ask the model of the toolset's `router:`."
)
@value_format_option
@project_option
def command(
    message: str | None,
    toolset: str | None,
    client: str | None,
    with_model: bool,
    format_: str,
    project: str | None,
) -> None:
    """Try which tool the words of a message speak for.

    Without MESSAGE it tries the `cases:` of the specs: whether the tool that is meant
    stands first, how far ahead, what it is confused with by which words, and which tools
    have no case. With MESSAGE it shows how the tools stand for it, which word gives how
    much to which tool, what the router shows, and about how many tokens that saves.

    It reads the specs alone: no handler is imported, and no external server is asked, so
    its tools are not among them. Only --with-model uses the network.
    """
    toolsets = toolsets_or_end(workspace_or_end(project), toolset, client)
    if message is not None and len(toolsets) != 1:
        names = ", ".join(one.name for one in toolsets) or "none"
        fail(f"which toolset? there are {names}\n  help: add --toolset NAME")
    models = [_model(one) if with_model else None for one in toolsets]
    if message is not None:
        _show_message(toolsets[0], client, message, models[0], format_)
    else:
        sys.exit(_try(toolsets, client, models, format_))


def _try(
    toolsets: Sequence[Toolset],
    client: str | None,
    models: Sequence[ChatModel | None],
    format_: str,
) -> int:
    """Tries the cases of the toolsets, and prints what became of them."""
    tried = []
    for one, model in zip(toolsets, models, strict=True):
        if model is None:
            tried.append(try_cases(one, one.selection, client))
        else:
            from ..selection.model_trial import try_cases_with

            tried.append(try_cases_with(model, one, one.selection, client))
    trials = [trial for one in tried for trial in one.trials]
    if trials and all(trial.chosen is None for trial in trials):
        fail(f"the model gave {trials[0].problems[0]}")
    passes = all(one.passes for one in tried)
    if format_ == "json":
        value = {"passes": passes, "toolsets": [_value(one) for one in tried]}
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        shown = [one for one in tried if one.trials or one.untried or not one.passes]
        texts = ["\n".join(_lines(one)) + "\n" for one in shown]
        click.echo("\n".join(texts) or _NO_CASES, nl=False)
    return CLEAN if passes else FINDINGS


def _model(toolset: Toolset) -> ChatModel:
    """The model of a toolset's router."""
    from importlib.util import find_spec

    from toolcast_runtime.router import ChatModel, NoChoice

    if find_spec("httpx") is None:
        fail(
            "a model is asked with httpx\n  help: pip install 'toolcast-runtime[router]'"
        )
    router = toolset.router
    if router is None:
        fail(
            f"the toolset `{toolset.name}` has no `router:` whose model could be asked"
        )
    model = ChatModel(
        router.base_url, router.model, router.api_key, router.timeout, router.history
    )
    try:
        is_there = model.is_configured()
    except NoChoice as error:
        fail(str(error))
    if not is_there:
        fail(f"the `router:` of `{toolset.name}` has no address in this environment")
    return model


def _show_message(
    toolset: Toolset,
    client: str | None,
    message: str,
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

    offered = catalogues(toolset, client)[0].tools
    everything = routed(offered)
    always = [tool.name for tool in offered if tool.always]
    tools = [tool for tool in everything if tool.name not in always]
    route = asyncio.run(Router(model).route(message, tools))
    index = ranking(everything)
    scores = {} if model else index.route(message).scores
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
            for one in cases_of(toolset)
            if same_words(one.case.message) == same_words(message)
        ],
    }
    if format_ == "json":
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
    else:
        click.echo(_standings(route, len(tools), value))


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


def _standings(route: Route, number: int, value: Mapping[str, Any]) -> str:
    scores, always = value["scores"], value["always"]
    if not number and not always:
        return "there are no tools to choose from"
    doubt = f": all of them, as {route.doubt}" if route.doubt else ""
    head = f"{len(route.names)} of {counted(number, 'routed tool')}{doubt}"
    lines = _wrapped(head, hang="")
    # Where all are shown, those that no word speaks for would be a list of their own.
    silent = [] if route.doubt else [n for n in route.names if n not in scores]
    order = [*scores, *silent][:_MOST_TOOLS]
    width = min(max(map(len, order), default=0), _LONGEST_TOOL)
    for name in order:
        mark = "+" if name in always else "*" if name in route.names else " "
        score = f"{scores[name]:.0%}" if name in scores else "-"
        shown = _cut(name, _LONGEST_TOOL)
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


def _value(selection: Selection) -> dict[str, Any]:
    """The cases of a toolset for programs, with the messages that pass."""
    gates = selection.gates
    return {
        "toolset": selection.toolset.name,
        "passes": selection.passes,
        "gates": {
            "top": gates.top,
            "margin": gates.margin,
            "coverage": gates.coverage,
        },
        "covered": round(selection.covered, 4),
        "without_case": list(selection.uncovered),
        "not_tried": [
            {"message": one.declared.case.message, "reason": one.reason}
            for one in selection.untried
        ],
        "confused": [one._asdict() for one in confusions(selection.trials)],
        "messages": [_trial(trial) for trial in selection.trials],
    }


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
    where = trial.standing
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
    pairs = confusions(selection.trials)
    if pairs:
        yield "Confused, the tool that is meant first:"
        for pair in pairs:
            text = f"{pair.tool} with {pair.other}, {counted(pair.messages, 'message')}"
            words = f": {', '.join(pair.words)}" if pair.words else ""
            yield from _wrapped(text + words, "  ")
        yield ""
    for one in selection.untried:
        text = f"{_place(one.declared)}: not tried: {one.reason}"
        yield from _wrapped(text)
    yield from _coverage(selection)
    messages = {_message(trial) for trial in selection.trials}
    passed = len(messages) - len({_message(trial) for trial in selection.failed})
    yield f"{name}: {passed} of {counted(len(messages), 'message')} pass"


def _message(trial: Trial) -> Hashable:
    """The same for each client that is tried with a message."""
    declared = trial.declared
    return id(declared.owner), declared.path, trial.is_near, trial.message


def _coverage(selection: Selection) -> Iterator[str]:
    number = len(selection.toolset.tools_in("registry"))
    covered = number - len(selection.uncovered)
    verb = "has" if number == 1 else "have"
    text = f"{covered} of {counted(number, 'tool')} {verb} a case"
    least = selection.gates.coverage
    if selection.covered < least:
        text += f", and {least:.0%} must"
    without = ", ".join(selection.uncovered[:_MOST_NAMED])
    more = len(selection.uncovered) - _MOST_NAMED
    if more > 0:
        without += f" and {more} more"
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
    heads = [_cut(name, _LONGEST_NAME) for name in names]
    widths = [max(len(head), 6) for head in heads]
    columns = "  ".join(h.rjust(w) for h, w in zip(heads, widths, strict=True))
    yield f"    {'word':16}  {columns}"
    decisive = sorted(
        trial.words.items(), key=lambda item: -_difference(item[1], names)
    )
    for word, parts in decisive[:_MOST_WORDS]:
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
