"""Compare the fields of two versions of a spec file.

The spec language declares in the annotation `change` which events a field can have, and their
grades. If a field with the events `set` or `unset` is added or removed, that is one change, and
its nested fields are not compared. If a default that comes from another file changes, only that
other file has a change.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from toolcast_runtime.core.validation.compiled import ASSERTED_FORMATS

from ..model.model import Toolset
from ..parsing.tree import Path
from ..spec_language.spec_language import list_subfields
from .change import (
    ABSENT,
    MASKED_VALUE,
    Change,
    Grade,
    Grades,
    build_json_key,
    format_value,
    get_key,
    is_equal_json,
    locate_path,
)
from .field_events import (
    ENTRY_EVENTS,
    Event,
    as_list,
    as_mapping,
    is_reordered,
    list_declared_events,
)
from .state import FilePair, has_presence_event
from .table import (
    ValueText,
    build_pair_texts,
    build_rule_id,
    get_field_label,
    load_spec_schema,
    load_table_rules,
)

_MESSAGES = {
    "set": "{what} {is_} {new}; {it_was} not set",
    "unset": "{what} {is_} no longer set; {it_was} {old}",
    "more": "{new} is added to {what}",
    "less": "{old} is removed from {what}",
    "entry": "in {what}, {key} is {new} instead of {old}",
    "moved": "the order of {what} is changed",
    "to null": "{what} is null in the MCP definition",
    "from null": "{what} is no longer null in the MCP definition",
}
_DEFAULT_MESSAGE = "{what} {is_} {new} instead of {old}"
_EXTENSION_RULE = "extension/field"


class _WalkPosition(NamedTuple):
    """A field that is being compared.

    Attributes:
        path: the path in the file.
        pattern: the path joined by dots, with `*` for keys that the file chooses and for
            array items.
        written: the old and the new value in the files, without defaults.
        keys: the keys that `*` replaces in `pattern`.
    """

    path: Path
    pattern: str
    written: tuple[Any, Any]
    keys: tuple[str, ...] = ()

    def descend(self, key: str, *, is_wildcard: bool) -> _WalkPosition:
        """Return the position of a nested field.

        Args:
            key: the key of the nested field.
            is_wildcard: whether the pattern has `*` instead of the key.
        """
        step = "*" if is_wildcard else key
        return _WalkPosition(
            (*self.path, key),
            f"{self.pattern}.{step}" if self.pattern else step,
            (get_key(self.written[0], key), get_key(self.written[1], key)),
            (*self.keys, key) if is_wildcard else self.keys,
        )


def compare_fields(pair: FilePair) -> Iterator[Change]:
    """Yield the changes of a file's fields that are declared by annotations."""
    yield from _FieldWalk(pair).compare()


class _FieldWalk:
    """Comparison of all fields of one file."""

    def __init__(self, pair: FilePair) -> None:
        self._pair = pair
        self._rules = load_table_rules(pair.extensions)
        self._schema = load_spec_schema(pair.kind, pair.extensions)

    def compare(self) -> Iterator[Change]:
        old, new = self._pair.states
        root = _WalkPosition((), "", (old.written, new.written))
        yield from self._compare_parts(self._schema, old.values, new.values, root)

    def _compare_parts(
        self, node: Any, old: Any, new: Any, position: _WalkPosition
    ) -> Iterator[Change]:
        """Yield the changes of the fields that are nested directly in a value."""
        existing_keys = {*chain(*map(as_mapping, (old, new, *position.written)))}
        declared_keys = {*node.get("properties", {}), *node.get("keys", {})}
        events = node.get("change", {})
        for name, part in list_subfields(node):
            # Most fields are in neither version, so they are skipped first.
            if name != "*" and name not in existing_keys:
                continue
            if "by" in events and not has_change_annotation(part):
                continue
            # The name `*` is yielded last and represents all undeclared keys.
            if name != "*":
                child = position.descend(name, is_wildcard=False)
                values = get_key(old, name), get_key(new, name)
                yield from self._compare_field(part, *values, child, (old, new))
                continue
            for key in dict.fromkeys((*as_mapping(new), *as_mapping(old))):
                if key in declared_keys:
                    continue
                values = get_key(old, key), get_key(new, key)
                # The object's own events `more` and `less` report added and removed keys.
                if ABSENT in values and ("more" in events or "by" in events):
                    continue
                child = position.descend(key, is_wildcard=True)
                yield from self._compare_field(part, *values, child, (old, new))

    def _compare_field(
        self,
        node: Any,
        old: Any,
        new: Any,
        position: _WalkPosition,
        parents: tuple[Any, Any],
    ) -> Iterator[Change]:
        """Yield the changes of a field and of the fields nested in it.

        Args:
            node: the annotated schema of the field.
            old: the old value, with defaults.
            new: the new value, with defaults.
            position: the position of the field.
            parents: the old and the new object that contain the field.
        """
        events = node.get("change", {})
        yield from self._compare_nulls(node, position)
        if "key" in node:
            yield from self._compare_keyed_list(node, old, new, position)
            return
        is_changed = not is_equal_json(old, new) or is_reordered(events, old, new)
        # A special comparison, named by the annotation `by`, handles such a field.
        if (
            is_changed
            and "by" not in events
            and not self._is_ignored(node, position, parents)
        ):
            if not has_change_annotation(node):
                yield self._make_ungraded_change(old, new, position)
                return
            for event in list_declared_events(node, old, new):
                yield self._make_event_change(node, event, position)
        # The change of an added or removed field, or of a whole value, includes nested
        # fields, so they are not compared again.
        is_complete = has_presence_event(node) and ABSENT in (old, new)
        if not is_complete and "entry" not in events and "any" not in events:
            yield from self._compare_parts(node, old, new, position)

    def _compare_nulls(self, node: Any, position: _WalkPosition) -> Iterator[Change]:
        """Yield the change of a value that became null in the file, or was null."""
        old, new = position.written
        events = node.get("change", {})
        if "to null" in events and new is None and old is not None:
            yield self._make_event_change(node, Event("to null", old, new), position)
        if "from null" in events and old is None and new is not None:
            yield self._make_event_change(node, Event("from null", old, new), position)

    def _is_ignored(
        self, node: Any, position: _WalkPosition, parents: tuple[Any, Any]
    ) -> bool:
        """Return whether a changed value needs no change of its own.

        That is the case if only an inherited default changed, or if the sibling field that
        the annotation `void_if` names is true in either version.
        """
        default = node.get("absent")
        is_inherited = isinstance(default, dict) and "of" in default
        # If only an inherited default changed, the field that sets it has the change.
        if is_inherited and is_equal_json(*position.written):
            return True
        flag = node.get("void_if")
        return flag is not None and any(
            get_key(parent, flag) is True for parent in parents
        )

    def _compare_keyed_list(
        self, node: Any, old: Any, new: Any, position: _WalkPosition
    ) -> Iterator[Change]:
        """Yield the changes of an array whose items are identified by a field (`key`).

        Items of both versions are compared by the event `entry`, or else field by
        field.
        """
        events = node.get("change", {})
        old_entries = _index_entries(old, node["key"])
        new_entries = _index_entries(new, node["key"])
        for index in dict.fromkeys((*new_entries, *old_entries)):
            before, after = old_entries.get(index, ABSENT), new_entries.get(
                index, ABSENT
            )
            if before is ABSENT or after is ABSENT:
                name = "more" if before is ABSENT else "less"
                if name in events:
                    old_key = ABSENT if before is ABSENT else before[node["key"]]
                    new_key = ABSENT if after is ABSENT else after[node["key"]]
                    event = Event(name, old_key, new_key)
                    yield self._make_event_change(node, event, position)
            elif "entry" in events:
                if not is_equal_json(before, after):
                    event = Event("entry", before, after, after[node["key"]])
                    entry_position = position._replace(written=(before, after))
                    yield self._make_event_change(node, event, entry_position)
            else:
                yield from self._compare_keyed_entry(
                    node, before, after, position, new.index(after)
                )

    def _compare_keyed_entry(
        self, node: Any, before: Any, after: Any, position: _WalkPosition, index: int
    ) -> Iterator[Change]:
        """Yield the changes of one array item.

        Their paths omit the item's index, which changes when other items are added. Their
        values contain the identifying field instead.
        """
        identity = {node["key"]: after[node["key"]]}
        entry_position = _WalkPosition(
            (),
            f"{position.pattern}.*",
            (before, after),
            (*position.keys, str(after[node["key"]])),
        )
        for change in self._compare_parts(node["items"], before, after, entry_position):
            field = str(change.path[-1])
            values = [
                identity if value is ABSENT else {**identity, field: value}
                for value in (change.before, change.after)
            ]
            yield replace(
                change,
                path=(*position.path, *change.path),
                before=values[0],
                after=values[1],
                location=locate_path(self._pair.files.after, (*position.path, index)),
                is_in_old_version=False,
            )

    def _make_ungraded_change(
        self, old: Any, new: Any, position: _WalkPosition
    ) -> Change:
        """Return the change of an extension's field that has no annotation `change`."""
        name = format_value(".".join(map(str, position.path)))
        message = f"the extension's field {name} is changed"
        rule = self._rules[_EXTENSION_RULE]
        return self._pair.files.build_change(rule, position.path, message, old, new)

    def _make_event_change(
        self, node: Any, event: Event, position: _WalkPosition
    ) -> Change:
        events = node["change"]
        # The annotation `any` applies to all events without an annotation of their own.
        event_name = event.name if event.name in events else "any"
        row = events[event_name] or {}
        rule = self._rules[build_rule_id(self._pair.kind, position.pattern, event_name)]
        grades, reason = None, ""
        subject_count = 0
        if "counts" in node and self._pair.toolset is not None:
            subject_count = _count_subjects(node["counts"], self._pair.toolset)
            if not subject_count and rule.grades != Grades():
                grades, reason = Grades(), "it applies to none of the tools"
        if "denied_by" in node and not self._had_contrary(node["denied_by"], position):
            grades = Grades(*(min(grade, Grade.RISKY) for grade in rule.grades))
            reason = ""
            if grades != rule.grades:
                reason = "the old version did not state the contrary"
        path, old, new = _select_values(node, event, position)
        before, after = self._mask_secrets(path, old, new)
        message = self._format_message(node, event, row, position, subject_count)
        # Different values that became equal were both replaced by the mask for secrets.
        if is_equal_json(before, after):
            message += ", which may contain a secret"
        return self._pair.files.build_change(
            rule, path, message, before, after, grades=grades, reason=reason
        )

    def _had_contrary(
        self, contraries: Mapping[str, Any], position: _WalkPosition
    ) -> bool:
        """Return whether the old file set a field to a value that the new field contradicts.

        Args:
            contraries: field names next to the changed field, each with that value.
            position: the position of the changed field.
        """
        parent = self._pair.states[0].written
        for key in position.path[:-1]:
            parent = get_key(parent, str(key))
        return any(
            is_equal_json(get_key(parent, name), value)
            for name, value in contraries.items()
        )

    def _format_message(
        self,
        node: Any,
        event: Event,
        row: Mapping[str, Any],
        position: _WalkPosition,
        subject_count: int,
    ) -> str:
        parent_key = format_value(position.keys[-1]) if position.keys else ""
        field = str(position.path[-1]) if position.path else ""
        label = get_field_label(node, field).format(parent_key)
        old, new = self._mask_secrets(position.path, event.old, event.new)
        if event.key is not ABSENT:
            old, new = self._mask_secrets((*position.path, event.key), old, new)
            if event.name in ("more", "less"):
                old = new = event.key
        elif event.name in ("to null", "from null"):
            # Such a null appears in the MCP definition, which uses the field's own name.
            label = format_value(field)
        template = row.get("says", _MESSAGES.get(event.name, _DEFAULT_MESSAGE))
        is_plural = "plural" in node
        return str(
            template.format(
                parent_key,
                what=label,
                **build_pair_texts(old, new),
                key=ValueText(event.key),
                concerned=subject_count,
                is_="are" if is_plural else "is",
                it_was="they were" if is_plural else "it was",
            )
        )

    def _mask_secrets(self, path: Path, old: Any, new: Any) -> tuple[Any, Any]:
        """Return both values; a value that looks like a secret is replaced by a mask."""
        old_state, new_state = self._pair.states
        if old is not ABSENT and path in old_state.secret_paths:
            old = MASKED_VALUE
        if new is not ABSENT and path in new_state.secret_paths:
            new = MASKED_VALUE
        return old, new


def _select_values(
    node: Any, event: Event, position: _WalkPosition
) -> tuple[Path, Any, Any]:
    """Return the path, the old and the new value of an event's change.

    The values are those in the files, or the effective values if the files do not
    differ. For an added or removed entry of an object, the path contains its key.
    """
    events = node["change"]
    if event.key is not ABSENT and event.name in ENTRY_EVENTS:
        path = position.path if "key" in node else (*position.path, event.key)
        if "entry" in events or "any" in events:
            return path, event.old, event.new
        # The field declares only added and removed entries (not `entry` or `any` in
        # `change`). Then the contents of entries are compared as separate changes.
        old = ABSENT if event.old is ABSENT else event.key
        new = ABSENT if event.new is ABSENT else event.key
        return path, old, new
    if event.name in ("more", "less", "moved") or is_equal_json(*position.written):
        return position.path, event.old, event.new
    return position.path, *position.written


def _index_entries(value: Any, key: str) -> dict[tuple[Hashable, int], Any]:
    """Return an array's items by their identifying field; equal ones are numbered."""
    entries: dict[tuple[Hashable, int], Any] = {}
    for entry in as_list(value):
        entry_key, number = build_json_key(entry[key]), 0
        while (entry_key, number) in entries:
            number += 1
        entries[entry_key, number] = entry
    return entries


def has_change_annotation(node: Mapping[str, Any]) -> bool:
    """Return whether a field or a field nested in it has the annotation `change`."""
    return "change" in node or any(
        has_change_annotation(part) for _, part in list_subfields(node)
    )


def _count_subjects(counts: Mapping[str, str], toolset: Toolset) -> int:
    """Return how many tools and servers a default of the toolset applies to.

    Args:
        counts: the field's annotation that selects tools and servers by the fields that
            they have not set themselves.
        toolset: the toolset that sets the default.
    """
    if "by" in counts:
        return _COUNT_FUNCTIONS[counts["by"]](toolset)
    count = 0
    if "tools" in counts:
        required_field = counts.get("of")
        for tool in toolset.tools:
            tree = tool.source.tree
            if counts["tools"] not in tree and (
                not required_field or required_field in tree
            ):
                count += 1
    if "mcp_servers" in counts:
        for server in toolset.mcp_servers:
            count += counts["mcp_servers"] not in server.fields
    return count


def _count_tools_with_formats(toolset: Toolset) -> int:
    """Return the number of tools with handlers whose parameters have a format."""
    if toolset.handlers is None:
        return 0
    count = 0
    for tool in toolset.tools:
        schemas = tool.schemas["parameters"].subschemas.values()
        count += any(schema.get("format") in ASSERTED_FORMATS for schema in schemas)
    return count


_COUNT_FUNCTIONS: Mapping[str, Callable[[Toolset], int]] = {
    "tools_with_a_format": _count_tools_with_formats
}
"""The functions of the annotation `counts: {by: ...}`."""
