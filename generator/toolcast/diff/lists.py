"""Lists of tools without specs: a server's, a lock's, a file's, and the changes between two.

A tool of a list is compared as a spec is that says the same, so that a change has the rule and
the grades of `toolcast diff`. What no rule of specs tells is told by its place in the entry: no
entry that differs is without a change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from toolcast_runtime.external.listing import differing

from ..analysis.name_limits import is_tool_name
from ..mcp_client.server_listing import KINDS, ServerListing, explains_difference
from ..model.language_fields import mcp_members
from ..model.model import Toolset, ToolSpec, Workspace
from ..parsing.exact_json import convert_to_floats, encode_exact
from ..parsing.tree import NOWHERE, Path, Source
from . import text_changes
from .change import ABSENT, Change, Grade, Grades, SpecFiles, ToolPair, is_equal_json
from .schemas import schema_changes
from .state import build_tool_pair
from .table import make_change
from .walk import compare_fields

_LIST = "tools"
"""What the toolset of a list is called: it has no name of its own."""
MEMBER_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "title": str,
    "description": str,
    "inputSchema": dict,
    "outputSchema": (dict, bool),
    "annotations": dict,
    "icons": list,
    "_meta": dict,
    "execution": dict,
}
"""What MCP has in the members of a tool: only that can be a field of a spec."""
_HINTS = frozenset(
    ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
)
_OBJECTS = ("annotations", "_meta", "execution")
_WORDS = {
    "resources": "resource",
    "resourceTemplates": "resource template",
    "prompts": "prompt",
}
_ALIKE = 0.8
_MAX_COMPARED_CHARACTERS = 2_000
"""Characters of each of two texts whose similarity is computed."""
_MAX_PAIRS = 400
"""Pairs of removed and added entries that are compared to find a renamed one."""
_INSTRUCTIONS = "listing.instructions/changed"
_RENAMED = "tool/renamed-without-former-name"
_UNSAID = "listing.tool/changed"
_RESTATED = "listing.tool/restated"
_SAID_BEFORE = (_RESTATED, "text/restyled")
_UNREVIEWED = "nobody has reviewed what the server says and does with it"
_ENTRY_RULES = frozenset(
    ("tool/added", "tool/removed", "listing.entry/added", "listing.entry/removed")
) | {_INSTRUCTIONS}


class ListingOwner(NamedTuple):
    """Whose listing it is.

    Attributes:
        toolset: the toolset's name.
        file: where changes are shown, of tools that `files` does not name.
        files: the specs of tools.
    """

    toolset: str
    file: str
    files: Mapping[str, str] = {}

    def source(self, name: str = "", tree: Any = None) -> Source:
        """Where a tool stands."""
        return Source(self.files.get(name, self.file), tree=tree)


def build_list_workspace(listing: ServerListing, file: str) -> Workspace:
    """The workspace whose one toolset has the tools of a list, whatever they are.

    Nothing is refused: a member of another type than MCP's is none of the spec's fields, and
    of several tools of one name all but the first have a number behind it.
    """
    owner = ListingOwner(_LIST, file)
    named = _named(listing.tools, "name").items()
    tools = tuple(_spec(definition, name, owner) for name, definition in named)
    targets: Mapping[str, Any] = {"mcp": {}}
    tree: dict[str, Any] = {"name": _LIST, "title": _LIST, "targets": targets}
    if listing.instructions is not None:
        tree["instructions"] = listing.instructions
    toolset = Toolset(
        _LIST,
        _LIST,
        _LIST,
        tools,
        fields=tuple(tree),
        instructions=listing.instructions,
        targets=targets,
        source=owner.source(tree=tree),
    )
    source = owner.source(tree={"version": 1, "toolsets": [_LIST]})
    return Workspace("", (_LIST,), (), toolsets=(toolset,), source=source)


def prepare_for_rules(workspace: Workspace) -> Workspace:
    """The same for rules, whose findings are told by the tools' names: a list has no lines.

    Rules look at specs, whose names and members have been checked: a tool whose name no spec
    may have is left out, and of the others what is neither a text nor a schema.
    """
    (toolset,) = workspace.toolsets
    unchecked: Any = dict.fromkeys(("annotations", "icons", "meta", "execution"))
    tools = tuple(
        replace(
            one,
            **unchecked,
            mcp_extra={},
            # What is left out is absent; a field that is there would be null.
            fields=tuple(field for field in one.fields if field not in unchecked),
            source=Source(one.name),
        )
        for one in toolset.tools
        if is_tool_name(one.name)
    )
    whole = replace(toolset, tools=tools, source=Source(_LIST))
    return replace(workspace, toolsets=(whole,), source=Source(_LIST))


def compare_unspecified_parts(
    listings: tuple[ServerListing, ServerListing],
    owner: ListingOwner,
    known: Sequence[Change],
) -> Iterator[Change]:
    """Compare the parts of two listings that specs cannot express.

    Args:
        listings: the old one first.
        owner: whose they are.
        known: what has changed between the specs that say the same.
    """
    old, new = (_named(side.tools, "name") for side in listings)
    places: defaultdict[str, set[Path]] = defaultdict(set)
    for change in known:
        if place := _place_in("tools", change):
            places[change.tool].add(place)
    former = {one.tool: str(one.before) for one in known if one.rule.id == _RENAMED}
    for name, definition in new.items():
        was = old.get(former.get(name, name))
        if was is not None:
            yield from _unsaid(was, definition, name, owner, places[name])
    for kind in _WORDS:
        for _, change in _entries(kind, *listings, owner):
            yield change


class ListingChanges(NamedTuple):
    """What differs between two listings.

    Attributes:
        changes: what does, in the order of kind and name.
        varying: of it, what differs at each start by itself: no change, but to be told.
    """

    changes: list[Change]
    varying: list[Change]


def compare_listings(
    before: ServerListing, after: ServerListing, owner: ListingOwner
) -> ListingChanges:
    """The changes from one listing to another; one that is renamed is one change.

    A second reading of `after` is compared, too: a change that only one of them has is one.

    Args:
        before: what was reviewed, with what may differ at each start.
        after: what is there.
        owner: whose it is.
    """
    readings = (
        [after] if after.second_reading is None else [after, after.second_reading]
    )
    found = ListingChanges([], [])
    seen = set()
    for reading in readings:
        for kind, name, change in _all(before, reading, owner):
            path = _place_in(kind, change)
            is_known = any(
                one.covers(kind, name, path)
                and explains_difference(one, before, reading)
                for one in before.variations
            )
            place = (kind, name, change.rule.id, change.path, is_known)
            if place not in seen:
                seen.add(place)
                (found.varying if is_known else found.changes).append(
                    grade_as_unreviewed(change)
                )
    return found


def grade_as_unreviewed(change: Change) -> Change:
    """A change of a list, which is risky for models where it is safe for all: nobody read it."""
    is_gone = change.is_in_old_version or change.after is ABSENT
    if is_gone or change.grades.worst > Grade.SAFE or change.rule.id in _SAID_BEFORE:
        return change
    return replace(change, grades=Grades(prompt=Grade.RISKY), reason=_UNREVIEWED)


def _place_in(kind: str, change: Change) -> Path:
    """Where a change is in the entry as the server lists it; the entry itself is at ()."""
    path = change.path
    if change.rule.id in _ENTRY_RULES:
        return ()
    if kind != "tools" or change.rule.id in (_UNSAID, _RESTATED, _RENAMED):
        return path
    if path[:2] == ("mcp", "extra"):
        return path[2:]
    members = {field: member for member, field in mcp_members().items()}
    return (members.get(str(path[0]), str(path[0])), *path[1:])


def _all(
    before: ServerListing, after: ServerListing, owner: ListingOwner
) -> Iterator[tuple[str, str, Change]]:
    """Each change with the kind and the name of its entry."""
    if before.instructions != after.instructions:
        sides = [
            ABSENT if i is None else i
            for i in (before.instructions, after.instructions)
        ]
        files = SpecFiles(owner.toolset, "", owner.source(), owner.source())
        change = make_change(files, _INSTRUCTIONS, ("instructions",), *sides)
        yield "instructions", "", replace(change, is_in_old_version=False)
    for name, change in _tools(before.tools, after.tools, owner):
        yield "tools", name, change
    for kind in _WORDS:
        for name, change in _entries(kind, before, after, owner):
            yield kind, name, change


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
    owner: ListingOwner,
) -> Iterator[tuple[str, Change]]:
    old, new = _named(before, "name"), _named(after, "name")
    gone = [name for name in old if name not in new]
    came = [name for name in new if name not in old]
    for was, is_ in _renamed(gone, came, old, new):
        gone.remove(was)
        came.remove(is_)
        files = SpecFiles(owner.toolset, is_, owner.source(was), owner.source(was))
        yield is_, make_change(files, _RENAMED, ("name",), was, is_, form="listed")
        yield from _tool({**old[was], "name": is_}, new[is_], is_, owner)
    for name in gone:
        files = SpecFiles(owner.toolset, name, owner.source(name), NOWHERE)
        yield name, make_change(files, "tool/removed", ("name",), name, form="listed")
    for name in came:
        files = SpecFiles(owner.toolset, name, NOWHERE, owner.source(name))
        yield name, make_change(
            files,
            "tool/added",
            ("name",),
            after=name,
            form="listed",
            grades=Grades(prompt=Grade.RISKY, access=Grade.RISKY),
            reason=_UNREVIEWED,
        )
    for name in new:
        if name in old and encode_exact(old[name]) != encode_exact(new[name]):
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
    if len(free_old) * len(free_new) > _MAX_PAIRS:
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
    return encode_exact({k: v for k, v in definition.items() if k != "name"})


def _likeness(one: str, other: str) -> float:
    pair = one[:_MAX_COMPARED_CHARACTERS], other[:_MAX_COMPARED_CHARACTERS]
    matcher = SequenceMatcher(None, *pair, autojunk=False)
    if matcher.quick_ratio() < _ALIKE:
        return 0.0
    return matcher.ratio()


def _tool(
    old: Mapping[str, Any], new: Mapping[str, Any], name: str, owner: ListingOwner
) -> Iterator[tuple[str, Change]]:
    """The changes of one tool: what specs tell, then what they do not."""
    sides = _spec(old, name, owner), _spec(new, name, owner)
    toolsets = (
        Toolset(owner.toolset, "", "", (sides[0],)),
        Toolset(owner.toolset, "", "", (sides[1],)),
    )
    empty = Workspace("", (), ())
    both = ToolPair(*sides, *toolsets, empty, empty)
    places: set[Path] = set()
    for change in (
        *schema_changes.compare_tools(both),
        *text_changes.compare_tools(both),
        *compare_fields(build_tool_pair(both.files, sides, toolsets, ())),
    ):
        places.add(_place_in("tools", change))
        yield name, change
    for change in _unsaid(old, new, name, owner, places):
        yield name, change


def _unsaid(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    name: str,
    owner: ListingOwner,
    places: Collection[Path],
) -> Iterator[Change]:
    """What differs in a tool, but where something is told: in a schema, that is anywhere."""
    told_at = {place[: 2 if place[0] in _OBJECTS else 1] for place in places}
    files = SpecFiles(owner.toolset, name, owner.source(name), owner.source(name))
    for path in differing(old, new, encode_exact):
        is_told = any(at[: len(path)] == path[: len(at)] for at in told_at)
        if not is_told and path != ("name",):
            sides = [_at(side, path) for side in (old, new)]
            id_ = _RESTATED if _is_restated(path, *sides) else _UNSAID
            yield make_change(files, id_, path, *sides, tool=name, at=_said(path))


def _is_restated(path: Path, old: Any, new: Any) -> bool:
    """Whether the same is written otherwise: a number, or a hint that MCP implies.

    Of hints nothing else is left: one that means another thing has been told.
    """
    if path[0] != "annotations":
        return is_equal_json(convert_to_floats(old), convert_to_floats(new))
    hints = [
        each.items() if isinstance(each, Mapping) else [(path[-1], each)]
        for each in (old, new)
        if each is not ABSENT
    ]
    return all(
        name in _HINTS and isinstance(value, bool)
        for side in hints
        for name, value in side
    )


def _spec(definition: Mapping[str, Any], name: str, owner: ListingOwner) -> ToolSpec:
    """The spec that says what a definition says, as far as a spec can."""
    tree: dict[str, Any] = {"name": name}
    fields, extra = mcp_members(), {}
    for member, value in definition.items():
        if member in fields and isinstance(value, MEMBER_TYPES[member]):
            tree[fields[member]] = convert_to_floats(value)
        elif member not in fields and member != "name":
            extra[member] = convert_to_floats(value)
    if extra:
        tree["mcp"] = {"extra": extra}
    said: dict[str, Any] = {k: tree.get(k) for k in fields.values()}
    said["parameters"] = tree.get("parameters", {})
    if "icons" in tree:
        said["icons"] = tuple(tree["icons"])
    return ToolSpec(
        name,
        "",
        fields=tuple(tree),
        **said,
        mcp_extra=extra,
        source=owner.source(name, tree),
    )


def _at(value: Any, path: Path) -> Any:
    for step in path:
        if isinstance(value, Mapping) and step not in value:
            return ABSENT
        value = value[step]
    return value


def _said(path: Path) -> str:
    return ".".join(map(str, path))


def _entries(
    kind: str, before: ServerListing, after: ServerListing, owner: ListingOwner
) -> Iterator[tuple[str, Change]]:
    """The changes of resources, templates or prompts, by their names."""
    key, word = KINDS[kind][1], _WORDS[kind]
    old, new = (_named(each.entries(kind), key) for each in (before, after))
    for name in dict.fromkeys([*old, *new]):
        source = owner.source()
        files = SpecFiles(owner.toolset, f"{kind}/{name}", source, source)
        was, is_ = old.get(name, ABSENT), new.get(name, ABSENT)
        if was is ABSENT or is_ is ABSENT:
            id_ = f"listing.entry/{'added' if was is ABSENT else 'removed'}"
            yield name, make_change(files, id_, (key,), was, is_, kind=word, name=name)
            continue
        for path in differing(was, is_, encode_exact):
            sides = [_at(side, path) for side in (was, is_)]
            said, id_ = _said(path), "listing.entry/changed"
            yield name, make_change(
                files, id_, path, *sides, kind=word, name=name, at=said
            )
