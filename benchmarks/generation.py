"""What generating costs: everything new, nothing changed, one spec changed, a check."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paired import PYTHON, Command, Row, child_environment, compare, run_in_turn
from real_lists import large_lists
from results import Part
from workspaces import Workspace, imported, listed, made_up, real, repository

__all__ = [
    "CLICK",
    "Sizes",
    "cold",
    "generation_part",
    "prepared",
    "scale_part",
    "wrote",
]

_LISTS = 6
TOOLCAST = [PYTHON, "-m", "toolcast"]
CLICK = Command("import click", [PYTHON, "-c", "import click"], os.getcwd())


@dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Attributes:
        real: tools of the large workspace of real tools.
        small: tools of the small one, which servers are measured with.
        made_up: tools of the workspace of made-up tools.
        many: made-up tools of the largest one.
        rounds: how often commands run; those that take many seconds run less often.
    """

    real: int
    small: int
    made_up: int
    many: int
    rounds: int

    @property
    def few(self) -> int:
        """The number of rounds for commands that take seconds."""
        return max(1, self.rounds // 2)


def prepared(workspace: Workspace) -> Workspace:
    """Generate and commit the outputs of a workspace; return the workspace."""
    subprocess.run(
        [*TOOLCAST, "generate"],
        cwd=workspace.root,
        env=child_environment(),
        check=True,
        capture_output=True,
    )
    workspace.commit()
    return workspace


def cold(workspace: Workspace, name: str = "everything new") -> Command:
    """Return the command `generate` without outputs or caches of earlier runs."""
    cache = Path(os.environ["XDG_CACHE_HOME"])
    words = [*TOOLCAST, "generate"]
    return Command(name, words, str(workspace.root), workspace.clear(cache))


def generation_part(folder: Path, sizes: Sizes) -> Part:
    """Measure each command on several projects, compared with an import."""
    rows: list[Row] = []
    outputs, specs = {}, {}
    for workspace in (
        real(folder, sizes.real),
        imported(folder, sizes.real),
        repository(folder),
        made_up(folder, sizes.made_up),
        *(listed(folder, name, tools) for name, tools in large_lists(_LISTS)),
    ):
        rows += _rows(prepared(workspace), sizes.rounds)
        outputs[workspace.name] = wrote(workspace.root / "generated")
        specs[workspace.name] = workspace.size
    return Part(rows, wrote=outputs, specs=specs)


def _rows(workspace: Workspace, rounds: int) -> Iterator[Row]:
    root = str(workspace.root)
    generate = [*TOOLCAST, "generate"]
    check = Command("check", [*TOOLCAST, "check"], root)
    commands = [
        cold(workspace),
        Command("nothing changed", generate, root),
        Command("one spec changed", generate, root, workspace.edit),
        check,
    ]
    # The edited files differ from the commit.
    words = [*TOOLCAST, "diff", "--against", "HEAD"]
    diff = Command("diff of two states, one spec changed", words, root)
    samples = run_in_turn([*commands, diff, CLICK], rounds)
    for command in commands:
        yield compare(workspace.name, samples, command.name, CLICK.name)
    yield compare(workspace.name, samples, diff.name, check.name)


def scale_part(folder: Path, sizes: Sizes) -> Part:
    """Measure time and memory for ten times as many synthetic tools."""
    some, many = (
        prepared(made_up(folder, number)) for number in (sizes.made_up, sizes.many)
    )
    commands = [cold(each, each.name) for each in (many, some)]
    samples = run_in_turn(commands, sizes.few, warming=0)
    return Part([compare("everything new", samples, many.name, some.name)])


def wrote(folder: Path) -> list[int]:
    """Return the numbers of files and lines below a folder.

    Raises:
        SystemExit: there are none.
    """
    files = [file for file in folder.rglob("*") if file.is_file()]
    lines = sum(file.read_bytes().count(b"\n") for file in files)
    if not lines:
        raise SystemExit(f"nothing was written below {folder}")
    return [len(files), lines]
