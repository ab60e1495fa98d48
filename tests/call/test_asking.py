"""What a server asks in the midst of `toolcast call`, and how far it says it is."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.consent.terminals import in_terminal

ODD = Path(__file__).parents[1] / "external" / "servers" / "odd.py"
SERVER = shlex.join([sys.executable, str(ODD), "asking"])
ECHO = ("toolcast", "call", "echo", "--mcp-stdio", SERVER)


def test_a_form_is_filled_in_and_sent_after_a_yes(tmp_path: Path) -> None:
    with in_terminal(tmp_path, {}, *ECHO, "text=city") as person:
        person.until("Name\\x1b[2J: ")
        assert (
            f"The server {sys.executable} asks:\nWhich city?\\x1b[31m\n" in person.shown
        )
        person.type("far too long\n")
        # What is typed before the question stands there counts for nothing.
        person.until("This is not a valid answer.\nName\\x1b[2J: ")
        person.type("Rome\n")
        person.until("decline: ")
        sent = f'sent to the server {sys.executable}:\n  city: "Rome"\n'
        assert sent in person.shown
        person.type("yes\n")
        person.rest()
    assert person.shown.endswith(
        "heard {'action': 'accept', 'content': {'city': 'Rome'}}\n"
    )
    assert "\x1b" not in person.shown


@pytest.mark.parametrize(
    ("words", "asked", "typed", "heard"),
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
def test_what_has_no_fields_takes_a_yes(
    words: tuple[str, ...], asked: str, typed: str, heard: str, tmp_path: Path
) -> None:
    with in_terminal(tmp_path, {}, *ECHO, *words) as person:
        person.until("decline: ")
        assert asked in person.shown
        person.type(f"{typed}\n")
        person.rest()
    assert person.shown.endswith(f"heard {heard}\n")


@pytest.mark.slow
def test_without_a_terminal_nobody_is_asked(tmp_path: Path) -> None:
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
def test_progress_is_shown_to_who_watches_and_a_call_is_interrupted(
    tmp_path: Path,
) -> None:
    told = tmp_path / "told"
    server = shlex.join([sys.executable, str(ODD), "well", str(told)])
    words = ("toolcast", "call", "hang", "--mcp-stdio", server)
    with in_terminal(tmp_path, {}, *words) as person:
        person.until("2  half of it\\x1b[2J")
        person.type("\x03")
        person.rest()
    assert "\x1b" not in person.shown
    assert "Traceback" not in person.shown
    assert told.read_text("utf-8") == "cancelled\n"


@pytest.mark.slow
def test_a_call_is_made_again_with_the_answers_in_the_newest_protocol(
    project: Project,
) -> None:
    server = shlex.join([sys.executable, "-m", "generated.toy.mcp_server"])
    words = ("toolcast", "call", "wipe", "--mcp-stdio", server)
    with in_terminal(project.root, {}, *words) as person:
        person.until("(yes or no): ")
        assert "Wipe everything?" in person.shown
        person.type("yes\n")
        person.until("decline: ")
        person.type("yes\n")
        person.rest()
    assert person.shown.endswith("wiped\n")
