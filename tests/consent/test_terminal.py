"""Confirmation and handler questions of generated CLI commands at the terminal."""

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

from tests.consent.shop_clients import Shop
from tests.consent.terminals import Terminal, run_in_terminal
from toolcast_runtime.cli import terminal as terminal_module
from toolcast_runtime.core.question import Answer, Question

REFUND = ("refund", "--order-id", "A-1")


def start_command(
    shop: Shop, *arguments: str, stdin: str | None = None
) -> AbstractContextManager[Terminal]:
    """Run a command of the shop in a terminal."""
    module = ("generated.shop.cli", *arguments)
    return run_in_terminal(shop.root, shop.environment, *module, stdin=stdin)


def run_without_terminal(
    shop: Shop, arguments: Sequence[str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command without a terminal, as an agent's tool does."""
    return subprocess.run(
        [sys.executable, "-m", "generated.shop.cli", *arguments],
        cwd=shop.root,
        env={**os.environ, **shop.environment},
        input=stdin,
        capture_output=True,
        text=True,
        start_new_session=True,
    )


def test_generated_cli_runs_a_confirmed_tool_after_the_user_types_yes(
    shop: Shop,
) -> None:
    """The question lists the arguments, and the approval is recorded."""
    with start_command(shop, *REFUND) as terminal:
        terminal.read_until("decline: ")
        question = 'Pay this order back?\n\nrefund_order:\n- order_id: "A-1"\n'
        assert question in terminal.output
        terminal.type("yes\n")
        terminal.read_to_end()
    assert terminal.output.endswith("refunded A-1 None\n")
    assert len(shop.side_effects) == 1
    assert shop.list_approvals("tool", "action") == [("refund_order", "accept")]


def test_generated_cli_runs_no_confirmed_tool_unless_the_user_types_yes(
    shop: Shop,
) -> None:
    """Piped input, and a `yes` typed before the question, are not read."""
    with start_command(shop, *REFUND, stdin="yes\nyes\n") as terminal:
        terminal.type("yes\n")
        terminal.read_until("decline: ")
        assert shop.side_effects == []
        terminal.type("y\n")
        terminal.read_to_end()
    assert "the user declined; nothing was done" in terminal.output
    assert shop.side_effects == []


def test_generated_cli_declines_a_confirmation_longer_than_the_terminal_buffer(
    shop: Shop,
) -> None:
    """Ctrl-D sends an unfinished line, and a terminal buffers at most 4,095 bytes."""
    with start_command(shop, *REFUND) as terminal:
        terminal.read_until("decline: ")
        terminal.type("yes" * 1365 + "\x04")
        terminal.type("!\x04")
        terminal.read_until("the user declined; nothing was done")
    assert shop.side_effects == []


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [REFUND, ("book", "--day", "Monday")])
def test_generated_cli_command_that_asks_the_user_fails_without_a_terminal(
    shop: Shop, arguments: Sequence[str]
) -> None:
    """A `yes` in the standard input is not an answer."""
    refused = run_without_terminal(shop, arguments, "yes\n" * 10)
    assert "there is no terminal" in refused.stderr
    assert refused.returncode == 1 and shop.side_effects == []


@pytest.mark.slow
def test_generated_cli_has_no_option_or_argument_that_confirms_a_call(
    shop: Shop,
) -> None:
    for option in ("--yes", "--confirm"):
        assert run_without_terminal(shop, (*REFUND, option)).returncode == 2, option
    arguments = ("refund", "--arguments", '{"order_id": "A", "approve": true}')
    forced = run_without_terminal(shop, arguments)
    assert "`approve` is not a parameter" in forced.stderr and shop.side_effects == []


@pytest.mark.slow
def test_generated_cli_help_states_which_commands_require_confirmation(
    shop: Shop,
) -> None:
    always = "Its calls ask the user at the terminal for confirmation."
    assert always in run_without_terminal(shop, ("refund", "--help")).stdout
    sometimes = "Some of its calls ask the user at the terminal for confirmation."
    assert sometimes in run_without_terminal(shop, ("price", "--help")).stdout
    assert "asked" not in run_without_terminal(shop, ("book", "--help")).stdout


@pytest.mark.slow
def test_generated_cli_asks_for_each_handler_form_field(shop: Shop) -> None:
    with start_command(shop, "book", "--day", "Monday") as terminal:
        terminal.read_until("seats (a number): ")
        terminal.type("many\n")
        terminal.read_until("This is not a valid answer.\nseats (a number): ")
        terminal.type("4\n")
        terminal.read_until("place (inside, garden): ")
        terminal.type("garden\n")
        terminal.read_to_end()
    assert terminal.output.endswith("booked Monday 4 garden\n")
    assert len(shop.side_effects) == 1


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
def test_form_field_terminal_prompt_describes_the_field_type(
    monkeypatch: pytest.MonkeyPatch, schema: Any, prompt: str, typed: str, value: Any
) -> None:
    with ask_field(monkeypatch, schema) as (terminal, answer):
        terminal.read_until(f"Where?\n{prompt}")
        terminal.type(f"{typed}\n")
        assert answer.result(20) == Answer("accept", {"field": value})


TITLED = [{"const": "in", "title": "Inside"}, {"const": "out", "title": "Outside"}]


@pytest.mark.parametrize(
    ("schema", "typed"),
    [
        ({"type": "boolean"}, "true"),
        ({"type": "integer"}, "1.5"),
        ({"type": "number"}, "true"),
        ({"type": "number"}, "NaN"),
        ({"type": "integer", "maximum": 3}, "4"),
        ({"type": "string", "enum": ["in", "out"]}, "up"),
        ({"type": "string", "oneOf": TITLED}, "Inside"),
        ({"type": "array", "items": {"type": "string", "enum": ["in"]}}, "in, up"),
        ({"type": "array", "items": {"anyOf": TITLED}}, "in,, out"),
        ({"type": "string"}, ""),
    ],
)
def test_terminal_form_is_cancelled_after_the_third_invalid_input(
    monkeypatch: pytest.MonkeyPatch, schema: dict[str, Any], typed: str
) -> None:
    with ask_field(monkeypatch, schema) as (terminal, answer):
        for _ in range(3):
            terminal.read_until(": ")
            terminal.type(f"{typed}\n")
            terminal.read_until("This is not a valid answer.")
        assert answer.result(20) == Answer("cancel")


def test_terminal_form_uses_the_default_or_omits_the_field_on_empty_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ctrl-D cancels the question."""
    form = {
        "type": "object",
        "properties": {
            "way": {"type": "string", "default": "by post", "description": "How?"},
            "count": {"type": "integer"},
            "note": {"type": "string", "default": "none"},
        },
        "required": ["note"],
    }
    with ask_form(monkeypatch, form) as (terminal, answer):
        terminal.read_until("How?\nway: ")
        terminal.type("\n")
        terminal.read_until("count (a number): ")
        terminal.type("\n")
        terminal.read_until("note: ")
        terminal.type("\n")
        content = {"way": "by post", "note": "none"}
        assert answer.result(20) == Answer("accept", content)
        assert "How?" not in terminal.output.partition("way: ")[2]
    with ask_form(monkeypatch, form) as (terminal, answer):
        terminal.read_until("way: ")
        terminal.type("\x04")
        assert answer.result(20) == Answer("cancel")


def test_has_terminal_is_true_only_if_the_terminals_path_can_be_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    controller, command = pty.openpty()
    monkeypatch.setattr(terminal_module, "_TERMINAL_PATH", os.ttyname(command))
    assert terminal_module.has_terminal()
    monkeypatch.setattr(terminal_module, "_TERMINAL_PATH", "/no/such/terminal")
    assert not terminal_module.has_terminal()
    for number in (controller, command):
        os.close(number)


@contextmanager
def ask_field(
    monkeypatch: pytest.MonkeyPatch, schema: dict[str, Any]
) -> Iterator[tuple[Terminal, Future[Answer]]]:
    """Ask a question with one required field at a terminal."""
    fields = {"field": {"title": "Field", **schema}}
    form = {"type": "object", "properties": fields, "required": ["field"]}
    with ask_form(monkeypatch, form) as dialog:
        yield dialog


@contextmanager
def ask_form(
    monkeypatch: pytest.MonkeyPatch, form: dict[str, Any]
) -> Iterator[tuple[Terminal, Future[Answer]]]:
    """Ask a question with this form at a terminal."""
    controller, command = pty.openpty()
    monkeypatch.setattr(terminal_module, "_TERMINAL_PATH", os.ttyname(command))
    question = Question("one", "Where?", form, "book", {})
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(asyncio.run, terminal_module.ask_at_terminal(question))
        yield Terminal(controller), answer
    for number in (controller, command):
        os.close(number)


@pytest.mark.slow
def test_generated_cli_ctrl_c_at_the_confirmation_ends_without_running_the_tool(
    shop: Shop,
) -> None:
    with start_command(shop, *REFUND) as terminal:
        terminal.read_until("decline: ")
        terminal.type("\x03")
        terminal.read_to_end()
    assert shop.side_effects == []
