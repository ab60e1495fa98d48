"""A small project, generated and ready to be damaged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

GREET = """
summary: Greet somebody.
parameters:
  type: object
  properties: {name: {type: string, description: Who is greeted.}}
handler: handlers.toy:greet
"""
HANDLER = """
def greet(*, name: str = "you") -> str:
    return f"Hello, {name}"
"""


@pytest.fixture
def small(make_project: Callable[..., Any]) -> Any:
    """One tool, two light targets; generated."""
    project = make_project(
        {"greet": GREET},
        toolset="targets: {registry: {}, prompts: {}}\n",
        handlers=HANDLER,
    )
    project.generate()
    return project
