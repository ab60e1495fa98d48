"""Measured projects: real tools, this repository's tools, and synthetic tools.

Real tools, from `real_lists`, also get the fields that a `tools/list` answer lacks: a section,
a handler and a CLI keyword.
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

from real_lists import load_real_tools

from tests.corpus.imported import import_tools
from toolcast_runtime.core.definitions.tool import spec_name

_FOLDER_NUMBERS = count()
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
_SYNTHETIC_SPEC = """\
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
        name: short description of its tools.
        root: project folder.
        spec: spec file that `edit` changes.
    """

    def __init__(self, name: str, root: Path, spec: Path) -> None:
        self.name, self.root, self.spec = name, root, spec
        self._edits = count()

    @property
    def size(self) -> int:
        """Total bytes of the specs."""
        return sum(f.stat().st_size for f in self.root.glob("specs/**/*.yaml"))

    def edit(self) -> None:
        """Change only the title of one tool."""
        text = re.sub(r"(?m)^title:.*\n(?:  .*\n)*", "", self.spec.read_text("utf-8"))
        title = f"title: Edit {next(self._edits)} of process {os.getpid()}\n"
        self.spec.write_text(re.sub(r"(?m)^(name:.*\n)", rf"\1{title}", text), "utf-8")

    def commit(self) -> None:
        """Create a git repository and commit all files."""
        identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        for arguments in (
            ["init", "--quiet"],
            ["add", "--all"],
            [*identity, "commit", "--quiet", "--message", "All"],
        ):
            subprocess.run(["git", *arguments], cwd=self.root, check=True)

    def build_reset(self, cache: Path) -> Callable[[], None]:
        """Return a function that removes all output of previous runs, and `cache`."""

        def reset() -> None:
            move_aside(self.root / "generated", self.root.parent)
            shutil.rmtree(cache, ignore_errors=True)

        return reset


def move_aside(path: Path, parent: Path) -> None:
    """Move a file or folder, if it exists, to another folder on the same disk.

    It is not deleted because ext4 skips recently freed inodes one by one for every new file:
    a run that writes thousands of files right after thousands were deleted needs three times
    the processor time.
    """
    if path.exists():
        target = parent / "set-aside"
        target.mkdir(exist_ok=True)
        path.rename(target / str(next(_FOLDER_NUMBERS)))


def make_real_project(folder: Path, number: int, toolset: str = "") -> Workspace:
    """Make a project of `number` real tools; append `toolset` to toolset.yaml."""
    name = f"{number:,} real tools"
    return _make_project(
        folder / f"real-{number}", name, load_real_tools(number), toolset
    )


def make_listed_project(
    folder: Path, name: str, tools: Sequence[Mapping[str, Any]]
) -> Workspace:
    """Make a project of one server's tools."""
    return _make_project(folder / name, f"{len(tools)} tools of {name}", tools)


def make_imported_project(folder: Path, number: int) -> Workspace:
    """Make a project of `number` real tools by `toolcast import`, without handlers."""
    root = folder / f"imported-{number}"
    tools = load_real_tools(number)
    import_tools(root, "things", tools, ("mcp", "registry", "snapshots"))
    return Workspace(f"{number:,} imported tools", root, _get_middle_spec(root, tools))


def _make_project(
    root: Path, name: str, tools: Sequence[Mapping[str, Any]], toolset: str = ""
) -> Workspace:
    specs = root / "specs" / "things"
    import_tools(root, "things", tools)
    for tool in tools:
        keyword = tool["name"].lower().replace("_", "-").replace(".", "-")
        path = specs / f"{spec_name(tool['name'])}.yaml"
        lines = "section: tools\nhandler: handlers.tools:work\n"
        lines += f"cli: {{keyword: {json.dumps(keyword)}}}\n"
        path.write_text(path.read_text("utf-8") + lines, "utf-8")
    (specs / "toolset.yaml").write_text(_TOOLSET + toolset, "utf-8")
    _write_project(root)
    return Workspace(name, root, _get_middle_spec(root, tools))


def _get_middle_spec(root: Path, tools: Sequence[Mapping[str, Any]]) -> Path:
    name = spec_name(tools[len(tools) // 2]["name"])
    return root / "specs" / "things" / f"{name}.yaml"


def make_synthetic_project(folder: Path, number: int) -> Workspace:
    """Make a project of `number` synthetic tools with five parameters each."""
    root = folder / f"made-up-{number}"
    specs = root / "specs" / "things"
    specs.mkdir(parents=True)
    (specs / "toolset.yaml").write_text(_TOOLSET, "utf-8")
    for index in range(number):
        name = f"thing_{index:05}"
        text = _SYNTHETIC_SPEC.format(name=name, number=index)
        (specs / f"{name}.yaml").write_text(text, "utf-8")
    _write_project(root)
    edited = specs / f"thing_{number // 2:05}.yaml"
    return Workspace(f"{number:,} made-up tools", root, edited)


def copy_repository(folder: Path) -> Workspace:
    """Copy the three toolsets of this repository, with their handlers."""
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
