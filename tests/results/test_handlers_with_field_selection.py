"""Handlers of tools with selectable result fields, which never see the selection."""

from __future__ import annotations

import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.consent import Answer

HANDLERS = "tests.results.handlers_of_picks"
FIELDS = {"parameter": "fields", "allowed": ["a", "b"], "default": ["a"]}
RESULT = {"a": 1, "b": 2, "c": 3}
SEEN: list[Any] = []


@dataclass
class SearchNote:
    """A user's class with a field for each parameter of the spec."""

    kind: str
    size: int | None = None


def by_keywords(kind: str, size: int | None = None) -> Any:
    SEEN.append(SearchNote(kind, size))
    return RESULT


def by_mapping(fields: dict[str, Any]) -> Any:
    """Return the result; the name of the only parameter is also the selection's."""
    SEEN.append(SearchNote(**fields))
    return RESULT


def by_class(search: SearchNote) -> Any:
    SEEN.append(search)
    return RESULT


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types.ModuleType(HANDLERS)
    for function in (SearchNote, by_keywords, by_mapping, by_class):
        monkeypatch.setattr(function, "__module__", HANDLERS)
        setattr(module, function.__name__, function)
    monkeypatch.setitem(sys.modules, HANDLERS, module)
    SEEN.clear()

    def make(handler: str, **fields: Any) -> Registry:
        function = definition(
            "t", handler=f"{HANDLERS}:{handler}", result={"fields": FIELDS}, **fields
        )
        properties = {"kind": {"enum": ["x", "y"]}, "size": {"type": "integer"}}
        function["mcp"]["inputSchema"] = {
            "type": "object",
            "additionalProperties": False,
            "properties": {**properties, "fields": {"type": "array"}},
            "required": ["kind"],
        }
        return Registry(Package(tmp_path, function).load(), handlers=HANDLERS)

    return make


@pytest.mark.parametrize(
    ("handler", "more"),
    [
        ("by_keywords", {}),
        ("by_keywords", {"values": "python"}),
        ("by_mapping", {}),
        ("by_class", {"arguments_type": f"{HANDLERS}:SearchNote"}),
    ],
)
def test_handler_receives_its_arguments_without_the_field_selection_parameter(
    registry: Any, handler: str, more: Any
) -> None:
    tools = registry(handler, **more)
    response = tools.call_tool_sync("t", {"kind": "x", "fields": ["b"]})
    assert (response.error, response.result) == (None, {"b": 2, "c": 3})
    assert tools.call_tool_sync("t", {"kind": "x"}).result == {"a": 1, "c": 3}
    assert [SearchNote("x")] * 2 == SEEN
    # Selecting fields does not change an object that other calls share.
    assert RESULT == {"a": 1, "b": 2, "c": 3}


def test_tool_action_with_the_field_selection_parameter_in_accepts_can_select_fields(
    registry: Any,
) -> None:
    """The generator adds this parameter to `accepts` of every action."""
    actions = {"parameter": "kind", "values": {"x": {"accepts": ["fields"]}, "y": {}}}
    tools = registry("by_keywords", actions=actions)
    assert tools.call_tool_sync("t", {"kind": "x", "fields": []}).result == {"c": 3}
    assert (
        "is not accepted" in tools.call_tool_sync("t", {"kind": "x", "size": 1}).error
    )


@pytest.mark.parametrize("picks", [{}, {"fields": ["a"]}])
def test_confirmation_condition_and_question_ignore_the_result_field_selection(
    registry: Any, picks: Any
) -> None:
    """The condition and the question are about the arguments of the spec."""
    confirm = {"message": "Really?", "when": {"maxProperties": 1}}
    tools = registry("by_keywords", confirm=confirm)
    search: list[Any] = []

    def ask(question: Any) -> Answer:
        search.append(dict(question.arguments))
        return Answer("decline")

    refused = tools.call_tool_sync("t", {"kind": "x", **picks}, ask=ask)
    assert refused.error is not None and search == [{"kind": "x"}] and not SEEN
