"""Tries the cases of a toolset with a model: does it choose the tool that each case means?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from functools import partial

from toolcast_runtime.router import RoutedTool, RoutingError, RoutingModel

from ..model.model import SelectionGates, Toolset
from .trial import DeclaredCase, Selection, Trial, check_forbidden_tools, run_trials

_AT_ONCE = 4


def try_cases_with_model(
    model: RoutingModel, toolset: Toolset, gates: SelectionGates, client: str | None
) -> Selection:
    """Asks a model about every message of every case.

    It is asked as the router asks it: which tools are relevant? The tool that is meant has to
    be among them; a tool of `never`, and the tool of a near miss, must not be.

    Args:
        client: for this client alone.
    """
    return run_trials(toolset, gates, client, partial(_ask_all, model))


def _ask_all(
    model: RoutingModel,
    cases: Sequence[DeclaredCase],
    tools: Sequence[RoutedTool],
    clients: tuple[str, ...],
) -> list[Trial]:
    async def ask_all() -> list[Trial]:
        turns = asyncio.Semaphore(_AT_ONCE)

        async def ask(one: DeclaredCase, is_near: bool, message: str) -> Trial:
            async with turns:
                chosen, problems = await _ask(model, tools, one, is_near, message)
            first = chosen[0] if chosen else ""
            return Trial(one, message, is_near, clients, first, chosen, problems)

        asked = [
            ask(one, number > 0, message)
            for one in cases
            for number, message in enumerate((one.case.message, *one.case.near))
        ]
        return await asyncio.gather(*asked)

    return asyncio.run(ask_all())


async def _ask(
    model: RoutingModel,
    tools: Sequence[RoutedTool],
    one: DeclaredCase,
    is_near: bool,
    message: str,
) -> tuple[Sequence[str] | None, Sequence[str]]:
    """What the model chose, None for no answer, and what is wrong with it."""
    try:
        chosen = await model.choose(message, tools, ())
    except Exception as error:
        # As in the router: the text may quote an address with a secret.
        failed = f"the request failed ({type(error).__name__})"
        reason = str(error) if isinstance(error, RoutingError) else failed
        return None, [f"no answer: {reason}"]
    return chosen, list(_problems(one, is_near, chosen))


def _problems(one: DeclaredCase, is_near: bool, chosen: Sequence[str]) -> Iterator[str]:
    tool = one.case.tool
    if tool is not None and not is_near and tool not in chosen:
        yield f"`{tool}` is meant, and it chose {', '.join(chosen) or 'none'}"
    yield from check_forbidden_tools(one.case, is_near, chosen)
