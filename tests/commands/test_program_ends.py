"""However a command ends: with findings, interrupted, unread, as a repetition."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SPEC = "summary: Greet.\nparameters: {type: object}\nhandler: handlers.toy:greet\n"
INTERRUPTED = """
import os, signal, sys
sys.argv[:] = ["toolcast", "generate"]
import toolcast.pipeline
from toolcast.commands.main import main

def generate(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)

toolcast.pipeline.generate = generate
main()
"""


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    handlers = "def greet() -> str:\n    return 'hello'\n"
    toolset = "targets: {registry: {}}\n"
    made = make_project({"ann": SPEC}, toolset=toolset, handlers=handlers)
    made.toolcast("generate")
    made.edit("specs/toy/ann.yaml", "Greet.", "Greet Ann.")
    return made


def test_findings_end_it_with_1(project: Any) -> None:
    project.edit("specs/toy/ann.yaml", "summary:", "sumary:")
    run = project.toolcast("generate")
    assert run.returncode == 1
    assert "did you mean `summary`?" in run.stderr
    assert run.stderr.endswith("nothing was written\n")


def test_other_letters_than_ascii_are_said_too(project: Any) -> None:
    project.edit("specs/toy/ann.yaml", "summary:", "grüße:")
    run = project.toolcast("generate")
    assert run.returncode == 1
    assert "grüße" in run.stderr


def test_an_interrupt_ends_it_with_1_and_no_traceback(project: Any) -> None:
    run = project.run("-c", INTERRUPTED)
    assert (run.returncode, run.stderr.strip()) == (1, "Aborted!")


def test_an_extension_that_is_not_installed_is_named(project: Any) -> None:
    project.write(
        "toolcast.yaml", "version: 1\ntoolsets: [specs/toy]\nextensions: [house]\n"
    )
    for command in ("generate", "check"):
        done = project.toolcast(command)
        assert done.returncode == 2
        assert "pip install toolcast-house" in done.stderr


def test_a_reader_that_goes_away_ends_it_quietly(project: Any) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    run = subprocess.run(
        [sys.executable, "-m", "toolcast", "generate"],
        cwd=project.root,
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(writer)
    assert (run.returncode, run.stderr) == (1, "")


def test_arguments_that_only_the_command_understands_reach_it(project: Any) -> None:
    folder = Path(project.root)
    assert project.toolcast("generate", "--force").returncode == 0
    named = project.toolcast("generate", f"--project={folder}", cwd=folder.parent)
    assert named.returncode == 0
    lacking = project.toolcast("generate", cwd=folder.parent)
    assert (lacking.returncode, lacking.stderr.split("\n")[0]) == (
        2,
        "error: no toolcast.yaml here or above",
    )
    assert project.toolcast("generate", "--wrong").returncode == 2
