"""The projects that are measured: real tools, this repository's, and made-up ones.

Real tools, those of `real_lists`, get what the answer of a server cannot tell: a section, a
handler and a CLI keyword.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT)]

from real_lists import real_tools

from tests.corpus.imported import import_tools
from toolcast_runtime.core.definitions.tool import spec_name

__all__ = [
    "ROOT",
    "Workspace",
    "imported",
    "listed",
    "made_up",
    "real",
    "repository",
    "set_aside",
]

_NUMBERS = count()
_TOOLSET = """\
name: things
title: Things
handlers: handlers
sections: {tools: {heading: Tools}}
"""
_HANDLERS = '''\
"""Does the work of every tool."""

from collections.abc import Mapping
from typing import Any


async def work(arguments: Mapping[str, Any], /) -> str:
    """Says that it is done."""
    return "done"
'''
_MADE_UP = """\
name: {name}
title: Tool number {number}
summary: Do the thing number {number} for the caller.
description: >-
  Do the thing number {number} for the caller, with a few words more, so that the text is as
  long as real descriptions are. It returns what was done.
when_to_use: Use it when thing {number} has to be done.
section: tools
order: {number}
parameters:
  type: object
  properties:
    name:
      type: string
      description: The name of the thing to do.
    count:
      type: integer
      minimum: 1
      maximum: 100
      default: 10
      description: How often to do it.
    mode:
      type: string
      enum: [fast, slow, careful]
      description: How to do it.
    tags:
      type: array
      items: {{type: string}}
      description: Labels for the result.
    dry_run:
      type: boolean
      default: false
      description: Only say what would be done.
  required: [name]
  additionalProperties: false
annotations:
  readOnlyHint: false
  destructiveHint: false
handler: handlers.tools:work
cli:
  keyword: do-{number}
  usage: <name>
examples:
  - title: Do it three times
    arguments: {{name: thing, count: 3}}
"""


class Workspace:
    """A project on disk.

    Attributes:
        name: what it holds, in a few words.
        root: its folder.
        spec: the file that an edit is made in.
    """

    def __init__(self, name: str, root: Path, spec: Path) -> None:
        self.name, self.root, self.spec = name, root, spec
        self._turns = count()

    @property
    def size(self) -> int:
        """Bytes of its specs."""
        return sum(f.stat().st_size for f in self.root.glob("specs/**/*.yaml"))

    def edit(self) -> None:
        """Changes the title of one tool, and nothing else."""
        text = re.sub(r"(?m)^title:.*\n(?:  .*\n)*", "", self.spec.read_text("utf-8"))
        title = f"title: Edit {next(self._turns)} of process {os.getpid()}\n"
        self.spec.write_text(re.sub(r"(?m)^(name:.*\n)", rf"\1{title}", text), "utf-8")

    def commit(self) -> None:
        """Makes it a git repository in which all of it is committed, as a project is."""
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        for words in (
            ["init", "--quiet"],
            ["add", "--all"],
            [*identity, "commit", "--quiet", "--message", "All"],
        ):
            subprocess.run(["git", *words], cwd=self.root, check=True)

    def clear(self, cache: Path) -> Callable[[], None]:
        """What takes away all that earlier runs wrote; `cache` is the user's cache folder."""

        def run() -> None:
            set_aside(self.root / "generated", self.root.parent)
            shutil.rmtree(cache, ignore_errors=True)

        return run


def set_aside(path: Path, below: Path) -> None:
    """Moves a file or folder away, if there is one, to a folder of the same disk.

    It is not deleted: ext4 does not give an inode to a new file while it was freed a short
    time ago, and looks at each of them for every file that is made. A run that writes
    thousands of files right after thousands were deleted takes three times the processor
    time for that alone.
    """
    if path.exists():
        away = below / "set-aside"
        away.mkdir(exist_ok=True)
        path.rename(away / str(next(_NUMBERS)))


def real(folder: Path, number: int, toolset: str = "") -> Workspace:
    """A project of that many real tools in one toolset; `toolset`: more lines for it."""
    name = f"{number:,} real tools"
    return _of_tools(folder / f"real-{number}", name, real_tools(number), toolset)


def listed(folder: Path, name: str, tools: Sequence[Mapping[str, Any]]) -> Workspace:
    """A project of one server's list."""
    return _of_tools(folder / name, f"{len(tools)} tools of {name}", tools)


def imported(folder: Path, number: int) -> Workspace:
    """A project of that many real tools as `toolcast import` leaves it, without handlers."""
    root = folder / f"imported-{number}"
    tools = real_tools(number)
    import_tools(root, "things", tools, ("mcp", "registry", "snapshots"))
    return Workspace(f"{number:,} imported tools", root, _middle(root, tools))


def _of_tools(
    root: Path, name: str, tools: Sequence[Mapping[str, Any]], toolset: str = ""
) -> Workspace:
    specs = root / "specs" / "things"
    import_tools(root, "things", tools)
    for tool in tools:
        keyword = tool["name"].lower().replace("_", "-").replace(".", "-")
        path = specs / f"{spec_name(tool['name'])}.yaml"
        more = "section: tools\nhandler: handlers.tools:work\n"
        more += f"cli: {{keyword: {json.dumps(keyword)}}}\n"
        path.write_text(path.read_text("utf-8") + more, "utf-8")
    (specs / "toolset.yaml").write_text(_TOOLSET + toolset, "utf-8")
    _write_project(root)
    return Workspace(name, root, _middle(root, tools))


def _middle(root: Path, tools: Sequence[Mapping[str, Any]]) -> Path:
    name = spec_name(tools[len(tools) // 2]["name"])
    return root / "specs" / "things" / f"{name}.yaml"


def made_up(folder: Path, number: int) -> Workspace:
    """A project of that many tools with five arguments each."""
    root = folder / f"made-up-{number}"
    specs = root / "specs" / "things"
    specs.mkdir(parents=True)
    (specs / "toolset.yaml").write_text(_TOOLSET, "utf-8")
    for each in range(number):
        name = f"thing_{each:05}"
        text = _MADE_UP.format(name=name, number=each)
        (specs / f"{name}.yaml").write_text(text, "utf-8")
    _write_project(root)
    edited = specs / f"thing_{number // 2:05}.yaml"
    return Workspace(f"{number:,} made-up tools", root, edited)


def repository(folder: Path) -> Workspace:
    """The three toolsets of this repository, with their handlers."""
    root = folder / "repository"
    root.mkdir()
    for name in ("specs", "examples"):
        shutil.copytree(
            ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "toolcast.yaml", root)
    number = sum(1 for _ in root.glob("specs/*/*.yaml")) - 3
    spec = root / "specs" / "molecule" / "check_task_status.yaml"
    return Workspace(f"{number} tools of this repository", root, spec)


def _write_project(root: Path) -> None:
    (root / "handlers").mkdir()
    (root / "handlers" / "__init__.py").touch()
    (root / "handlers" / "tools.py").write_text(_HANDLERS, "utf-8")
    text = "version: 1\ntoolsets: [specs/things]\n"
    (root / "toolcast.yaml").write_text(text, "utf-8")
