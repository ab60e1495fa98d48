"""Changes of the external MCP servers whose tools are offered beside a toolset's own."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ...facts.network_reach import secret_places
from ...model.mcp_servers import McpServer
from ...model.model import Toolset, Workspace
from ...reading.tree import Path
from ...servers.server_listing import ListingError, locked_listing
from ..access.name_lists import NameLists
from ..change import (
    ABSENT,
    Change,
    ChangeRule,
    Grade,
    Grades,
    SpecFiles,
    files_of,
    place_of,
)
from ..family import Family, Rules
from ..field_rows import HIDDEN, amount, entries, flag, value
from ..json_values import said
from .listed_entries import Owner, listing_changes

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
ADDED, REMOVED = RULES.pair(
    "server/added",
    "The tools of an external server are offered, too.",
    Grades(prompt=_R, attachment=_B),
    "server/removed",
    "The tools of an external server are no longer offered.",
    Grades(call=_B, prompt=_R, attachment=_B),
)
PROGRAM = RULES.alone(
    "server/program",
    "Another program, or the same with other arguments, is started for a server.",
    Grades(call=_R, attachment=_B),
)
TRANSPORT = RULES.alone(
    "server/transport",
    "A server is a program instead of an address, or an address instead of a program.",
    Grades(call=_R, attachment=_B),
)
ADDRESS = RULES.alone(
    "server/address",
    "A server is reached at another address.",
    Grades(call=_R, attachment=_B),
)
FOLDER = RULES.alone(
    "server/folder",
    "A server's program starts in another folder.",
    Grades(attachment=_R),
)
SENT_ADDED, SENT_REMOVED = RULES.pair(
    "server/setting-added",
    "A server is given a variable or header that it was not.",
    Grades(attachment=_R),
    "server/setting-removed",
    "A server is no longer given a variable or header; it may refuse its work.",
    Grades(attachment=_R),
)
SENT_CHANGED = RULES.alone(
    "server/setting",
    "A server is given another value in a variable or header.",
    Grades(attachment=_R),
)
PREFIX = RULES.alone(
    "server/prefix",
    "All tools of a server that are not named one by one are called otherwise.",
    Grades(call=_B, prompt=_B, attachment=_B),
)
TOOL_NAME = RULES.alone(
    "server/tool-name",
    "A tool of a server is called otherwise.",
    Grades(call=_B, prompt=_B, attachment=_B),
)
TAKEN, NOT_TAKEN = RULES.pair(
    "server/tool-taken",
    "A tool of a server is offered that was not.",
    Grades(prompt=_R, attachment=_R),
    "server/tool-not-taken",
    "A tool of a server is no longer offered.",
    Grades(call=_B, prompt=_R, attachment=_B),
)
OPENED, LISTED = RULES.pair(
    "server/opened",
    "All tools of a server are taken, and all that it will have.",
    Grades(prompt=_R, attachment=_B),
    "server/listed",
    "Of a server only the named tools are taken.",
    Grades(call=_R, prompt=_R, attachment=_R),
)
RECORDED, UNRECORDED = RULES.pair(
    "server/recorded",
    "Calls of a server's tools are written to the ledger.",
    Grades(),
    "server/not-recorded",
    "Calls of a server's tools are no longer written to the ledger.",
    Grades(attachment=_R),
)
SHORTER, LONGER = RULES.pair(
    "server/timeout-shorter",
    "A server is given up earlier: a call that was answered may fail.",
    Grades(call=_R),
    "server/timeout-longer",
    "A server is given up later: a caller may wait longer for an error.",
    Grades(),
)
FEWER, MORE = RULES.pair(
    "server/tools-fewer",
    "Fewer tools of a server are taken: those behind the number are lost.",
    Grades(call=_R, attachment=_R),
    "server/tools-more",
    "More tools of a server may be taken.",
    Grades(attachment=_R),
)
LOCKED, UNLOCKED = RULES.pair(
    "server/locked",
    "A server's tools are offered only as its lock has them.",
    Grades(call=_R),
    "server/not-locked",
    "A server's tools are offered as it lists them, whatever it changes in them.",
    Grades(attachment=_B),
)
LOCK_FILE = RULES.alone(
    "server/lock-file", "The lock of a server stands in another file.", Grades()
)
REFUSING, LOGGING = RULES.pair(
    "server/change-refused",
    "A tool that is not as its server's lock has it is not offered.",
    Grades(call=_R),
    "server/change-logged",
    "A tool that is not as its server's lock has it is offered all the same.",
    Grades(attachment=_B),
)
ORDER = RULES.alone(
    "server/order",
    "Servers are declared in another order: of tools with one name another one is called.",
    Grades(call=_R),
)

_OF = "the server {}"
_ROWS = (
    entries("mcp_servers", "the external servers", ADDED, REMOVED, moved=ORDER),
    value(
        "mcp_servers.*.lock",
        f"the lock of {_OF}",
        LOCK_FILE,
        came=LOCKED,
        gone=UNLOCKED,
    ),
    value("mcp_servers.*.cwd", f"the folder of {_OF}", FOLDER),
    flag(
        "mcp_servers.*.persistent",
        f"calls of {_OF}",
        RECORDED,
        UNRECORDED,
        ("are written to the ledger", "are no longer written to the ledger"),
    ),
    amount(
        "mcp_servers.*.connect_timeout",
        f"the time-out for connecting to {_OF}",
        SHORTER,
        LONGER,
        30,
    ),
    amount(
        "mcp_servers.*.list_timeout",
        f"the time-out for the list of {_OF}",
        SHORTER,
        LONGER,
        15,
    ),
    amount(
        "mcp_servers.*.max_tools",
        f"the largest number of tools of {_OF}",
        FEWER,
        MORE,
        250,
    ),
)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's external servers; who may have their tools is told elsewhere."""
    files = files_of(before, after)
    old, new = ({s.name: s for s in side.mcp_servers} for side in (before, after))
    for name in new:
        if name in old:
            yield from _server(files, old[name], new[name])


def _server(files: SpecFiles, old: McpServer, new: McpServer) -> Iterator[Change]:
    path = ("mcp_servers", new.name)
    yield from _reached_by(files, path, old, new)
    for field, kind in (("env", "variable"), ("headers", "header")):
        yield from _settings(files, (*path, field), kind, old, new)
    yield from _names(files, path, old, new)
    yield from _taken(files, path, old, new)
    yield from _lock(files, path, old, new)
    if "call_timeout" in {*old.fields, *new.fields}:
        before, after = old.call_timeout, new.call_timeout
        if before != after:
            words = f"{after:g} seconds instead of {before:g}"
            message = (
                f"the time-out for a call of the server {said(new.name)} is {words}"
            )
            rule = SHORTER if after < before else LONGER
            where = (*path, "call_timeout")
            yield files.changed(rule, where, message, before, after)


def _reached_by(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    """The changes of a server's program or address."""
    lines = [(one.command, one.args, one.url) for one in (old, new)]
    if lines[0] == lines[1]:
        return
    before, after = (_line(one) for one in (old, new))
    rule, field = TRANSPORT, "url" if new.command is None else "command"
    if old.command is not None and new.command is not None:
        rule, field = PROGRAM, "args" if old.command == new.command else "command"
    elif old.url is not None and new.url is not None:
        rule = ADDRESS
    message = f"the server {said(new.name)} is {said(after)} instead of {said(before)}"
    if before == after:
        message = f"the server {said(new.name)} is another one, which may hold a secret"
    yield files.changed(rule, (*path, field), message, before, after)


def _line(server: McpServer) -> str:
    """The command line or address, without what looks like a secret."""
    if server.command is None:
        return str(_shown(server, ("url",), server.url or ""))
    words = [_shown(server, ("command",), server.command)]
    words += [_shown(server, ("args", i), word) for i, word in enumerate(server.args)]
    return " ".join(words)


def _shown(server: McpServer, path: Path, text: str | None) -> Any:
    """A text of a server that may be printed; ABSENT where there is none."""
    if text is None:
        return ABSENT
    return HIDDEN if path in set(secret_places(server)) else text


def _settings(
    files: SpecFiles, path: Path, kind: str, old: McpServer, new: McpServer
) -> Iterator[Change]:
    field = str(path[-1])
    before: Mapping[str, str] = getattr(old, field)
    after: Mapping[str, str] = getattr(new, field)
    for key in dict.fromkeys((*after, *before)):
        was, is_ = before.get(key), after.get(key)
        if was == is_:
            continue
        rule, words = SENT_CHANGED, "another value"
        if was is None:
            rule, words = SENT_ADDED, "a value"
        elif is_ is None:
            rule, words = SENT_REMOVED, "no value any more"
        message = f"the {kind} {said(key)} of the server {said(new.name)} has {words}"
        yield files.changed(
            rule,
            (*path, key),
            message,
            before=_shown(old, (field, key), was),
            after=_shown(new, (field, key), is_),
        )


def _names(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    of = f"of the server {said(new.name)}"
    if old.prefix != new.prefix:
        names = said(new.prefix), said(old.prefix)
        message = f"the prefix {of} is {names[0]} instead of {names[1]}"
        yield files.changed(
            PREFIX,
            (*path, "prefix"),
            message,
            old.prefix or ABSENT,
            new.prefix or ABSENT,
        )
    for own in dict.fromkeys((*new.tools, *old.tools)):
        before, after = old.tools.get(own), new.tools.get(own)
        if before == after:
            continue
        called = [
            given or f"{one.prefix}{own}"
            for given, one in ((before, old), (after, new))
        ]
        if called[0] == called[1]:
            continue  # its default, written out
        message = f"the tool {said(own)} {of} is called {said(called[1])}"
        yield files.changed(
            TOOL_NAME,
            (*path, "tools", own),
            message,
            ABSENT if before is None else before,
            ABSENT if after is None else after,
        )


def _taken(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    of = f"of the server {said(new.name)}"
    if (old.allow is None) != (new.allow is None):
        is_open = new.allow is None
        words = "every tool" if is_open else "the named tools alone"
        lists = [ABSENT if one.allow is None else list(one.allow) for one in (old, new)]
        yield files.changed(
            OPENED if is_open else LISTED,
            (*path, "allow"),
            f"{words} {of} {'is' if is_open else 'are'} taken",
            lists[0],
            lists[1],
        )
    names = (*(new.allow or ()), *(old.allow or ()), *new.restrict, *old.restrict)
    before, after = (NameLists(one.allow, one.restrict) for one in (old, new))
    for own in dict.fromkeys(names):
        was, is_ = before.have(own), after.have(own)
        if was == is_:
            continue
        field = before.differing(after, own)
        verb = "taken" if is_ else "no longer taken"
        rule: ChangeRule = TAKEN if is_ else NOT_TAKEN
        yield files.changed(
            rule,
            (*path, field),
            f"the tool {said(own)} {of} is {verb}",
            ABSENT if is_ else own,
            own if is_ else ABSENT,
        )


def _lock(
    files: SpecFiles, path: Path, old: McpServer, new: McpServer
) -> Iterator[Change]:
    if old.on_change != new.on_change:
        rule = REFUSING if new.on_change == "refuse" else LOGGING
        verb = "not offered" if new.on_change == "refuse" else "offered all the same"
        message = f"a tool of the server {said(new.name)} that is not as its lock has it is {verb}"
        sides = old.on_change, new.on_change
        yield files.changed(rule, (*path, "on_change"), message, *sides)
    if old.locked is None or new.locked is None or old.locked == new.locked:
        return
    place = f"{posixpath.dirname(files.after.file)}/{new.lock}"
    try:
        before, after = (
            replace(locked_listing(one, place), varying=())
            for one in (old.locked, new.locked)
        )
    except ListingError:
        return  # a rule of the specs tells what is wrong with it
    for change in listing_changes(before, after, Owner(files.toolset, place)).changes:
        side = files.before if change.is_gone else files.after
        yield replace(change, place=place_of(side, (*path, "lock")))


FAMILY = Family(
    rules=RULES,
    toolset_rows=_ROWS,
    toolset_fields={
        f"mcp_servers.*.{field}"
        for field in (
            "command args env url headers prefix tools allow restrict call_timeout"
            " on_change"
        ).split()
    },
    compare_toolsets=compare_toolsets,
)
"""External servers."""
