"""Table of the kinds of changes, with their messages, meanings and grades.

Kinds that concern one field are declared at that field, in the annotation `change` of the spec
language. All others, such as `tool/added`, are listed in `rows.yaml`. The id of a field's kind
consists of the file kind, the path of the field and the event: `tool.timeout/lowered`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import yaml

from ..package_data import read_package_file
from ..parsing.tree import Path
from ..spec_language.spec_language import (
    MESSAGE_PLACEHOLDERS,
    Field,
    list_subfields,
    load_annotated_schema,
)
from .change import (
    ABSENT,
    AUDIENCES,
    MAX_VALUE_CHARACTERS,
    Change,
    ChangeRule,
    Grade,
    Grades,
    SpecFiles,
    encode_line,
    format_value,
    shorten_pair,
)

FILE_KINDS = ("tool", "toolset", "mcp_resource", "mcp_prompt", "workspace")
"""Kinds of files whose fields are compared."""

_ID_PREFIXES = (
    ("toolset.mcp_servers", "server"),
    ("toolset.clients", "client"),
    ("toolset.targets", "target"),
    ("mcp_resource", "resource"),
    ("mcp_prompt", "prompt"),
)
"""Beginnings of field paths, with their short form in ids."""

_EVENT_NAMES = {
    "more": "added",
    "less": "removed",
    "entry": "changed",
    "other": "changed",
    "any": "changed",
}
"""Names of events in ids that differ from the names in annotations."""

_OPPOSITE_EVENTS = {
    "set": "unset",
    "lowered": "raised",
    "more": "less",
    "to null": "from null",
    "to true": "to false",
}
_OPPOSITE_EVENTS |= {opposite: event for event, opposite in _OPPOSITE_EVENTS.items()}

_OPPOSITE_PATTERNS = (
    ("added$", "removed$"),
    ("opened$", "listed$"),
    ("opened$", "closed$"),
    ("extended$", "cut$"),
    ("narrowed$", "widened$"),
    ("lost$", "won$"),
    ("lower$", "higher$"),
    ("/not-", "/"),
    ("-removed$", "$"),
)
"""Patterns in ids of `rows.yaml`: replacing one by the other yields the opposite id."""

_MEANINGS = {
    "set": "Value added for {}",
    "unset": "Value removed for {}",
    "lowered": "Value lowered for {}",
    "raised": "Value raised for {}",
    "more": "Entry added to {}",
    "less": "Entry removed from {}",
    "entry": "Entry changed in {}",
    "moved": "Order changed in {}",
    "to null": "Value set to null in the MCP definition for {}",
    "from null": "Value no longer null in the MCP definition for {}",
}
_DEFAULT_MEANING = "Value changed for {}"
# PyYAML has the faster C loader only if PyYAML was built with libyaml.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def build_rule_id(kind: str, pattern: str, event: str) -> str:
    """Return the id of the change kind for an event of a field.

    Args:
        kind: the kind of file.
        pattern: the keys of the field joined by dots; `*` for any key.
        event: the event's name in annotations.
    """
    # Ids are the same for every project, so they omit keys that a spec file chooses.
    keys = [kind, *(key for key in pattern.split(".") if key and key != "*")]
    path = ".".join(keys)
    for prefix, short in _ID_PREFIXES:
        if path == prefix or path.startswith(f"{prefix}."):
            path = short + path[len(prefix) :]
    return f"{path}/{_EVENT_NAMES.get(event, event).replace(' ', '-')}"


def get_rule(rule_id: str) -> ChangeRule:
    """Return a change kind of `rows.yaml`.

    Raises:
        KeyError: the id is unknown.
    """
    return _load_listed_rules()[rule_id]


def make_change(
    files: SpecFiles,
    rule_id: str,
    path: Path,
    before: Any = ABSENT,
    after: Any = ABSENT,
    *,
    form: str = "",
    grades: Grades | None = None,
    reason: str = "",
    **arguments: Any,
) -> Change:
    """Return a change whose kind and message template are in `rows.yaml`.

    Args:
        files: the file that has the change.
        rule_id: the id of the kind.
        path: the path in the file.
        before: the old value.
        after: the new value.
        form: the name of the template, for kinds with several.
        grades: grades that replace the rule's.
        reason: why `grades` replace the rule's.
        arguments: values for placeholders of the template. `{old}`, `{new}` and `{value}`
            (the new value; if it is ABSENT, the old one) are always set.
    """
    templates = _load_data()["kinds"][rule_id]["says"]
    template = templates[form] if form else templates
    value = before if after is ABSENT else after
    arguments = {"value": value, **arguments}
    texts = {name: ValueText(argument) for name, argument in arguments.items()}
    message = template.format(**build_pair_texts(before, after), **texts)
    rule = get_rule(rule_id)
    return files.build_change(
        rule, path, message, before, after, grades=grades, reason=reason
    )


def make_presence_change(
    files: SpecFiles,
    family: str,
    path: Path,
    value: Any,
    is_added: bool,
    **arguments: Any,
) -> Change:
    """Return the change `FAMILY/added` or `FAMILY/removed`; see `make_change`."""
    if is_added:
        return make_change(files, f"{family}/added", path, after=value, **arguments)
    return make_change(files, f"{family}/removed", path, value, **arguments)


def build_pair_texts(old: Any, new: Any) -> dict[str, ValueText]:
    """Return the values `old` and `new` for a message template.

    If a value is too long for a message, both are reduced to their difference.
    """
    texts = ["", ""]
    if old is not ABSENT and new is not ABSENT:
        lines = encode_line(old), encode_line(new)
        if max(map(len, lines)) > MAX_VALUE_CHARACTERS:
            texts = [f"`{t}`" for t in shorten_pair(*lines, MAX_VALUE_CHARACTERS)]
    return {"old": ValueText(old, texts[0]), "new": ValueText(new, texts[1])}


class ValueText:
    """A value for a message template.

    `{name}` formats the value in backticks, `{name:text}` without, and `{name[key]}` formats
    the value of a key (`none` if the key is missing). ABSENT formats as an empty text.

    Args:
        value: the value.
        text: the formatted value, if it differs from `format_value`.
    """

    def __init__(self, value: Any, text: str = "") -> None:
        self._value = value
        self._text = text

    def __getitem__(self, key: str) -> str:
        has_key = isinstance(self._value, Mapping) and key in self._value
        return format_value(self._value[key]) if has_key else "none"

    def __format__(self, form: str) -> str:
        if form == "text":
            return str(self._value)
        return "" if self._value is ABSENT else self._text or format_value(self._value)


@cache
def load_table_rules(extensions: tuple[str, ...]) -> Mapping[str, ChangeRule]:
    """Return the change kinds of fields, extensions and `rows.yaml` by id.

    The kinds of schema keywords are in `schemas.schema_rules`.

    Raises:
        ExtensionError: an extension declares a field that already exists.
    """
    rules = dict(_load_listed_rules())
    for kind in FILE_KINDS:
        for field in list_fields(kind, extensions):
            for event in field.node.get("change", {}):
                # `by` is not an event: it names a comparison function.
                if event != "by":
                    rule = _build_field_rule(kind, field, event)
                    rules[rule.id] = rule
    return rules


@cache
def load_spec_schema(kind: str, extensions: tuple[str, ...]) -> Mapping[str, Any]:
    """Return the annotated JSON Schema of a kind of file, for comparisons.

    It includes the fields that `state` computes from several fields, such as `tool.module`.

    Raises:
        ExtensionError: an extension declares a field that already exists.
    """
    node: Mapping[str, Any] = load_annotated_schema(kind, extensions)
    for location, field_node in _load_data()["fields"].items():
        file_kind, *keys = location.split(".")
        if file_kind == kind:
            node = _add_field(node, keys, field_node)
    return node


def list_fields(kind: str, extensions: tuple[str, ...]) -> Iterator[Field]:
    """Yield the fields of a kind of file, each before its nested fields."""
    return _list_nested_fields("", load_spec_schema(kind, extensions))


def _list_nested_fields(pattern: str, node: Mapping[str, Any]) -> Iterator[Field]:
    for name, part in list_subfields(node):
        part_pattern = f"{pattern}.{name}" if pattern else name
        yield Field(part_pattern, part)
        yield from _list_nested_fields(part_pattern, part)


def _add_field(
    node: Mapping[str, Any], keys: list[str], field_node: Any
) -> Mapping[str, Any]:
    """Return a copy of a schema with a nested field added or replaced."""
    key, *rest = keys
    if key == "*":
        return {**node, "items": _add_field(node["items"], rest, field_node)}
    properties = node.get("properties", {})
    if rest:
        field_node = _add_field(properties[key], rest, field_node)
    return {**node, "properties": {**properties, key: field_node}}


@cache
def _load_data() -> Mapping[str, Any]:
    text = read_package_file("diff", "rows.yaml")
    data: dict[str, Any] = yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    return data


@cache
def _load_listed_rules() -> Mapping[str, ChangeRule]:
    """Return the change kinds of `rows.yaml` by id."""
    return {
        rule_id: ChangeRule(
            rule_id,
            row["means"],
            _parse_grades(row.get("grades", {})),
            row.get("back") or _find_opposite_id(rule_id),
        )
        for rule_id, row in _load_data()["kinds"].items()
    }


def _find_opposite_id(rule_id: str) -> str:
    """Return the id of the reverse change by naming patterns.

    If no pattern yields an existing id, the same id is returned.
    """
    rows = _load_data()["kinds"]
    for first, second in _OPPOSITE_PATTERNS:
        for pattern, replacement in ((first, second), (second, first)):
            opposite = re.sub(pattern, replacement.strip("$"), rule_id, count=1)
            if opposite != rule_id and opposite in rows:
                return opposite
    return rule_id


def _build_field_rule(kind: str, field: Field, event: str) -> ChangeRule:
    # An event without settings is null in the annotation.
    row = field.node["change"][event] or {}
    grades = _parse_grades(row)
    meaning = f"{_format_meaning(field, event, row)}. {row.get('means', '')}".strip()
    if "denied_by" in field.node and grades.worst is Grade.BREAKING:
        meaning += " Risky if the old version did not state the contrary."
    opposite = _get_opposite_event(field.node, event)
    return ChangeRule(
        build_rule_id(kind, field.dotted_path, event),
        meaning,
        grades,
        build_rule_id(kind, field.dotted_path, opposite),
    )


def _get_opposite_event(node: Mapping[str, Any], event: str) -> str:
    """Return the event of the reverse change.

    If the field does not declare that event, return `any`, or else the same event.
    """
    events = node["change"]
    opposite = _OPPOSITE_EVENTS.get(event, event)
    if event.startswith(("to ", "from ")) and event not in _OPPOSITE_EVENTS:
        # The reverse of `to X` is `from X`. If a field declares only `to` events, the
        # reverse is the `to` event of its other value.
        direction, _, value = event.partition(" ")
        opposite = f"{'from' if direction == 'to' else 'to'} {value}"
        if opposite not in events:
            prefix = f"{direction} "
            others = (
                name for name in events if name.startswith(prefix) and name != event
            )
            opposite = next(others, event)
    if opposite in events:
        return opposite
    return "any" if "any" in events else event


def _format_meaning(field: Field, event: str, row: Mapping[str, Any]) -> str:
    """Return the sentence that describes a kind of change in the docs.

    Placeholders for values become `...`.
    """
    label = get_field_label(field.node, field.dotted_path.rpartition(".")[2]).format(
        "NAME"
    )
    template = row.get("says")
    if template is not None:
        placeholders = dict.fromkeys(MESSAGE_PLACEHOLDERS, ValuePlaceholder())
        sentence = template.format("NAME", **placeholders)
    elif event in _MEANINGS:
        sentence = _MEANINGS[event].format(label)
    else:
        direction, _, value = event.partition(" ")
        template = _DEFAULT_MEANING
        if direction == "from":
            template = f"Value changed from `{value}` for {{}}"
        elif value:
            template = f"Value changed to `{value}` for {{}}"
        sentence = template.format(label)
    return str(sentence[0].upper() + sentence[1:])


class ValuePlaceholder:
    """Placeholder for a value in a message template; formats as `...`."""

    def __getitem__(self, key: str) -> ValuePlaceholder:
        return self

    def __format__(self, form: str) -> str:
        return "..."


def get_field_label(node: Mapping[str, Any], name: str) -> str:
    """Return the name of a field in messages: its annotation `called`, or its key.

    A `{}` in the label is a placeholder for the nearest key that the file chooses.
    """
    # The label is a format string, so braces in a key are escaped.
    key = format_value(name).replace("{", "{{").replace("}", "}}")
    label: str = node.get("called", key)
    return label


def _parse_grades(row: Mapping[str, Any]) -> Grades:
    return Grades(*(Grade[row.get(name, "safe").upper()] for name in AUDIENCES))
