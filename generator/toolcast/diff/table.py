"""The table of changes: each kind of change with its grades, read from data.

Most kinds stand where their field does, in the annotations `change` of the spec language; what
no field says stands in `rows.yaml`, and what keywords of schemas and edits of texts do with
them. An id is the kind of file, the path and the event: `tool.timeout/lowered`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import yaml

from ..package_data import read_packaged
from ..parsing.tree import Path
from ..spec_language.spec_language import PLACES, Field, annotated, parts
from .change import (
    ABSENT,
    AUDIENCES,
    Change,
    ChangeRule,
    Grade,
    Grades,
    SpecFiles,
    format_value,
)

FILE_KINDS = ("tool", "toolset", "mcp_resource", "mcp_prompt", "workspace")
"""The files whose fields are compared."""
_SHORT = (
    ("toolset.mcp_servers", "server"),
    ("toolset.clients", "client"),
    ("toolset.targets", "target"),
    ("mcp_resource", "resource"),
    ("mcp_prompt", "prompt"),
)
_EVENTS = {
    "more": "added",
    "less": "removed",
    "entry": "changed",
    "other": "changed",
    "any": "changed",
}
"""What ids call the events that have a shorter word in annotations."""
_BACK = {
    "set": "unset",
    "lowered": "raised",
    "more": "less",
    "to null": "from null",
    "to true": "to false",
}
_BACK |= {back: there for there, back in _BACK.items()}
_OPPOSITES = (
    ("added$", "removed$"),
    ("opened$", "listed$"),
    ("opened$", "closed$"),
    ("extended$", "cut$"),
    ("narrowed$", "widened$"),
    ("lost$", "won$"),
    ("lower$", "higher$"),
    ("/not-", "/"),
    ("-no-more$", "$"),
)
"""How the ids of kinds end, or begin, that are each the change back of the other."""
_WORDS = {
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
_OTHER = "Value changed for {}"
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def build_rule_id(kind: str, pattern: str, event: str) -> str:
    """The id of what happens to a field.

    Args:
        kind: the kind of file.
        way: the keys to the field, `*` for any.
        event: as annotations have it.
    """
    steps = [kind, *(step for step in pattern.split(".") if step and step != "*")]
    path = ".".join(steps)
    for long, short in _SHORT:
        if path == long or path.startswith(f"{long}."):
            path = short + path[len(long) :]
    return f"{path}/{_EVENTS.get(event, event).replace(' ', '-')}"


def get_rule(rule_id: str) -> ChangeRule:
    """A kind of change that no field says."""
    return _own_rows()[rule_id]


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
    """A change that no field says, in the words that `rows.yaml` has for its kind.

    Args:
        form: which of its sentences, where a kind has several.
        said: what they name besides `{old}`, `{new}` and `{value}`, the one that is there.
    """
    words = _data()["kinds"][rule_id]["says"]
    there = before if after is ABSENT else after
    named = {"old": before, "new": after, "value": there, **arguments}
    message = (words[form] if form else words).format(
        **{name: ValueText(value) for name, value in named.items()}
    )
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
    """That a value is `added` or `removed`, told as `told` does."""
    if is_added:
        return make_change(files, f"{family}/added", path, after=value, **arguments)
    return make_change(files, f"{family}/removed", path, value, **arguments)


class ValueText:
    """A value as messages say it: `{it}` in backticks, `{it:text}` as it is.

    Its keys can be named: `{it[key]}`.
    """

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getitem__(self, key: str) -> str:
        is_there = isinstance(self._value, Mapping) and key in self._value
        return format_value(self._value[key]) if is_there else "none"

    def __format__(self, form: str) -> str:
        if form == "text":
            return str(self._value)
        return "" if self._value is ABSENT else format_value(self._value)


@cache
def load_table_rules(extensions: tuple[str, ...]) -> Mapping[str, ChangeRule]:
    """The kinds of changes of fields, with those of listed extensions, and of `rows.yaml`.

    Raises:
        ExtensionError: an extension's field is one that is there already.
    """
    found = dict(_own_rows())
    for kind in FILE_KINDS:
        for field in list_fields(kind, extensions):
            for event in field.node.get("change", {}):
                if event != "by":
                    one = _of_field(kind, field, event)
                    found[one.id] = one
    return found


@cache
def load_spec_schema(kind: str, extensions: tuple[str, ...]) -> Mapping[str, Any]:
    """The annotated fields of a kind of file, and what follows from several of them.

    Raises:
        ExtensionError: an extension's field is one that is there already.
    """
    node: Mapping[str, Any] = annotated(kind, extensions)
    for place, added in _data()["fields"].items():
        file, *way = place.split(".")
        if file == kind:
            node = _with(node, way, added)
    return node


def list_fields(kind: str, extensions: tuple[str, ...]) -> Iterator[Field]:
    """Each of them, those inside of others after them."""
    return _fields("", load_spec_schema(kind, extensions))


def _fields(way: str, node: Mapping[str, Any]) -> Iterator[Field]:
    for name, part in parts(node):
        inner = f"{way}.{name}" if way else name
        yield Field(inner, part)
        yield from _fields(inner, part)


def _with(node: Mapping[str, Any], way: list[str], added: Any) -> Mapping[str, Any]:
    if way[0] == "*":
        return {**node, "items": _with(node["items"], way[1:], added)}
    known = node.get("properties", {})
    inner = added if len(way) == 1 else _with(known[way[0]], way[1:], added)
    return {**node, "properties": {**known, way[0]: inner}}


@cache
def _data() -> Mapping[str, Any]:
    text = read_packaged("diff", "rows.yaml")
    read: dict[str, Any] = yaml.load(text, _Loader)  # noqa: S506 - a safe one
    return read


@cache
def _own_rows() -> Mapping[str, ChangeRule]:
    return {
        id_: ChangeRule(
            id_,
            row["means"],
            _grades(row.get("grades", {})),
            row.get("back") or _back(id_),
        )
        for id_, row in _data()["kinds"].items()
    }


def _back(id_: str) -> str:
    """The kind of the change back, by the words of both; the same where there is none."""
    known = _data()["kinds"]
    for one, other in _OPPOSITES:
        for here, there in ((one, other), (other, one)):
            back = re.sub(here, there.strip("$"), id_, count=1)
            if back != id_ and back in known:
                return back
    return id_


def _of_field(kind: str, field: Field, event: str) -> ChangeRule:
    change = field.node["change"]
    row = change[event] or {}
    back = _event_back(field.node, event)
    grades = _grades(row)
    means = f"{_sentence(field, event, row)}. {row.get('means', '')}".strip()
    if "denied_by" in field.node and grades.worst is Grade.BREAKING:
        means += " Risky if the old version did not state the contrary."
    return ChangeRule(
        build_rule_id(kind, field.way, event),
        means,
        grades,
        build_rule_id(kind, field.way, back),
    )


def _event_back(node: Mapping[str, Any], event: str) -> str:
    change = node["change"]
    back = _BACK.get(event, event)
    if event.startswith(("to ", "from ")) and event not in _BACK:
        word, _, value = event.partition(" ")
        back = f"{'from' if word == 'to' else 'to'} {value}"
        if back not in change:
            others = (e for e in change if e.startswith(f"{word} ") and e != event)
            back = next(others, event)
    return back if back in change else "any" if "any" in change else event


def _sentence(field: Field, event: str, row: Mapping[str, Any]) -> str:
    """A row in a few words, without what one change alone knows."""
    what = get_field_label(field.node, field.way.rpartition(".")[2]).format("NAME")
    words = row.get("says")
    if words is None:
        verb, _, value = event.partition(" ")
        of_value = f"Value changed to `{value}` for {{}}"
        if verb == "from":
            of_value = f"Value changed from `{value}` for {{}}"
        words = _WORDS.get(event, of_value if value else _OTHER).format(what)
    else:
        words = words.format("NAME", **dict.fromkeys(PLACES, ValuePlaceholder()))
    return words[0].upper() + words[1:]


class ValuePlaceholder:
    """Stands in a sentence for what one change alone knows."""

    def __getitem__(self, key: str) -> ValuePlaceholder:
        return self

    def __format__(self, form: str) -> str:
        return "..."


def get_field_label(node: Mapping[str, Any], name: str) -> str:
    """What messages call a field, with `{}` for the key of the mapping that it is in."""
    plain = format_value(name).replace("{", "{{").replace("}", "}}")
    words: str = node.get("called", plain)
    return words


def _grades(row: Mapping[str, Any]) -> Grades:
    return Grades(*(Grade[row.get(one, "safe").upper()] for one in AUDIENCES))
