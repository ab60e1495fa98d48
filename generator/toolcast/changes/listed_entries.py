"""Changes between two listings of an MCP server: what was reviewed, and what is there.

A tool is compared as a spec is that says the same, so that a change has the rule and the
grades of `toolcast diff`. What no rule of specs tells is told by its place in the entry:
no entry that differs is without a change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from toolcast_runtime.external.server_lock import differing

from ..model.model import Toolset, ToolSpec, Workspace
from ..reading.exact_json import exact_text, plain
from ..reading.tree import NOWHERE, Path, Source
from ..servers.server_listing import KINDS, ServerListing, explains
from .change import ABSENT, Change, Grade, Grades, SpecFiles, ToolPair
from .quoted_values import quoted
from .schemas import schema_family
from .state import tool_pair
from .table import row_of
from .texts import spec_texts
from .walk import changes_of

__all__ = ["ListingChanges", "Owner", "listing_changes"]


_FIELDS = {
    "title": "title",
    "description": "description",
    "inputSchema": "parameters",
    "outputSchema": "returns",
    "annotations": "annotations",
    "icons": "icons",
    "_meta": "meta",
    "execution": "execution",
}
_MEMBERS = {field: member for member, field in _FIELDS.items()}
_TYPES: dict[str, tuple[type, ...]] = {
    "title": (str,),
    "description": (str,),
    "inputSchema": (dict,),
    "outputSchema": (dict, bool),
    "annotations": (dict,),
    "icons": (list,),
    "_meta": (dict,),
    "execution": (dict,),
}
_WORDS = {
    "tools": "tool",
    "resources": "resource",
    "resourceTemplates": "resource template",
    "prompts": "prompt",
}
_ALIKE = 0.8
_MOST_COMPARED = 2_000
_MOST_PAIRS = 400


class Owner(NamedTuple):
    """Whose listing it is.

    Attributes:
        toolset: the toolset's name.
        file: where changes are shown, of tools that `files` does not name.
        files: the specs of tools.
    """

    toolset: str
    file: str
    files: Mapping[str, str] = {}

    def source(self, name: str, tree: Any = None) -> Source:
        """Where a tool stands."""
        return Source(self.files.get(name, self.file), tree=tree)


class ListingChanges(NamedTuple):
    """What differs between two listings.

    Attributes:
        changes: what does, in the order of kind and name.
        varying: of it, what differs at each start by itself: no change, but to be told.
    """

    changes: list[Change]
    varying: list[Change]


def listing_changes(
    before: ServerListing, after: ServerListing, owner: Owner
) -> ListingChanges:
    """The changes from one listing to another; one that is renamed is one change.

    A second reading of `after` is compared, too: a change that only one of them has is
    one, but for what a server leaves out once.

    Args:
        before: what was reviewed, with what is known to differ at each start.
        after: what is there.
        owner: whose it is.
    """
    readings = [after] if after.again is None else [after, after.again]
    found = ListingChanges([], [])
    told = set()
    for reading in readings:
        for kind, name, change in _all(before, reading, owner):
            place = (kind, name, change.rule.id, change.path)
            if place in told:
                continue
            told.add(place)
            path = _place_in(kind, change)
            is_known = any(one.covers(kind, name, path) for one in before.varying)
            is_known = is_known or any(
                one.covers(kind, name, path) and explains(one, before, *readings)
                for one in after.varying
            )
            (found.varying if is_known else found.changes).append(change)
    return found


def _place_in(kind: str, change: Change) -> Path:
    """Where a change is in the entry as the server lists it."""
    path = change.path
    if change.rule in (
        row_of("tool/added"),
        row_of("tool/removed"),
        row_of("listing.entry/added"),
        row_of("listing.entry/removed"),
        row_of("listing.instructions/changed"),
    ):
        return ()
    if kind != "tools" or change.rule in (
        row_of("listing.tool/changed"),
        row_of("tool/renamed-without-former-name"),
    ):
        return path
    if path[:2] == ("mcp", "extra"):
        return path[2:]
    return (_MEMBERS.get(str(path[0]), str(path[0])), *path[1:])


def _all(
    before: ServerListing, after: ServerListing, owner: Owner
) -> Iterator[tuple[str, str, Change]]:
    if before.instructions != after.instructions:
        sides = [
            ABSENT if i is None else i
            for i in (before.instructions, after.instructions)
        ]
        files = SpecFiles(owner.toolset, "", owner.source(""), owner.source(""))
        message = "the instructions are others"
        change = files.changed(
            row_of("listing.instructions/changed"), ("instructions",), message, *sides
        )
        yield "instructions", "", replace(change, is_gone=False)
    for name, change in _tools(before.tools, after.tools, owner):
        yield "tools", name, change
    for kind in KINDS:
        if kind != "tools":
            yield from _entries(kind, before, after, owner)


def _named(
    entries: Sequence[Mapping[str, Any]], key: str
) -> dict[str, Mapping[str, Any]]:
    """The entries by name; what has the name of another gets a number behind it."""
    named: dict[str, Mapping[str, Any]] = {}
    for entry in entries:
        name, number = entry[key], 1
        while name in named:
            number += 1
            name = f"{entry[key]} ({number})"
        named[name] = entry
    return named


def _tools(
    before: Sequence[Mapping[str, Any]],
    after: Sequence[Mapping[str, Any]],
    owner: Owner,
) -> Iterator[tuple[str, Change]]:
    old, new = _named(before, "name"), _named(after, "name")
    gone = [name for name in old if name not in new]
    came = [name for name in new if name not in old]
    for was, is_ in _renamed(gone, came, old, new):
        gone.remove(was)
        came.remove(is_)
        files = SpecFiles(owner.toolset, is_, owner.source(was), owner.source(was))
        message = f"{quoted(was)} is called {quoted(is_)}"
        yield is_, files.changed(
            row_of("tool/renamed-without-former-name"), ("name",), message, was, is_
        )
        yield from _tool({**old[was], "name": is_}, new[is_], is_, owner)
    for name in gone:
        files = SpecFiles(owner.toolset, name, owner.source(name), NOWHERE)
        message = f"{quoted(name)} is not there"
        yield name, files.changed(
            row_of("tool/removed"), ("name",), message, before=name
        )
    for name in came:
        files = SpecFiles(owner.toolset, name, NOWHERE, owner.source(name))
        message = f"{quoted(name)} is new"
        yield name, files.changed(
            row_of("tool/added"),
            ("name",),
            message,
            after=name,
            grades=Grades(prompt=Grade.RISKY, attachment=Grade.RISKY),
            reason="nobody has reviewed what the server says and does with it",
        )
    for name in new:
        if name in old and exact_text(old[name]) != exact_text(new[name]):
            yield from _tool(old[name], new[name], name, owner)


def _renamed(
    gone: Sequence[str],
    came: Sequence[str],
    old: Mapping[str, Mapping[str, Any]],
    new: Mapping[str, Mapping[str, Any]],
) -> Iterator[tuple[str, str]]:
    """What is gone with what came and says about the same, the most alike first."""
    texts = [
        {name: _but_its_name(side[name]) for name in names}
        for side, names in ((old, gone), (new, came))
    ]
    free_old, free_new = dict(texts[0]), dict(texts[1])
    for name, text in texts[0].items():
        twin = next((other for other, t in free_new.items() if t == text), None)
        if twin is not None:
            del free_old[name], free_new[twin]
            yield name, twin
    if len(free_old) * len(free_new) > _MOST_PAIRS:
        return
    scores = sorted(
        (
            (-_likeness(text, other), one, two)
            for one, text in free_old.items()
            for two, other in free_new.items()
        )
    )
    for score, one, two in scores:
        if -score >= _ALIKE and one in free_old and two in free_new:
            del free_old[one], free_new[two]
            yield one, two


def _but_its_name(definition: Mapping[str, Any]) -> str:
    return exact_text({k: v for k, v in definition.items() if k != "name"})


def _likeness(one: str, other: str) -> float:
    pair = one[:_MOST_COMPARED], other[:_MOST_COMPARED]
    matcher = SequenceMatcher(None, *pair, autojunk=False)
    if matcher.quick_ratio() < _ALIKE:
        return 0.0
    return matcher.ratio()


def _tool(
    old: Mapping[str, Any], new: Mapping[str, Any], name: str, owner: Owner
) -> Iterator[tuple[str, Change]]:
    """The changes of one tool: what specs tell, then what they do not."""
    sides = _spec(old, name, owner), _spec(new, name, owner)
    toolsets = (
        Toolset(owner.toolset, "", "", (sides[0],)),
        Toolset(owner.toolset, "", "", (sides[1],)),
    )
    empty = Workspace("", (), ())
    both = ToolPair(*sides, *toolsets, empty, empty)
    told: set[str] = set()
    of_fields = tool_pair(both.files, sides, toolsets, ())
    for change in (
        *schema_family.compare(both),
        *spec_texts.compare_tools(both),
        *changes_of(of_fields),
    ):
        told.add(str(_place_in("tools", change)[0]))
        yield name, change
    for path in differing(old, new, exact_text):
        if path[0] in told or path == ("name",):
            continue
        before, after = (_at(side, path) for side in (old, new))
        place = ".".join(map(str, path))
        message = f"{quoted(place)} of {quoted(name)} is another one"
        yield name, both.files.changed(
            row_of("listing.tool/changed"), path, message, before, after
        )


def _spec(definition: Mapping[str, Any], name: str, owner: Owner) -> ToolSpec:
    """The spec that says what a definition says, as far as a spec can."""
    tree: dict[str, Any] = {"name": name}
    extra = {}
    for member, value in definition.items():
        if member in _FIELDS and isinstance(value, _TYPES[member]):
            tree[_FIELDS[member]] = plain(value)
        elif member not in _FIELDS and member != "name":
            extra[member] = plain(value)
    if extra:
        tree["mcp"] = {"extra": extra}
    icons = tree.get("icons")
    return ToolSpec(
        name,
        "",
        tree.get("parameters", {}),
        tuple(tree),
        title=tree.get("title"),
        description=tree.get("description"),
        returns=tree.get("returns"),
        annotations=tree.get("annotations"),
        icons=None if icons is None else tuple(icons),
        meta=tree.get("meta"),
        execution=tree.get("execution"),
        mcp_extra=extra,
        source=owner.source(name, tree),
    )


def _at(value: Any, path: Path) -> Any:
    for step in path:
        if isinstance(value, Mapping) and step not in value:
            return ABSENT
        value = value[step]
    return value


def _entries(
    kind: str, before: ServerListing, after: ServerListing, owner: Owner
) -> Iterator[tuple[str, str, Change]]:
    """The changes of resources, templates or prompts."""
    key, word = KINDS[kind][1], _WORDS[kind]
    old, new = (_named(each.entries(kind), key) for each in (before, after))
    for name in dict.fromkeys([*old, *new]):
        source = owner.source("")
        files = SpecFiles(owner.toolset, f"{kind}/{name}", source, source)
        if name not in new:
            message = f"the {word} {quoted(name)} is not there"
            change = files.changed(
                row_of("listing.entry/removed"), (key,), message, before=old[name]
            )
        elif name not in old:
            message = f"the {word} {quoted(name)} is new"
            change = files.changed(
                row_of("listing.entry/added"), (key,), message, after=new[name]
            )
        else:
            for path in differing(old[name], new[name], exact_text):
                sides = [_at(side[name], path) for side in (old, new)]
                place = ".".join(map(str, path))
                message = f"{quoted(place)} of the {word} {quoted(name)} is another one"
                yield kind, name, files.changed(
                    row_of("listing.entry/changed"), path, message, *sides
                )
            continue
        yield kind, name, change
