"""`toolcast generate` without click at hand ends as every command ends."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

SPEC = "summary: Greet.\nparameters: {type: object}\nhandler: handlers.toy:greet\n"
LOADED = """
import atexit, sys
atexit.register(lambda: sys.stderr.write(f"click: {'click' in sys.modules}"))
sys.argv[:] = ["toolcast", "generate"]
from toolcast.commands.start import main
main()
"""
INTERRUPTED = """
import os, signal, sys
sys.argv[:] = ["toolcast", "generate"]
import toolcast.pipeline
from toolcast.commands import start

def generate(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGINT)

toolcast.pipeline.generate = generate
start.main()
"""
BROUGHT = """
import sys
sys.argv[:] = ["toolcast", "generate"]
from toolcast import extensions
from toolcast.commands import start

def fail(*_: object) -> object:
    raise extensions.ExtensionFailure("the entry point `x` cannot be loaded")

extensions.extensions = fail
start.main()
"""


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    handlers = "def greet() -> str:\n    return 'hello'\n"
    toolset = "targets: {registry: {}}\n"
    made = make_project({"ann": SPEC}, toolset=toolset, handlers=handlers)
    made.toolcast("generate")
    time.sleep(0.05)  # what was changed just before a run is not remembered
    made.edit("specs/toy/ann.yaml", "Greet.", "Greet Ann.")
    return made


def test_a_run_of_one_changed_spec_never_loads_click(project: Any) -> None:
    run = project.run("-c", LOADED)
    assert run.returncode == 0
    assert run.stdout.startswith("1 tool in 1 toolset -> ")
    assert run.stderr == "click: False"


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


def test_an_extension_that_fails_is_named(project: Any) -> None:
    run = project.run("-c", BROUGHT)
    assert run.returncode == 2
    assert run.stderr == "error: the entry point `x` cannot be loaded\n"


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
