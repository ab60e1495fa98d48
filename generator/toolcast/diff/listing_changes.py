"""Compare two listings of a server: tools, resources, prompts and instructions.

Tools are compared as specs with the same content, so that their changes have the same kinds and
grades. A difference that specs cannot express is a change of its member. Every entry that
differs has at least one change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from toolcast_runtime.external.listing import find_differences

from ..mcp_client.server_listing import KINDS, ServerListing, explains_difference
from ..model.language_fields import get_mcp_members
from ..model.model import Toolset, Workspace
from ..parsing.exact_json import convert_to_floats, encode_exact
from ..parsing.tree import NOWHERE, Path
from . import text_changes
from .change import ABSENT, Change, Grade, Grades, SpecFiles, ToolPair, is_equal_json
from .listing_workspace import ListingOwner, build_tool_spec, index_by_name
from .schemas import schema_changes
from .state import build_tool_pair
from .table import make_change
from .tools import find_similar
from .walk import compare_fields

_HINT_DEFAULTS = {
    "readOnlyHint": False,
    "destructiveHint": True,
    "idempotentHint": False,
    "openWorldHint": True,
}
"""Values of missing hints in MCP's `ToolAnnotations`."""
_OBJECT_MEMBERS = ("annotations", "_meta", "execution")
"""Members of a tool whose keys are compared separately."""
_KIND_LABELS = {
    "resources": "resource",
    "resourceTemplates": "resource template",
    "prompts": "prompt",
}
_INSTRUCTIONS = "listing.instructions/changed"
_RENAMED = "tool/renamed-without-previous-name"
_MEMBER_CHANGED = "listing.tool/changed"
_RESTATED = "listing.tool/restated"
_SAME_CONTENT = (_RESTATED, "text/restyled")
"""Kinds of changes after which the content is the same as before."""
_UNREVIEWED = "the server's new value has not been reviewed"
_ENTRY_RULES = (
    "tool/added",
    "tool/removed",
    "listing.entry/added",
    "listing.entry/removed",
    _INSTRUCTIONS,
)
"""Kinds of changes that concern an entry as a whole."""

_Definition = Mapping[str, Any]


class ListingChanges(NamedTuple):
    """The differences between a reviewed and a current listing.

    Attributes:
        changes: the changes, in the order of kind and name.
        varying: changes of values that the review accepted as different at every start of
            the server.
    """

    changes: list[Change]
    varying: list[Change]


def compare_listings(
    before: ServerListing, after: ServerListing, owner: ListingOwner
) -> ListingChanges:
    """Return the changes from one listing to another.

    If `after` was read twice, both readings are compared, and each change is reported once.

    Args:
        before: the reviewed listing, with the variations that the review accepted.
        after: the current listing.
        owner: the toolset and files to which changes are assigned.
    """
    readings = (
        [after] if after.second_reading is None else [after, after.second_reading]
    )
    result = ListingChanges([], [])
    reported = set()
    for reading in readings:
        for kind, name, change in _compare_all(before, reading, owner):
            path = _get_member_path(kind, change)
            is_varying = any(
                variation.covers(kind, name, path)
                and explains_difference(variation, before, reading)
                for variation in before.variations
            )
            # Both readings usually have the same changes: report each change once.
            key = (kind, name, change.rule.id, change.path, is_varying)
            if key not in reported:
                reported.add(key)
                changes = result.varying if is_varying else result.changes
                changes.append(grade_as_unreviewed(change))
    return result


def compare_unspecified_parts(
    listings: tuple[ServerListing, ServerListing],
    owner: ListingOwner,
    spec_changes: Sequence[Change],
) -> Iterator[Change]:
    """Yield the changes between two listings that their workspaces do not contain.

    These are changes of resources, templates and prompts, and of members of tools that specs
    do not have.

    Args:
        listings: the old and the new listing.
        owner: the toolset and files to which changes are assigned.
        spec_changes: the changes between the workspaces of the listings.
    """
    old, new = (index_by_name(listing.tools, "name") for listing in listings)
    compared_paths: defaultdict[str, set[Path]] = defaultdict(set)
    former_names = {}
    for change in spec_changes:
        if path := _get_member_path("tools", change):
            compared_paths[change.tool].add(path)
        if change.rule.id == _RENAMED:
            former_names[change.tool] = str(change.before)
    for name, definition in new.items():
        old_definition = old.get(former_names.get(name, name))
        if old_definition is not None:
            yield from _compare_members(
                old_definition, definition, name, owner, compared_paths[name]
            )
    for kind in _KIND_LABELS:
        for _, change in _compare_entries(kind, *listings, owner):
            yield change


def grade_as_unreviewed(change: Change) -> Change:
    """Return a change of a listing; a safe new value becomes risky for prompts.

    Models read the new value, and no maintainer has reviewed it.
    """
    is_removed = change.is_in_old_version or change.after is ABSENT
    has_grade = change.grades.worst > Grade.SAFE
    if is_removed or has_grade or change.rule.id in _SAME_CONTENT:
        return change
    return replace(change, grades=Grades(prompt=Grade.RISKY), reason=_UNREVIEWED)


def _get_member_path(kind: str, change: Change) -> Path:
    """Return the path of a change in the server's entry; () for the entry as a whole."""
    path = change.path
    if change.rule.id in _ENTRY_RULES:
        return ()
    if kind != "tools" or change.rule.id in (_MEMBER_CHANGED, _RESTATED, _RENAMED):
        return path
    if path[:2] == ("mcp", "extra"):
        return path[2:]
    # Other changes have a spec path: translate its first field name to MCP's name.
    members = {field: member for member, field in get_mcp_members().items()}
    field = str(path[0])
    return (members.get(field, field), *path[1:])


def _compare_all(
    before: ServerListing, after: ServerListing, owner: ListingOwner
) -> Iterator[tuple[str, str, Change]]:
    """Yield each change with the kind and the name of its entry.

    The order is: instructions (with an empty name), tools, resources, templates,
    prompts.
    """
    if before.instructions != after.instructions:
        old = ABSENT if before.instructions is None else before.instructions
        new = ABSENT if after.instructions is None else after.instructions
        files = SpecFiles(owner.toolset, "", owner.build_source(), owner.build_source())
        change = make_change(files, _INSTRUCTIONS, ("instructions",), old, new)
        # Instructions have one file in both versions, so use the location of the new one.
        yield "instructions", "", replace(change, is_in_old_version=False)
    for name, change in _compare_tools(before.tools, after.tools, owner):
        yield "tools", name, change
    for kind in _KIND_LABELS:
        for name, change in _compare_entries(kind, before, after, owner):
            yield kind, name, change


def _compare_tools(
    before: Sequence[_Definition], after: Sequence[_Definition], owner: ListingOwner
) -> Iterator[tuple[str, Change]]:
    old, new = index_by_name(before, "name"), index_by_name(after, "name")
    removed = [name for name in old if name not in new]
    added = [name for name in new if name not in old]
    for old_name, new_name in find_similar(
        {name: _encode_without_name(old[name]) for name in removed},
        {name: _encode_without_name(new[name]) for name in added},
    ):
        removed.remove(old_name)
        added.remove(new_name)
        source = owner.build_source(old_name)
        files = SpecFiles(owner.toolset, new_name, source, source)
        names = old_name, new_name
        yield new_name, make_change(files, _RENAMED, ("name",), *names, form="listed")
        # Use the new name in both definitions, so that the rename is not reported twice.
        renamed = {**old[old_name], "name": new_name}
        yield from _compare_tool(renamed, new[new_name], new_name, owner)
    for name in removed:
        files = SpecFiles(owner.toolset, name, owner.build_source(name), NOWHERE)
        yield name, make_change(files, "tool/removed", ("name",), name, form="listed")
    for name in added:
        files = SpecFiles(owner.toolset, name, NOWHERE, owner.build_source(name))
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
            yield from _compare_tool(old[name], new[name], name, owner)


def _encode_without_name(definition: _Definition) -> str:
    return encode_exact({k: v for k, v in definition.items() if k != "name"})


def _compare_tool(
    old: _Definition, new: _Definition, name: str, owner: ListingOwner
) -> Iterator[tuple[str, Change]]:
    """Yield the changes of a tool's spec, then of members that specs do not have."""
    specs = build_tool_spec(old, name, owner), build_tool_spec(new, name, owner)
    toolsets = (
        Toolset(owner.toolset, "", "", (specs[0],)),
        Toolset(owner.toolset, "", "", (specs[1],)),
    )
    # A server's listing belongs to no workspace, but a pair of tools needs one.
    workspace = Workspace("", (), ())
    pair = ToolPair(*specs, *toolsets, workspace, workspace)
    compared_paths: set[Path] = set()
    for change in (
        *schema_changes.compare_tools(pair),
        *text_changes.compare_tools(pair),
        *compare_fields(build_tool_pair(pair.files, specs, toolsets, ())),
    ):
        compared_paths.add(_get_member_path("tools", change))
        yield name, change
    for change in _compare_members(old, new, name, owner, compared_paths):
        yield name, change


def _compare_members(
    old: _Definition,
    new: _Definition,
    name: str,
    owner: ListingOwner,
    compared_paths: Collection[Path],
) -> Iterator[Change]:
    """Yield the differences of a tool's members that have no change yet.

    A member counts as compared if it has any change. The keys of `annotations`, `_meta` and
    `execution` count separately.

    Args:
        old: the old definition.
        new: the new definition.
        name: the tool's name.
        owner: the toolset and files to which changes are assigned.
        compared_paths: the paths of the changes that were found.
    """
    compared = {
        path[: 2 if path[0] in _OBJECT_MEMBERS else 1] for path in compared_paths
    }
    source = owner.build_source(name)
    files = SpecFiles(owner.toolset, name, source, source)
    for path in find_differences(old, new, encode_exact):
        is_compared = any(
            prefix[: len(path)] == path[: len(prefix)] for prefix in compared
        )
        if is_compared or path == ("name",):
            continue
        values = _get_value(old, path), _get_value(new, path)
        is_restated = _is_restated(path, *values) and not _loses_hint(
            path, values[0], new
        )
        rule_id = _RESTATED if is_restated else _MEMBER_CHANGED
        at = _format_path(path)
        form = _choose_form(*values)
        yield make_change(files, rule_id, path, *values, form=form, tool=name, at=at)


def _choose_form(old: Any, new: Any) -> str:
    """Return the name of the message template for an old and a new value."""
    if old is ABSENT:
        return "set"
    return "unset" if new is ABSENT else "changed"


def _is_restated(path: Path, old: Any, new: Any) -> bool:
    """Return whether two different values have the same meaning.

    That is the case for two forms of a number, and for a hint that is MCP's default: hints
    with another meaning have a change already.
    """
    if path[0] != "annotations":
        return is_equal_json(convert_to_floats(old), convert_to_floats(new))
    for value in (old, new):
        if value is ABSENT:
            continue
        hints = value if isinstance(value, Mapping) else {path[-1]: value}
        for name, hint in hints.items():
            if name not in _HINT_DEFAULTS or not isinstance(hint, bool):
                return False
    return True


def _loses_hint(path: Path, old: Any, new_definition: _Definition) -> bool:
    """Return whether an old hint that differed from MCP's default has changed.

    False if the new definition has `readOnlyHint: true`.
    """
    if path[0] != "annotations" or old is ABSENT:
        return False
    annotations = new_definition.get("annotations")
    if isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True:
        return False
    hints = old if isinstance(old, Mapping) else {path[-1]: old}
    return any(hint is not _HINT_DEFAULTS.get(str(n)) for n, hint in hints.items())


def _get_value(value: Any, path: Path) -> Any:
    """Return the value at a path, or ABSENT if a key is missing."""
    for key in path:
        if isinstance(value, Mapping) and key not in value:
            return ABSENT
        value = value[key]
    return value


def _format_path(path: Path) -> str:
    return ".".join(map(str, path))


def _compare_entries(
    kind: str, before: ServerListing, after: ServerListing, owner: ListingOwner
) -> Iterator[tuple[str, Change]]:
    """Yield the changes of resources, templates or prompts, with their names.

    An entry that only one listing has is one change; otherwise each differing member
    is. An empty member equals a missing one.
    """
    key, label = KINDS[kind][1], _KIND_LABELS[kind]
    old_entries = index_by_name(before.entries(kind), key)
    new_entries = index_by_name(after.entries(kind), key)
    source = owner.build_source()
    for name in dict.fromkeys([*old_entries, *new_entries]):
        files = SpecFiles(owner.toolset, f"{kind}/{name}", source, source)
        old, new = old_entries.get(name, ABSENT), new_entries.get(name, ABSENT)
        if old is ABSENT or new is ABSENT:
            rule_id = f"listing.entry/{'added' if old is ABSENT else 'removed'}"
            yield name, make_change(
                files, rule_id, (key,), old, new, kind=label, name=name
            )
            continue
        for path in find_differences(old, new, encode_exact):
            values = _get_value(old, path), _get_value(new, path)
            if len(path) == 1 and all(v is ABSENT or v in ([], {}) for v in values):
                # An empty member, such as `arguments: []`, equals a missing member.
                continue
            yield name, make_change(
                files,
                "listing.entry/changed",
                path,
                *values,
                form=_choose_form(*values),
                kind=label,
                name=name,
                at=_format_path(path),
            )
