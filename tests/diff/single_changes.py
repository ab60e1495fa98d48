"""Cases of single changes: old and new specs, with the expected kinds and grades."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import yaml

from tests.repository import MISSING
from toolcast.diff.change import Change
from toolcast.diff.comparison import Comparison, compare
from toolcast.findings import has_errors
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace
from toolcast.parsing.project_files import Entry

FOLDER = Path(__file__).parent / "cases"
TOOL = {"summary": "Store a note.", "parameters": {"type": "object"}}
TOOLSET = {"name": "toy", "title": "Toy", "targets": {"mcp": {}}}
WORKSPACE = {"version": 1, "toolsets": ["toy"]}
# `LONG:200` in a case is replaced by a text of 200 characters.
_LONG = re.compile(r"LONG:(\d+)")
_GRADES = {"safe", "risky", "breaking"}

SpecFiles = Mapping[str, Mapping[str, Any] | None]
"""Fields of spec files by file; None removes the file.

Files are `workspace` (toolcast.yaml), `toolset` and tools in the folder `toy`, `FOLDER/toolset`
and `FOLDER/TOOL` in another folder, `mcp_resources/NAME`, `mcp_prompts/NAME` and `locks/NAME`. A
field that is None is removed from the fields that every such file has.
"""


@dataclass(frozen=True)
class SingleChange:
    """A case: two versions of specs with the expected changes.

    `changes` are sorted rule ids with their grades; `back` are the rule ids of the reverse
    comparison, or None for the opposites.
    """

    name: str
    before: SpecFiles
    after: SpecFiles
    changes: tuple[tuple[str, str], ...]
    back: tuple[str, ...] | None = None

    @cached_property
    def versions(self) -> tuple[Workspace, Workspace]:
        """The loaded old and new version."""
        return load_project(self.before), load_project(self.after)

    @cached_property
    def comparison(self) -> Comparison:
        """The comparison of the old with the new version."""
        return compare(*self.versions)

    @cached_property
    def reverse_comparison(self) -> Comparison:
        """The comparison of the new with the old version."""
        before, after = self.versions
        return compare(after, before)


@cache
def load_single_changes() -> Sequence[SingleChange]:
    """Return the cases of the folder `cases`, without those of missing extensions."""
    return [
        _parse_case(file.stem, case)
        for file in sorted(FOLDER.glob("*.yaml"))
        for case in yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
        if not {*MISSING} & _list_extensions(case)
    ]


def _list_extensions(case: Mapping[str, Any]) -> set[str]:
    """Return the extensions that one of the versions lists."""
    versions = [case.get(key) or {} for key in ("both", "before", "after")]
    workspaces = [version.get("workspace") or {} for version in versions]
    return {name for fields in workspaces for name in fields.get("extensions", ())}


def get_rule_and_grades(change: Change) -> tuple[str, str]:
    """Return the rule id and the grades of a change, in the form of the cases."""
    return change.rule.id, " ".join(grade.label for grade in change.grades)


def load_project(files_by_name: SpecFiles) -> Workspace:
    """Load a project from memory; its files have defaults for required fields."""
    files = {}
    all_files = {"toolset": {}, "note": {}, "workspace": {}, **files_by_name}
    for key, fields in all_files.items():
        folder, _, name = key.rpartition("/")
        path = f"{folder or 'toy'}/{name}.yaml"
        if folder == "locks":
            files[f"toy/locks/{name}.json"] = {"toolcastLock": 1, **(fields or {})}
        elif folder in ("mcp_resources", "mcp_prompts"):
            files[f"toy/{path}"] = {"name": name, **(fields or {})}
        elif key == "workspace":
            files["toolcast.yaml"] = {**WORKSPACE, **(fields or {})}
        elif fields is not None:
            base = {"name": name, **TOOL}
            if name == "toolset":
                base = {**TOOLSET, **({"name": folder} if folder else {})}
            values = {**base, **fields}
            removed = [k for k, v in values.items() if v is None and k in base]
            files[path] = {k: v for k, v in values.items() if k not in removed}
    result = load_workspace("/project", files=_Files(files))
    assert result.workspace is not None and not has_errors(result.findings), [
        finding.message for finding in result.findings
    ]
    return result.workspace


class _Files:
    """In-memory replacement for the files of a project."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        texts = {n: json.dumps(file, ensure_ascii=False) for n, file in files.items()}
        self._files = {n: _LONG.sub(_build_text, t).encode() for n, t in texts.items()}

    def read(self, path: str, most: int) -> bytes:
        if path not in self._files:
            raise FileNotFoundError(2, "no such file", path)
        return self._files[path][:most]

    def entries(self, folder: str) -> Sequence[Entry]:
        names = [name.rpartition("/") for name in sorted(self._files)]
        return [Entry(name) for above, _, name in names if above == folder]

    def is_there(self, path: str) -> bool:
        return path in self._files

    def is_outside(self, path: str, folder: str = ".") -> bool:
        return False


def _build_text(match: re.Match[str]) -> str:
    """Return a text with the requested number of characters."""
    return ("and so on " * int(match[1]))[: int(match[1])]


def _parse_case(family: str, case: Mapping[str, Any]) -> SingleChange:
    assert not case.keys() - {*"case both before after changes back".split()}, case
    both = case.get("both", {})
    changes = [
        (rule, grades)
        for rule, values in case["changes"].items()
        for grades in ([values] if isinstance(values, str) else values)
    ]
    wrong = [g for _, g in changes if len(g.split()) != 4 or set(g.split()) - _GRADES]
    assert not wrong, wrong
    return SingleChange(
        f"{family}: {case['case']}",
        _merge_files(both, case.get("before", {})),
        _merge_files(both, case.get("after", {})),
        tuple(sorted(changes)),
        tuple(case["back"]) if "back" in case else None,
    )


def _merge_files(both: SpecFiles, changed: SpecFiles) -> SpecFiles:
    removed = {file: None for file, fields in changed.items() if fields is None}
    files = {**both, **changed}
    merged = {f: {**(both.get(f) or {}), **(changed.get(f) or {})} for f in files}
    return {**merged, **removed}
