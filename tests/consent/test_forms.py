"""Question forms: which schemas clients can show, and how long a question stays open."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from toolcast_runtime.consent import questions
from toolcast_runtime.consent.questions import ApprovalsInMemory, Questions, check_form
from toolcast_runtime.core.question import Answer, PendingQuestion

TITLED = [{"const": "in", "title": "Inside"}]
TEXT = {"title": "A", "description": "An a."}


def make_form(field: Any, **members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": field}, **members}


@pytest.mark.parametrize(
    "field",
    [
        {"type": "boolean", "default": True, **TEXT},
        {"type": "number", "minimum": 0.5, "maximum": 1, "default": 0.7, **TEXT},
        {"type": "integer", "minimum": -1},
        {"type": "string", "minLength": 0, "maxLength": 0, "format": "uri", **TEXT},
        {"type": "string", "format": "email", "default": "a"},
        {"type": "string", "enum": ["a"], "enumNames": ["A"], "default": "a", **TEXT},
        {"type": "string", "oneOf": TITLED, "default": "in", **TEXT},
        {"type": "array", "items": {"type": "string", "enum": ["a"]}, **TEXT},
        {"type": "array", "items": {"anyOf": TITLED}, "minItems": 0, "maxItems": 0},
        {"type": "array", "items": {"anyOf": TITLED}, "default": []},
    ],
)
def test_check_form_accepts_each_elicitation_field_type_that_mcp_defines(
    field: Any,
) -> None:
    """MCP defines booleans, numbers, strings, enums and arrays of enums."""
    assert check_form(make_form(field)) == []
    assert check_form(make_form(field, required=["a"])) == []
    assert check_form(make_form(field, **{"$schema": "x"})) == []


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
def test_check_form_reports_elicitation_fields_that_mcp_does_not_define(
    field: Any,
) -> None:
    assert check_form(make_form(field))


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
def test_check_form_reports_an_elicitation_schema_that_is_no_flat_object(
    schema: Any,
) -> None:
    assert check_form(schema)
    assert check_form({"type": "object", "properties": {}}) == []


@dataclass
class Clock:
    now: float

    def monotonic(self) -> float:
        return self.now


async def test_approvals_in_memory_expire_one_hour_after_the_first_question(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Claims are exclusive until released."""
    clock = Clock(0.0)
    monkeypatch.setattr(questions, "time", clock)
    approvals = ApprovalsInMemory()

    def make_question(round: str) -> PendingQuestion:
        return PendingQuestion(round, "q", "t", None, None, "m", {}, {}, "now")

    await approvals.record_question(make_question("first"))
    clock.now = 1.0
    await approvals.record_question(make_question("second"))
    clock.now = 3599.5
    await approvals.record_question(make_question("third"))
    assert [*approvals._open] == ["first", "second", "third"]
    clock.now = 3600.0
    await approvals.record_question(make_question("second"))
    assert [*approvals._open] == ["second", "third"], "the first has expired"
    assert approvals._open["second"] == 1.0, "starts at its first question"
    assert await approvals.claim_round("second")
    assert not await approvals.claim_round("second")
    await approvals.release_round("second")
    assert await approvals.claim_round("second")


async def test_users_answer_has_ten_minutes_in_which_the_call_timeout_is_paused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, timeouts = Clock(5.0), list[float]()

    @asynccontextmanager
    async def timeout(seconds: float) -> AsyncIterator[None]:
        timeouts.append(seconds)
        yield

    def answer_after_two_seconds(_: Any) -> Answer:
        clock.now += 2.0
        assert (pending.is_waiting, pending.waiting_seconds) == (True, 2.0)
        return Answer("accept")

    unused: Any = None
    loop = asyncio.get_running_loop()
    pending = Questions(answer_after_two_seconds, unused, unused, None, {}, loop)
    assert (pending.is_waiting, pending.waiting_seconds) == (False, 0.0)
    assert (pending.is_pending, pending.unawaited_count) == (False, 0)
    monkeypatch.setattr(questions, "time", clock)
    monkeypatch.setattr(questions, "asyncio", SimpleNamespace(timeout=timeout))
    assert await pending._await_answer(unused) == Answer("accept")
    clock.now += 7.0
    assert (pending.is_waiting, pending.waiting_seconds) == (False, 2.0)
    assert timeouts == [600.0]
