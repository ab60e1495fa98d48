"""Conversion of an external server's list to tools of the toolset, and checks of its lock.

All text and schemas come from the server's vendor and are untrusted. A tool that cannot be offered
is omitted with a reason; the others are offered.

The lock contains the listing that a maintainer reviewed. A tool that differs from its lock is omitted,
because it may now describe or do anything. The lock's own definition is offered, so that parts that
vary at each start of the server (see `Lock.varying_paths`) are offered as reviewed. The server's
instructions and its lists other than tools never reach clients. A change of these is only logged: it
may be the sign of another server.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, NamedTuple

from ..core.calls.untrusted_text import escape_excerpt
from ..core.definitions.tool import ResultForm, Tool, get_similarity_key
from ..core.server_settings import ExternalServer
from ..core.validation.limits import exceeds_path_limit, measure_value
from .volatile_text import mask_volatile_text

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_MAX_VALUES = 20_000
"""Maximum number of JSON values in one tool definition."""
_MAX_LEVELS = 64
"""Maximum nesting of one tool definition."""
_MAX_DESCRIPTION_CHARACTERS = 16_000
"""Maximum length of a tool's description; a tool with a longer one is omitted."""
_MAX_SUMMARY_CHARACTERS = 200
"""Maximum length of a summary, which is the first line of the description."""
_MAX_NAMES_SHOWN = 12
"""Maximum number of tool names in a message."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Selection of a server's tools that can be offered.

    Attributes:
        tools: the tools, by the names that callers use.
        server_names: the server's own name of each tool, by the name that callers use.
        omissions: the reason for each omitted tool, as an escaped line.
    """

    tools: Mapping[str, Tool]
    server_names: Mapping[str, str]
    omissions: tuple[str, ...]


def select_tools(
    server: ExternalServer,
    definitions: Iterable[Mapping[str, Any]],
    reserved: frozenset[str],
) -> Listing:
    """Return the tools of a server that can be offered, and why others are omitted.

    Args:
        server: the settings of the server: `allow`, `deny`, prefix and limits.
        definitions: the tools in the server's `tools/list`.
        reserved: the names that take precedence; a tool whose name looks like one of them is
            omitted.
    """
    tools: dict[str, Tool] = {}
    server_names: dict[str, str] = {}
    listed_names: list[str] = []
    omissions: list[str] = []
    excess_tools = 0
    reserved_by_key = {get_similarity_key(name): name for name in reserved}
    for definition in definitions:
        server_name = definition.get("name")
        if not isinstance(server_name, str) or not _NAME.fullmatch(server_name):
            omissions.append(
                f"`{escape_excerpt(str(server_name))}` is not a valid tool name"
            )
            continue
        listed_names.append(server_name)
        if not server.is_allowed(server_name):
            continue
        name = server.get_local_name(server_name)
        # State only the first problem of each tool.
        problem = next(_find_problems(name, definition, tools, reserved_by_key), None)
        if problem is not None:
            omissions.append(f"`{server_name}` {problem}")
        elif len(tools) >= server.max_tools:
            excess_tools += 1
        else:
            tools[name] = _build_tool(server, name, definition)
            server_names[name] = server_name
    if excess_tools:
        omissions.append(
            f"{excess_tools} tools exceed `max_tools`, which is {server.max_tools}"
        )
    omissions += _describe_missing_tools(server, listed_names)
    return Listing(tools, server_names, tuple(omissions))


def _describe_missing_tools(
    server: ExternalServer, listed_names: Sequence[str]
) -> list[str]:
    """Return a line for each tool in `tools` or `allow` that the server lacks.

    If there are any, a last line states which tools the server lists.
    """
    declared_names = dict.fromkeys(server.tools, "tools")
    declared_names |= dict.fromkeys(server.allow or (), "allow")
    lines = [
        f"`{name}` of `{field}` does not exist on the server"
        for name, field in declared_names.items()
        if name not in listed_names and name not in server.deny
    ]
    if lines:
        names = [f"`{name}`" for name in listed_names[:_MAX_NAMES_SHOWN]]
        shown_names = ", ".join(names) or "nothing"
        more = len(listed_names) - _MAX_NAMES_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        lines.append(
            f"the server lists {shown_names}{rest}; help: change `tools` or `allow`"
        )
    return lines


def _find_problems(
    name: str,
    definition: Mapping[str, Any],
    tools: Mapping[str, Tool],
    reserved_by_key: Mapping[str, str],
) -> Iterator[str]:
    """Yield the reasons why a tool cannot be offered, each as a predicate: `is listed twice`."""
    reserved = reserved_by_key.get(get_similarity_key(name))
    if reserved is not None:
        similarity = "is" if reserved == name else f"looks like `{reserved}`, which is"
        yield f"would be named `{name}`, which {similarity} used or reserved"
    if name in tools:
        yield "is listed twice"
    if not _NAME.fullmatch(name):
        yield "has a name that is too long with the prefix"
    description = definition.get("description")
    if description is not None and (
        not isinstance(description, str)
        or len(description) > _MAX_DESCRIPTION_CHARACTERS
    ):
        yield f"has a description of more than {_MAX_DESCRIPTION_CHARACTERS:,} characters"
    size = measure_value(dict(definition))
    if size.problem is not None:
        yield f"has a definition with {size.problem}"
    elif size.values > _MAX_VALUES or size.levels > _MAX_LEVELS:
        yield "has a definition that is too large"
    schema = definition.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield "has an `inputSchema` whose `type` is not `object`"
    elif exceeds_path_limit(schema) or exceeds_path_limit(
        definition.get("outputSchema")
    ):
        yield "has a schema whose references expand to too many paths"


def _build_tool(
    server: ExternalServer, name: str, server_definition: Mapping[str, Any]
) -> Tool:
    description = (
        server_definition.get("description") or server_definition.get("title") or ""
    )
    lines = [line for line in description.splitlines() if line.strip()]
    summary = lines[0].strip() if lines else ""
    definition = {**server_definition, "name": name}
    returns = server_definition.get("outputSchema")
    result = ResultForm(**server.result, returns=returns) if server.result else None
    if server.result.get("send") == "text":
        # MCP requires structured content from a tool with an `outputSchema`.
        definition.pop("outputSchema", None)
    return Tool(
        name=name,
        summary=summary[:_MAX_SUMMARY_CHARACTERS],
        description=description,
        definition=definition,
        timeout=server.call_timeout,
        persistent=server.persistent,
        result=result,
        service=server.name,
    )


_logger = logging.getLogger("toolcast")

_FILE = "locks.json"
_BREAKING_MEMBERS = frozenset(["inputSchema", "outputSchema", "annotations"])
_TEXT_MEMBERS = frozenset(["title", "description"])
_TOOLS = "tools"


class _ListKind(NamedTuple):
    """Kind of list of a server.

    Attributes:
        key: the member that identifies an entry.
        label: what precedes an entry's name in messages.
    """

    key: str
    label: str


_KINDS = {
    _TOOLS: _ListKind("name", ""),
    "resources": _ListKind("uri", "the resource "),
    "resourceTemplates": _ListKind("uriTemplate", "the resource template "),
    "prompts": _ListKind("name", "the prompt "),
}
OTHER_LISTS = tuple(kind for kind in _KINDS if kind != _TOOLS)
"""The kinds of lists that a server has in addition to tools."""

Definition = Mapping[str, Any]
NormalizeDefinition = Callable[[str, Definition], Definition]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Lock:
    """Listing of one server that a maintainer has reviewed.

    Attributes:
        tools: the definitions of the server's tools.
        other_lists: the entries of its other lists, by the kinds of `OTHER_LISTS`.
        instructions: the server's instructions for models; None if there are none.
        varying_paths: the parts that differ at each start of the server, as the kind of list,
            the entry's name, and the path in the entry.
    """

    tools: Sequence[Definition]
    other_lists: Mapping[str, Sequence[Definition]] = field(default_factory=dict)
    instructions: str | None = None
    varying_paths: Sequence[tuple[str, str, Path]] = ()

    def is_varying(self, kind: str, name: str, path: Path) -> bool:
        """Return whether the lock declares a part of a list entry as varying.

        With an empty path, return whether the entry as a whole may be missing.
        """
        for varying_kind, varying_name, varying_path in self.varying_paths:
            if (kind, name) != (varying_kind, varying_name):
                continue
            is_within = path[: len(varying_path)] == varying_path
            # An entry that varies as a whole (an empty varying path) may be missing, but its
            # parts must not differ.
            if is_within and (bool(varying_path) or not path):
                return True
        return False


@dataclass(frozen=True, slots=True)
class LockResult:
    """Result of comparing a list of tools with a lock.

    Attributes:
        definitions: the definitions that may be offered.
        changes: the differences, one escaped line each.
    """

    definitions: Sequence[Definition]
    changes: tuple[str, ...]


def read_locks(package: str) -> Mapping[str, Lock]:
    """Return the locks of a generated package, by server name.

    If the file is not as generated, log an error and return no locks. Without a lock, no tool
    of a locked server is offered.
    """
    try:
        servers = json.loads(files(package).joinpath(_FILE).read_bytes())["servers"]
        return {name: _parse_lock(lock) for name, lock in servers.items()}
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        problem = f"{type(error).__name__}: {error}"
        _logger.error(
            "%s of %s cannot be read: %s", _FILE, package, escape_excerpt(problem)
        )
        return {}


def _parse_lock(lock: Mapping[str, Any]) -> Lock:
    lists = {kind: lock.get(kind, []) for kind in _KINDS}
    for kind, (key, _) in _KINDS.items():
        if not all(isinstance(entry[key], str) for entry in lists[kind]):
            raise TypeError(f"an entry of `{kind}` has no `{key}`")
    varying_paths = [
        (part["kind"], part["name"], tuple(part["path"]))
        for part in lock.get("varies", ())
    ]
    other_lists = {kind: lists[kind] for kind in OTHER_LISTS}
    return Lock(lock[_TOOLS], other_lists, lock.get("instructions"), varying_paths)


def apply_lock(
    lock: Lock | None,
    listed: Sequence[Definition],
    normalize: NormalizeDefinition,
    *,
    is_refusing: bool,
) -> LockResult:
    """Compare a list of tools with a lock, and return the tools that may be offered.

    Args:
        lock: the reviewed listing; None if there is none, so that no tool may be offered.
        listed: the tools that the session lists.
        normalize: converts a definition of the lock to the form in which a session lists it.
        is_refusing: whether changed tools are omitted; otherwise their changes are only
            reported.
    """
    if lock is None:
        return LockResult([], ("the lock is missing or cannot be read",))
    offered: list[Definition] = []
    changes: list[str] = []
    for comparison in _compare_entries(lock, _TOOLS, lock.tools, listed, normalize):
        if comparison.change is not None:
            changes.append(comparison.change)
        if comparison.reviewed is not None:
            offered.append(comparison.reviewed)
        elif comparison.listed is not None and not is_refusing:
            offered.append(comparison.listed)
    return LockResult(offered, tuple(changes))


def compare_other_lists(
    lock: Lock,
    lists: Mapping[str, Sequence[Definition]],
    instructions: str | None,
    normalize: NormalizeDefinition,
) -> tuple[str, ...]:
    """Return the changes of lists other than tools, and of the instructions.

    Args:
        lock: the reviewed listing.
        lists: the server's lists, by the kinds of `OTHER_LISTS` that could be requested.
        instructions: the instructions that the server sent at the start of the session.
        normalize: converts an entry of the lock to the form in which a session lists it.

    Returns:
        One escaped line for each change.
    """
    changes: list[str] = []
    for kind, entries in lists.items():
        reviewed = lock.other_lists.get(kind, ())
        for comparison in _compare_entries(lock, kind, reviewed, entries, normalize):
            if comparison.change is not None:
                changes.append(comparison.change)
    is_explained = lock.is_varying(
        "instructions", "", ()
    ) and _is_equal_except_volatile(lock.instructions, instructions)
    if instructions != lock.instructions and not is_explained:
        changes.append("the instructions changed, risky")
    return tuple(changes)


class _EntryComparison(NamedTuple):
    """Comparison of one entry of a server's list with the lock.

    Attributes:
        listed: the entry as listed; None if it is no longer listed.
        reviewed: the lock's entry that the listed one matches; None if there is none.
        change: the change, as an escaped line; None if there is none.
    """

    listed: Definition | None
    reviewed: Definition | None
    change: str | None


def _compare_entries(
    lock: Lock,
    kind: str,
    entries: Sequence[Definition],
    listed: Sequence[Definition],
    normalize: NormalizeDefinition,
) -> Iterator[_EntryComparison]:
    """Yield a comparison for each listed entry, then for each entry no longer listed."""
    key, label = _KINDS[kind]
    # Group the lock's entries by name, because several entries may have the same name.
    reviewed_by_name: dict[str, list[Definition]] = {}
    for entry in entries:
        reviewed_by_name.setdefault(entry[key], []).append(normalize(kind, entry))
    listed_names = {entry.get(key) for entry in listed}
    for entry in listed:
        name = str(entry.get(key))
        subject = f"{label}`{escape_excerpt(name)}`"
        if name not in reviewed_by_name:
            addition = _describe_addition(entry, key, reviewed_by_name, listed_names)
            yield _EntryComparison(entry, None, f"{subject} {addition}")
            continue
        candidates = reviewed_by_name[name]
        changed_paths = [
            _find_changed_path(lock, kind, name, reviewed, entry)
            for reviewed in candidates
        ]
        if None in changed_paths:
            reviewed = candidates[changed_paths.index(None)]
            yield _EntryComparison(entry, reviewed, None)
            continue
        path = changed_paths[0] or ()
        dotted_path = escape_excerpt(".".join(map(str, path)))
        grade = _grade_change(kind, path)
        change = f"{subject} changed in `{dotted_path}`, {grade}"
        yield _EntryComparison(entry, None, change)
    for name in reviewed_by_name:
        if name not in listed_names and not lock.is_varying(kind, name, ()):
            subject = f"{label}`{escape_excerpt(name)}`"
            change = f"{subject} is no longer listed, breaking"
            yield _EntryComparison(None, None, change)


def _find_changed_path(
    lock: Lock, kind: str, name: str, reviewed: Definition, listed: Definition
) -> Path | None:
    """Return the first path where an entry differs from the lock; None if it does not."""
    for path in find_differences(reviewed, listed):
        # Ignore `execution`: only one protocol version has this key, so it depends on the
        # version of the session.
        is_execution = kind == _TOOLS and path[0] == "execution"
        if is_execution:
            continue
        values = [_get_value(entry, path) for entry in (reviewed, listed)]
        if not lock.is_varying(kind, name, path) or not _is_equal_except_volatile(
            *values
        ):
            return path
    return None


def _is_equal_except_volatile(reviewed: Any, listed: Any) -> bool:
    """Return whether two values are equal except for dates, times, counts and paths.

    False if one of the values is None.
    """
    if reviewed is None or listed is None:
        return False
    texts = [
        value if isinstance(value, str) else _encode_sorted(value)
        for value in (reviewed, listed)
    ]
    return mask_volatile_text(texts[0]) == mask_volatile_text(texts[1])


def _get_value(entry: Definition, path: Path) -> Any:
    """Return the value at a path; None if the entry has no such value."""
    value: Any = entry
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _describe_addition(
    entry: Definition,
    key: str,
    reviewed_by_name: Mapping[str, Sequence[Definition]],
    listed_names: set[Any],
) -> str:
    """Return a predicate for an entry whose name is not in the lock: renamed or added.

    The entry is renamed if only its name differs from an entry that is no longer listed.
    """
    for name, definitions in reviewed_by_name.items():
        if name in listed_names:
            continue
        renamed = {**definitions[0], key: entry.get(key)}
        if not any(find_differences(renamed, entry)):
            return f"is the renamed `{escape_excerpt(name)}`, breaking"
    return "is not in the lock, risky"


def _grade_change(kind: str, path: Path) -> str:
    """Return the worst grade that `toolcast diff` may assign to a change at a path."""
    is_text = path[-1] in _TEXT_MEMBERS and "properties" not in path[-2:-1]
    if kind == _TOOLS and path[0] in _BREAKING_MEMBERS and not is_text:
        return "at most breaking"
    return "at most risky"


def _encode_sorted(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def find_differences(
    old: Any,
    new: Any,
    encode: Callable[[Any], str] = _encode_sorted,
    path: Path = (),
) -> Iterator[Path]:
    """Yield the paths where two JSON values differ; the order of keys is ignored.

    Arrays of objects are compared item by item if their lengths are equal; all other arrays
    as a whole.

    Args:
        old: the first value.
        new: the second value.
        encode: returns a string that is equal for equal values.
        path: the path of the two values.
    """
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            if key in old and key in new:
                yield from find_differences(old[key], new[key], encode, (*path, key))
            else:
                yield (*path, key)
    elif _are_objects(old) and _are_objects(new) and len(old) == len(new):
        for index, (old_item, new_item) in enumerate(zip(old, new, strict=True)):
            yield from find_differences(old_item, new_item, encode, (*path, index))
    elif encode(old) != encode(new):
        yield path


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
