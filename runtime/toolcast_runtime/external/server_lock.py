"""Holds an external server to its lock: what somebody has reviewed of what it lists.

A tool that is not as the lock has it may say or do anything now: it is refused, and the
others stay. What is offered is the lock's own definition, so that also what is known to
differ at each start of a server stays what it was.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from ..calls.untrusted_text import escaped

__all__ = ["Held", "Lock", "held", "read_locks"]

_logger = logging.getLogger("toolcast")

_FILE = "locks.json"
_BREAKING = frozenset(["inputSchema", "outputSchema", "annotations"])
_TEXTS = frozenset(["title", "description"])

Definition = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lock:
    """What was reviewed of one server.

    Attributes:
        tools: its definitions of tools.
        varies: places in them that differ at each start: a tool's name, and the keys.
    """

    tools: Sequence[Definition]
    varies: Sequence[tuple[str, Sequence[str | int]]] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """A listing that was held to a lock.

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
        return {
            name: Lock(
                lock["tools"], [(v["name"], v["path"]) for v in lock.get("varies", ())]
            )
            for name, lock in servers.items()
        }
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        what = f"{type(error).__name__}: {error}"
        _logger.error("%s of %s cannot be read: %s", _FILE, package, escaped(what))
        return {}


def held(
    lock: Lock | None,
    listed: Sequence[Definition],
    as_listed: Callable[[Definition], Definition],
    *,
    is_refusing: bool,
) -> Held:
    """What may be offered of a listing.

    Args:
        lock: what was reviewed; None for nothing.
        listed: the tools as the session gives them.
        as_listed: makes of a definition of the lock what the session gives of it.
        is_refusing: what changed is left out; otherwise it is only told.
    """
    if lock is None:
        return Held([], ("nothing can be told: it is not there, or cannot be read",))
    known = {one["name"]: as_listed(one) for one in lock.tools}
    offered: list[Definition] = []
    changed: list[str] = []
    names = {one.get("name") for one in listed}
    for one in listed:
        name = str(one.get("name"))
        if name not in known:
            changed.append(f"`{escaped(name)}` {_new(one, known, names)}")
            if not is_refusing:
                offered.append(one)
            continue
        was = known[name]
        path = next(
            (p for p in _differing(was, one) if not _varies(lock, name, p)), None
        )
        if path is None:
            offered.append(was)
            continue
        place = ".".join(map(str, path))
        grade = _grade(path)
        changed.append(f"`{escaped(name)}` changed in `{escaped(place)}`, {grade}")
        if not is_refusing:
            offered.append(one)
    changed += [
        f"`{escaped(name)}` is not listed any more, breaking"
        for name in known
        if name not in names
    ]
    return Held(offered, tuple(changed))


def _new(one: Definition, known: Mapping[str, Definition], names: set[Any]) -> str:
    """How a tool is called that the lock does not have."""
    for was, definition in known.items():
        if was not in names and not list(
            _differing({**definition, "name": one.get("name")}, one)
        ):
            return f"is `{escaped(was)}` with another name, breaking"
    return "is not in the lock, risky"


def _grade(path: Sequence[str | int]) -> str:
    """The worst that a change at a place is by the grades of `toolcast diff`."""
    is_text = path[-1] in _TEXTS and (len(path) < 2 or path[-2] != "properties")
    if path[0] in _BREAKING and not is_text:
        return "at most breaking"
    return "at most risky"


def _varies(lock: Lock, name: str, path: Sequence[str | int]) -> bool:
    return any(
        name == other and list(path[: len(keys)]) == list(keys)
        for other, keys in lock.varies
    )


def _differing(
    one: Any, other: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[str | int, ...]]:
    """The ways to what differs; lists of other than objects differ as a whole.

    How a tool may be called as a task is said in one revision of the protocol only.
    """
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if not path and key == "execution":
                continue
            if key in one and key in other:
                yield from _differing(one[key], other[key], (*path, key))
            else:
                yield (*path, key)
    elif _are_objects(one) and _are_objects(other) and len(one) == len(other):
        for index, (item, twin) in enumerate(zip(one, other, strict=True)):
            yield from _differing(item, twin, (*path, index))
    elif json.dumps(one, sort_keys=True) != json.dumps(other, sort_keys=True):
        yield path


def _are_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)
