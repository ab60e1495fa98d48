"""The shop's commands ask at the terminal of their process, and take no other answer."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from tests.consent.counters import Shop
from tests.consent.terminals import Terminal, in_terminal
from toolcast_runtime.cli import terminal as at_terminal
from toolcast_runtime.core.question import Answer, Question

REFUND = ("refund", "--order-id", "A-1")


def terminal(
    shop: Shop, *words: str, stdin: str | None = None
) -> AbstractContextManager[Terminal]:
    """Runs a command of the shop in a terminal."""
    command = ("generated.shop.cli", *words)
    return in_terminal(shop.root, shop.environment, *command, stdin=stdin)


def run(
    shop: Shop, words: Sequence[str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Runs a command without a terminal, as an agent's tool does."""
    return subprocess.run(
        [sys.executable, "-m", "generated.shop.cli", *words],
        cwd=shop.root,
        env={**os.environ, **shop.environment},
        input=stdin,
        capture_output=True,
        text=True,
        start_new_session=True,
    )


def test_a_person_at_the_terminal_says_yes(shop: Shop) -> None:
    with terminal(shop, *REFUND) as person:
        person.until("decline: ")
        assert (
            'Pay this order back?\n\nrefund_order:\n- order_id: "A-1"\n' in person.shown
        )
        person.type("yes\n")
        person.rest()
    assert person.shown.endswith("refunded A-1 None\n") and len(shop.done) == 1
    assert shop.approvals("tool", "action") == [("refund_order", "accept")]


def test_everything_else_is_a_no(shop: Shop) -> None:
    """Another word, and a yes that was typed before the question was shown."""
    with terminal(shop, *REFUND, stdin="yes\nyes\n") as person:
        person.type("yes\n")
        person.until("decline: ")
        assert shop.done == []
        person.type("y\n")
        person.rest()
    assert "the user declined; nothing was done" in person.shown
    assert shop.done == []


def test_a_line_that_has_no_end_is_not_waited_for(shop: Shop) -> None:
    """Ctrl-D sends what is typed so far; a terminal keeps no more than 4,095 bytes."""
    with terminal(shop, *REFUND) as person:
        person.until("decline: ")
        person.type("yes" * 1365 + "\x04")
        person.type("!\x04")
        person.until("the user declined; nothing was done")
    assert shop.done == []


@pytest.mark.slow
@pytest.mark.parametrize("words", [REFUND, ("book", "--day", "Monday")])
def test_nobody_is_asked_without_a_terminal(shop: Shop, words: Sequence[str]) -> None:
    refused = run(shop, words, "yes\n" * 10)
    assert "there is no terminal" in refused.stderr
    assert refused.returncode == 1 and shop.done == []


@pytest.mark.slow
def test_no_option_says_yes(shop: Shop) -> None:
    for word in ("--yes", "-y", "--confirm", "--approve", "--force"):
        assert run(shop, (*REFUND, word)).returncode == 2, word
    forced = run(shop, ("refund", "--arguments", '{"order_id": "A", "approve": true}'))
    assert "`approve` is not a parameter" in forced.stderr and shop.done == []


@pytest.mark.slow
def test_help_tells_that_a_person_is_asked(shop: Shop) -> None:
    asked = "Its calls ask the user at the terminal for confirmation."
    assert asked in run(shop, ("refund", "--help")).stdout
    some = "Some of its calls ask the user at the terminal for confirmation."
    assert some in run(shop, ("price", "--help")).stdout
    assert "asked" not in run(shop, ("book", "--help")).stdout


@pytest.mark.slow
def test_a_form_is_filled_in(shop: Shop) -> None:
    with terminal(shop, "book", "--day", "Monday") as person:
        person.until("seats (a number): ")
        person.type("many\n")
        person.until("This is not a valid answer.\nseats (a number): ")
        person.type("4\n")
        person.until("place (inside, garden): ")
        person.type("garden\n")
        person.rest()
    assert person.shown.endswith("booked Monday 4 garden\n")
    assert len(shop.done) == 1


@pytest.mark.parametrize(
    ("schema", "prompt", "typed", "value"),
    [
        ({"type": "boolean"}, "Field (yes or no): ", "no", False),
        ({"type": "integer"}, "Field (a number): ", "3", 3),
        ({"type": "string"}, "Field: ", "at the door", "at the door"),
        ({"type": "string", "enum": ["in", "out"]}, "Field (in, out): ", "out", "out"),
        (
            {"type": "array", "items": {"enum": ["in", "out"]}},
            "Field (one or more of in, out, separated by commas): ",
            "out, in",
            ["out", "in"],
        ),
    ],
)
def test_each_field_says_what_may_be_typed(
    monkeypatch: pytest.MonkeyPatch,
    schema: dict[str, Any],
    prompt: str,
    typed: str,
    value: object,
) -> None:
    with asked(monkeypatch, schema) as (person, answer):
        person.until(f"Where?\n{prompt}")
        person.type(f"{typed}\n")
        assert answer.result(20) == Answer("accept", {"field": value})


TITLED = [{"const": "in", "title": "Inside"}, {"const": "out", "title": "Outside"}]


@pytest.mark.parametrize(
    ("schema", "typed"),
    [
        ({"type": "boolean"}, "true"),
        ({"type": "integer"}, "1.5"),
        ({"type": "number"}, "true"),
        ({"type": "number"}, "[1]"),
        ({"type": "number"}, "NaN"),
        ({"type": "number"}, "null"),
        ({"type": "integer", "maximum": 3}, "4"),
        ({"type": "string", "enum": ["in", "out"]}, "up"),
        ({"type": "string", "oneOf": TITLED}, "Inside"),
        ({"type": "array", "items": {"type": "string", "enum": ["in"]}}, "in, up"),
        ({"type": "array", "items": {"anyOf": TITLED}}, "in,, out"),
        ({"type": "string"}, ""),
    ],
)
def test_what_is_no_answer_is_asked_for_again_and_never_given(
    monkeypatch: pytest.MonkeyPatch, schema: dict[str, Any], typed: str
) -> None:
    with asked(monkeypatch, schema) as (person, answer):
        for _ in range(3):
            person.until(": ")
            person.type(f"{typed}\n")
            person.until("This is not a valid answer.")
        assert answer.result(20) == Answer("cancel")


def test_what_may_be_left_out_is_or_is_as_it_was_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    form = {
        "type": "object",
        "properties": {
            "way": {"type": "string", "default": "by post", "description": "How?"},
            "count": {"type": "integer"},
            "note": {"type": "string", "default": "none"},
        },
        "required": ["note"],
    }
    with shown_form(monkeypatch, form) as (person, answer):
        person.until("How?\nway: ")
        person.type("\n")
        person.until("count (a number): ")
        person.type("\n")
        person.until("note: ")
        person.type("\n")
        content = {"way": "by post", "note": "none"}
        assert answer.result(20) == Answer("accept", content)
        assert "How?" not in person.shown.partition("way: ")[2]
    with shown_form(monkeypatch, form) as (person, answer):
        person.until("way: ")
        person.type("\x04")
        assert answer.result(20) == Answer("cancel")


def test_there_is_a_terminal_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    ours, theirs = pty.openpty()
    monkeypatch.setattr(at_terminal, "_TERMINAL_PATH", os.ttyname(theirs))
    assert at_terminal.has_terminal()
    monkeypatch.setattr(at_terminal, "_TERMINAL_PATH", "/no/such/terminal")
    assert not at_terminal.has_terminal()
    for number in (ours, theirs):
        os.close(number)


@contextmanager
def asked(
    monkeypatch: pytest.MonkeyPatch, schema: dict[str, Any]
) -> Iterator[tuple[Terminal, Future[Answer]]]:
    """A question with one field that has to be filled in, at a terminal."""
    fields = {"field": {"title": "Field", **schema}}
    form = {"type": "object", "properties": fields, "required": ["field"]}
    with shown_form(monkeypatch, form) as found:
        yield found


@contextmanager
def shown_form(
    monkeypatch: pytest.MonkeyPatch, form: dict[str, Any]
) -> Iterator[tuple[Terminal, Future[Answer]]]:
    """A question with the fields of a form, at a terminal."""
    ours, theirs = pty.openpty()
    monkeypatch.setattr(at_terminal, "_TERMINAL_PATH", os.ttyname(theirs))
    question = Question("one", "Where?", form, "book", {})
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(asyncio.run, at_terminal.ask_at_terminal(question))
        yield Terminal(ours), answer
    for number in (ours, theirs):
        os.close(number)


@pytest.mark.slow
def test_an_interruption_ends_the_command(shop: Shop) -> None:
    with terminal(shop, *REFUND) as person:
        person.until("decline: ")
        person.type("\x03")
        person.rest()
    assert shop.done == []
