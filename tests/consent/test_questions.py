"""The shop through its registry: who is asked what, and what an answer lets happen."""

from __future__ import annotations

import asyncio
import importlib
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.consent.counters import KEY, Shop
from toolcast_runtime import Registry, current_call
from toolcast_runtime.consent import Answer, Question
from toolcast_runtime.consent.confirmation import build_question, escape_message
from toolcast_runtime.consent.questions import Questions, _validate_content
from toolcast_runtime.core.context import Caller, calling_as
from toolcast_runtime.core.definitions.tool import Confirm
from toolcast_runtime.mcp.request_state import SealingError, make_sealer

YES = Answer("accept", {"approve": True})


class Person:
    """Says what was laid down, and keeps what was asked."""

    def __init__(self, *answers: Any) -> None:
        self.asked: list[Question] = []
        self._answers = list(answers)

    def __call__(self, question: Question) -> Any:
        self.asked.append(question)
        return self._answers.pop(0)


def refund(registry: Registry, ask: Any = None, **more: Any) -> str:
    arguments = {"order_id": "A-1", **more}
    response = registry.call_tool_sync("refund_order", arguments, "desk", ask=ask)
    return str(response.error or response.result)


def test_nobody_to_ask(registry: Registry, shop: Shop) -> None:
    assert refund(registry) == (
        "`refund_order` has to ask the user first, and no user can be asked here; nothing"
        " was done"
    )
    booked = registry.call_tool_sync("book_table", {"day": "Monday"}, "desk")
    assert "no user can be asked here" in (booked.error or "")
    assert shop.done == []


def test_a_yes_lets_one_call_happen(registry: Registry, shop: Shop) -> None:
    person = Person(YES)
    with calling_as(Caller(user="mia")):
        paid = refund(registry, person, amount=2.5, card="4711")
    assert paid == "refunded A-1 2.5"
    assert person.asked[0].message == (
        'Pay this order back?\n\nrefund_order:\n- order_id: "A-1"\n- amount: 2.5\n'
        '- card: "4711"'
    )
    columns = "tool", "client", "user", "message", "arguments", "action"
    assert shop.approvals(*columns) == [
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
    ("answer", "read"),
    [
        (Answer("decline"), "the user declined; nothing was done"),
        (Answer("cancel"), "the user closed the question; nothing was done"),
        (Answer("accept", {"approve": False}), "the user declined; nothing was done"),
        (Answer("decline", {"approve": True}), "the user declined; nothing was done"),
        (True, "no user can be asked here"),
        ("accept", "no user can be asked here"),
        (None, "no user can be asked here"),
    ],
)
def test_everything_else_is_a_no(
    registry: Registry, shop: Shop, answer: Any, read: str
) -> None:
    assert read in refund(registry, Person(answer))
    assert shop.done == []


@pytest.mark.parametrize(
    "content",
    [
        None,
        {},
        {"approve": None},
        {"approve": "true"},
        {"approve": 1},
        {"approve": [True]},
        {"other": 1},
    ],
)
def test_accepted_question_without_approval_is_recorded_as_invalid(
    registry: Registry, shop: Shop, content: Any
) -> None:
    """The user neither approved nor declined."""
    text = refund(registry, Person(Answer("accept", content)))
    assert "the user's answer does not match the form: `approve`" in text
    assert shop.done == []
    assert shop.approvals("action") == [("invalid",)]


def test_arguments_are_no_answer(registry: Registry, shop: Shop) -> None:
    """They are refused before anybody is asked."""
    person = Person()
    assert "`confirm` is not a parameter" in refund(registry, person, confirm=True)
    assert person.asked == [] and shop.done == []


@pytest.mark.parametrize(("price", "is_asked"), [(10, True), (10.01, False)])
def test_the_condition_decides_who_is_asked(
    registry: Registry, price: float, is_asked: bool
) -> None:
    person = Person(YES)
    arguments = {"article": "tea", "price": price}
    answer = registry.call_tool_sync("set_price", arguments, "desk", ask=person)
    assert answer.result == f"priced tea {price:g}"
    assert bool(person.asked) is is_asked


def test_a_condition_that_cannot_be_told_asks(registry: Registry) -> None:
    """What costs too much to check is no way around the question."""
    from toolcast_runtime.consent.confirmation import is_confirmation_needed

    slow = Confirm("?", {"properties": {"a": {"pattern": "^(?=.*x)(a|a)*$"}}})
    assert is_confirmation_needed(slow, {}, {"a": "a" * 100_000})
    broken = Confirm("?", {"properties": {"a": {"pattern": "("}}})
    assert is_confirmation_needed(broken, {}, {"a": "b"})
    many = Confirm("?", {"properties": {"a": {"uniqueItems": True}}})
    assert is_confirmation_needed(many, {}, {"a": [10**30 + n for n in range(20_000)]})


def test_arguments_are_shown_as_they_are() -> None:
    """No argument writes a line of its own, hides, or turns the text round."""
    shown = build_question(
        "send",
        Confirm("Send?"),
        {
            "to": "a\n- to: b",
            "text\u202e": "\u200bx\u2028y",
            "blank": "\u3164\u2800\ufe0f\U000e0101a" + "\u0301" * 4,
            "long": "z" * 602,
            "in": [{"note": "\\\n" * 300, "amount": 99}],
        },
    ).message.splitlines()
    assert shown == [
        "Send?",
        "",
        "send:",
        '- to: "a\\n- to: b"',
        '- text\\u202e: "\\u200bx\\u2028y"',
        r'- blank: "\u3164\u2800\ufe0f\U000e0101a' + "\u0301" * 3 + r'\u0301"',
        f'- long: "{"z" * 500}" ... and 102 more characters',
        '- in: [{"note": "'
        + r"\\\n" * 250
        + '" ... and 100 more characters, "amount": 99}]',
    ]


@pytest.mark.parametrize(
    "mark",
    ["\u0301", "\u0488", "\u0e49", "\u064e", "\u1ab0", "\u1dc4", "\u20d2", "\ufe20"],
)
def test_marks_do_not_pile_up_over_an_amount(mark: str) -> None:
    """Three are as many as a script needs; more would paint over the lines above."""
    asked = build_question("pay", Confirm("Pay?"), {"to": f"a{mark * 30}", "amount": 9})
    spelled = f"\\u{ord(mark):04x}"
    assert f'- to: "a{mark * 3}{spelled * 27}"' in asked.message
    assert escape_message(f"a{mark * 4}") == f"a{mark * 3}{spelled}"


def test_a_handlers_message_hides_nothing() -> None:
    assert escape_message("Book \u26a0\ufe0f\n\x1b[8m\u200ba\ufe0f?") == (
        "Book \u26a0\ufe0f\n\\x1b[8m\\u200ba\\ufe0f?"
    )
    with pytest.raises(Exception, match="too long to be shown"):
        escape_message("\u200b" * 2000)


async def test_before_anybody_is_asked_nobody_was_waited_for() -> None:
    nobody: Any = None
    loop = asyncio.get_running_loop()
    made = Questions(nobody, nobody, nobody, None, {}, loop)
    assert (made.waiting_seconds, made.is_waiting) == (0.0, False)
    assert (made.is_pending, made.unawaited_count) == (False, 0)


def test_eight_thousand_characters_are_read() -> None:
    assert escape_message("x" * 8_000) == "x" * 8_000
    with pytest.raises(Exception, match="too long to be shown"):
        escape_message("x" * 8_001)
    for length, end in ((498, '"'), (500, '"'), (501, " ... and 1 more characters")):
        asked = build_question("pay", Confirm("Pay?"), {"to": "x" * length})
        assert asked.message.endswith(end)
        assert asked.message.count("x") == min(length, 500)


def test_too_much_to_read_is_refused(registry: Registry, shop: Shop) -> None:
    many = {f"a{n}": "x" * 400 for n in range(30)}
    with pytest.raises(Exception, match="too long to be shown"):
        build_question("send", Confirm("Send?"), many)


def test_a_handler_asks(registry: Registry, shop: Shop) -> None:
    person = Person(
        Answer("accept", {"seats": 4}), Answer("accept", {"place": "garden"})
    )
    booked = registry.call_tool_sync(
        "book_table", {"day": "Monday"}, "desk", ask=person
    )
    assert booked.result == "booked Monday 4 garden"
    assert [(q.name, q.message) for q in person.asked] == [
        ("seats", "How many seats on Monday?"),
        ("question_2", "Where?"),
    ]


@pytest.mark.parametrize("content", [{"seats": 9}, {"seats": "4"}, {}])
def test_an_answer_has_to_be_what_was_asked_for(
    registry: Registry, shop: Shop, content: dict[str, Any]
) -> None:
    person = Person(Answer("accept", content))
    booked = registry.call_tool_sync(
        "book_table", {"day": "Monday"}, "desk", ask=person
    )
    assert "the user's answer does not match the form" in (booked.error or "")
    assert shop.done == []


def test_what_was_not_asked_for_is_left_out() -> None:
    """A client cannot hand a handler more than its form has."""
    question = Question("n", "?", {"type": "object", "properties": {"n": {}}}, "t", {})
    content = {"n": 1, "is_admin": True}
    assert _validate_content(question, Answer("accept", content)) == {"n": 1}


def test_what_was_shown_is_what_is_done(registry: Registry, shop: Shop) -> None:
    """Neither who asks nor who has called changes it meanwhile."""
    arguments: dict[str, Any] = {"order_id": "A-1", "amount": 1}

    def ask(question: Question) -> Answer:
        assert isinstance(question.arguments, dict)
        for each in (arguments, question.arguments):
            each["amount"] = 1000
        return YES

    answer = registry.call_tool_sync("refund_order", arguments, "desk", ask=ask)
    assert answer.result == "refunded A-1 1" and shop.done == ["refunded A-1 1"]


def test_a_ledger_that_cannot_be_written_asks_nobody(
    registry: Registry, shop: Shop
) -> None:
    with sqlite3.connect(shop.location / "ledger.sqlite3") as connection:
        connection.execute("PRAGMA user_version = 99")
    person = Person()
    assert "the ledger cannot be written" in refund(registry, person)
    assert person.asked == [] and shop.done == []


def test_a_question_that_nobody_answers_is_in_the_ledger(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolcast_runtime.consent.questions.ANSWER_TIMEOUT_S", 0.05)

    async def never(question: Question) -> Answer:
        await asyncio.sleep(60)
        return YES

    assert "the user did not answer in time" in refund(registry, never)
    assert shop.approvals("question", "action", "taken") == [("confirm", None, None)]


def test_a_persons_time_is_not_the_calls(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        registry, "_tools", {**registry._tools, **_hasty(registry, "book_table")}
    )

    async def slowly(question: Question) -> Answer:
        first = current_call().deadline
        await asyncio.sleep(0.4)
        now = current_call().deadline
        assert first is not None and now is not None and now >= first + 0.4
        is_first = question.name == "seats"
        return Answer("accept", {"seats": 2} if is_first else {"place": "inside"})

    booked = registry.call_tool_sync(
        "book_table", {"day": "Monday"}, "desk", ask=slowly
    )
    assert booked.result == "booked Monday 2 inside"


def _hasty(registry: Registry, name: str) -> dict[str, Any]:
    from dataclasses import replace

    return {name: replace(registry.get_tool(name, "desk"), timeout=0.3)}


def test_several_processes_need_a_key_and_a_ledger(
    registry: Registry, shop: Shop
) -> None:
    served = importlib.import_module("generated.shop.mcp_server").SERVER

    def start(**environment: str) -> None:
        make_sealer(served, "desk", is_one_of_several=True, environment=environment)

    start(SHOP_STATE_KEY=KEY)
    with pytest.raises(SealingError, match="set SHOP_STATE_KEY to 32 random bytes"):
        start()
    for short in ("short", f"{KEY} short"):
        with pytest.raises(
            SealingError, match="SHOP_STATE_KEY contains a key that is too"
        ):
            start(SHOP_STATE_KEY=short)
    (shop.location / "key").write_text(f"{KEY}\n")
    start(SHOP_STATE_KEY_FILE=str(shop.location / "key"))
    with pytest.raises(SealingError, match="SHOP_STATE_KEY_FILE names is empty"):
        start(SHOP_STATE_KEY_FILE=str(shop.location / "none"))
    make_sealer(served, "desk", environment={})


@pytest.mark.slow
@pytest.mark.parametrize("several", [["--workers", "2"], ["--replica"]])
def test_one_of_several_without_a_key_does_not_start(
    shop: Shop, several: list[str]
) -> None:
    from dataclasses import replace

    keyless = replace(shop, key="")
    refused = pytest.raises(AssertionError, match="set SHOP_STATE_KEY to 32 random")
    with refused, keyless.http(*several, package="generated.shop"):
        pass


def test_the_ledger_is_not_begun_for_a_plain_call(
    registry: Registry, shop: Shop
) -> None:
    arguments = {"article": "tea", "price": 20}
    registry.call_tool_sync("set_price", arguments, "desk", ask=Person())
    assert not Path(shop.location / "ledger.sqlite3").exists()


FORM = {"type": "object", "properties": {"a": {"type": "string"}}}


def with_handler(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, handler: Any
) -> Registry:
    """The registry whose `book_table` is done by another function of the shop's."""
    module = importlib.import_module("shop.handlers")
    handler.__module__ = module.__name__
    monkeypatch.setattr(module, "book_table", handler)
    monkeypatch.setattr(registry.calls, "_handlers", {})
    return registry


def booked(registry: Registry, *answers: Any) -> str:
    person = Person(*answers)
    response = registry.call_tool_sync("book_table", {"day": "Mo"}, "desk", ask=person)
    return str(response.error or response.result)


def test_a_plain_function_asks_and_waits(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def book_table(day: str) -> str:
        return f"{day} {current_call().ask_sync(FORM, 'Who?')['a']}"

    registry = with_handler(registry, monkeypatch, book_table)
    assert booked(registry, Answer("accept", {"a": "me"})) == "Mo me"
    assert "the user declined" in booked(registry, Answer("decline"))


def test_a_yes_to_a_call_that_was_given_up_is_too_late(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread cannot be cancelled; its call can."""
    reached: list[str] = []
    ended = threading.Event()

    def book_table(day: str) -> None:
        try:
            current_call().ask_sync(FORM, "Who?")
            reached.append("after the answer")
        finally:
            ended.set()

    async def run() -> None:
        asked, may_answer = asyncio.Event(), asyncio.Event()

        async def slowly(question: Question) -> Answer:
            asked.set()
            await may_answer.wait()
            return Answer("accept", {"a": "me"})

        arguments = {"day": "Mo"}
        call = asyncio.ensure_future(
            registry.call_tool("book_table", arguments, "desk", ask=slowly)
        )
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        may_answer.set()
        assert await asyncio.to_thread(ended.wait, 10)

    registry = with_handler(registry, monkeypatch, book_table)
    asyncio.run(run())
    assert reached == []


def test_a_plain_function_does_not_go_on_without_an_answer(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def book_table(day: str) -> str:
        current_call().ask(FORM, "Who?")  # type: ignore[unused-coroutine]
        (shop.location / "done.txt").write_text("booked")
        return "booked"

    registry = with_handler(registry, monkeypatch, book_table)
    assert "the tool failed" in booked(registry, Answer("decline"))
    assert shop.done == []


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")
def test_a_question_that_is_not_awaited_fails_the_call(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def book_table(day: str) -> str:
        current_call().ask(FORM, "Who?")  # type: ignore[unused-coroutine]
        return "booked"

    registry = with_handler(registry, monkeypatch, book_table)
    assert "did not wait for the user's answer" in booked(registry, Answer("decline"))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"type": "object"}}},
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "x"}}},
        {"type": "string"},
        {},
    ],
)
def test_a_form_that_no_client_shows_is_an_error_of_the_handler(
    registry: Registry, monkeypatch: pytest.MonkeyPatch, schema: Any
) -> None:
    async def book_table(day: str) -> str:
        with pytest.raises(ValueError, match="no client can show this form"):
            await current_call().ask(schema, "Who?")
        return "not asked"

    registry = with_handler(registry, monkeypatch, book_table)
    assert booked(registry) == "not asked"


def test_a_handler_that_calls_a_tool_does_not_answer_for_it(
    registry: Registry, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def book_table(day: str) -> str:
        inner = await registry.call_tool("refund_order", {"order_id": "A-1"}, "desk")
        return str(inner.error)

    registry = with_handler(registry, monkeypatch, book_table)
    assert "no user can be asked here" in booked(registry, YES) and shop.done == []
