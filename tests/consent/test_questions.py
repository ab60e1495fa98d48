"""Confirmation and handler questions through the registry: which answers permit a call."""

from __future__ import annotations

import asyncio
import importlib
import sqlite3
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.consent.shop_clients import KEY, Shop
from toolcast_runtime import Registry, ToolResponse, current_call
from toolcast_runtime.consent import Answer, Question
from toolcast_runtime.consent.confirmation import (
    build_question,
    escape_message,
    is_confirmation_needed,
)
from toolcast_runtime.consent.questions import _validate_content
from toolcast_runtime.core.context import Caller, DeclinedError, calling_as
from toolcast_runtime.core.definitions.tool import Confirm
from toolcast_runtime.mcp.request_state import SealingError, make_sealer

YES = Answer("accept", {"approve": True})


class ScriptedUser:
    """User with prepared answers that records the questions."""

    def __init__(self, *answers: Any) -> None:
        self.questions: list[Question] = []
        self._answers = list(answers)

    def __call__(self, question: Question) -> Any:
        self.questions.append(question)
        return self._answers.pop(0)


def call_refund(registry: Registry, ask: Any = None, **more: Any) -> str:
    """Call `refund_order` and return its result or error."""
    arguments = {"order_id": "A-1", **more}
    response = registry.call_tool_sync("refund_order", arguments, "desk", ask=ask)
    return str(response.error or response.result)


def call_booking(registry: Registry, ask: Any = None) -> ToolResponse:
    return registry.call_tool_sync("book_table", {"day": "Monday"}, "desk", ask=ask)


def test_confirmation_without_a_user_is_refused(registry: Registry, shop: Shop) -> None:
    """A tool call that needs confirmation is refused if no `ask` callback is passed."""
    assert call_refund(registry) == (
        "`refund_order` has to ask the user first, and no user can be asked here; nothing"
        " was done"
    )
    response = call_booking(registry)
    assert "no user can be asked here" in (response.error or "")
    assert shop.side_effects == []


def test_users_approval_runs_the_call_and_is_recorded_without_secret_arguments(
    registry: Registry, shop: Shop
) -> None:
    user = ScriptedUser(YES)
    with calling_as(Caller(user="mia")):
        text = call_refund(registry, user, amount=2.5, card="4711")
    assert text == "refunded A-1 2.5"
    assert user.questions[0].message == (
        'Pay this order back?\n\nrefund_order:\n- order_id: "A-1"\n- amount: 2.5\n'
        '- card: "4711"'
    )
    columns = "tool", "client", "user", "message", "arguments", "action"
    assert shop.list_approvals(*columns) == [
        (
            "refund_order",
            "desk",
            "mia",
            "Pay this order back?",
            '{"order_id": "A-1", "amount": 2.5, "card": "[redacted]"}',
            "accept",
        )
    ]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (Answer("decline"), "the user declined; nothing was done"),
        (Answer("cancel"), "the user closed the question; nothing was done"),
        (Answer("accept", {"approve": False}), "the user declined; nothing was done"),
        (Answer("decline", {"approve": True}), "the user declined; nothing was done"),
        (Answer("cancel", {"approve": False}), "the user closed the question"),
        (True, "no user can be asked here"),
        ("accept", "no user can be asked here"),
        (None, "no user can be asked here"),
    ],
)
def test_declined_cancelled_or_malformed_confirmation_refuses_the_call(
    registry: Registry, shop: Shop, answer: Any, error: str
) -> None:
    """Objects other than `Answer` count as no user."""
    assert error in call_refund(registry, ScriptedUser(answer))
    assert shop.side_effects == []


@pytest.mark.parametrize("content", [None, {}, {"approve": "true"}, {"approve": 1}])
def test_confirmation_accepted_without_approve_true_is_recorded_as_invalid(
    registry: Registry, shop: Shop, content: Any
) -> None:
    """The user neither approved nor declined, so the call is refused."""
    text = call_refund(registry, ScriptedUser(Answer("accept", content)))
    assert "the user's answer does not match the form: `approve`" in text
    assert shop.side_effects == []
    assert shop.list_approvals("action") == [("invalid",)]


def test_confirmation_cannot_be_passed_as_a_tool_argument(
    registry: Registry, shop: Shop
) -> None:
    """The call is rejected before the user is asked."""
    user = ScriptedUser()
    assert "`confirm` is not a parameter" in call_refund(registry, user, confirm=True)
    assert user.questions == [] and shop.side_effects == []


@pytest.mark.parametrize(("price", "is_asked"), [(10, True), (10.01, False)])
def test_confirmation_is_asked_only_if_the_arguments_match_its_when_schema(
    registry: Registry, price: float, is_asked: bool
) -> None:
    user = ScriptedUser(YES)
    arguments = {"article": "tea", "price": price}
    answer = registry.call_tool_sync("set_price", arguments, "desk", ask=user)
    assert answer.result == f"priced tea {price:g}"
    assert bool(user.questions) is is_asked


def test_confirmation_is_required_if_its_condition_fails(registry: Registry) -> None:
    """A condition that is invalid or too expensive must not skip the question."""
    slow_pattern = Confirm("?", {"properties": {"a": {"pattern": "^(?=.*x)(a|a)*$"}}})
    assert is_confirmation_needed(slow_pattern, {}, {"a": "a" * 100_000})
    invalid_pattern = Confirm("?", {"properties": {"a": {"pattern": "("}}})
    assert is_confirmation_needed(invalid_pattern, {}, {"a": "b"})
    unique_items = Confirm("?", {"properties": {"a": {"uniqueItems": True}}})
    numbers = [10**30 + n for n in range(20_000)]
    assert is_confirmation_needed(unique_items, {}, {"a": numbers})


def test_confirmation_message_shows_each_argument_escaped_on_one_line() -> None:
    """Line breaks, invisible and bidirectional characters cannot disguise an argument."""
    lines = build_question(
        "send",
        Confirm("Send?"),
        {
            "to": "a\n- to: b",
            "text\u202e": "\u200bx\u2028y",
            "blank": "\u3164\u2800\ufe0f\U000e0101a" + "\u0301" * 4,
            "long": "ä" * 602,
            "in": [{"note": "\\\n" * 300, "amount": 99}],
        },
    ).message.splitlines()
    assert lines == [
        "Send?",
        "",
        "send:",
        '- to: "a\\n- to: b"',
        '- text\\u202e: "\\u200bx\\u2028y"',
        r'- blank: "\u3164\u2800\ufe0f\U000e0101a' + "\u0301" * 3 + r'\u0301"',
        f'- long: "{"ä" * 500}" ... and 102 more characters',
        '- in: [{"note": "'
        + r"\\\n" * 250
        + '" ... and 100 more characters, "amount": 99}]',
    ]
    without_arguments = build_question("send", Confirm("Send?"), {}).message
    assert without_arguments == "Send?\n\nsend"


def test_confirmation_message_escapes_the_fourth_combining_mark() -> None:
    """Scripts need at most three; a larger stack would cover the lines above."""
    for mark in "\u0301\u0488\u0e49\u064e\u1ab0\u1dc4\u20d2\ufe20":
        arguments = {"to": f"a{mark * 30}", "amount": 9}
        escaped = f"\\u{ord(mark):04x}"
        message = build_question("pay", Confirm("Pay?"), arguments).message
        assert f'- to: "a{mark * 3}{escaped * 27}"' in message
        assert escape_message(f"a{mark * 4}") == f"a{mark * 3}{escaped}"


def test_confirmation_message_escapes_control_and_invisible_characters() -> None:
    """The limit of the length applies after escaping."""
    assert escape_message("Book \u26a0\ufe0f\n\x1b[8m\u200ba\ufe0f?") == (
        "Book \u26a0\ufe0f\n\\x1b[8m\\u200ba\\ufe0f?"
    )
    with pytest.raises(Exception, match="too long to be shown"):
        escape_message("\u200b" * 2000)


def test_confirmation_message_has_at_most_8000_characters_500_per_argument() -> None:
    """A longer message raises; longer string arguments are cut."""
    assert escape_message("x" * 8_000) == "x" * 8_000
    with pytest.raises(Exception, match="too long to be shown"):
        escape_message("x" * 8_001)
    for length, ending in ((498, '"'), (500, '"'), (501, " ... and 1 more characters")):
        question = build_question("pay", Confirm("Pay?"), {"to": "x" * length})
        assert question.message.endswith(ending)
        assert question.message.count("x") == min(length, 500)
    # The arguments together exceed the limit of the message.
    arguments = {f"a{n}": "x" * 400 for n in range(30)}
    with pytest.raises(Exception, match="too long to be shown"):
        build_question("send", Confirm("Send?"), arguments)


def test_handlers_questions_without_name_are_named_by_their_number(
    registry: Registry, shop: Shop
) -> None:
    answers = [Answer("accept", c) for c in ({"seats": 4}, {"place": "garden"})]
    user = ScriptedUser(*answers)
    response = call_booking(registry, user)
    assert response.result == "booked Monday 4 garden"
    assert [(q.name, q.message) for q in user.questions] == [
        ("seats", "How many seats on Monday?"),
        ("question_2", "Where?"),
    ]


@pytest.mark.parametrize("content", [{"seats": 9}, {"seats": "4"}, {}])
def test_users_answer_that_does_not_match_the_handlers_form_fails_the_call(
    registry: Registry, shop: Shop, content: dict[str, Any]
) -> None:
    user = ScriptedUser(Answer("accept", content))
    response = call_booking(registry, user)
    assert "the user's answer does not match the form" in (response.error or "")
    assert shop.side_effects == []


def test_users_answer_loses_fields_that_the_handlers_form_does_not_define() -> None:
    """A client cannot pass a handler more than its form defines."""
    question = Question("n", "?", {"type": "object", "properties": {"n": {}}}, "t", {})
    content = {"n": 1, "is_admin": True}
    assert _validate_content(question, Answer("accept", content)) == {"n": 1}


def test_answer_without_approval_is_rejected_even_if_its_form_permits_it() -> None:
    question = Question("n", "?", {"type": "object", "properties": {}}, "t", {}, "n")
    for content in (None, {"n": 1}):
        with pytest.raises(DeclinedError, match="`n` is not true"):
            _validate_content(question, Answer("accept", content))
    assert _validate_content(question, Answer("accept", {"n": True})) == {}


def test_call_runs_with_the_confirmed_arguments(registry: Registry, shop: Shop) -> None:
    """Changes by the user's program or the caller during the question have no effect."""
    arguments: dict[str, Any] = {"order_id": "A-1", "amount": 1}

    def ask(question: Question) -> Answer:
        assert isinstance(question.arguments, dict)
        for changed in (arguments, question.arguments):
            changed["amount"] = 1000
        return YES

    answer = registry.call_tool_sync("refund_order", arguments, "desk", ask=ask)
    assert answer.result == "refunded A-1 1" and shop.side_effects == ["refunded A-1 1"]


def test_unwritable_approval_ledger_refuses_the_call_before_asking_the_user(
    registry: Registry, shop: Shop
) -> None:
    with sqlite3.connect(shop.location / "ledger.sqlite3") as connection:
        connection.execute("PRAGMA user_version = 99")
    user = ScriptedUser()
    assert "the ledger cannot be written" in call_refund(registry, user)
    assert user.questions == [] and shop.side_effects == []


def test_unanswered_confirmation_times_out_and_is_recorded_without_action(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call is refused, and the approval has no answer."""
    monkeypatch.setattr("toolcast_runtime.consent.questions.ANSWER_TIMEOUT_S", 0.05)

    async def wait_forever(question: Question) -> Answer:
        await asyncio.sleep(60)
        return YES

    assert "the user did not answer in time" in call_refund(registry, wait_forever)
    approvals = shop.list_approvals("question", "action", "taken")
    assert approvals == [("confirm", None, None)]


def test_tool_timeout_excludes_the_waiting_time_for_users_answers(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answer arrives after the deadline that the call had before the question."""
    answers: dict[str, Any] = {"seats": {"seats": 2}, "question_2": {"place": "inside"}}

    def answer_at_once(question: Question) -> Answer:
        return Answer("accept", answers[question.name])

    # The timeout is a multiple of the time that the same call needs without waiting.
    started = time.monotonic()
    call_booking(registry, answer_at_once)
    timeout = max(0.3, 10 * (time.monotonic() - started))
    tool = replace(registry.get_tool("book_table", "desk"), timeout=timeout)
    monkeypatch.setattr(registry, "_tools", {**registry._tools, "book_table": tool})

    async def answer_after_deadline(question: Question) -> Answer:
        before = current_call().deadline
        assert before is not None
        started = time.monotonic()
        while time.monotonic() <= before:
            await asyncio.sleep(0.01)
        waited = time.monotonic() - started
        after = current_call().deadline
        assert after is not None and after >= before + waited
        return Answer("accept", answers[question.name])

    response = call_booking(registry, answer_after_deadline)
    assert response.result == "booked Monday 2 inside"


def test_mcp_server_with_several_processes_requires_a_32_byte_state_key(
    registry: Registry, shop: Shop
) -> None:
    """A server with one process needs no key."""
    server = importlib.import_module("generated.shop.mcp_server").SERVER

    def start(**environment: str) -> None:
        make_sealer(server, "desk", is_one_of_several=True, environment=environment)

    start(SHOP_STATE_KEY=KEY)
    with pytest.raises(SealingError, match="set SHOP_STATE_KEY to 32 random bytes"):
        start()
    for key in ("short", f"{KEY} short"):
        with pytest.raises(SealingError, match="SHOP_STATE_KEY contains a key that is"):
            start(SHOP_STATE_KEY=key)
    (shop.location / "key").write_text(f"{KEY}\n")
    start(SHOP_STATE_KEY_FILE=str(shop.location / "key"))
    with pytest.raises(SealingError, match="SHOP_STATE_KEY_FILE names is empty"):
        start(SHOP_STATE_KEY_FILE=str(shop.location / "none"))
    make_sealer(server, "desk", environment={})


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--workers", "2"], ["--replica"]])
def test_workers_and_replicas_require_state_key(shop: Shop, options: list[str]) -> None:
    """An MCP server with `--workers 2` or `--replica` does not start without a state key."""
    server = replace(shop, key="").serve_http(*options, package="generated.shop")
    with pytest.raises(AssertionError, match="set SHOP_STATE_KEY to 32 rand"), server:
        pass


def test_unconfirmed_call_creates_no_ledger(registry: Registry, shop: Shop) -> None:
    """A tool call without confirmation does not create the ledger of approvals."""
    arguments = {"article": "tea", "price": 20}
    registry.call_tool_sync("set_price", arguments, "desk", ask=ScriptedUser())
    assert not Path(shop.location / "ledger.sqlite3").exists()


FORM = {"type": "object", "properties": {"a": {"type": "string"}}}


def replace_handler(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, handler: Any
) -> Registry:
    """Replace the handler of `book_table` by a function of the same module."""
    module = importlib.import_module("shop.handlers")
    handler.__module__ = module.__name__
    monkeypatch.setattr(module, "book_table", handler)
    monkeypatch.setattr(registry.calls, "_handlers", {})
    return registry


def read_booking(registry: Registry, *answers: Any) -> str:
    """Call `book_table` as a user with these answers; return its result or error."""
    response = call_booking(registry, ScriptedUser(*answers))
    return str(response.error or response.result)


def test_ask_sync_returns_the_users_answer_to_a_sync_handler_or_fails_the_call(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def book_table(day: str) -> str:
        return f"{day} {current_call().ask_sync(FORM, 'Who?')['a']}"

    registry = replace_handler(registry, monkeypatch, book_table)
    assert read_booking(registry, Answer("accept", {"a": "me"})) == "Monday me"
    assert "the user declined" in read_booking(registry, Answer("decline"))


def test_users_answer_after_cancellation_does_not_resume_a_sync_handler(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The handler's thread cannot be cancelled, so its question raises."""
    reached: list[str] = []
    is_done = threading.Event()

    def book_table(day: str) -> None:
        try:
            current_call().ask_sync(FORM, "Who?")
            reached.append("after the answer")
        finally:
            is_done.set()

    async def run() -> None:
        is_asked, may_answer = asyncio.Event(), asyncio.Event()

        async def answer_later(question: Question) -> Answer:
            is_asked.set()
            await may_answer.wait()
            return Answer("accept", {"a": "me"})

        arguments = {"day": "Mo"}
        call = asyncio.ensure_future(
            registry.call_tool("book_table", arguments, "desk", ask=answer_later)
        )
        await is_asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        may_answer.set()
        assert await asyncio.to_thread(is_done.wait, 10)

    registry = replace_handler(registry, monkeypatch, book_table)
    asyncio.run(run())
    assert reached == []


def test_sync_handler_that_calls_async_ask_fails_the_call(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would continue without an answer."""

    def book_table(day: str) -> str:
        current_call().ask(FORM, "Who?")  # type: ignore[unused-coroutine]
        (shop.location / "done.txt").write_text("booked")
        return "booked"

    registry = replace_handler(registry, monkeypatch, book_table)
    assert "the tool failed" in read_booking(registry, Answer("decline"))
    assert shop.side_effects == []


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
def test_async_handler_that_does_not_await_ask_fails_the_call(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def book_table(day: str) -> str:
        current_call().ask(FORM, "Who?")  # type: ignore[unused-coroutine]
        return "booked"

    registry = replace_handler(registry, monkeypatch, book_table)
    error = read_booking(registry, Answer("decline"))
    assert "did not wait for the user's answer" in error


def test_handlers_ask_raises_value_error_for_a_form_that_mcp_does_not_define(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def book_table(day: str) -> str:
        schema = {"type": "object", "properties": {"a": {"type": "object"}}}
        with pytest.raises(ValueError, match="no client can show this form"):
            await current_call().ask(schema, "Who?")
        return "not asked"

    registry = replace_handler(registry, monkeypatch, book_table)
    assert read_booking(registry) == "not asked"


def test_confirmed_tool_that_another_handler_calls_is_refused_without_question(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The inner call is refused without a question to the outer call's user."""

    async def book_table(day: str) -> str:
        response = await registry.call_tool("refund_order", {"order_id": "A-1"}, "desk")
        return str(response.error)

    registry = replace_handler(registry, monkeypatch, book_table)
    assert "no user can be asked here" in read_booking(registry, YES)
    assert shop.side_effects == []
