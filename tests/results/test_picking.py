"""Properties of results that a caller picks: what is sent, and how the tool is listed."""

from __future__ import annotations

import time
from typing import Any

import pytest

from toolcast_runtime import ToolResponse
from toolcast_runtime.core.definitions.tool import ResultForm, Tool
from toolcast_runtime.results.field_selection import (
    build_listed_parameters,
    build_listed_returns,
    list_schemas_on_path,
)
from toolcast_runtime.results.truncation import shape_response

NOTE = {
    "type": "object",
    "properties": {
        "id": {},
        "title": {},
        "by": {"properties": {"name": {}, "mail": {}}},
    },
    "required": ["id", "title", "by"],
}
RETURNS = {
    "type": "object",
    "properties": {"items": {"type": "array", "items": NOTE}, "total": {}},
    "required": ["items", "total"],
}
BY = {"name": "Mia", "mail": "m@x"}
ONE = {"id": 1, "title": "A", "by": BY}
WHOLE = {"items": [ONE, {"id": 2, "title": "B"}], "total": 2}
DEEP = ["items.title", "items.by", "items.by.mail"]


def sent(fields: dict[str, Any], chosen: Any = None, value: Any = WHOLE) -> Any:
    """What a call gets that picks, or does not."""
    form = ResultForm(fields={"parameter": "fields", **fields}, returns=RETURNS)
    tool = Tool("find", "", "", {"name": "find", "inputSchema": {}}, result=form)
    given = {} if chosen is None else {"fields": chosen}
    return shape_response(tool, given, ToolResponse(value)).result


@pytest.mark.parametrize(
    ("fields", "chosen", "items"),
    [
        # Without a word of the caller's it is the default, or all.
        ({"allowed": DEEP}, None, WHOLE["items"]),
        ({"allowed": DEEP, "default": []}, None, [{"id": 1}, {"id": 2}]),
        (
            {"allowed": DEEP, "default": ["items.title"]},
            None,
            [{"id": 1, "title": "A"}, {"id": 2, "title": "B"}],
        ),
        ({"allowed": DEEP}, [], [{"id": 1}, {"id": 2}]),
        # With a property comes all that is in it, and what it is in.
        ({"allowed": DEEP}, ["items.by"], [{"id": 1, "by": BY}, {"id": 2}]),
        ({"allowed": DEEP}, ["items.by.mail"], [{"id": 1, "by": BY}, {"id": 2}]),
        (
            {"allowed": ["items.by.name", "items.by.mail"]},
            ["items.by.mail"],
            [{**ONE, "by": {"mail": "m@x"}}, {"id": 2, "title": "B"}],
        ),
    ],
)
def test_what_is_not_picked_is_left_out(fields: Any, chosen: Any, items: Any) -> None:
    assert sent(fields, chosen) == {"items": items, "total": 2}
    assert WHOLE["items"] == [ONE, {"id": 2, "title": "B"}]


def test_who_picks_a_property_often_keeps_nobody_waiting() -> None:
    fields = {"allowed": [f"items.p{number}" for number in range(100)] + DEEP}
    started = time.perf_counter()
    assert sent(fields, ["items.p1"] * 100_000)["items"] == [{"id": 1}, {"id": 2}]
    assert time.perf_counter() - started < 0.5


def test_a_whole_list_may_be_left_out() -> None:
    assert sent({"allowed": ["items", "total"]}, ["total"]) == {"total": 2}


def test_what_a_path_does_not_fit_stays() -> None:
    fields = {"allowed": ["items.title"], "default": []}
    for value in (None, 5, "items", [], {"items": None}, {"items": [1, None, []]}):
        assert sent(fields, None, value) == value


def test_a_tool_is_listed_with_the_parameter_and_less_that_is_required() -> None:
    fields = {"parameter": "pick", "allowed": DEEP, "default": ["items.title"]}
    own = {"type": "object", "properties": {"q": {}}, "required": ["q"]}
    listed = build_listed_parameters(own, fields)
    assert {**listed, "properties": {"q": {}}} == own
    assert [*listed["properties"]] == ["q", "pick"]
    picks = listed["properties"]["pick"]
    assert picks["items"] == {"type": "string", "enum": DEEP}
    assert picks["default"] == ["items.title"]
    returns = build_listed_returns(RETURNS, fields)
    assert returns["required"] == ["items", "total"]
    assert returns["properties"]["items"]["items"]["required"] == ["id"]
    assert NOTE["required"] == ["id", "title", "by"]


@pytest.mark.parametrize(
    "broken",
    [
        None,
        True,
        [],
        {"properties": []},
        {"properties": {"items": {"items": [{}]}}},
        {"properties": {"items": {"properties": {"title": 5}, "required": [[], {}]}}},
    ],
)
def test_a_schema_that_is_none_is_listed_as_it_is(broken: Any) -> None:
    assert build_listed_returns(broken, {"allowed": ["items.title"]}) == broken


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("total", 1),
        ("items", 1),
        ("items.title", 3),
        ("items.by.mail", 4),
        *((path, 0) for path in ("", "items.", "title", "items.0", "items.title.x")),
    ],
)
def test_a_way_is_what_a_schema_writes_out(path: str, found: int) -> None:
    if found:
        assert len(list_schemas_on_path(RETURNS, path)) == found + 1
        return
    with pytest.raises(LookupError):
        list_schemas_on_path(RETURNS, path)
