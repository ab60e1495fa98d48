"""What casting costs: nothing changed, one spec changed, everything new, ten times as much."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from paired import CLICK, PYTHON, TOOLCAST, Command, Row, ratio, rounds
from set_aside import set_aside

from specs import write_workspace

__all__ = [
    "Sizes",
    "black_rows",
    "cold_command",
    "cold_rows",
    "scale_rows",
    "warm_rows",
]

_WITH_BLACK = str(Path(__file__).with_name("with_black.py"))


@dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Attributes:
        tools: of the workspace that most rows use.
        many: of the large one.
        rounds: how often cheap commands run; dear ones run less often.
    """

    tools: int
    many: int
    rounds: int

    @property
    def few(self) -> int:
        """Rounds of commands that take seconds."""
        return max(1, self.rounds // 2)


def workspace(folder: Path, tools: int) -> Path:
    """A workspace of that many tools, made when it is not there."""
    root = folder / f"tools-{tools}"
    return root if root.exists() else write_workspace(root, tools)


def clearing(root: Path) -> Callable[[], None]:
    """Takes away what earlier runs made of a workspace."""

    def clear() -> None:
        set_aside(root / "generated", root.parent)
        set_aside(root / ".toolcast", root.parent)

    return clear


def cold_command(folder: Path, tools: int) -> Command:
    """Everything made anew."""
    root = workspace(folder, tools)
    name = f"cold generate, {tools:,} tools"
    return Command(name, [*TOOLCAST, "generate"], str(root), clearing(root))


def cold_rows(folder: Path, sizes: Sizes) -> list[Row]:
    """A check without a cache beside a cold run."""
    cold = cold_command(folder, sizes.tools)
    root = Path(cold.folder)

    def forget() -> None:
        set_aside(root / ".toolcast", root.parent)

    check = Command(
        f"check without cache, {sizes.tools:,} tools",
        [*TOOLCAST, "check"],
        cold.folder,
        forget,
    )
    samples = rounds([cold, check, CLICK], sizes.rounds, 1)
    return [
        ratio(samples, check.name, cold.name, at_most=1),
        ratio(samples, cold.name, CLICK.name),
    ]


def scale_rows(folder: Path, sizes: Sizes) -> list[Row]:
    """Ten times the tools: time, memory, and a run without changes."""
    cold = cold_command(folder, sizes.tools)
    many = cold_command(folder, sizes.many)
    samples = rounds([cold, many], sizes.few, 0)
    peak = max(sample.peak for sample in samples[many.name])
    memory = Row(
        f"{many.name}: peak memory",
        peak,
        "MiB",
        400,
        False,
        None,
        (),
        sizes.few,
    )
    still = Command(
        f"no-op generate, {sizes.many:,} tools", many.words, many.folder, None
    )
    samples |= rounds([still, CLICK], sizes.rounds, 2)
    return [
        ratio(samples, many.name, cold.name, at_most=11),
        memory,
        ratio(samples, still.name, CLICK.name, at_most=3),
    ]


def warm_rows(folder: Path, sizes: Sizes) -> list[Row]:
    """Help, nothing changed, one spec changed."""
    root = workspace(folder, sizes.tools)
    spec = root / "specs" / "things" / f"thing_{sizes.tools // 2:05}.yaml"
    turns = iter(range(1_000_000))

    def change() -> None:
        text = spec.read_text("utf-8")
        first = text.index("title:")
        end = text.index("\n", first)
        title = f"title: Turn {next(turns)} of {os.getpid()}"
        spec.write_text(f"{text[:first]}{title}{text[end:]}", "utf-8")

    generate, where = [*TOOLCAST, "generate"], str(root)
    helped = Command("toolcast --help", [*TOOLCAST, "--help"], where)
    still = Command(f"no-op generate, {sizes.tools:,} tools", generate, where)
    changed = Command(f"one spec of {sizes.tools:,} changed", generate, where, change)
    samples = rounds([still, helped, CLICK], sizes.rounds, 2)
    after_change = rounds([changed, CLICK], sizes.rounds, 1)
    return [
        ratio(samples, still.name, CLICK.name, at_most=1.5),
        ratio(after_change, changed.name, CLICK.name, at_most=4),
        ratio(samples, helped.name, CLICK.name),
    ]


def black_rows(folder: Path, sizes: Sizes) -> list[Row]:
    """The same pipeline with black over each Python file that it wrote."""
    cold = cold_command(folder, sizes.tools)
    black = Command(
        f"the same with black over each file, {sizes.tools:,} tools",
        [PYTHON, _WITH_BLACK, "generate"],
        cold.folder,
        cold.before,
    )
    samples = rounds([cold, black], max(1, sizes.few // 2), 0)
    return [ratio(samples, black.name, cold.name, at_least=40)]
