"""Which forms a handler may put to a person: those that clients can show."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.consent import questions
from toolcast_runtime.consent.questions import (
    ApprovalsInMemory,
    Questions,
    check_form,
)
from toolcast_runtime.core.question import Answer, PendingQuestion

TITLED = [{"const": "in", "title": "Inside"}]
WORDS = {"title": "A", "description": "An a."}


def form(field: Any, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": field}, **more}


@pytest.mark.parametrize(
    "field",
    [
        {"type": "boolean", "default": True, **WORDS},
        {"type": "number", "minimum": 0.5, "maximum": 1, "default": 0.7, **WORDS},
        {"type": "integer", "minimum": -1},
        {"type": "string", "minLength": 0, "maxLength": 0, "format": "uri", **WORDS},
        {"type": "string", "format": "email", "default": "a"},
        {"type": "string", "enum": ["a"], "enumNames": ["A"], "default": "a", **WORDS},
        {"type": "string", "oneOf": TITLED, "default": "in", **WORDS},
        {"type": "array", "items": {"type": "string", "enum": ["a"]}, **WORDS},
        {"type": "array", "items": {"anyOf": TITLED}, "minItems": 0, "maxItems": 0},
        {"type": "array", "items": {"anyOf": TITLED}, "default": []},
    ],
)
def test_a_field_that_clients_show(field: Any) -> None:
    assert check_form(form(field)) == []
    assert check_form(form(field, required=["a"])) == []
    assert check_form(form(field, **{"$schema": "x"})) == []


@pytest.mark.parametrize(
    "field",
    [
        {},
        {"title": "A"},
        {"type": "null"},
        {"type": "object"},
        {"type": "array"},
        {"type": "boolean", "enum": [True]},
        {"type": "boolean", "default": "yes"},
        {"type": "boolean", "title": 1},
        {"type": "number", "multipleOf": 2},
        {"type": "number", "minimum": "0"},
        {"type": "string", "minLength": -1},
        {"type": "string", "maxLength": 0.5},
        {"type": "string", "format": "ipv4"},
        {"type": "string", "pattern": "x"},
        {"type": "string", "default": 1},
        {"type": "string", "enum": []},
        {"type": "string", "enum": [1]},
        {"type": "string", "enum": ["a"], "enumNames": []},
        {"type": "string", "enum": ["a"], "minLength": 1},
        {"type": "string", "oneOf": []},
        {"type": "string", "oneOf": [{"const": "in"}]},
        {"type": "string", "oneOf": [{"title": "Inside"}]},
        {"type": "string", "oneOf": [{**TITLED[0], "more": 1}]},
        {"type": "string", "oneOf": [{"const": 1, "title": "One"}]},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array", "items": {"enum": ["a"]}},
        {"type": "array", "items": {"type": "number", "enum": ["a"]}},
        {"type": "array", "items": {"type": "string", "enum": []}},
        {"type": "array", "items": {"type": "string", "enum": ["a"], "title": "A"}},
        {"type": "array", "items": {"anyOf": []}},
        {"type": "array", "items": {"anyOf": TITLED, "title": "A"}},
        {"type": "array", "items": {"anyOf": TITLED}, "minItems": -1},
        {"type": "array", "items": {"anyOf": TITLED}, "default": "in"},
        {"type": "array", "items": {"anyOf": TITLED}, "uniqueItems": True},
    ],
)
def test_a_field_that_none_shows(field: Any) -> None:
    assert check_form(form(field))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"properties": {}},
        {"type": "array", "properties": {}},
        {"type": "object", "properties": {}, "additionalProperties": False},
        {"type": "object", "properties": {}, "required": [1]},
        {"type": "object", "properties": {}, "$schema": 1},
    ],
)
def test_a_schema_that_is_no_form(schema: Any) -> None:
    assert check_form(schema)
    assert check_form({"type": "object", "properties": {}}) == []


async def test_a_round_is_remembered_for_an_hour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Clock:
        now = 0.0

        def monotonic(self) -> float:
            return self.now

    clock = Clock()
    monkeypatch.setattr(questions, "time", clock)
    approvals = ApprovalsInMemory()

    def asked(round: str) -> PendingQuestion:
        return PendingQuestion(round, "q", "t", None, None, "m", {}, {}, "now")

    await approvals.record_question(asked("first"))
    clock.now = 1.0
    await approvals.record_question(asked("second"))
    clock.now = 3599.5
    await approvals.record_question(asked("third"))
    assert [*approvals._open] == ["first", "second", "third"]
    clock.now = 3600.0
    await approvals.record_question(asked("second"))
    assert [*approvals._open] == ["second", "third"], "the first is over"
    assert approvals._open["second"] == 1.0, "it began when it was first asked"
    assert await approvals.claim_round("second")
    assert not await approvals.claim_round("second")
    await approvals.release_round("second")
    assert await approvals.claim_round("second")


async def test_a_person_has_ten_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """In which the call's own time stands still."""

    class Clock:
        now = 5.0

        def monotonic(self) -> float:
            return self.now

    clock, given = Clock(), list[float]()

    @asynccontextmanager
    async def timeout(seconds: float) -> AsyncIterator[None]:
        given.append(seconds)
        yield

    def person(_: Any) -> Answer:
        clock.now += 2.0
        assert (made.is_waiting, made.waiting_seconds) == (True, 2.0)
        return Answer("accept")

    nobody: Any = None
    made = Questions(person, nobody, nobody, None, {}, asyncio.get_running_loop())
    monkeypatch.setattr(questions, "time", clock)
    fake = SimpleNamespace(timeout=timeout)
    monkeypatch.setattr(questions, "asyncio", fake)
    assert await made._await_answer(nobody) == Answer("accept")
    clock.now += 7.0
    assert (made.is_waiting, made.waiting_seconds, given) == (False, 2.0, [600.0])
