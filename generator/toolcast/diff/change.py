"""Changes between two versions of a spec, with their rules and grades."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from ..findings import Location
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.spec_files import DEFINITIONS_FILE
from ..parsing.tree import NOWHERE, Path, Source

AUDIENCES = ("call", "prompt", "code", "access")
"""Who a change may concern, in the order in which grades are shown.

`call`: who calls the tool, a model above all. `prompt`: what a model reads. `code`: Python that
uses the generated types, and handlers. `access`: who has the tool, where, and with which
permission.
"""

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()
"""The value of a field that a side does not have: null is a value of its own."""


_K = TypeVar("_K")
_V = TypeVar("_V")

HIDDEN = "***"
"""Stands for what looks like a secret."""


class Grade(IntEnum):
    """What a change means for an audience; higher is worse."""

    SAFE = 0
    RISKY = 1
    BREAKING = 2

    @property
    def word(self) -> str:
        """The lower-case word that reports and options use."""
        return self.name.lower()


class Grades(NamedTuple):
    """The grade of a change for each audience."""

    call: Grade = Grade.SAFE
    prompt: Grade = Grade.SAFE
    code: Grade = Grade.SAFE
    access: Grade = Grade.SAFE

    @property
    def worst(self) -> Grade:
        """The highest grade of any audience."""
        return max(self)


@dataclass(frozen=True)
class ChangeRule:
    """One kind of change.

    Attributes:
        id: `family/kebab-name`.
        means: what the change does to whom, one sentence.
        grades: what it means for each audience, unless the comparison knows better and
            says why.
        opposite: the id of the change back; its own where that is of the same kind.
    """

    id: str
    means: str
    grades: Grades
    opposite: str


class ToolPair(NamedTuple):
    """A tool on both sides, with its toolsets and workspaces.

    Attributes:
        before: the tool as it was.
        after: the tool as it is.
    """

    before: ToolSpec
    after: ToolSpec
    toolset_before: Toolset
    toolset_after: Toolset
    workspace_before: Workspace
    workspace_after: Workspace

    @property
    def files(self) -> SpecFiles:
        """The old and the new spec file of the tool."""
        source = self.before.source, self.after.source
        return SpecFiles(self.toolset_after.name, self.after.name, *source)


@dataclass(frozen=True)
class Change:
    """One change.

    Attributes:
        rule: its kind.
        toolset: the toolset's name, the new one where it was renamed; empty for a change of
            toolcast.yaml.
        tool: the tool's name, the new one where it was renamed; empty for a change of
            `toolset.yaml` or toolcast.yaml.
        path: where in the spec.
        before: the JSON value that was there, or ABSENT.
        after: the JSON value that is there now, or ABSENT.
        message: what has changed, lower case, names in backticks.
        grades: the rule's, or others for the reason that `reason` gives.
        reason: why the grades are not the rule's; empty when they are.
        place: where it stands now, or where it stood when it is gone.
        is_gone: `place` is in the old side.
        witness: arguments that were taken and are not any more, or a result that can come
            and could not; ABSENT where there is none to show.
    """

    rule: ChangeRule
    toolset: str
    tool: str
    path: Path
    before: Any
    after: Any
    message: str
    grades: Grades
    location: Location
    reason: str = ""
    is_in_old_version: bool = False
    witness: Any = ABSENT

    @property
    def is_shared_definition(self) -> bool:
        """Whether it is one of the definitions that tools share."""
        return posixpath.basename(self.location.file) == DEFINITIONS_FILE

    @property
    def fingerprint(self) -> str:
        """Twelve hexadecimal digits that stay the same wherever the change's lines stand."""
        values = [
            None if value is ABSENT else [value] for value in (self.before, self.after)
        ]
        said = [self.rule.id, self.toolset, self.tool, list(self.path), values]
        text = json.dumps(said, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class SpecFiles(NamedTuple):
    """A file on both sides: what has changed in it.

    Attributes:
        toolset: the toolset's name; empty for toolcast.yaml.
        tool: the tool's name; empty for a file that is no tool's.
        before: the file as it was.
        after: the file as it is.
    """

    toolset: str
    tool: str
    before: Source
    after: Source

    def build_change(
        self,
        rule: ChangeRule,
        path: Path,
        message: str,
        before: Any = ABSENT,
        after: Any = ABSENT,
        *,
        grades: Grades | None = None,
        reason: str = "",
    ) -> Change:
        """A change at a path, which one of the sides may not have."""
        is_gone = after is ABSENT and before is not ABSENT
        return Change(
            rule,
            self.toolset,
            self.tool,
            path,
            before,
            after,
            message,
            rule.grades if grades is None else grades,
            locate_path(self.before if is_gone else self.after, path),
            reason,
            is_gone,
        )


def pair_toolset_files(before: Toolset, after: Toolset) -> SpecFiles:
    """Return the old and the new `toolset.yaml` of a toolset."""
    return SpecFiles(after.name, "", before.source, after.source)


def pair_tools(before: Toolset, after: Toolset) -> list[tuple[ToolSpec, ToolSpec]]:
    """The tools that both sides of a toolset have, by their present or a former name."""
    old = {tool.name: tool for tool in before.tools}
    named = (
        (next((n for n in (new.name, *new.renamed_from) if n in old), None), new)
        for new in after.tools
    )
    return [(old[name], new) for name, new in named if name is not None]


def locate_path(source: Source, path: Path) -> Location:
    """Return the location of a path in a spec, or the file if it has no lines."""
    if source is NOWHERE or not source.data:
        return Location(source.file)
    return source.location(path, at_key=True)


def get_spec_value(tool: ToolSpec | Toolset, field: str) -> Any:
    """Return the value of a field in the spec, or ABSENT if it is not set."""
    return get_key(tool.source.tree, field)


def list_unshared_items(
    old: Mapping[_K, _V], new: Mapping[_K, _V]
) -> Iterator[tuple[_K, _V, bool]]:
    """What one of two mappings has and the other has not: key, value, whether it is new."""
    yield from ((key, new[key], True) for key in new if key not in old)
    yield from ((key, old[key], False) for key in old if key not in new)


def get_key(value: Any, key: str) -> Any:
    """Return the value of a key, or ABSENT if it is missing or value is not a mapping."""
    return value.get(key, ABSENT) if isinstance(value, Mapping) else ABSENT


def is_equal_json(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal, ignoring the order of object keys."""
    if left is right:
        return True
    # Python takes true for 1: the texts tell them apart, and are alike most of the time.
    return bool(left == right) and (
        repr(left) == repr(right) or build_json_key(left) == build_json_key(right)
    )


def build_json_key(value: Any) -> Hashable:
    """Return a hashable key that is equal exactly for equal JSON values."""
    if isinstance(value, bool) or value is None:
        return ("", value)
    if isinstance(value, dict):
        return frozenset((name, build_json_key(inner)) for name, inner in value.items())
    if isinstance(value, list):
        return tuple(build_json_key(inner) for inner in value)
    return ("n", value) if isinstance(value, (int, float)) else str(value)


_WIDTH = 60


def format_value(value: Any) -> str:
    """A value as a message says it: one short line in backticks.

    What is longer is cut, what cannot be seen is an escape of JSON. Backticks inside of the
    value become apostrophes, so that the ones around it stay a pair.
    """
    is_plain = isinstance(value, str) and value.isprintable() and value.strip() == value
    text = (
        str(value)
        if is_plain and value
        else json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    )
    if not text.isprintable():
        text = json.dumps(value, sort_keys=True, default=str)
    if len(text) > _WIDTH:
        text = f"{text[: _WIDTH - 1]}…"
    return f"`{text.replace('`', chr(39))}`"
