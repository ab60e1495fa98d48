"""Changes between two versions of a project, and helpers for comparisons."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from ..findings import Location
from ..model.model import Toolset, ToolSpec, Workspace
from ..model.spec_files import DEFINITIONS_FILE
from ..parsing.tree import NOWHERE, Path, Source

AUDIENCES = ("call", "prompt", "code", "access")
"""The audiences of a change, in the order of `Grades` and of reports.

`call`: callers of the tool, mostly models. `prompt`: texts that models read. `code`: handlers
and other Python code that uses the generated types. `access`: which clients can use the tool,
through which servers, and with which permission.
"""

ABSENT: Any = type("Absent", (), {"__repr__": lambda self: "ABSENT"})()
"""Marks a missing value. None cannot, because it stands for JSON's null."""


_K = TypeVar("_K")
_V = TypeVar("_V")

MASKED_VALUE = "***"
"""Replacement for a value that looks like a secret."""


class Grade(IntEnum):
    """Severity of a change for one audience; a higher value is worse."""

    SAFE = 0
    RISKY = 1
    BREAKING = 2

    @property
    def label(self) -> str:
        """The grade's name in reports and options, in lower case."""
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
    """A kind of change.

    Attributes:
        id: unique id such as `tool.timeout/lowered`.
        meaning: one sentence that describes the change and the audience it affects.
        grades: the default grades; a single change can have others, with a reason.
        opposite: the id of the reverse change; the same id if that is of the same kind.
    """

    id: str
    meaning: str
    grades: Grades
    opposite: str


class ToolPair(NamedTuple):
    """The old and the new version of a tool, with their toolsets and workspaces."""

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
    """A difference between the old and the new version of a project.

    Attributes:
        rule: the kind of the change.
        toolset: the toolset's name, after a rename the new one; empty for toolcast.yaml.
        tool: the tool's name, after a rename the new one; empty for `toolset.yaml` and
            toolcast.yaml.
        path: the path of the changed value in its file.
        before: the old JSON value, or ABSENT.
        after: the new JSON value, or ABSENT.
        message: a clause that describes the change, in lower case, names in backticks.
        grades: the grades for each audience.
        reason: why `grades` differ from the rule's grades; empty if they are equal.
        location: the location in the new version, or in the old one if the value was removed.
        is_in_old_version: whether `location` refers to the old version.
        witness: example of a break: arguments that only the old version accepts, or a result
            that only the new version can return; ABSENT without an example.
        definitions: the new definitions that an added part of a schema refers to, by `$ref`.
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
    definitions: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_shared_definition(self) -> bool:
        """Whether the changed value is in `definitions.yaml`, which tools share."""
        return posixpath.basename(self.location.file) == DEFINITIONS_FILE

    @property
    def fingerprint(self) -> str:
        """Hash of the change, 12 hexadecimal digits.

        It depends on the rule, the names of toolset and tool, the path and both values, but
        not on the message, the grades or line numbers.
        """
        values = [
            None if value is ABSENT else [value] for value in (self.before, self.after)
        ]
        identity = [self.rule.id, self.toolset, self.tool, list(self.path), values]
        text = json.dumps(identity, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:12]


class SpecFiles(NamedTuple):
    """The old and the new version of one spec file.

    Attributes:
        toolset: the toolset's name; empty for toolcast.yaml.
        tool: the tool's name; empty if the file is not a tool's spec.
        before: the old version of the file.
        after: the new version of the file.
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
        """Return a change at a path; its location is in the version that has the value.

        Args:
            rule: the kind of the change.
            path: the path in the file.
            message: a clause that describes the change.
            before: the old value.
            after: the new value.
            grades: grades that replace the rule's.
            reason: why `grades` replace the rule's.
        """
        # If neither version has a value, the location is in the new version.
        is_removed = after is ABSENT and before is not ABSENT
        return Change(
            rule,
            self.toolset,
            self.tool,
            path,
            before,
            after,
            message,
            rule.grades if grades is None else grades,
            locate_path(self.before if is_removed else self.after, path),
            reason,
            is_removed,
        )


def pair_toolset_files(before: Toolset, after: Toolset) -> SpecFiles:
    """Return the old and the new `toolset.yaml` of a toolset."""
    return SpecFiles(after.name, "", before.source, after.source)


def pair_tools(before: Toolset, after: Toolset) -> list[tuple[ToolSpec, ToolSpec]]:
    """Return the old and the new version of each tool that two toolset versions share.

    The order is that of the new version; added and removed tools are omitted. A renamed
    tool is recognized by its `renamed_from`.
    """
    old_tools = {tool.name: tool for tool in before.tools}
    pairs = []
    for tool in after.tools:
        for name in (tool.name, *tool.renamed_from):
            if name in old_tools:
                pairs.append((old_tools[name], tool))
                break
    return pairs


def locate_path(source: Source, path: Path) -> Location:
    """Return the location of a path in a spec, or the file if it has no lines."""
    # The source of a server's tool listing has parsed values, but no text with lines.
    if source is NOWHERE or not source.data:
        return Location(source.file)
    return source.location(path, at_key=True)


def get_spec_value(tool: ToolSpec | Toolset, field: str) -> Any:
    """Return the value of a field as the spec file has it; ABSENT if it is not set.

    Defaults are not applied.
    """
    return get_key(tool.source.tree, field)


def list_unshared_items(
    old: Mapping[_K, _V], new: Mapping[_K, _V]
) -> Iterator[tuple[_K, _V, bool]]:
    """Yield the items whose key is in only one of two mappings, added ones first.

    The third value of each is whether the item was added.
    """
    yield from ((key, new[key], True) for key in new if key not in old)
    yield from ((key, old[key], False) for key in old if key not in new)


def get_key(value: Any, key: str) -> Any:
    """Return a key's value; ABSENT if the key is missing or `value` is not a mapping."""
    return value.get(key, ABSENT) if isinstance(value, Mapping) else ABSENT


def is_equal_json(left: Any, right: Any) -> bool:
    """Return whether two JSON values are equal, ignoring the order of object keys.

    1 equals 1.0, and `true` differs from 1.
    """
    if left is right:
        return True
    # `==` is not enough, because True == 1 in Python. Equal `repr` is a fast test, but
    # `repr` also differs for another order of object keys and for 1 and 1.0.
    return bool(left == right) and (
        repr(left) == repr(right) or build_json_key(left) == build_json_key(right)
    )


def build_json_key(value: Any) -> Hashable:
    """Return a hashable key; two keys are equal exactly if the JSON values are equal.

    The order of object keys is ignored, 1 equals 1.0, and `true` differs from 1.
    """
    # Booleans are tested before numbers, because True == 1 in Python.
    if isinstance(value, bool) or value is None:
        return ("", value)
    if isinstance(value, dict):
        return frozenset((name, build_json_key(item)) for name, item in value.items())
    if isinstance(value, list):
        return tuple(build_json_key(item) for item in value)
    return ("n", value) if isinstance(value, (int, float)) else str(value)


CONTEXT_CHARACTERS = 24
"""Characters that are shown before and after the difference of two long texts."""


def trim_common_ends(
    old: str, new: str, context: int = CONTEXT_CHARACTERS
) -> tuple[str, str]:
    """Return two different texts without most of their common start and end.

    Removed parts are replaced by `...`.

    Args:
        old: the old text.
        new: the new text.
        context: common characters that are kept before and after the difference.
    """
    shortest = min(len(old), len(new))
    prefix = 0
    while prefix < shortest and old[prefix] == new[prefix]:
        prefix += 1
    suffix = 0
    while suffix < shortest - prefix and old[-1 - suffix] == new[-1 - suffix]:
        suffix += 1
    return (
        _excerpt(old, prefix, suffix, context),
        _excerpt(new, prefix, suffix, context),
    )


def _excerpt(text: str, prefix: int, suffix: int, context: int) -> str:
    """Return a text without most of its first `prefix` and last `suffix` characters.

    At each end, at most `context` of these characters are kept, cut at a space if possible.
    `...` replaces the removed text.
    """
    start = max(0, prefix - context)
    end = len(text) - max(0, suffix - context)
    if start:
        start = text.find(" ", start, prefix) + 1 or start
    if end < len(text):
        last_space = text.rfind(" ", len(text) - suffix, end)
        end = last_space if last_space > 0 else end
    before = "... " if start else ""
    after = " ..." if end < len(text) else ""
    return f"{before}{text[start:end]}{after}"


def shorten_pair(old: str, new: str, maximum: int) -> tuple[str, str]:
    """Return two texts; if one is too long, both are reduced to their difference.

    Each returned text has at most `maximum` characters.
    """
    if max(len(old), len(new)) > maximum:
        # Keep little context, so that `cut_middle` does not remove the difference itself.
        context = min(CONTEXT_CHARACTERS, maximum // 4)
        old, new = trim_common_ends(old, new, context)
    return cut_middle(old, maximum), cut_middle(new, maximum)


def cut_middle(text: str, maximum: int) -> str:
    """Return a text; its middle is replaced by `...` if it exceeds `maximum` characters."""
    if len(text) <= maximum:
        return text
    half = (maximum - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


MAX_VALUE_CHARACTERS = 60
"""Characters of a value in a message; a longer value is cut off."""


def format_value(value: Any) -> str:
    """Format a JSON value for a message: one line in backticks, see `encode_line`.

    A line of more than 60 characters is cut off and ends with an ellipsis.
    """
    text = encode_line(value)
    if len(text) > MAX_VALUE_CHARACTERS:
        text = f"{text[: MAX_VALUE_CHARACTERS - 1]}…"
    return f"`{text}`"


def encode_line(value: Any) -> str:
    """Encode a JSON value as one line of text for a message.

    Strings are quoted only if they are empty or have outer or unprintable white space.
    Unprintable characters are escaped as in JSON. Backticks in the value become apostrophes,
    because they would end the code span in Markdown.
    """
    if (
        isinstance(value, str)
        and value
        and value.isprintable()
        and value.strip() == value
    ):
        text = value
    else:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    # Escape non-ASCII characters only if necessary: other scripts stay readable.
    if not text.isprintable():
        text = json.dumps(value, sort_keys=True, default=str)
    return text.replace("`", "'")
