"""The tools that an external server lists, held to its lock, as tools of the toolset.

Every text and schema here is a stranger's. A tool that cannot be taken is left out with a
reason; the others stay.

The lock has what somebody has reviewed of it. A tool that is not as the lock has it may say or do
anything now: it is refused, and the others stay. What is offered is the lock's own definition, so
that also what is known to differ at each start of a server stays what it was. What a server lists
besides tools, and its instructions, reach no caller: a change there is told, as a sign of another
server.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from ..core.calls.untrusted_text import escape_excerpt
from ..core.definitions.tool import ResultForm, Tool, look_alike_key
from ..core.server_settings import ExternalServer
from ..core.validation.limits import has_too_many_paths, measure_value

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")
_MAX_VALUES = 20_000
"""Values in one tool definition."""
_MAX_LEVELS = 64
"""Levels of one tool definition."""
_MAX_DESCRIPTION_CHARACTERS = 16_000
"""Length of a tool's description."""
_MAX_SUMMARY_CHARACTERS = 200
"""Length of a summary, which is the description's first line."""
_MAX_NAMES_SHOWN = 12
"""Tool names in a message."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What is taken of a server's list.

    Attributes:
        tools: the tools by the names that callers use.
        own_names: the server's own name of each.
        left_out: why others are not taken, one line each, escaped.
    """

    tools: Mapping[str, Tool]
    own_names: Mapping[str, str]
    left_out: tuple[str, ...]


def take_tools(
    server: ExternalServer,
    definitions: Iterable[Mapping[str, Any]],
    reserved: frozenset[str],
) -> Listing:
    """The tools of a server that can be offered.

    Args:
        server: what is taken from it, and under which prefix.
        definitions: its tools as `tools/list` gave them.
        reserved: names that belong to others, which win; over those that look alike, too.
    """
    tools: dict[str, Tool] = {}
    own_names: dict[str, str] = {}
    listed: list[str] = []
    left_out: list[str] = []
    beyond = 0
    keys = {look_alike_key(name): name for name in reserved}
    for definition in definitions:
        own = definition.get("name")
        if not isinstance(own, str) or not _NAME.fullmatch(own):
            left_out.append(f"`{escape_excerpt(str(own))}` is no name of a tool")
            continue
        listed.append(own)
        if not server.is_allowed(own):
            continue
        name = server.get_local_name(own)
        problem = next(_problems(name, definition, tools, keys), None)
        if problem is not None:
            left_out.append(f"`{own}` {problem}")
        elif len(tools) >= server.max_tools:
            beyond += 1
        else:
            tools[name] = _tool(server, name, definition)
            own_names[name] = own
    if beyond:
        left_out.append(f"{beyond} more than the {server.max_tools} of `max_tools`")
    left_out += _missing(server, listed)
    return Listing(tools, own_names, tuple(left_out))


def _missing(server: ExternalServer, listed: Sequence[str]) -> list[str]:
    """What the toolset names and the server does not list, and what it lists instead."""
    named = dict.fromkeys(server.tools, "tools")
    named |= dict.fromkeys(server.allow or (), "allow")
    lines = [
        f"`{own}` of `{field}` is not there"
        for own, field in named.items()
        if own not in listed and own not in server.deny
    ]
    if lines:
        shown = ", ".join(f"`{own}`" for own in listed[:_MAX_NAMES_SHOWN]) or "nothing"
        more = len(listed) - _MAX_NAMES_SHOWN
        rest = f" and {more} more" if more > 0 else ""
        lines.append(f"the server lists {shown}{rest}; see `tools` and `allow`")
    return lines


def _problems(
    name: str,
    definition: Mapping[str, Any],
    tools: Mapping[str, Tool],
    reserved: Mapping[str, str],
) -> Iterator[str]:
    other = reserved.get(look_alike_key(name))
    if other is not None:
        like = "is" if other == name else f"looks like `{other}`,"
        yield f"would be `{name}`, which {like} another's name, or reserved"
    if name in tools:
        yield "is listed twice"
    if not _NAME.fullmatch(name):
        yield "has too long a name with its prefix"
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
        yield "has too large a definition"
    schema = definition.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield "takes no object as arguments"
    elif has_too_many_paths(schema) or has_too_many_paths(
        definition.get("outputSchema")
    ):
        yield "has a schema whose references expand to too many paths"


def _tool(server: ExternalServer, name: str, definition: Mapping[str, Any]) -> Tool:
    description = definition.get("description") or definition.get("title") or ""
    first = next((line for line in description.splitlines() if line.strip()), "")
    listed = {**definition, "name": name}
    returns = definition.get("outputSchema")
    result = ResultForm(**server.result, returns=returns) if server.result else None
    if server.result.get("send") == "text":
        listed.pop("outputSchema", None)
    return Tool(
        name=name,
        summary=first.strip()[:_MAX_SUMMARY_CHARACTERS],
        description=description,
        definition=listed,
        timeout=server.call_timeout,
        persistent=server.persistent,
        result=result,
        service=server.name,
    )


_logger = logging.getLogger("toolcast")

_FILE = "locks.json"
_BREAKING = frozenset(["inputSchema", "outputSchema", "annotations"])
_TEXTS = frozenset(["title", "description"])
_TOOLS = "tools"
# What names an entry, and what messages call it.
_KINDS = {
    _TOOLS: ("name", ""),
    "resources": ("uri", "the resource "),
    "resourceTemplates": ("uriTemplate", "the resource template "),
    "prompts": ("name", "the prompt "),
}
BESIDES = tuple(kind for kind in _KINDS if kind != _TOOLS)
"""What a server lists besides tools."""

Definition = Mapping[str, Any]
AsListed = Callable[[str, Definition], Definition]
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Lock:
    """What was reviewed of one server.

    Attributes:
        tools: its definitions of tools.
        besides: what else it lists, by the keys of `BESIDES`.
        instructions: what it tells models about all of its tools; None for nothing.
        varies: places that differ at each start: a kind, a name, and the keys.
    """

    tools: Sequence[Definition]
    besides: Mapping[str, Sequence[Definition]] = field(default_factory=dict)
    instructions: str | None = None
    varies: Sequence[tuple[str, str, Path]] = ()

    def has_varying(self, kind: str, name: str, path: Path) -> bool:
        """Whether a place differs at each start; with no path, whether it is there at all."""
        return any(
            (kind, name) == (one, other)
            and path[: len(keys)] == keys
            and (bool(keys) or not path)
            for one, other, keys in self.varies
        )


@dataclass(frozen=True, slots=True)
class LockResult:
    """A list of tools that was held to a lock.

    Attributes:
        definitions: what may be offered of it.
        changed: what is not as the lock has it, one escaped line each.
    """

    definitions: Sequence[Definition]
    changed: tuple[str, ...]


def read_locks(package: str) -> Mapping[str, Lock]:
    """The locks of a generated package, by the names of their servers.

    A file that is not what was generated gives none, with a line in the log: without a
    lock nothing of a locked server is offered.
    """
    try:
        servers = json.loads(files(package).joinpath(_FILE).read_bytes())["servers"]
        return {name: _lock(lock) for name, lock in servers.items()}
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        what = f"{type(error).__name__}: {error}"
        _logger.error(
            "%s of %s cannot be read: %s", _FILE, package, escape_excerpt(what)
        )
        return {}


def _lock(lock: Mapping[str, Any]) -> Lock:
    entries = {kind: lock.get(kind, []) for kind in _KINDS}
    for kind, (key, _) in _KINDS.items():
        if not all(isinstance(one[key], str) for one in entries[kind]):
            raise TypeError(f"`{kind}` have no `{key}`")
    varies = [(v["kind"], v["name"], tuple(v["path"])) for v in lock.get("varies", ())]
    besides = {kind: entries[kind] for kind in BESIDES}
    return Lock(lock[_TOOLS], besides, lock.get("instructions"), varies)


def held(
    lock: Lock | None,
    listed: Sequence[Definition],
    as_listed: AsListed,
    *,
    is_refusing: bool,
) -> LockResult:
    """What may be offered of a list of tools.

    Args:
        lock: what was reviewed; None for nothing.
        listed: the tools as the session gives them.
        as_listed: makes of a definition of the lock what the session gives of it.
        is_refusing: what changed is left out; otherwise it is only told.
    """
    if lock is None:
        return LockResult(
            [], ("nothing can be told: it is not there, or cannot be read",)
        )
    offered: list[Definition] = []
    changed: list[str] = []
    for one, reviewed, line in _compared(lock, _TOOLS, lock.tools, listed, as_listed):
        if line is not None:
            changed.append(line)
        if reviewed is not None:
            offered.append(reviewed)
        elif one is not None and not is_refusing:
            offered.append(one)
    return LockResult(offered, tuple(changed))


def changed_besides(
    lock: Lock,
    listed: Mapping[str, Sequence[Definition]],
    instructions: str | None,
    as_listed: AsListed,
) -> tuple[str, ...]:
    """What is not as the lock has it of what reaches no caller, one escaped line each.

    Args:
        lock: what was reviewed.
        listed: what the server lists, by those keys of `BESIDES` that it could be asked.
        instructions: what it says at the beginning of the session.
        as_listed: makes of an entry of the lock what the session gives of it.
    """
    lines = [
        line
        for kind, entries in listed.items()
        for _, _, line in _compared(
            lock, kind, lock.besides.get(kind, ()), entries, as_listed
        )
        if line is not None
    ]
    is_known = lock.has_varying("instructions", "", ())
    if instructions != lock.instructions and not is_known:
        lines.append("the instructions are changed, risky")
    return tuple(lines)


def _compared(
    lock: Lock,
    kind: str,
    entries: Sequence[Definition],
    listed: Sequence[Definition],
    as_listed: AsListed,
) -> Iterator[tuple[Definition | None, Definition | None, str | None]]:
    """Each entry that is listed or locked: as listed, as reviewed if it is, and what is other."""
    key, word = _KINDS[kind]
    # A list may have a name twice.
    known: dict[str, list[Definition]] = {}
    for one in entries:
        known.setdefault(one[key], []).append(as_listed(kind, one))
    names = {one.get(key) for one in listed}
    for one in listed:
        name = str(one.get(key))
        said = f"{word}`{escape_excerpt(name)}`"
        if name not in known:
            yield one, None, f"{said} {_new(one, key, known, names)}"
            continue
        places = [_changed(lock, kind, name, was, one) for was in known[name]]
        if None in places:
            yield one, known[name][places.index(None)], None
            continue
        path = places[0] or ()
        place = ".".join(map(str, path))
        yield one, None, f"{said} changed in `{escape_excerpt(place)}`, {_grade(kind, path)}"
    for name in known:
        if name not in names and not lock.has_varying(kind, name, ()):
            said = f"{word}`{escape_excerpt(name)}`"
            yield None, None, f"{said} is not listed any more, breaking"


def _changed(
    lock: Lock, kind: str, name: str, was: Definition, one: Definition
) -> Path | None:
    """The first place where an entry is not as the lock has it; None where there is none.

    How a tool may be called as a task is said in one revision of the protocol only.
    """
    for path in differing(was, one):
        is_execution = kind == _TOOLS and path[0] == "execution"
        if not is_execution and not lock.has_varying(kind, name, path):
            return path
    return None


def _new(
    one: Definition,
    key: str,
    known: Mapping[str, Sequence[Definition]],
    names: set[Any],
) -> str:
    """How an entry is called that the lock does not have."""
    for was, definitions in known.items():
        if was not in names and not any(
            differing({**definitions[0], key: one.get(key)}, one)
        ):
            return f"is `{escape_excerpt(was)}` with another name, breaking"
    return "is not in the lock, risky"


def _grade(kind: str, path: Path) -> str:
    """The worst that a change at a place is by the grades of `toolcast diff`."""
    is_text = path[-1] in _TEXTS and (len(path) < 2 or path[-2] != "properties")
    if kind == _TOOLS and path[0] in _BREAKING and not is_text:
        return "at most breaking"
    return "at most risky"


def _sorted_text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def differing(
    one: Any, other: Any, text: Callable[[Any], str] = _sorted_text, path: Path = ()
) -> Iterator[Path]:
    """The ways to what differs in two values of JSON; the order of keys says nothing.

    Arrays of objects that are as long are looked into, others differ as a whole.

    Args:
        one: a value.
        other: the one that it is compared with.
        text: what is the same of two values that are neither objects nor such arrays.
        path: the way to them.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if key in one and key in other:
                yield from differing(one[key], other[key], text, (*path, key))
            else:
                yield (*path, key)
    elif _are_objects(one) and _are_objects(other) and len(one) == len(other):
        for index, (item, twin) in enumerate(zip(one, other, strict=True)):
            yield from differing(item, twin, text, (*path, index))
    elif text(one) != text(other):
        yield path


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
