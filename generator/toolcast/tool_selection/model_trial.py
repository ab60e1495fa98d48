"""Selection cases that are run with a model instead of the lexical ranking."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial

from toolcast_runtime.router import RoutedTool, RoutingError, RoutingModel

from ..model.model import SelectionGates, Toolset
from .trial import (
    DeclaredCase,
    Selection,
    Trial,
    list_forbidden_choices,
    run_trials,
)

_MAX_CONCURRENT_REQUESTS = 4


def run_cases_with_model(
    model: RoutingModel, toolset: Toolset, gates: SelectionGates, client: str | None
) -> Selection:
    """Run the selection cases of a toolset with a model; return their results.

    The model gets the same request as from the router: to choose the relevant tools. A
    case passes if the choice contains the expected tool and no forbidden one. Forbidden
    are the tools of `never`, and the tool of a near miss.

    Args:
        model: the model.
        toolset: the toolset.
        gates: the limits of the toolset.
        client: only the tools of this client; None runs the cases for each client.
    """
    return run_trials(toolset, gates, client, partial(_run_all, model))


def _run_all(
    model: RoutingModel,
    cases: Sequence[DeclaredCase],
    tools: Sequence[RoutedTool],
    clients: tuple[str, ...],
) -> list[Trial]:
    async def run_all() -> list[Trial]:
        semaphore = asyncio.Semaphore(_MAX_CONCURRENT_REQUESTS)

        async def run(declared: DeclaredCase, is_near: bool, message: str) -> Trial:
            async with semaphore:
                chosen, problems = await _choose_tools(
                    model, tools, declared, is_near, message
                )
            first = chosen[0] if chosen else ""
            return Trial(declared, message, is_near, clients, first, chosen, problems)

        runs = []
        for declared in cases:
            runs.append(run(declared, False, declared.case.message))
            runs += [run(declared, True, message) for message in declared.case.near]
        return await asyncio.gather(*runs)

    return asyncio.run(run_all())


async def _choose_tools(
    model: RoutingModel,
    tools: Sequence[RoutedTool],
    declared: DeclaredCase,
    is_near: bool,
    message: str,
) -> tuple[Sequence[str] | None, Sequence[str]]:
    """Return the tools that the model chose, and the problems with the choice.

    The tools are None if the request failed; the problem then states the reason.
    """
    try:
        chosen = await model.choose(message, tools, ())
    except Exception as error:
        # Only messages of `RoutingError` are quoted, as in the router: other messages
        # can contain a URL with a secret.
        reason = f"the request failed ({type(error).__name__})"
        if isinstance(error, RoutingError):
            reason = str(error)
        return None, [f"no answer: {reason}"]
    return chosen, list(_list_problems(declared, is_near, chosen))


def _list_problems(
    declared: DeclaredCase, is_near: bool, chosen: Sequence[str]
) -> Iterator[str]:
    tool = declared.case.tool
    if tool is not None and not is_near and tool not in chosen:
        choice = ", ".join(chosen) or "no tool"
        yield f"the case expects `{tool}`, but the model chose {choice}"
    yield from list_forbidden_choices(declared.case, is_near, chosen)
