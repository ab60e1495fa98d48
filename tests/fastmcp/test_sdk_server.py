"""Functions of a server of the official SDK, served by Toolcast with the same answers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from tests.fastmcp import oracle
from tests.fastmcp.compared import MODES, Answers, Mode, compare
from tests.fastmcp.context_functions import RESOURCES


@pytest.fixture
async def functions(tmp_path: Path) -> AsyncIterator[tuple[Any, Any]]:
    async with oracle.serve_functions("mcp", tmp_path) as servers:
        yield servers


@pytest.fixture
async def contexts(tmp_path: Path) -> AsyncIterator[tuple[Any, Any]]:
    async with oracle.serve_contexts("mcp", tmp_path) as servers:
        yield servers


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", MODES)
async def test_pydantic_values_give_the_same_results_as_the_sdk(
    functions: tuple[Any, Any], mode: Mode
) -> None:
    answers = Answers(mode)
    theirs = await answers.collect(functions[0], oracle.SDK_FUNCTION_CALLS)
    ours = await answers.collect(functions[1], oracle.SDK_FUNCTION_CALLS)
    assert compare(theirs, ours, oracle.SDK_FUNCTION_CALLS) == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", MODES)
async def test_adapted_functions_give_the_same_answers_as_the_sdk(
    contexts: tuple[Any, Any], mode: Mode
) -> None:
    """Tools with a Context and media, resources, prompts, log messages and progress."""
    calls = oracle.STATELESS_CALLS if mode == "auto" else oracle.CONTEXT_CALLS
    asked = calls, RESOURCES, oracle.PROMPTS
    answers = Answers(mode)
    theirs = await answers.collect(contexts[0], *asked)
    ours = await answers.collect(contexts[1], *asked)
    assert compare(theirs, ours, [*calls, *RESOURCES, *oracle.PROMPTS]) == []


@pytest.mark.parametrize(
    ("action", "text"),
    [("accept", "True none"), ("decline", "decline"), ("cancel", "cancel")],
)
@pytest.mark.parametrize("mode", MODES)
async def test_elicit_returns_the_user_action(
    contexts: tuple[Any, Any], mode: Mode, action: str, text: str
) -> None:
    """Also over the stateless version, where the SDK itself cannot ask."""
    [answer, _] = await Answers(mode, action).collect(contexts[1], oracle.QUESTIONS)
    assert answer["content"][0]["text"] == text


async def test_adapted_tool_exception_is_an_error_result_with_its_message(
    contexts: tuple[Any, Any],
) -> None:
    """Errors of the library, and members that no `Context` has."""
    async with Client(contexts[1]) as client:
        unsupported: Any = await client.call_tool("unsupported", {})
        refused: Any = await client.call_tool("refuses", {})
    assert unsupported.is_error and refused.is_error
    assert "`Context.sample` is not available here" in unsupported.content[0].text
    assert refused.content[0].text == "not today"
