"""Who does the work knows nothing of what callers pick."""

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
class Asked:
    """A class of the team's own, with a field for each parameter of the spec."""

    kind: str
    size: int | None = None


def by_keywords(kind: str, size: int | None = None) -> Any:
    SEEN.append(Asked(kind, size))
    return RESULT


def by_mapping(fields: dict[str, Any]) -> Any:
    """Its one parameter is called as the caller's is, and is no keyword for it."""
    SEEN.append(Asked(**fields))
    return RESULT


def by_class(asked: Asked) -> Any:
    SEEN.append(asked)
    return RESULT


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    module = types.ModuleType(HANDLERS)
    for one in (Asked, by_keywords, by_mapping, by_class):
        monkeypatch.setattr(one, "__module__", HANDLERS)
        setattr(module, one.__name__, one)
    monkeypatch.setitem(sys.modules, HANDLERS, module)
    SEEN.clear()

    def made(handler: str, **more: Any) -> Registry:
        one = definition(
            "t", handler=f"{HANDLERS}:{handler}", result={"fields": FIELDS}, **more
        )
        properties = {"kind": {"enum": ["x", "y"]}, "size": {"type": "integer"}}
        one["mcp"]["inputSchema"] = {
            "type": "object",
            "additionalProperties": False,
            "properties": {**properties, "fields": {"type": "array"}},
            "required": ["kind"],
        }
        return Registry(Package(tmp_path, one).load(), handlers=HANDLERS)

    return made


@pytest.mark.parametrize(
    ("handler", "more"),
    [
        ("by_keywords", {}),
        ("by_keywords", {"values": "python"}),
        ("by_mapping", {}),
        ("by_class", {"arguments_type": f"{HANDLERS}:Asked"}),
    ],
)
def test_a_handler_is_given_its_own_arguments(
    registry: Any, handler: str, more: Any
) -> None:
    made = registry(handler, **more)
    answered = made.call_tool_sync("t", {"kind": "x", "fields": ["b"]})
    assert (answered.error, answered.result) == (None, {"b": 2, "c": 3})
    assert made.call_tool_sync("t", {"kind": "x"}).result == {"a": 1, "c": 3}
    assert [Asked("x")] * 2 == SEEN
    # Who gives results a class of their own does not change what is there for others.
    assert RESULT == {"a": 1, "b": 2, "c": 3}


def test_an_action_takes_what_picks(registry: Any) -> None:
    actions = {"parameter": "kind", "values": {"x": {"accepts": ["fields"]}, "y": {}}}
    made = registry("by_keywords", actions=actions)
    assert made.call_tool_sync("t", {"kind": "x", "fields": []}).result == {"c": 3}
    assert "is not accepted" in made.call_tool_sync("t", {"kind": "x", "size": 1}).error


@pytest.mark.parametrize("picks", [{}, {"fields": ["a"]}])
def test_no_one_gets_round_a_question_by_picking(registry: Any, picks: Any) -> None:
    """The condition is about the arguments of the spec, as the question is."""
    confirm = {"message": "Really?", "when": {"maxProperties": 1}}
    made = registry("by_keywords", confirm=confirm)
    asked: list[Any] = []

    def ask(question: Any) -> Answer:
        asked.append(dict(question.arguments))
        return Answer("decline")

    refused = made.call_tool_sync("t", {"kind": "x", **picks}, ask=ask)
    assert refused.error is not None and asked == [{"kind": "x"}] and not SEEN
