"""Project with two toolsets that mention each other's tools in texts, lists and handlers."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project

NOTE = """\
summary: Stores a note.
description: "Stores a note; `find_note` finds it."  # find_note: see its own file
when_to_use: |
  For what is to be kept.
  Call find_note first.
section: notes
parameters: {type: object}
handler: handlers.toy:store_note
deprecated: {since: "2020-01-01", replacement: find_note}
"""
FIND = """\
# Finds; find_note is its name.
title: 'Find a note'
summary: Finds notes.
section: notes
guidance: find_note takes words.
parameters:
  type: object
  properties:
    # what to look for
    words: {type: string, description: Words.}
handler: handlers.toy:find_note
"""
TOOLSET = """\
instructions: Begin with find_note.
sections:
  notes:
    heading: Notes
    footer: |
      Use find_note.
clients:
  desk:
    allow: [find_note, store_note]
  phone:
    allow:
      - store_note
      - find_note  # reads only
    deny: []
targets: {mcp: {client: desk}, registry: {}, prompts: {}}
exclusions:
  - {tool: find_note, target: mcp, reason: find_note is internal.}
  - tool: store_note
    target: mcp
    reason: So is this.
"""
HANDLERS = '''\
"""Notes."""

__all__ = ["find_note", "store_note"]


def store_note():
    return {"next": "Call find_note."}


async def find_note(words=""):
    return find_note.__name__
'''


def today(days: int = 0) -> str:
    """Return the date a number of days from today in ISO format."""
    return (datetime.date.today() + datetime.timedelta(days)).isoformat()


def read_files(root: Path) -> dict[str, bytes]:
    """Return the content of every file of a project by path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git/" not in path.as_posix()
    }


@pytest.fixture
def notes(make_project: Callable[..., Project]) -> Project:
    project = make_project(
        {"store_note": NOTE, "find_note": FIND}, toolset=TOOLSET, handlers=HANDLERS
    )
    project.edit("toolcast.yaml", "[specs/toy]", "[specs/toy, specs/other]")
    project.write(
        "specs/other/toolset.yaml",
        """\
        name: other
        title: Other
        handlers: handlers
        # Here, find_note of toy is meant.
        instructions: What find_note gives is text.
        targets: {mcp: {}, registry: {}}
        """,
    )
    project.write(
        "specs/other/ping.yaml",
        """\
        name: ping
        summary: Answers.
        parameters: {type: object}
        handler: handlers.toy:store_note
        """,
    )
    return project


def run_rejected(project: Project, code: int, *arguments: str) -> str:
    """Return the errors of a command that exits with a code and changes no file."""
    before = read_files(project.root)
    done: Any = project.toolcast(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    assert read_files(project.root) == before
    return str(done.stderr)


def run_command(project: Project, *arguments: str) -> str:
    """Return the output of a command that succeeds."""
    done: Any = project.toolcast(*arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)
