"""The spec language: what each kind of file may say, and what that means.

`KIND.language.yaml` is the JSON Schema of one kind of file with annotations: what a field's
absence means, what it names, who reads it, what a change of it means. What annotations there
are says `annotations.schema.yaml`. Editors' schemas are the same without them.

A field that is `like: KIND.WAY` has all that is said of that other one, but for what it says
itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from string import Formatter
from typing import Any, NamedTuple

import yaml

from ..encoders.json_text import encode_json
from ..extensions import ExtensionError, load_fields
from ..package_data import read_packaged

KINDS = (
    "tool",
    "toolset",
    "definitions",
    "mcp_resource",
    "mcp_prompt",
    "workspace",
)
"""The files that a project is made of."""
DESCRIBED_KINDS = (*KINDS, "accept")
"""The files of which there is a `KIND.language.yaml`."""
MESSAGE_PLACEHOLDERS = ("what", "old", "new", "key", "concerned")
"""What the words of a change may have in braces, beside `{}` for the key of a mapping."""
SCHEMAS = (*DESCRIBED_KINDS, "project", "findings", "diff")
"""What schemas are published of: those files, all of them together, and what commands print."""

# libyaml's scanner where PyYAML was built with it.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Field(NamedTuple):
    """A field of a kind of file.

    Attributes:
        way: the keys to it, `clients.*.client_confirms`: `*` is any key of a mapping, or any item.
        node: its annotated schema.
    """

    dotted_path: str
    node: Mapping[str, Any]


def list_fields(kind: str, extensions: tuple[str, ...] = ()) -> Iterator[Field]:
    """Every field of a kind of file, those inside of others after them.

    Raises:
        ExtensionError: as of `annotated`.
    """
    return _below("", load_annotated_schema(kind, extensions))


def _below(way: str, node: Mapping[str, Any]) -> Iterator[Field]:
    for name, part in list_subfields(node):
        inner = f"{way}.{name}" if way else name
        yield Field(inner, part)
        yield from _below(inner, part)


def list_subfields(node: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The fields right below one: its known keys, then `*` for any other key or item."""
    yield from node.get("properties", {}).items()
    yield from node.get("keys", {}).items()
    for keyword in ("additionalProperties", "items"):
        if isinstance(node.get(keyword), dict):
            yield "*", node[keyword]


def load_annotation_schema() -> dict[str, Any]:
    """The JSON Schema that annotated schemas are held to."""
    return _read("annotations.schema")


def get_fields_read_by(
    kind: str, reader: str, extensions: tuple[str, ...] = ()
) -> frozenset[str]:
    """The fields of a kind of file that a target's output needs, or that `rules` read.

    Raises:
        ExtensionError: as of `annotated`.
    """
    return frozenset(
        name
        for name, node in load_annotated_schema(kind, extensions)["properties"].items()
        if reader in node.get("read_by", ())
    )


@cache
def get_default(way: str) -> Any:
    """Return the value that a field has when its file does not contain it.

    Args:
        way: the kind of file and the keys to the field, as in `like`: `toolset.timeout`.

    Raises:
        KeyError: the field does not exist or has no `absent`.
    """
    kind, *steps = way.split(".")
    return _at(load_annotated_schema(kind), steps)["absent"]


def replace_nulls(way: str, value: Any) -> Any:
    """Return a value in which each null is what it stands for (`null_means`).

    Args:
        way: the kind of file and the keys to the field, as in `like`.
        value: the field's value.
    """
    kind, *steps = way.split(".")
    return _without_nulls(_at(load_annotated_schema(kind), steps), value)


def _without_nulls(node: Mapping[str, Any], value: Any) -> Any:
    if value is None:
        return node.get("null_means")
    known = dict(list_subfields(node))
    if not isinstance(value, dict) or not known:
        return value
    rest = known.get("*", {})
    return {k: _without_nulls(known.get(k, rest), v) for k, v in value.items()}


# The kinds of names that are told by where in `toolset.yaml` they stand.
_OF_ONE_PLACE = frozenset(["enabled_target", "option", "tool_entry"])


def check_annotations(node: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the annotations of a schema, a sentence each."""
    import jsonschema_rs

    validator = jsonschema_rs.Draft202012Validator(load_annotation_schema())
    if not validator.is_valid(node):
        for error in validator.iter_errors(node):
            yield f"{'.'.join(map(str, error.instance_path))}: {error.message}"
        return
    for way, part in _below("", node):
        for event in part.get("change", {}):
            if not _can_happen(event, part):
                yield f"{way}: `{event}` cannot happen to it"
        for words, known in _words_of(part):
            for fault in _wrong_places(words, known):
                yield f"{way}: {fault} in `{words}`"


def _words_of(node: Mapping[str, Any]) -> Iterator[tuple[str, Collection[str]]]:
    """The words of a field that braces may stand in, and for what."""
    if isinstance(words := node.get("called"), str):
        yield words, ()
    for row in node.get("change", {}).values():
        if isinstance(row, dict) and isinstance(words := row.get("says"), str):
            yield words, MESSAGE_PLACEHOLDERS


def _wrong_places(words: str, known: Collection[str]) -> Iterator[str]:
    """The braces that stand for nothing: beside those of `known`, `{}` is a mapping's key."""
    try:
        found = [place for _, place, _, _ in Formatter().parse(words)]
    except ValueError as error:
        yield str(error)
        return
    for place in filter(None, found):
        name = re.sub(r"\[\w+\]$", "", place)
        if name not in known:
            yield f"`{{{place}}}` stands for nothing"


def _can_happen(event: str, node: Mapping[str, Any]) -> bool:
    """Whether values of a field can have an event of the table."""
    types = node.get("type", ())
    types = {types} if isinstance(types, str) else {*types}
    word, _, value = event.partition(" ")
    if word in ("to", "from"):
        values = [*node.get("enum", ()), *(["true", "false"] * ("boolean" in types))]
        return value in values or (value == "null" and "null" in types)
    if word in ("lowered", "raised"):
        return bool({"integer", "number"} & types) or "order" in node
    if word in ("more", "less", "moved"):
        return bool({"array", "object"} & types)
    if word == "entry":
        return "object" in types or "key" in node
    return True


def load_annotated_schema(
    kind: str, extensions: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The annotated schema of one of `LANGUAGE`, with the fields of extensions.

    Raises:
        ExtensionError: an extension adds a field that the spec language has already, or
            whose schema is none, or annotates one wrongly.
    """
    own = _language(kind)
    if not extensions or kind not in ("tool", "toolset"):
        return own
    return _extended(kind, extensions)


@cache
def _extended(kind: str, extensions: tuple[str, ...]) -> dict[str, Any]:
    import jsonschema_rs

    own, added = _language(kind), load_fields(extensions)
    ours = [added.tool] if kind == "tool" else [added.toolset, added.target_options]
    whole = _with(own, ours[0], extensions)
    if kind == "toolset":
        targets = own["properties"]["targets"]
        of_any = targets["additionalProperties"]
        options = {n: {**of_any, **given} for n, given in added.target_options.items()}
        whole["properties"]["targets"] = _with(targets, options, extensions)
    names = ", ".join(extensions)
    try:
        jsonschema_rs.Draft202012Validator(_published(whole), retriever=_refuse)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise ExtensionError(
            f"the schema of a field of {names} is not valid: {reason}"
        ) from error
    for properties in ours:
        for fault in _faults_of_extension({"properties": properties}):
            raise ExtensionError(f"an annotation of a field of {names}: {fault}")
    return whole


def _faults_of_extension(node: Mapping[str, Any]) -> Iterator[str]:
    try:
        yield from check_annotations(node)
    except ValueError as error:
        yield str(error)  # it is nothing that JSON has
    for way, part in _below("", node):
        for kind in _OF_ONE_PLACE.intersection(
            (part.get("names"), part.get("keys_name"))
        ):
            yield f"{way}: names of the kind `{kind}` are for Toolcast's own fields"


@cache
def _language(kind: str) -> dict[str, Any]:
    whole: dict[str, Any] = _whole(_read(f"{kind}.language"))
    return whole


def _whole(node: Any) -> Any:
    """A schema in which each field that is `like` another one has all that is said of it."""
    if not isinstance(node, dict):
        return node
    whole = {key: _whole(part) for key, part in node.items()}
    if not isinstance(whole.get("like"), str):
        return whole  # as of the fields of a mapping, one of which may be called so
    kind, *steps = whole.pop("like").split(".")
    return {**_whole(_at(_read(f"{kind}.language"), steps)), **whole}


def _at(node: Mapping[str, Any], steps: Sequence[str]) -> Mapping[str, Any]:
    for step in steps:
        node = dict(list_subfields(node))[step]
    return node


@cache
def _read(name: str) -> dict[str, Any]:
    text = read_packaged("spec_language", f"{name}.yaml")
    value: dict[str, Any] = yaml.load(text, _Loader)  # noqa: S506 - a safe one
    return value


def _with(
    node: Mapping[str, Any], added: Mapping[str, Any], extensions: tuple[str, ...]
) -> dict[str, Any]:
    """A schema with more properties."""
    for name in added:
        if name in node["properties"]:
            names = ", ".join(extensions)
            raise ExtensionError(f"the field `{name}` of {names} already exists")
    return {**node, "properties": {**node["properties"], **added}}


def render_schema(kind: str, extensions: tuple[str, ...] = ()) -> str:
    """The JSON text of one of `SCHEMAS`.

    Raises:
        ExtensionError: as of `schema`.
    """
    whole = get_schema(kind, extensions)
    if kind == "project":
        # It is for programs: a field a line, so that a difference shows which one differs.
        return f"{encode_json_lines(whole, 4)}\n"
    return str(encode_json(whole, expanded=("properties",)))


def encode_json_lines(value: Any, levels: int, indent: str = "") -> str:
    """Return JSON whose objects have one member per line, so many levels deep."""
    if not (levels and isinstance(value, dict) and value):
        return json.dumps(value, ensure_ascii=False)
    inner = f"{indent}  "
    rows = (
        f"{inner}{json.dumps(key)}: {encode_json_lines(part, levels - 1, inner)}"
        for key, part in value.items()
    )
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"


def get_schema(kind: str, extensions: tuple[str, ...] = ()) -> dict[str, Any]:
    """One of `SCHEMAS`, as editors and validators take it.

    Raises:
        ExtensionError: as of `annotated`.
    """
    # One call of each form: a cache takes a default that is written out for another one.
    return _schema(kind, extensions)


@cache
def _schema(kind: str, extensions: tuple[str, ...]) -> dict[str, Any]:
    if kind == "project":
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://toolcast.dev/schema/v1/project.json",
            "title": "The files of a Toolcast project, version 1",
            "description": "A file names its kind: `toolcast.schema.json#/$defs/tool`.",
            "$defs": {one: get_schema(one, extensions) for one in DESCRIBED_KINDS},
        }
    if kind not in DESCRIBED_KINDS:
        text = read_packaged("schemas", f"{kind}.schema.json").decode("utf-8")
        printed: dict[str, Any] = json.loads(text)
        return printed
    return _published(load_annotated_schema(kind, extensions))


def _published(node: Mapping[str, Any]) -> dict[str, Any]:
    added = load_annotation_schema()["$defs"]["annotations"]["properties"].keys()
    published: dict[str, Any] = _without(added, node)
    return published


def _without(added: Collection[str], node: Any) -> Any:
    """A schema without annotations, but with defaults that are plain values.

    The names of properties are no annotations.
    """
    if not isinstance(node, dict):
        return node
    plain: dict[str, Any] = {}
    for keyword, value in node.items():
        if keyword == "properties":
            plain[keyword] = {n: _without(added, part) for n, part in value.items()}
        elif keyword in ("items", "additionalProperties"):
            plain[keyword] = _without(added, value)
        elif keyword == "absent" and not isinstance(value, dict):
            plain["default"] = value
        elif keyword not in added:
            plain[keyword] = value
    return plain


def _refuse(uri: str) -> Any:
    raise ValueError(f"{uri} is not fetched")
