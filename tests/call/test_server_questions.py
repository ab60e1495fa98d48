"""Elicitation requests and progress of an MCP server during `toolcast call`."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.consent.terminals import run_in_terminal

ODD = Path(__file__).parents[1] / "external" / "servers" / "odd.py"
SERVER = shlex.join([sys.executable, str(ODD), "asking"])
ECHO = ("toolcast", "call", "echo", "--mcp-stdio", SERVER)


def test_toolcast_call_sends_elicitation_form_after_valid_input_and_confirmation(
    tmp_path: Path,
) -> None:
    with run_in_terminal(tmp_path, {}, *ECHO, "text=city") as person:
        person.read_until("Name\\x1b[2J: ")
        question = f"The server {sys.executable} asks:\nWhich city?\\x1b[31m\n"
        assert question in person.output
        person.type("far too long\n")
        # Input from before the question is discarded.
        person.read_until("This is not a valid answer.\nName\\x1b[2J: ")
        person.type("Rome\n")
        person.read_until("decline: ")
        sent = f'sent to the server {sys.executable}:\n  city: "Rome"\n'
        assert sent in person.output
        person.type("yes\n")
        person.read_to_end()
    assert person.output.endswith(
        "heard {'action': 'accept', 'content': {'city': 'Rome'}}\n"
    )
    assert "\x1b" not in person.output


@pytest.mark.parametrize(
    ("arguments", "question", "reply", "received"),
    [
        ((), "Which None?", "no", "{'action': 'decline'}"),
        ((), "Which None?", "yes", "{'action': 'accept', 'content': {}}"),
        (
            ("text=page",),
            "asks you to open this URL in a browser:\nhttps://a.example/\\x1b[2J\nLog in.",
            "yes",
            "{'action': 'accept'}",
        ),
    ],
)
@pytest.mark.slow
def test_toolcast_call_answers_elicitation_without_fields_by_yes_or_no(
    arguments: tuple[str, ...], question: str, reply: str, received: str, tmp_path: Path
) -> None:
    with run_in_terminal(tmp_path, {}, *ECHO, *arguments) as person:
        person.read_until("decline: ")
        assert question in person.output
        person.type(f"{reply}\n")
        person.read_to_end()
    assert person.output.endswith(f"heard {received}\n")


@pytest.mark.slow
def test_toolcast_call_without_terminal_answers_elicitation_as_not_supported(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *ECHO, "text=city"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        start_new_session=True,
        input="Rome\nyes\n",
    )
    assert done.stdout == "heard Elicitation not supported\n"


@pytest.mark.slow
def test_toolcast_call_prints_progress_and_ctrl_c_cancels_it(tmp_path: Path) -> None:
    log = tmp_path / "told"
    server = shlex.join([sys.executable, str(ODD), "well", str(log)])
    command = ("toolcast", "call", "hang", "--mcp-stdio", server)
    with run_in_terminal(tmp_path, {}, *command) as person:
        person.read_until("2  half of it\\x1b[2J")
        person.type("\x03")
        person.read_to_end()
    assert "\x1b" not in person.output
    assert "Traceback" not in person.output
    assert log.read_text("utf-8") == "cancelled\n"


@pytest.mark.slow
def test_toolcast_call_repeats_a_stateless_mcp_call_after_the_users_confirmation(
    project: Project,
) -> None:
    """The client repeats the call with the answer."""
    server = shlex.join([sys.executable, "-m", "generated.toy.mcp_server"])
    command = ("toolcast", "call", "wipe", "--mcp-stdio", server)
    with run_in_terminal(project.root, {}, *command) as person:
        person.read_until("(yes or no): ")
        assert "Wipe everything?" in person.output
        person.type("yes\n")
        person.read_until("decline: ")
        person.type("yes\n")
        person.read_to_end()
    assert person.output.endswith("wiped\n")
