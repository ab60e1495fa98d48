"""Handlers' output on stderr, and errors of writing to stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.call.conftest import run_module, start_module
from tests.conftest import Project

HANDLERS = """
import atexit, logging, os, subprocess, sys
from sys import stdout

print("noise at import")
log = logging.getLogger("toy")
log.addHandler(logging.StreamHandler(stdout))

def shout(how="print"):
    if how == "print":
        print("noise")
    elif how == "write":
        sys.stdout.write("noise\\n")
    elif how == "stored":
        stdout.write("noise")
    elif how == "original":
        print("noise", file=sys.__stdout__)
    elif how == "log":
        log.warning("noise")
    elif how == "descriptor":
        os.write(1, b"noise\\n")
    elif how == "child":
        subprocess.run(["echo", "noise"], check=True)
    elif how == "exit":
        atexit.register(print, "noise")
    return {"how": how}

def big():
    return {"text": "x" * 1_000_000}
"""
OUTPUT_METHODS = "print write stored original log descriptor child exit".split()


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    tools = {
        "shout": """
            summary: Shouts.
            handler: handlers.toy:shout
            cli: {keyword: shout}
            parameters: {type: object, properties: {how: {type: string}}}
            """,
        "big": """
            summary: Returns much.
            handler: handlers.toy:big
            cli: {keyword: big}
            parameters: {type: object}
            """,
    }
    made: Project = make_project(
        tools, handlers=HANDLERS, toolset="targets: {registry: {}, cli: {}}\n"
    )
    made.generate()
    return made


@pytest.mark.slow
def test_output_of_a_handler_is_redirected_to_stderr(project: Project) -> None:
    """Stdout has only the result of the generated command or `toolcast call`."""
    for how in OUTPUT_METHODS:
        commands: Sequence[Sequence[str]] = (
            ("generated.toy.cli", "shout", "--how", how),
            ("toolcast", "call", "shout", f"how={how}", "--json"),
        )
        for command in commands:
            done = run_module(project.root, *command)
            assert done.returncode == 0, done.stderr
            assert "noise" in done.stderr.replace("noise at import", "")
            assert '"how"' in done.stdout and json.loads(done.stdout)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    ("command", "exit_code"),
    [
        (("generated.toy.cli", "big"), 1),
        (("generated.toy.cli", "--help"), 1),
        (("toolcast", "call", "big", "--json"), 2),
        (("toolcast", "check", "--format", "json"), 2),
        (("toolcast", "--help"), 2),
    ],
)
def test_command_with_stdout_on_a_full_disk_prints_error_and_help(
    project: Project, command: Sequence[str], exit_code: int
) -> None:
    """Commands are a toolset's own commands and `toolcast`."""
    with open("/dev/full", "w") as full:
        process = start_module(project.root, *command, stdout=full.fileno())
        _, err = process.communicate(timeout=60)
    assert process.wait() == exit_code
    text = err.decode().replace("noise at import\n", "")
    assert text == (
        "error: the output cannot be written: No space left on device\n"
        "  help: free space on its disk, or write to another one\n"
    )


REMOVED = """
import os, sys
os.rmdir(os.getcwd())
from toolcast.commands.main import main
for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as end:
        assert end.code == 2
"""


def test_command_in_a_removed_working_directory_exits_with_2(tmp_path: Path) -> None:
    folder = tmp_path / "removed"
    folder.mkdir()
    lines = ["check", "generate", "call x", "explain x", "init"]
    done = subprocess.run(
        # Like an installed program, without the working directory in `sys.path`: Python 3.13
        # loads no codecs while a folder of it is missing.
        [sys.executable, "-P", "-c", REMOVED, *lines],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "")
    error = (
        "error: the working directory was removed\n  help: change to another folder\n"
    )
    assert done.stderr == error * len(lines)
