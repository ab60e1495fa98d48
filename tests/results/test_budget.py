"""A result that is larger than an answer may be: what is left of it, and what is said."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties import tried
from toolcast_runtime import ToolResponse
from toolcast_runtime.core.calls import worker_threads
from toolcast_runtime.core.context import CallContext
from toolcast_runtime.core.definitions.tool import ResultForm, Tool
from toolcast_runtime.core.validation.checker import Checker
from toolcast_runtime.results.budget import (
    ResultLimits,
    ResultShortener,
    encode_json_text,
    estimate_tokens,
)
from toolcast_runtime.results.truncation import shape_response, shape_results

OFFSET = {"type": "integer", "default": 0}
PARAMETERS = {
    "type": "object",
    "properties": {"offset": OFFSET, "start": {"default": 1}, "after": {}},
}
BY_OFFSET = {"argument": "offset"}
BY_ID = {"argument": "after", "from": "id"}
TEN = [{"id": f"n{n}", "text": "x" * 80} for n in range(10)]
TEXT = {"type": "text"}
IMAGE = {"type": "image", "data": "A" * 4000, "mimeType": "image/png"}


def tool(returns: Any = None, **budget: Any) -> Tool:
    definition = {"name": "find", "inputSchema": PARAMETERS}
    if returns is not None:
        definition["outputSchema"] = returns
    form = ResultForm(budget=budget)
    return Tool("find", "Finds.", "Finds.", definition, result=form)


def sent(value: Any, returns: Any = None, *, given: Any = None, **budget: Any) -> Any:
    """What is sent of a result by a tool of this budget."""
    return shape_response(tool(returns, **budget), given or {}, ToolResponse(value))


def size(response: ToolResponse, count: Any = len) -> int:
    return int(count(response.text()) + count(response.note or ""))


# Each a result, a budget, what is left of the result, and what is said.
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
    # The largest list gives way, whatever stands before it.
    (
        {"few": ["a", "b"], "many": TEN},
        {"characters": 500},
        {"few": ["a", "b"], "many": TEN[:4]},
        "Omitted: the last 6 of 10 of `many`.",
    ),
    # A list of one item gives way to those in it, of which none is a page.
    (
        {"pages": [{"blocks": ["y" * 100] * 9}]},
        {"characters": 400, "next": BY_OFFSET},
        {"pages": [{"blocks": ["y" * 100] * 3}]},
        "Omitted: the last 6 of 9 of `pages.0.blocks`.",
    ),
    # Where not even one fits, the lists of the first are shortened, too.
    (
        {"pages": [{"blocks": ["y" * 100] * 9}] * 5},
        {"characters": 400},
        {"pages": [{"blocks": ["y" * 100] * 2}]},
        "Omitted: the last 4 of 5 of `pages`, the last 7 of 9 of `pages.0.blocks`.",
    ),
    # One item alone is too much, and never cut in two.
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


@pytest.mark.parametrize(("value", "budget", "left", "note"), SHORTENED)
def test_items_are_left_out_from_the_end(
    value: Any, budget: dict[str, Any], left: Any, note: str
) -> None:
    before = json.dumps(value)
    response = sent(value, **budget)
    assert (response.error, response.result, response.note) == (None, left, note)
    assert size(response) <= budget["characters"] and json.dumps(value) == before


@pytest.mark.parametrize(
    ("budget", "given", "says"),
    [
        (BY_OFFSET, {"offset": 20}, "`offset` = 2"),
        ({"argument": "start"}, {}, "`start` = "),
        ({"argument": "start"}, {"start": 7}, "`start` = "),
    ],
)
def test_a_call_goes_on_behind_what_was_sent(
    budget: Any, given: dict[str, int], says: str
) -> None:
    response = sent(TEN, given=given, characters=500, next=budget)
    assert response.note is not None and says in response.note
    begin = given.get(budget["argument"], 0 if "offset" in says else 1)
    assert f"= {begin + len(response.result)}." in response.note


@pytest.mark.parametrize(
    "following",
    [
        {"argument": "page"},
        {"argument": "after", "from": "text"},
        {"argument": "after"},
    ],
)
def test_what_nobody_knows_is_not_told(following: Any) -> None:
    """No such parameter; a value that is too long; one that is no number."""
    long = [{"text": "x" * 250} for _ in range(9)]
    response = sent(long, characters=900, given={"after": "n1"}, next=following)
    assert response.note is not None and "For more" not in response.note


def test_two_lists_that_are_shortened_have_no_one_way_to_the_rest() -> None:
    value = {"a": ["x" * 200] * 5, "b": ["y" * 190] * 5}
    response = sent(value, characters=400, next=BY_OFFSET)
    assert response.note is not None and response.note.count("the last") == 2
    assert "For more" not in response.note


@pytest.mark.parametrize(
    ("following", "told"),
    [(BY_OFFSET, False), (BY_ID, True)],
)
def test_beside_another_list_only_a_property_says_where_a_call_goes_on(
    following: Any, told: bool
) -> None:
    """By an offset nobody knows in which; no call goes on in `hits`, whose items are all sent."""
    value = {"items": TEN, "tags": ["a", "b"]}
    response = sent(value, characters=400, next=following)
    assert response.note is not None and ("For more" in response.note) is told
    value = {"hits": TEN[:2], "facets": [f"{n:09}" for n in range(90)]}
    response = sent(value, characters=800, next=following)
    assert response.note is not None and "of `facets`" in response.note
    assert "For more" not in response.note


@pytest.mark.parametrize(("size", "threads"), [(90_000, 0), (110_000, 1)])
def test_only_a_large_answer_is_shaped_in_a_thread(
    size: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is done where a spec says no more than the form."""
    large = ToolResponse(["x" * (size // 10)] * 10)
    used: list[Any] = []

    async def in_thread(work: Any, name: str) -> Any:
        used.append(name)
        return work(), None

    async def answer(*call: Any) -> Any:
        return large, "ok"

    monkeypatch.setattr(f"{shape_results.__module__}.run_in_thread", in_thread)
    answered = shape_results(answer)
    plain = replace(tool(), result=ResultForm(send="text"))
    context = CallContext("find")
    assert asyncio.run(answered(plain, None, {}, context)) == (large, "ok")
    assert not used
    response, _ = asyncio.run(answered(tool(characters=500), None, {}, context))
    assert len(used) == threads and response.note is not None


def test_a_small_result_is_what_it_was() -> None:
    for value in (TEN, {"items": TEN}, "text", None, 5):
        assert sent(value, characters=10_000) == ToolResponse(value)


LISTED = {"type": "object", "properties": {"items": {"type": "array", "minItems": 8}}}


def test_a_list_that_cannot_be_shortened_so_far_is_shortened_as_far_as_it_can() -> None:
    value = {"items": [{"tags": ["t" * 20] * 20}] * 10}
    response = sent(value, LISTED, characters=3_000)
    assert len(response.result["items"]) == 8
    assert any(len(item["tags"]) < 20 for item in response.result["items"])
    assert not Checker(LISTED).problems(response.result) and size(response) <= 3_000


def test_where_no_valid_result_fits_the_error_says_that_the_call_was_done() -> None:
    for value, returns in (
        ({"items": ["x" * 100] * 10}, LISTED),
        ({"text": "x" * 900}, None),
        ("x" * 900, None),
    ):
        response = sent(value, returns, characters=400)
        assert response.result is None and response.error is not None
        assert response.error.startswith(
            "`find` was called, but its result is too large to be sent"
        )
        assert f"it has about {len(ToolResponse(value).text()):,} characters" in (
            response.error
        )


@pytest.mark.parametrize("unit", ["tokens", "characters"])
@pytest.mark.parametrize("item", [1, "a", [], {"a": None}, "x" * 90])
def test_no_more_is_left_out_than_has_to_be(unit: str, item: Any) -> None:
    """But for the item that would not fit, and what a sum of sizes may be off by."""
    count = estimate_tokens if unit == "tokens" else len
    response = sent([item] * 5_000, **{unit: 400})
    one = int(count(f"{json.dumps(item)}, "))
    assert 400 - one - 5 <= size(response, count) <= 400


def test_an_error_stays_as_it_is() -> None:
    failed = ToolResponse(error="no " * 900)
    assert shape_response(tool(characters=400), {}, failed) is failed


def block(text: str) -> dict[str, Any]:
    return {**TEXT, "text": text}


def test_json_in_a_text_is_shortened_as_json() -> None:
    """As many servers answer: a text, and no value."""
    text = json.dumps({"items": TEN}, indent=2)
    given = ToolResponse(text, content=[block(text), IMAGE])
    response = shape_response(tool(characters=500), {}, given)
    left = json.dumps({"items": TEN[:4]})
    assert response.result == left
    assert response.content == [block(left), IMAGE]


def test_blocks_that_repeat_a_result_are_as_short_as_it_is() -> None:
    link = {"type": "resource_link", "uri": "a:b", "name": "x" * 100}
    whole = ToolResponse({"items": TEN}, content=[block("words" * 900), link])
    response = shape_response(tool(characters=500), {}, whole)
    assert response.content == [block(response.text()), link]
    assert 0 < len(response.result["items"]) < 3


def test_a_long_text_beside_a_short_result_is_replaced_by_it() -> None:
    whole = ToolResponse({"items": [1]}, content=[block("words" * 900)])
    response = shape_response(tool(characters=500), {}, whole)
    assert response.content == [block('{"items": [1]}')]
    assert response.note == "Omitted: the text next to the result."


def test_pictures_are_no_text() -> None:
    """An external server's answer without a value has its blocks as the result."""
    whole = ToolResponse([IMAGE], content=[IMAGE])
    assert shape_response(tool(characters=400), {}, whole) is whole


def test_a_strangers_names_drive_no_terminal() -> None:
    response = sent({"a\x1b[2J\u202e" + "b" * 99: ["x" * 50] * 20}, characters=500)
    assert response.note is not None and response.note.isprintable()
    assert "\\x1b[2J" in response.note


def test_a_strangers_values_drive_no_terminal() -> None:
    value = [{"id": f"\x9b2J\u202e\ud83dü{n}", "text": "x" * 50} for n in range(20)]
    response = sent(json.dumps(value), characters=500, next=BY_ID)
    assert response.note is not None and response.note.isprintable()
    asks, _, last = response.note.rpartition(" = ")
    assert asks.endswith("`after`")
    assert json.loads(last[:-1]) == json.loads(response.result)[-1]["id"]


def test_half_of_a_surrogate_pair_in_a_text_is_an_escape_as_it_was() -> None:
    """As JavaScript writes a text that was cut in the middle of a picture."""
    text = json.dumps(["\ud83d" * 9, *["x" * 50] * 20])
    response = shape_response(
        tool(characters=500), {}, ToolResponse(text, content=[block(text)])
    )
    assert response.content == [block(response.result)]
    assert response.result.encode("utf-8").startswith(rb'["\ud83d\ud83d')
    assert size(response) <= 500 and is_part(
        json.loads(response.result), json.loads(text)
    )


@pytest.mark.parametrize("places", [worker_threads.MAX_THREADS, 0])
async def test_others_are_answered_while_a_large_result_is_shaped(
    monkeypatch: pytest.MonkeyPatch, places: int
) -> None:
    """But for where every thread is taken: then it is shaped all the same."""
    monkeypatch.setattr(worker_threads, "MAX_THREADS", places)
    monkeypatch.setattr(worker_threads, "_THREAD_TIMEOUT_S", 0.01)

    async def whole(*_: Any) -> Any:
        return ToolResponse([1] * 100_000), "ok"

    answer = shape_results(whole)(tool(tokens=400), None, {}, CallContext("find"))
    task, rounds = asyncio.ensure_future(answer), 0
    while not task.done():
        await asyncio.sleep(0.001)
        rounds += 1
    response, outcome = task.result()
    assert (outcome, response.error) == ("ok", None) and response.note is not None
    assert rounds > 10 or not places


def test_json_in_a_text_that_is_nested_too_deeply_is_a_text() -> None:
    """What can be read may be too deep to be written."""
    for depth in range(900, 1_000):
        text = "[" * depth + '"' + "x" * 900 + '"' + "]" * depth
        response = shape_response(tool(characters=500), {}, ToolResponse(text))
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
def results(draw: Any) -> tuple[Any, Any]:
    """A result, and a schema that it is valid under, some of whose lists cannot be empty."""
    value = draw(VALUES)
    return value, _schema(draw, value, 0)


def _schema(draw: Any, value: Any, depth: int) -> Any:
    if isinstance(value, dict):
        inner = {key: _schema(draw, one, depth + 1) for key, one in value.items()}
        return {"type": "object", "properties": inner, "required": [*value]}
    if isinstance(value, list):
        return {"type": "array", "minItems": draw(st.integers(0, min(len(value), 3)))}
    return True


def is_part(left: Any, whole: Any) -> bool:
    """Whether a value is another one without the last items of some lists."""
    if isinstance(whole, dict):
        return (
            isinstance(left, dict)
            and left.keys() == whole.keys()
            and all(is_part(left[key], whole[key]) for key in whole)
        )
    if isinstance(whole, list):
        pairs = zip(left, whole, strict=False) if isinstance(left, list) else ()
        return isinstance(left, list) and all(is_part(*pair) for pair in pairs)
    return type(left) is type(whole) and bool(left == whole)


@pytest.mark.parametrize("unit", ["tokens", "characters"])
@tried(600)
@given(results(), st.integers(1, 600), st.sampled_from([None, BY_OFFSET, BY_ID]))
def test_any_result_and_any_budget(
    unit: str, given_: tuple[Any, Any], most: int, following: Any
) -> None:
    """It is valid, within the budget, and nothing in it is invented."""
    value, schema = given_
    budget = {unit: most, **({} if following is None else {"next": following})}
    count = estimate_tokens if unit == "tokens" else len
    response = sent(value, schema, **budget)
    if response.error is not None:
        assert count(ToolResponse(value).text()) > most
        return
    assert size(response, count) <= most
    assert not Checker(schema).problems(response.result)
    if isinstance(value, str) and response.note is not None:
        assert is_part(json.loads(response.result), json.loads(value))
    else:
        assert is_part(response.result, value)
    assert (response.note is None) == (response.result == value)


@tried(300)
@given(st.text(max_size=60), st.text(max_size=60))
def test_two_texts_in_one_have_no_more_tokens(one: str, other: str) -> None:
    counts = estimate_tokens(one), estimate_tokens(other)
    together = estimate_tokens(one + other)
    assert max(counts) <= together <= sum(counts) <= together + 1


@pytest.mark.parametrize("inner", [1, 400])
def test_large_results_take_little_time(inner: int) -> None:
    value = {
        "items": [{"n": n, "tags": ["tag"] * inner} for n in range(40_000 // inner)]
    }
    started = time.perf_counter()
    response = sent(value, LISTED, tokens=2_000)
    assert response.note is not None or response.error is not None
    assert time.perf_counter() - started < 20


@pytest.mark.parametrize(
    "value",
    [
        {f"k{number}": [1, 2, 3] for number in range(50_000)},
        {"all": {f"k{number}": ["a"] for number in range(50_000)}},
        {f"k{number}": [[1], [2]] for number in range(30_000)},
        {f"k{number}": [{}] for number in range(50_000)},
        {"big": list(range(9)), **{f"k{number}": [0] for number in range(50_000)}},
    ],
)
def test_result_with_many_arrays_is_rejected_early(value: dict[str, Any]) -> None:
    """The arrays that may be shortened cannot save enough, so that none is shortened."""
    validated: list[Any] = []

    def is_valid(part: Any) -> bool:
        validated.append(part)
        return True

    limits = ResultLimits(1_000, len, is_valid, lambda *_: "")
    size = len(encode_json_text(value))
    assert ResultShortener(value, size, limits).shorten() is None
    assert validated == []
