"""`toolcast select` with a model: whether it chooses the tool that each case means."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from toolcast_runtime.router import NoChoice

from ..reports.escaping import printable
from ..selection.cases import DeclaredCase, cases_of
from ..selection.catalogue import Catalogue, catalogues, routed
from .exit_codes import CLEAN, FINDINGS, counted, fail
from .select_report import NO_CASES, place_of_case, quoted

if TYPE_CHECKING:
    from toolcast_runtime.router import ChatModel, RoutedTool

    from ..model.model import Toolset

__all__ = ["try_with_model"]

_AT_ONCE = 4


class _Answer(NamedTuple):
    """What the model chose for a message, and what is wrong with it.

    `unanswered` says why there is no choice.
    """

    declared: DeclaredCase
    message: str
    clients: tuple[str, ...]
    chosen: tuple[str, ...]
    problems: tuple[str, ...]
    unanswered: str = ""


def try_with_model(
    toolsets: Sequence[tuple[Toolset, ChatModel]], client: str | None, format_: str
) -> int:
    """Asks a model about every case, prints what came of it, and gives the exit code.

    The model is asked as the router asks it: which tools are relevant? The tool that is
    meant has to be among them; a tool of `never`, and the tool of a near miss, must not be.
    """
    if find_spec("httpx") is None:
        fail(
            "a model is asked with httpx\n  help: pip install 'toolcast-runtime[router]'"
        )
    answers = {}
    for toolset, model in toolsets:
        try:
            is_there = model.is_configured()
        except NoChoice as error:
            fail(str(error))
        if not is_there:
            fail(
                f"the `router:` of `{toolset.name}` has no address in this environment"
            )
        answers[toolset.name] = asyncio.run(_ask_all(toolset, model, client))
    asked = [one for some in answers.values() for one in some]
    if asked and all(one.unanswered for one in asked):
        fail(f"the model gave no answer: {asked[0].unanswered}")
    passes = not any(one.problems for some in answers.values() for one in some)
    if format_ == "json":
        value = {
            "passes": passes,
            "toolsets": [
                {"toolset": name, "messages": [_value(one) for one in found]}
                for name, found in answers.items()
            ],
        }
        click.echo(json.dumps(value, ensure_ascii=False, indent=2))
    elif not any(answers.values()):
        click.echo(NO_CASES, nl=False)
    else:
        for name, found in answers.items():
            click.echo("\n".join(_lines(name, found)))
    return CLEAN if passes else FINDINGS


async def _ask_all(
    toolset: Toolset, model: ChatModel, client: str | None
) -> list[_Answer]:
    turns = asyncio.Semaphore(_AT_ONCE)
    asked = []
    for catalogue in catalogues(toolset, client):
        offered = {tool.name for tool in catalogue.tools}
        tools = routed(catalogue.tools)
        for one in cases_of(toolset):
            if one.case.tool is None or one.case.tool in offered:
                for message in (one.case.message, *one.case.near):
                    asked.append(_ask(one, message, catalogue, tools, model, turns))
    return list(await asyncio.gather(*asked))


async def _ask(
    one: DeclaredCase,
    message: str,
    catalogue: Catalogue,
    tools: Sequence[RoutedTool],
    model: ChatModel,
    turns: asyncio.Semaphore,
) -> _Answer:
    clients = catalogue.clients
    async with turns:
        try:
            chosen = tuple(await model.choose(message, tools, ()))
        except Exception as error:
            # As in the router: the text may quote an address with a secret.
            reason = str(error) if isinstance(error, NoChoice) else type(error).__name__
            return _Answer(one, message, clients, (), (f"no answer: {reason}",), reason)
    problems = tuple(_problems(one, message, chosen))
    return _Answer(one, message, clients, chosen, problems)


def _problems(one: DeclaredCase, message: str, chosen: Sequence[str]) -> Iterator[str]:
    case = one.case
    if message != case.message:
        if case.tool in chosen:
            yield f"`{case.tool}` must not be chosen"
        return
    if case.tool is None and chosen:
        yield f"no tool is meant, and it chose {', '.join(chosen)}"
    elif case.tool is not None and case.tool not in chosen:
        yield f"`{case.tool}` is meant, and it chose {', '.join(chosen) or 'none'}"
    for name in case.never:
        if name in chosen:
            yield f"`{name}` must not be chosen"


def _value(one: _Answer) -> dict[str, Any]:
    return {
        "message": one.message,
        "is_near_miss": one.message != one.declared.case.message,
        "tool": one.declared.case.tool,
        "place": place_of_case(one.declared),
        "clients": list(one.clients),
        "chosen": list(one.chosen),
        "passes": not one.problems,
        "problems": list(one.problems),
    }


def _lines(name: str, answers: Sequence[_Answer]) -> Iterator[str]:
    for one in answers:
        if one.problems:
            yield f"{printable(place_of_case(one.declared))}:"
            yield f"  {quoted(one.message, 78)}"
            for problem in one.problems:
                yield f"    {printable(problem)}"
            if one.clients:
                yield f"    for {', '.join(one.clients)}"
    passed = sum(not one.problems for one in answers)
    yield f"{name}: {passed} of {counted(len(answers), 'answer')} pass"
