"""The shop's commands ask at the terminal of their process, and take no other answer."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from tests.consent.counters import Shop

REFUND = ("refund", "--order-id", "A-1")
ENDED = 60.0


class Terminal:
    """A command that runs in a terminal, where a person types."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.shown = ""

    def until(self, text: str) -> None:
        """Waits until a text is shown."""
        end = time.monotonic() + ENDED
        while text not in self.shown:
            assert time.monotonic() < end, self.shown
            if not self._read(1.0):
                raise AssertionError(self.shown)

    def type(self, text: str) -> None:
        os.write(self._number, text.encode())

    def rest(self) -> None:
        """Waits until nothing more is shown."""
        while self._read(ENDED):
            pass

    def _read(self, patience: float) -> bool:
        ready, _, _ = select.select([self._number], [], [], patience)
        if not ready:
            return True
        try:
            part = os.read(self._number, 4096)
        except OSError:  # the other side is closed
            return False
        self.shown += part.decode().replace("\r\n", "\n")
        return bool(part)


_IN_TERMINAL = """
import os, sys
terminal, stdin, *words = sys.argv[1:]
os.login_tty(int(terminal))
if int(stdin):
    os.dup2(int(stdin), 0)
os.execv(sys.executable, [sys.executable, "-m", "generated.shop.cli", *words])
"""


@contextmanager
def terminal(shop: Shop, *words: str, stdin: str | None = None) -> Iterator[Terminal]:
    """Runs a command of the shop with a terminal of its own."""
    number, other = pty.openpty()
    reading, writing = os.pipe()
    if stdin is not None:
        os.write(writing, stdin.encode())
    os.close(writing)
    numbers = (str(other), str(0 if stdin is None else reading))
    with subprocess.Popen(
        [sys.executable, "-c", _IN_TERMINAL, *numbers, *words],
        cwd=shop.root,
        env={**os.environ, **shop.environment},
        pass_fds=(other, reading),
    ):
        os.close(other)
        os.close(reading)
        try:
            yield Terminal(number)
        finally:
            os.close(number)


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
    assert "the person declined; nothing was done" in person.shown
    assert shop.done == []


@pytest.mark.slow
@pytest.mark.parametrize("words", [REFUND, ("book", "--day", "Monday")])
def test_nobody_is_asked_without_a_terminal(shop: Shop, words: Sequence[str]) -> None:
    refused = run(shop, words, "yes\n" * 10)
    assert "there is no terminal at which one could answer" in refused.stderr
    assert refused.returncode == 1 and shop.done == []


@pytest.mark.slow
def test_no_option_says_yes(shop: Shop) -> None:
    for word in ("--yes", "-y", "--confirm", "--approve", "--force"):
        assert run(shop, (*REFUND, word)).returncode == 2, word
    forced = run(shop, ("refund", "--arguments", '{"order_id": "A", "approve": true}'))
    assert "`approve` is not a parameter" in forced.stderr and shop.done == []


@pytest.mark.slow
def test_help_tells_that_a_person_is_asked(shop: Shop) -> None:
    asked = "A person at the terminal is asked before its calls."
    assert asked in run(shop, ("refund", "--help")).stdout
    some = "A person at the terminal is asked before some of its calls."
    assert some in run(shop, ("price", "--help")).stdout
    assert "asked" not in run(shop, ("book", "--help")).stdout


@pytest.mark.slow
def test_a_form_is_filled_in(shop: Shop) -> None:
    with terminal(shop, "book", "--day", "Monday") as person:
        person.until("seats (a number): ")
        person.type("many\n")
        person.until("That is no answer to this.\nseats (a number): ")
        person.type("4\n")
        person.until("place (inside, garden): ")
        person.type("garden\n")
        person.rest()
    assert person.shown.endswith("booked Monday 4 garden\n")
    assert len(shop.done) == 1


@pytest.mark.slow
def test_an_interruption_ends_the_command(shop: Shop) -> None:
    with terminal(shop, *REFUND) as person:
        person.until("decline: ")
        person.type("\x03")
        person.rest()
    assert shop.done == []
