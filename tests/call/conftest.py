"""A generated project with tools for `toolcast call`, and forks that run it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Project
from tests.forked_servers import Process, start

HANDLERS = """
import base64
from toolcast_runtime import ToolError, image

def add(a, b=1):
    return {"sum": a + b}

def people():
    return [{"name": "Ada", "age": 36}, {"name": "Bob", "age": 7}]

def draw():
    return image(b"\\x89PNG", "image/png")

def fail():
    raise ToolError("there is no such thing\\x1b[31m")

def wipe():
    return "wiped"

def missing():
    import not_installed_anywhere
"""
TARGETS = "targets: {registry: {}, mcp: {}}\n"
PLAIN = "parameters: {type: object}\ncli: {keyword: null, reason: By hand.}\n"


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    """Return a generated project with six tools."""
    tools = {
        name: f"summary: Does it.\n{PLAIN}handler: handlers.toy:{name}\n{fields}"
        for name, fields in {
            "people": "",
            "draw": "",
            "fail": "",
            "missing": "",
            "wipe": "confirm: {message: Wipe everything?}\n"
            "annotations: {destructiveHint: true}\n",
        }.items()
    }
    tools["add"] = """
        summary: Adds.
        cli: {keyword: null, reason: By hand.}
        handler: handlers.toy:add
        renamed_from: [plus]
        parameters:
          type: object
          required: [a]
          properties:
            a: {type: integer}
            b: {type: integer}
        """
    made: Project = make_project(tools, handlers=HANDLERS, toolset=TARGETS)
    made.generate()
    return made


def start_module(folder: Path, *args: str, stdout: int = subprocess.PIPE) -> Process:
    """Start `python -m ARGS` in a fork that has imported `toolcast`."""
    loaded = ("toolcast.commands.main", "toolcast.pipeline", "toolcast_runtime.cli")
    return start(folder, *args, env=os.environ, stdout=stdout, loaded=loaded)


def run_module(
    folder: Path, *args: str, input: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `python -m ARGS` in a fork to its end."""
    process = start_module(folder, *args)
    out, err = process.communicate(input.encode(), 60)
    code = process.wait()
    return subprocess.CompletedProcess(args, code, out.decode(), err.decode())
