"""Selection of result fields by the caller: the sent result and the listed tool."""

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
AUTHOR = {"name": "Mia", "mail": "m@x"}
NOTE_VALUE = {"id": 1, "title": "A", "by": AUTHOR}
RESULT = {"items": [NOTE_VALUE, {"id": 2, "title": "B"}], "total": 2}
DEEP = ["items.title", "items.by", "items.by.mail"]


def pick(fields: dict[str, Any], chosen: Any = None, value: Any = RESULT) -> Any:
    """Return the sent result of a call with or without selected fields."""
    form = ResultForm(fields={"parameter": "fields", **fields}, returns=RETURNS)
    tool = Tool("find", "", "", {"name": "find", "inputSchema": {}}, result=form)
    arguments = {} if chosen is None else {"fields": chosen}
    return shape_response(tool, arguments, ToolResponse(value)).result


@pytest.mark.parametrize(
    ("fields", "chosen", "items"),
    [
        # Without a selection, the default applies, or all fields.
        ({"allowed": DEEP}, None, RESULT["items"]),
        ({"allowed": DEEP, "default": []}, None, [{"id": 1}, {"id": 2}]),
        (
            {"allowed": DEEP, "default": ["items.title"]},
            None,
            [{"id": 1, "title": "A"}, {"id": 2, "title": "B"}],
        ),
        ({"allowed": DEEP}, [], [{"id": 1}, {"id": 2}]),
        # A selected property includes its parents and everything inside it.
        ({"allowed": DEEP}, ["items.by"], [{"id": 1, "by": AUTHOR}, {"id": 2}]),
        ({"allowed": DEEP}, ["items.by.mail"], [{"id": 1, "by": AUTHOR}, {"id": 2}]),
        (
            {"allowed": ["items.by.name", "items.by.mail"]},
            ["items.by.mail"],
            [{**NOTE_VALUE, "by": {"mail": "m@x"}}, {"id": 2, "title": "B"}],
        ),
    ],
)
def test_result_properties_that_the_caller_does_not_select_are_omitted_from_the_result(
    fields: Any, chosen: Any, items: Any
) -> None:
    """The `result.fields` of a spec adds a parameter that selects result properties."""
    assert pick(fields, chosen) == {"items": items, "total": 2}
    assert RESULT["items"] == [NOTE_VALUE, {"id": 2, "title": "B"}]


def test_result_field_selected_100000_times_is_processed_within_half_a_second() -> None:
    fields = {"allowed": [f"items.p{number}" for number in range(100)] + DEEP}
    started = time.process_time()
    assert pick(fields, ["items.p1"] * 100_000)["items"] == [{"id": 1}, {"id": 2}]
    assert time.process_time() - started < 0.5


def test_result_array_property_can_be_omitted_by_the_field_selection() -> None:
    assert pick({"allowed": ["items", "total"]}, ["total"]) == {"total": 2}


def test_result_values_that_do_not_match_a_selectable_path_are_unchanged() -> None:
    fields = {"allowed": ["items.title"], "default": []}
    for value in (None, 5, "items", [], {"items": None}, {"items": [1, None, []]}):
        assert pick(fields, None, value) == value


def test_listed_tool_has_the_selection_parameter_and_optional_result_fields() -> None:
    fields = {"parameter": "pick", "allowed": DEEP, "default": ["items.title"]}
    parameters = {"type": "object", "properties": {"q": {}}, "required": ["q"]}
    listed_parameters = build_listed_parameters(parameters, fields)
    assert {**listed_parameters, "properties": {"q": {}}} == parameters
    assert [*listed_parameters["properties"]] == ["q", "pick"]
    picks = listed_parameters["properties"]["pick"]
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
def test_tool_with_field_selection_is_listed_with_its_invalid_returns_schema_unchanged(
    broken: Any,
) -> None:
    assert build_listed_returns(broken, {"allowed": ["items.title"]}) == broken


@pytest.mark.parametrize(
    ("path", "length"),
    [
        ("total", 1),
        ("items", 1),
        ("items.title", 3),
        ("items.by.mail", 4),
        *((path, 0) for path in ("", "items.", "title", "items.0", "items.title.x")),
    ],
)
def test_selectable_result_field_path_may_contain_only_returns_schema_properties(
    path: str, length: int
) -> None:
    if length:
        assert len(list_schemas_on_path(RETURNS, path)) == length + 1
        return
    with pytest.raises(LookupError):
        list_schemas_on_path(RETURNS, path)
