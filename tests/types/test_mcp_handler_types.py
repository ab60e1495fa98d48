"""Type checkers compare handlers of resources and MCP prompts with their specs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Project
from tests.program import toolcast
from tests.project_files import write_toolset

HANDLERS = """\
from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from typing import Any, Iterator


class Database: ...


@contextmanager
def opened() -> Iterator[dict[str, object]]:
    yield {"db": Database()}


def keywords(title: str, part: str = "") -> str:
    return title


def mapping(arguments: Mapping[str, Any]) -> str:
    return "x"


def anything(**arguments: str) -> str:
    return "x"


def wrong_name(name: str) -> str:
    return name


def wrong_type(title: int, part: str = "") -> str:
    return "x"


def one_more(title: str, part: str, other: str) -> str:
    return "x"


def one_less(part: str = "") -> str:
    return "x"


def needs_part(title: str, part: str) -> str:
    return "x"


def lent(title: str, part: str = "", *, db: Database) -> str:
    return "x"


def wrongly_lent(title: str, part: str = "", *, base: Database) -> str:
    return "x"
"""
MATCHING = ("keywords", "mapping", "anything", "lent")
MISMATCHED = ("wrong_name", "wrong_type", "one_more", "one_less", "wrongly_lent")
TOOLSET = """\
name: notes
title: Notes
handlers: handlers
targets: {mcp: {}, registry: {}}
lifespan: handlers.notes:opened
dependencies: {db: handlers.notes:Database}
"""


@pytest.mark.slow
def test_mypy_names_each_mismatched_handler(tmp_path: Path, mypy_cache: str) -> None:
    project = Project(write_toolset(tmp_path, "notes", {"toolset": TOOLSET}))
    project.write("handlers/__init__.py", "")
    project.write("handlers/notes.py", HANDLERS)
    for name in (*MATCHING, *MISMATCHED, "needs_part"):
        handler = f"name: {name}\nhandler: handlers.notes:{name}\n"
        handler += "uses: [db]\n" if "lent" in name else ""
        if name not in MATCHING:
            handler += "suppress: [{rule: handler/mcp-signature, reason: Tested.}]\n"
        template = f"uri_template: 'note://{name}/{{title}}{{?part}}'\n"
        arguments = "arguments: [{name: title, required: true}, {name: part}]\n"
        folder = "specs/notes"
        project.write(f"{folder}/mcp_resources/{name}.yaml", handler + template)
        project.write(f"{folder}/mcp_prompts/{name}.yaml", handler + arguments)
    toolcast(project.root, "generate")
    options = ["--strict", "--explicit-package-bases", "--cache-dir", mypy_cache]
    done = project.run("-m", "mypy", *options, "generated")
    reported = {
        tuple(Path(line.partition(":")[0]).with_suffix("").parts[-2:])
        for line in done.stdout.splitlines()
        if " error: " in line
    }
    expected = {(f, n) for f in ("mcp_resources", "mcp_prompts") for n in MISMATCHED}
    # A request for a prompt can omit `part`; the URI of the resource always contains it.
    assert reported == {*expected, ("mcp_prompts", "needs_part")}, done.stdout
