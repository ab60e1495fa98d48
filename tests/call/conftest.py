"""A generated project with tools for `toolcast call`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Project

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


TARGETS = "targets: {registry: {}, mcp: {}}\n"
