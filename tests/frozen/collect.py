"""Collects what the code says of the frozen cases: findings, made specs, verdicts of `diff`.

`python -m tests.frozen.collect FOLDER [PART...]` writes it to a folder, a file a part. So was
`data/` written once; it is never written again, and `compare.py` tells what differs from it.

A row is a list of JSON values: for findings case, rule, severity, file, line, column and
message; for specs that are made of functions case, file and text; for changes case,
direction, kind, toolset, tool, path and the four grades.
"""

from __future__ import annotations

import datetime
import gzip
import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from tests.frozen.cases import (
    Tree,
    cases_of,
    hostile_cases,
    lay_out,
    write,
)
from tests.program import toolcast
from toolcast.diff.comparison import compare
from toolcast.model.loading import load_workspace
from toolcast.pipeline import generate

__all__ = ["PARTS", "Row", "collect", "names_of", "written"]

TODAY = datetime.date(2026, 1, 31)
LARGE = 1_000_000

Row = list[Any]
Names = Collection[str] | None


def _findings(case: str, root: Path) -> Iterator[Row]:
    """What `check` finds before it compares the outputs with the disk."""
    for one in generate(str(root), TODAY).findings:
        # The folder is another one each time.
        message = one.message.replace(str(root), "ROOT")
        place = one.place
        where = [place.file, place.line, place.column]
        yield [case, one.rule, one.severity.word, *where, message]


def _changes(case: str, root: Path) -> Iterator[Row]:
    """What `diff` says of two states, there and back."""
    sides = [load_workspace(str(root / name)) for name in ("before", "after")]
    before, after = (side.workspace for side in sides)
    assert before is not None and after is not None, case
    for direction, old, new in (("there", before, after), ("back", after, before)):
        for one in compare(old, new, TODAY).changes:
            path = "/".join(map(str, one.path))
            grades = " ".join(grade.word for grade in one.grades)
            yield [case, direction, one.rule.id, one.toolset, one.tool, path, grades]


def _made_of_handlers(case: str, root: Path) -> Iterator[Row]:
    return _made(case, root, "work.py")


def _made(case: str, root: Path, modules: str = "*.py") -> Iterator[Row]:
    """What `new --from-function` makes of each function of these modules, and says."""
    words = sorted(
        f"{path.relative_to(root).with_suffix('').as_posix()}:{name}"
        for path in root.rglob(modules)
        for name in re.findall(
            r"^(?:async )?def (\w+)", path.read_text("utf-8"), re.MULTILINE
        )
    )
    for word in words:
        named = word.removeprefix("src/").replace("/", ".")
        before = _files(root)
        done = toolcast(root, "new", "--from-function", named)
        said = (done.stdout + done.stderr).replace(str(root), "ROOT")
        yield [f"{case}: {named}", f"exit {done.returncode}", said]
        for path, text in _files(root).items():
            if before.get(path) == text:
                continue
            yield [f"{case}: {named}", path, text]
            if path in before:
                (root / path).write_text(before[path], "utf-8")
            else:
                (root / path).unlink()


def _files(root: Path) -> dict[str, str]:
    """The texts of a project; its schemas for editors are not what is asked for."""
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file() and "schemas" not in path.parts
    }


class _Part:
    """One file of rows.

    Attributes:
        names: the cases there are.
        rows: the rows of a case, in a folder that is its own.
    """

    def __init__(
        self,
        cases: Callable[[], dict[str, Tree]],
        rows: Callable[[str, Path], Iterator[Row]],
    ) -> None:
        self.cases, self._rows = cases, rows

    def names(self) -> list[str]:
        return sorted(self.cases())

    def rows(self, names: Collection[str], folder: Path) -> Iterator[Row]:
        for number, (case, tree) in enumerate(sorted(self.cases().items())):
            if case in names:
                root = write(tree, folder / str(number))
                yield from self._named(case, root)
                shutil.rmtree(root)

    def _named(self, case: str, root: Path) -> Iterator[Row]:
        try:
            yield from self._rows(case, root)
        except Exception as error:
            error.add_note(f"in the case {case!r}")
            raise


class _Hostile(_Part):
    def __init__(self) -> None:
        super().__init__(dict, _findings)

    def names(self) -> list[str]:
        return hostile_cases()

    def rows(self, names: Collection[str], folder: Path) -> Iterator[Row]:
        for case in sorted(names):
            yield from self._named(case, lay_out(case, folder / case))


def _of(name: str) -> Callable[[], dict[str, Tree]]:
    return lambda: cases_of(name)


PARTS = {
    "rules": _Part(_of("rules"), _findings),
    "hostile": _Hostile(),
    "corpus": _Part(_of("corpus"), _findings),
    "handlers": _Part(_of("handlers"), _findings),
    "annotations": _Part(_of("annotations"), _findings),
    "functions": _Part(_of("functions"), _made),
    "handlers_as_functions": _Part(_of("handlers_as_functions"), _made_of_handlers),
    "changes": _Part(_of("changes"), _changes),
    "schemas": _Part(_of("schemas"), _changes),
    "histories": _Part(_of("histories"), _changes),
}


def names_of(part: str) -> list[str]:
    """The cases of a part, in order."""
    return PARTS[part].names()


def collect(part: str, names: Names = None) -> list[Row]:
    """The rows of a part, sorted.

    Args:
        part: a key of PARTS.
        names: the cases that are tried; default: all.
    """
    with tempfile.TemporaryDirectory() as folder:
        chosen = names_of(part) if names is None else names
        found = list(PARTS[part].rows(chosen, Path(folder).resolve()))
    return sorted(found, key=written)


def written(row: Row) -> str:
    """A row as its line."""
    return json.dumps(row, separators=(",", ":"))


def main(folder: str, *parts: str) -> None:
    """Writes the rows of the present code."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    for part in parts or PARTS:
        text = "".join(f"{written(row)}\n" for row in collect(part))
        if len(text) > LARGE:
            packed = gzip.compress(text.encode("utf-8"), 9, mtime=0)
            (target / f"{part}.jsonl.gz").write_bytes(packed)
        else:
            (target / f"{part}.jsonl").write_text(text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
