"""Time of `generate` and `check`: from scratch, unchanged, and with one changed spec."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from paired import PYTHON, Command, Row, child_environment, compare, run_in_turn
from real_lists import load_large_lists
from results import Part
from workspaces import (
    Workspace,
    copy_repository,
    make_imported_project,
    make_listed_project,
    make_real_project,
    make_synthetic_project,
)

_LISTS = 6
TOOLCAST = [PYTHON, "-m", "toolcast"]
CLICK = Command("import click", [PYTHON, "-c", "import click"], os.getcwd())


@dataclass(frozen=True)
class Sizes:
    """Sizes of the measured projects, and the number of rounds.

    Attributes:
        real: tools of the large project with real tools.
        small: tools of the small project with real tools, which servers use.
        made_up: tools of the project with synthetic tools.
        many: tools of the largest project with synthetic tools.
        rounds: runs of each command; slow commands use `few_rounds`.
    """

    real: int
    small: int
    made_up: int
    many: int
    rounds: int

    @property
    def few_rounds(self) -> int:
        """Rounds of commands that run for seconds."""
        return max(1, self.rounds // 2)


def generate_and_commit(workspace: Workspace) -> Workspace:
    """Generate the outputs of a workspace, commit all files, and return the workspace."""
    subprocess.run(
        [*TOOLCAST, "generate"],
        cwd=workspace.root,
        env=child_environment(),
        check=True,
        capture_output=True,
    )
    workspace.commit()
    return workspace


def make_cold_command(workspace: Workspace, name: str = "everything new") -> Command:
    """Return a `generate` command that starts without outputs and caches."""
    cache = Path(os.environ["XDG_CACHE_HOME"])
    arguments = [*TOOLCAST, "generate"]
    return Command(name, arguments, str(workspace.root), workspace.build_reset(cache))


def generation_part(folder: Path, sizes: Sizes) -> Part:
    """Compare each command with `import click`, in several projects."""
    rows: list[Row] = []
    outputs, specs = {}, {}
    for workspace in (
        make_real_project(folder, sizes.real),
        make_imported_project(folder, sizes.real),
        copy_repository(folder),
        make_synthetic_project(folder, sizes.made_up),
        *(
            make_listed_project(folder, name, tools)
            for name, tools in load_large_lists(_LISTS)
        ),
    ):
        rows += _compare_commands(generate_and_commit(workspace), sizes.rounds)
        outputs[workspace.name] = count_output(workspace.root / "generated")
        specs[workspace.name] = workspace.size
    return Part(rows, outputs=outputs, specs=specs)


def _compare_commands(workspace: Workspace, rounds: int) -> Iterator[Row]:
    root = str(workspace.root)
    generate = [*TOOLCAST, "generate"]
    check = Command("check", [*TOOLCAST, "check"], root)
    commands = [
        make_cold_command(workspace),
        Command("nothing changed", generate, root),
        Command("one spec changed", generate, root, workspace.edit),
        check,
    ]
    # The spec that `edit` changed differs from the commit.
    arguments = [*TOOLCAST, "diff", "--against", "HEAD"]
    diff = Command("diff of two states, one spec changed", arguments, root)
    samples = run_in_turn([*commands, diff, CLICK], rounds)
    for command in commands:
        yield compare(workspace.name, samples, command.name, CLICK.name)
    yield compare(workspace.name, samples, diff.name, check.name)


def scale_part(folder: Path, sizes: Sizes) -> Part:
    """Compare two projects of synthetic tools, the larger one ten times the size."""
    few, many = (
        generate_and_commit(make_synthetic_project(folder, number))
        for number in (sizes.made_up, sizes.many)
    )
    commands = [
        make_cold_command(workspace, workspace.name) for workspace in (many, few)
    ]
    samples = run_in_turn(commands, sizes.few_rounds, warmup_rounds=0)
    return Part([compare("everything new", samples, many.name, few.name)])


def count_output(folder: Path) -> list[int]:
    """Return the number of files and of lines in a folder.

    Raises:
        SystemExit: the folder contains no lines.
    """
    files = [file for file in folder.rglob("*") if file.is_file()]
    lines = sum(file.read_bytes().count(b"\n") for file in files)
    if not lines:
        raise SystemExit(f"no output in {folder}")
    return [len(files), lines]
