"""Results larger than their budget: the shortened result and its note."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties import limit_examples
from toolcast_runtime import ToolResponse
from toolcast_runtime.core.calls import worker_threads
from toolcast_runtime.core.context import CallContext
from toolcast_runtime.core.definitions.tool import ResultForm, Tool
from toolcast_runtime.core.validation.checker import Checker
from toolcast_runtime.results.budget import (
    estimate_tokens,
)
from toolcast_runtime.results.truncation import shape_response, shape_results

OFFSET = {"type": "integer", "default": 0}
PARAMETERS = {
    "type": "object",
    "properties": {"offset": OFFSET, "start": {"default": 1}, "after": {}, "any": True},
}
BY_OFFSET = {"argument": "offset"}
BY_ID = {"argument": "after", "from": "id"}
TEN = [{"id": f"n{n}", "text": "x" * 80} for n in range(10)]
TEXT = {"type": "text"}
IMAGE = {"type": "image", "data": "A" * 4000, "mimeType": "image/png"}


def make_tool(returns: Any = None, **budget: Any) -> Tool:
    definition = {"name": "find", "inputSchema": PARAMETERS}
    if returns is not None:
        definition["outputSchema"] = returns
    form = ResultForm(budget=budget)
    return Tool("find", "Finds.", "Finds.", definition, result=form)


def shorten(
    value: Any, returns: Any = None, *, arguments: Any = None, **budget: Any
) -> Any:
    """Return the response of a tool with this budget for a result."""
    return shape_response(
        make_tool(returns, **budget), arguments or {}, ToolResponse(value)
    )


def measure(response: ToolResponse, count: Any = len) -> int:
    return int(count(response.text()) + count(response.note or ""))


# Each row has a result, a budget, the shortened result and its note.
SHORTENED: list[tuple[Any, dict[str, Any], Any, str]] = [
    (TEN, {"characters": 500}, TEN[:4], "Omitted: the last 6 of 10 items."),
    (
        {"items": TEN, "total": 10},
        {"characters": 500},
        {"items": TEN[:4], "total": 10},
        "Omitted: the last 6 of 10 of `items`.",
    ),
    (
        {"items": TEN},
        {"characters": 500, "next": BY_OFFSET},
        {"items": TEN[:3]},
        "Omitted: the last 7 of 10 of `items`. For more, call again with `offset` = 3.",
    ),
    (
        TEN,
        {"characters": 500, "next": BY_ID},
        TEN[:3],
        'Omitted: the last 7 of 10 items. For more, call again with `after` = "n2".',
    ),
    # The largest list is shortened, at any position in the result.
    (
        {"few": ["a", "b"], "many": TEN},
        {"characters": 500},
        {"few": ["a", "b"], "many": TEN[:4]},
        "Omitted: the last 6 of 10 of `many`.",
    ),
    # A list of one item is not shortened, and the lists inside are shortened without a note on
    # paging.
    (
        {"pages": [{"blocks": ["y" * 100] * 9}]},
        {"characters": 400, "next": BY_OFFSET},
        {"pages": [{"blocks": ["y" * 100] * 3}]},
        "Omitted: the last 6 of 9 of `pages.0.blocks`.",
    ),
    # If not even one item fits, the lists inside the first are also shortened.
    (
        {"pages": [{"blocks": ["y" * 100] * 9}] * 5},
        {"characters": 400},
        {"pages": [{"blocks": ["y" * 100] * 2}]},
        "Omitted: the last 4 of 5 of `pages`, the last 7 of 9 of `pages.0.blocks`.",
    ),
    # One item is sent if item and note have exactly the maximum size, and none one below.
    (
        ["ü" * 200] * 2,
        {"characters": 235},
        ["ü" * 200],
        "Omitted: the last 1 of 2 items.",
    ),
    (["ü" * 200] * 2, {"characters": 234}, [], "Omitted: the last 2 of 2 items."),
    # A single item that is too large is never cut in two.
    (
        {"items": [{"text": "z" * 900}], "total": 1},
        {"characters": 400, "next": BY_OFFSET},
        {"items": [], "total": 1},
        "Omitted: the last 1 of 1 of `items`.",
    ),
    (
        {"items": [{"name": "a", "parts": ["z" * 900]}]},
        {"characters": 400},
        {"items": [{"name": "a", "parts": []}]},
        "Omitted: the last 1 of 1 of `items.0.parts`.",
    ),
]


@pytest.mark.parametrize(("value", "budget", "expected", "note"), SHORTENED)
def test_result_above_its_budget_is_shortened_by_omitting_its_last_list_items(
    value: Any, budget: dict[str, Any], expected: Any, note: str
) -> None:
    """The budget of a spec limits the tokens or characters of a result."""
    before = json.dumps(value)
    response = shorten(value, **budget)
    assert (response.error, response.result, response.note) == (None, expected, note)
    assert measure(response) <= budget["characters"] and json.dumps(value) == before


@pytest.mark.parametrize(
    ("argument", "arguments", "start"),
    [
        ("offset", {"offset": 20}, 20),
        ("start", {}, 1),
        ("start", {"start": 7}, 7),
        ("after", {}, 0),
        ("any", {}, 0),
    ],
)
def test_shortened_result_note_states_the_argument_value_for_the_next_page(
    argument: str, arguments: dict[str, int], start: int
) -> None:
    following = {"argument": argument}
    response = shorten(TEN, arguments=arguments, characters=500, next=following)
    value = start + len(response.result)
    assert response.note.endswith(f" call again with `{argument}` = {value}.")


@pytest.mark.parametrize(("length", "has_next_page"), [(200, True), (201, False)])
def test_argument_value_for_the_next_page_has_at_most_200_characters(
    length: int, has_next_page: bool
) -> None:
    value = [{"id": "x" * (length - len('""'))} for _ in range(9)]
    response = shorten(value, characters=900, next=BY_ID)
    assert ("For more" in response.note) is has_next_page


@pytest.mark.parametrize(
    "following",
    [
        {"argument": "page"},
        {"argument": "after", "from": "text"},
        {"argument": "after"},
    ],
)
def test_note_has_no_next_page_if_its_argument_is_unknown(following: Any) -> None:
    """The parameter does not exist, its value is too long, or it is not a number."""
    long = [{"text": "x" * 250} for _ in range(9)]
    response = shorten(long, characters=900, arguments={"after": "n1"}, next=following)
    assert response.note is not None and "For more" not in response.note


def test_result_note_has_no_next_page_if_two_lists_are_shortened() -> None:
    value = {"a": ["x" * 200] * 5, "b": ["y" * 190] * 5}
    response = shorten(value, characters=400, next=BY_OFFSET)
    assert response.note is not None and response.note.count("the last") == 2
    assert "For more" not in response.note


@pytest.mark.parametrize(
    ("following", "has_next_page"), [(BY_OFFSET, False), (BY_ID, True)]
)
def test_two_list_result_note_has_a_next_page_only_by_an_item_property(
    following: Any, has_next_page: bool
) -> None:
    """An offset could refer to either list, and a complete list has no next page."""
    value = {"items": TEN, "tags": ["a", "b"]}
    response = shorten(value, characters=400, next=following)
    assert response.note is not None and ("For more" in response.note) is has_next_page
    value = {"hits": TEN[:2], "facets": [f"{n:09}" for n in range(90)]}
    response = shorten(value, characters=800, next=following)
    assert response.note is not None and "of `facets`" in response.note
    assert "For more" not in response.note


@pytest.mark.parametrize(("size", "threads"), [(100_000, 0), (100_001, 1)])
def test_only_a_result_over_100000_characters_is_shortened_in_a_thread(
    size: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A spec that only sets the form of results uses no thread."""
    large = ToolResponse(["x" * 9_000] * 10 + ["x" * (size - 90_044)])
    assert len(large.text()) == size
    used: list[Any] = []

    async def in_thread(work: Any, name: str) -> Any:
        used.append(name)
        return work(), None

    async def answer(*call: Any) -> Any:
        return large, "ok"

    monkeypatch.setattr(f"{shape_results.__module__}.run_in_thread", in_thread)
    answered = shape_results(answer)
    plain = replace(make_tool(), result=ResultForm(send="text"))
    context = CallContext("find")
    assert asyncio.run(answered(plain, None, {}, context)) == (large, "ok")
    assert not used
    response, _ = asyncio.run(answered(make_tool(characters=500), None, {}, context))
    assert len(used) == threads and response.note is not None


def test_result_within_its_budget_is_unchanged_and_has_no_note() -> None:
    for value in (TEN, {"items": TEN}, "text", None, 5):
        response = ToolResponse(value)
        assert shorten(value, characters=len(response.text())) == response


LISTED = {"type": "object", "properties": {"items": {"type": "array", "minItems": 8}}}


@pytest.mark.parametrize("fitting", [1, 6, 7])
def test_list_is_shortened_to_its_min_items_and_then_inside_its_items(
    fitting: int,
) -> None:
    value = {"items": [{"tags": ["t" * 20] * 20}] * 10}
    maximum = fitting * len(json.dumps(value["items"][0])) + 200
    assert len(shorten(value, characters=maximum).result["items"]) == fitting
    response = shorten(value, LISTED, characters=maximum)
    assert len(response.result["items"]) == 8
    assert any(len(item["tags"]) < 20 for item in response.result["items"])
    assert not Checker(LISTED).problems(response.result)
    assert measure(response) <= maximum


def test_result_that_cannot_be_shortened_is_an_error_with_its_size() -> None:
    """The error states that the tool was called, so that no model repeats the call."""
    for value, returns in (
        ({"items": ["x" * 100] * 10}, LISTED),
        (["x" * 900], {"type": "array", "minItems": 1}),
        ({"text": "x" * 900}, None),
        ("x" * 900, None),
    ):
        response = shorten(value, returns, characters=400)
        assert response.result is None and response.error is not None
        start = "`find` was called, but its result is too large to be sent"
        assert response.error.startswith(start)
        size = f"it has about {len(ToolResponse(value).text()):,} characters"
        assert size in response.error


@pytest.mark.parametrize("unit", ["tokens", "characters"])
@pytest.mark.parametrize("item", [1, "a", [], {"a": None}, "x" * 90])
def test_shortened_result_omits_no_item_that_would_fit(unit: str, item: Any) -> None:
    """The tolerance is the size of one item, and the error of a sum of sizes."""
    count = estimate_tokens if unit == "tokens" else len
    response = shorten([item] * 5_000, **{unit: 400})
    item_size = int(count(f"{json.dumps(item)}, "))
    assert 400 - item_size - 5 <= measure(response, count) <= 400


def test_error_response_above_the_result_budget_is_unchanged() -> None:
    failed = ToolResponse(error="no", content=[make_text_block("no " * 900)])
    assert shape_response(make_tool(characters=400), {}, failed) is failed


def make_text_block(text: str) -> dict[str, Any]:
    return {**TEXT, "text": text}


@pytest.mark.parametrize("has_value", [True, False])
def test_json_in_an_mcp_text_block_above_the_budget_is_shortened_as_json(
    has_value: bool,
) -> None:
    """External servers often return JSON as text, without structured content."""
    text = json.dumps({"items": TEN}, indent=2)
    content = [make_text_block(text), IMAGE]
    whole = ToolResponse(text if has_value else content, content=content)
    response = shape_response(make_tool(characters=500), {}, whole)
    expected = json.dumps({"items": TEN[:4]})
    assert response.result == expected
    assert response.content == [make_text_block(expected), IMAGE]


def test_text_block_next_to_a_shortened_result_is_replaced_by_it() -> None:
    link = {"type": "resource_link", "uri": "a:b", "name": "x" * 100}
    whole = ToolResponse({"items": TEN}, content=[make_text_block("words" * 900), link])
    response = shape_response(make_tool(characters=500), {}, whole)
    assert response.content == [make_text_block(response.text()), link]
    assert 0 < len(response.result["items"]) < 3


def test_text_block_above_the_budget_is_replaced_by_the_short_result() -> None:
    text = '{"items": [1, 2]}'
    whole = ToolResponse(json.loads(text), content=[make_text_block("words" * 900)])
    response = shape_response(make_tool(characters=len(text)), {}, whole)
    assert response.content == [make_text_block(text)]
    assert response.note == "Omitted: the text next to the result."


def test_shortened_result_without_a_text_block_gets_no_text_block() -> None:
    whole = ToolResponse(TEN, content=[IMAGE])
    response = shape_response(make_tool(characters=500), {}, whole)
    assert (response.result, response.content) == (TEN[:4], [IMAGE])


def test_images_do_not_count_against_the_result_budget() -> None:
    """The result of an external server without a value is its content blocks."""
    whole = ToolResponse([IMAGE], content=[IMAGE])
    assert shape_response(make_tool(characters=400), {}, whole) is whole


def test_control_characters_of_a_property_name_in_a_note_are_escaped() -> None:
    response = shorten({"a\x1b[2J\u202e" + "b" * 99: ["x" * 50] * 20}, characters=500)
    name = r"a\x1b[2J\u202e" + "b" * 54 + "..."
    assert response.note == f"Omitted: the last 15 of 20 of `{name}`."


def test_value_control_characters_in_a_shortened_result_note_are_escaped() -> None:
    value = [{"id": f"\x9b2J\u202e\ud83dü{n}", "text": "x" * 50} for n in range(20)]
    response = shorten(json.dumps(value), characters=500, next=BY_ID)
    assert response.note is not None and response.note.isprintable()
    prefix, _, last = response.note.rpartition(" = ")
    assert prefix.endswith("`after`")
    assert json.loads(last[:-1]) == json.loads(response.result)[-1]["id"]


def test_lone_surrogate_in_shortened_result_json_text_stays_an_escape() -> None:
    """JavaScript writes such an escape for a text that was cut within an emoji."""
    text = json.dumps(["\ud83d" * 9, *["x" * 50] * 20])
    whole = ToolResponse(text, content=[make_text_block(text)])
    response = shape_response(make_tool(characters=500), {}, whole)
    assert response.content == [make_text_block(response.result)]
    assert response.result.encode("utf-8").startswith(rb'["\ud83d\ud83d')
    assert measure(response) <= 500
    assert is_shortened(json.loads(response.result), json.loads(text))


@pytest.mark.parametrize("max_threads", [worker_threads.MAX_THREADS, 0])
async def test_event_loop_stays_responsive_while_a_large_tool_result_is_shortened(
    monkeypatch: pytest.MonkeyPatch, max_threads: int
) -> None:
    """If every thread is busy, the result is shortened in the event loop instead."""
    monkeypatch.setattr(worker_threads, "MAX_THREADS", max_threads)
    monkeypatch.setattr(worker_threads, "_THREAD_TIMEOUT_S", 0.01)

    async def whole(*_: Any) -> Any:
        return ToolResponse([1] * 50_000), "ok"

    answer = shape_results(whole)(make_tool(tokens=400), None, {}, CallContext("find"))
    task, rounds = asyncio.ensure_future(answer), 0
    while not task.done():
        await asyncio.sleep(0.001)
        rounds += 1
    response, outcome = task.result()
    assert (outcome, response.error) == ("ok", None) and response.note is not None
    assert rounds > 10 or not max_threads


def test_result_text_with_too_deeply_nested_json_is_handled_as_plain_text() -> None:
    """The parser accepts more levels than the encoder."""
    for depth in range(900, 1_000):
        text = "[" * depth + '"' + "x" * 900 + '"' + "]" * depth
        response = shape_response(make_tool(characters=500), {}, ToolResponse(text))
        assert response.error is None or "was called" in response.error


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**6), 10**6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=40),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=12),
        st.dictionaries(st.text(max_size=8), inner, max_size=5),
    ),
    max_leaves=60,
)


@st.composite
def results_with_schema(draw: Any) -> tuple[Any, Any]:
    """Draw a result and a matching schema, with `minItems` for some arrays."""
    value = draw(VALUES)
    return value, _draw_schema(draw, value, 0)


def _draw_schema(draw: Any, value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        properties = {
            key: _draw_schema(draw, member, depth + 1) for key, member in value.items()
        }
        return {"type": "object", "properties": properties, "required": [*value]}
    if isinstance(value, list):
        return {"type": "array", "minItems": draw(st.integers(0, min(len(value), 3)))}
    return True


def is_shortened(value: Any, original: Any) -> bool:
    """Return whether a value equals another without the last items of some lists."""
    if isinstance(original, dict):
        return (
            isinstance(value, dict)
            and value.keys() == original.keys()
            and all(is_shortened(value[key], original[key]) for key in original)
        )
    if isinstance(original, list):
        pairs = zip(value, original, strict=False) if isinstance(value, list) else ()
        return isinstance(value, list) and all(is_shortened(*pair) for pair in pairs)
    return type(value) is type(original) and bool(value == original)


@limit_examples(400)
@given(
    results_with_schema(),
    st.integers(1, 600),
    st.sampled_from([None, BY_OFFSET, BY_ID]),
)
def test_shortened_result_matches_its_returns_schema_and_is_within_its_budget(
    result_and_schema: tuple[Any, Any], maximum: int, following: Any
) -> None:
    for unit in ("tokens", "characters"):
        budget = {unit: maximum, **({} if following is None else {"next": following})}
        _check_shortened_result(*result_and_schema, unit, budget)


def _check_shortened_result(
    value: Any, schema: Any, unit: str, budget: dict[str, Any]
) -> None:
    """Check that a shortened result contains only parts of the original result."""
    count = estimate_tokens if unit == "tokens" else len
    response = shorten(value, schema, **budget)
    if response.error is not None:
        assert count(ToolResponse(value).text()) > budget[unit]
        return
    assert measure(response, count) <= budget[unit]
    assert not Checker(schema).problems(response.result)
    if isinstance(value, str) and response.note is not None:
        assert is_shortened(json.loads(response.result), json.loads(value))
    else:
        assert is_shortened(response.result, value)
    assert (response.note is None) == (response.result == value)


@limit_examples(300)
@given(st.text(max_size=60), st.text(max_size=60))
def test_estimate_tokens_for_joined_texts_is_at_most_the_sum_for_the_separate_texts(
    first: str, second: str
) -> None:
    counts = estimate_tokens(first), estimate_tokens(second)
    joined = estimate_tokens(first + second)
    assert max(counts) <= joined <= sum(counts) <= joined + 1


def test_at_most_16_lists_are_shortened() -> None:
    """The largest lists are shortened, here by omitting their only items."""
    large = {f"k{number}": ["x" * 60] for number in range(16)}
    response = shorten({**large, "small": ["y" * 20] * 2}, characters=800)
    assert [*response.result["small"]] == ["y" * 20] * 2
    assert measure(response) <= 800


@pytest.mark.parametrize("inner", [1, 400])
def test_result_with_40000_items_is_shortened_in_bounded_time(inner: int) -> None:
    value = {
        "items": [{"n": n, "tags": ["tag"] * inner} for n in range(40_000 // inner)]
    }
    started = time.process_time()
    response = shorten(value, LISTED, tokens=2_000)
    assert response.note is not None or response.error is not None
    assert time.process_time() - started < 20
