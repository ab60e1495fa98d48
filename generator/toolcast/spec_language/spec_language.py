"""The spec language: the fields of each kind of file, and their meaning.

`KIND.language.yaml` is the JSON Schema of one kind of file, with annotations: the default of a
field, the names it contains, the targets that read it, the grades of its changes.
`annotations.schema.yaml` defines the annotations. The schemas for editors are the same without
them.

A field with `like: KIND.FIELD` inherits all keywords of that field that it does not declare
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
from ..package_data import read_package_file

KINDS = (
    "tool",
    "toolset",
    "definitions",
    "mcp_resource",
    "mcp_prompt",
    "workspace",
)
"""The kinds of files of a project."""
DESCRIBED_KINDS = (*KINDS, "accept")
"""The kinds of files that have a `KIND.language.yaml`."""
MESSAGE_PLACEHOLDERS = ("what", "old", "new", "key", "concerned")
"""The placeholders of messages about changes, in addition to `{}` for the key of an object."""
SCHEMAS = (*DESCRIBED_KINDS, "project", "findings", "diff")
"""The published schemas: of these files, of all of them together, and of command outputs."""

# libyaml's parser is faster, but PyYAML can be built without it.
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Field(NamedTuple):
    """A field of a kind of file.

    Attributes:
        dotted_path: the keys to the field, such as `clients.*.client_confirms`; `*` is any key
            of an object or any item of an array.
        node: the annotated schema of the field.
    """

    dotted_path: str
    node: Mapping[str, Any]


def list_fields(kind: str, extensions: tuple[str, ...] = ()) -> Iterator[Field]:
    """Yield all fields of a kind of file, each before its subfields.

    Raises:
        ExtensionError: see `load_annotated_schema`.
    """
    return _walk_fields("", load_annotated_schema(kind, extensions))


def _walk_fields(dotted_path: str, node: Mapping[str, Any]) -> Iterator[Field]:
    for name, subfield in list_subfields(node):
        subfield_path = f"{dotted_path}.{name}" if dotted_path else name
        yield Field(subfield_path, subfield)
        yield from _walk_fields(subfield_path, subfield)


def list_subfields(node: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the name and schema of each direct subfield of a field.

    Known keys are first; `*` stands for other keys, or for the items of an array.
    """
    yield from node.get("properties", {}).items()
    yield from node.get("keys", {}).items()
    for keyword in ("additionalProperties", "items"):
        if isinstance(node.get(keyword), dict):
            yield "*", node[keyword]


def load_annotation_schema() -> dict[str, Any]:
    """Return the JSON Schema that describes annotated schemas."""
    return _read_yaml("annotations.schema")


def get_fields_read_by(
    kind: str, reader: str, extensions: tuple[str, ...] = ()
) -> frozenset[str]:
    """Return the names of the top-level fields that a reader uses.

    Args:
        kind: the kind of file.
        reader: the name of a target, or `rules`.
        extensions: the extensions whose fields are included.

    Raises:
        ExtensionError: see `load_annotated_schema`.
    """
    return frozenset(
        name
        for name, node in load_annotated_schema(kind, extensions)["properties"].items()
        if reader in node.get("read_by", ())
    )


@cache
def get_default(dotted_path: str) -> Any:
    """Return the value that a field has if its file does not contain the field.

    Args:
        dotted_path: the kind of file and the keys to the field, such as
            `toolset.timeout`.

    Raises:
        KeyError: the field does not exist, or its schema has no annotation `absent`.
    """
    kind, *keys = dotted_path.split(".")
    return _get_field(load_annotated_schema(kind), keys)["absent"]


def replace_nulls(dotted_path: str, value: Any) -> Any:
    """Return a field's value with each null replaced by what it stands for.

    The annotation `null_means` of a field declares that; without it, null remains.

    Args:
        dotted_path: the kind of file and the keys to the field, such as
            `toolset.targets`.
        value: the value.
    """
    kind, *keys = dotted_path.split(".")
    return _replace_nulls(_get_field(load_annotated_schema(kind), keys), value)


def _replace_nulls(node: Mapping[str, Any], value: Any) -> Any:
    if value is None:
        return node.get("null_means")
    subfields = dict(list_subfields(node))
    if not isinstance(value, dict) or not subfields:
        return value
    other = subfields.get("*", {})
    return {
        key: _replace_nulls(subfields.get(key, other), entry)
        for key, entry in value.items()
    }


# The code identifies these kinds of names by their path in `toolset.yaml`, so fields of
# extensions cannot contain them.
_PATH_SPECIFIC_KINDS = frozenset(
    ["enabled_target", "mcp_entry", "option", "tool_entry"]
)


def check_annotations(node: Mapping[str, Any]) -> Iterator[str]:
    """Yield a message for each invalid annotation in an annotated schema."""
    import jsonschema_rs

    validator = jsonschema_rs.Draft202012Validator(load_annotation_schema())
    if not validator.is_valid(node):
        for error in validator.iter_errors(node):
            yield f"{'.'.join(map(str, error.instance_path))}: {error.message}"
        return
    for dotted_path, field in _walk_fields("", node):
        for event in field.get("change", {}):
            if not _is_possible_event(event, field):
                yield f"{dotted_path}: the event `{event}` is not possible for its type"
        for template, placeholders in _list_templates(field):
            for problem in _check_placeholders(template, placeholders):
                yield f"{dotted_path}: {problem} in `{template}`"


def _list_templates(node: Mapping[str, Any]) -> Iterator[tuple[str, Collection[str]]]:
    """Yield each message template of a field, with its allowed placeholders."""
    label = node.get("called")
    if isinstance(label, str):
        yield label, ()
    for row in node.get("change", {}).values():
        template = row.get("says") if isinstance(row, dict) else None
        if isinstance(template, str):
            yield template, MESSAGE_PLACEHOLDERS


def _check_placeholders(template: str, allowed: Collection[str]) -> Iterator[str]:
    """Yield a message for each unknown placeholder, or for invalid syntax.

    `{}` is always allowed.

    Args:
        template: the message template.
        allowed: the names of the allowed placeholders.
    """
    try:
        placeholders = [name for _, name, _, _ in Formatter().parse(template)]
    except ValueError as error:
        yield str(error)
        return
    for placeholder in filter(None, placeholders):
        name = re.sub(r"\[\w+\]$", "", placeholder)
        if name not in allowed:
            yield f"unknown placeholder `{{{placeholder}}}`"


def _is_possible_event(event: str, node: Mapping[str, Any]) -> bool:
    """Return whether an event in `change` can occur for a field of its type.

    Args:
        event: the event, such as `raised` or `to null`.
        node: the annotated schema of the field.
    """
    types = node.get("type", ())
    types = {types} if isinstance(types, str) else {*types}
    word, _, value = event.partition(" ")
    if word in ("to", "from"):
        if value == "null":
            return "null" in types or value in node.get("enum", ())
        if value in ("true", "false") and "boolean" in types:
            return True
        return value in node.get("enum", ())
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
    """Return the annotated schema of a kind of file, with the fields of extensions.

    Only the kinds `tool` and `toolset` can have fields of extensions.

    Args:
        kind: the kind of file, one of `DESCRIBED_KINDS`.
        extensions: the extensions whose fields are included.

    Raises:
        ExtensionError: an extension adds a field that already exists, or a field with
            an invalid schema or annotation.
    """
    language = _load_language(kind)
    if not extensions or kind not in ("tool", "toolset"):
        return language
    return _load_extended_language(kind, extensions)


@cache
def _load_extended_language(kind: str, extensions: tuple[str, ...]) -> dict[str, Any]:
    import jsonschema_rs

    language, added = _load_language(kind), load_fields(extensions)
    if kind == "tool":
        added_fields = [added.tool]
    else:
        added_fields = [added.toolset, added.target_options]
    extended = _add_properties(language, added_fields[0], extensions)
    if kind == "toolset":
        targets = language["properties"]["targets"]
        common = targets["additionalProperties"]
        # Each target has the common options, too.
        options = {
            name: {**common, **schema} for name, schema in added.target_options.items()
        }
        extended["properties"]["targets"] = _add_properties(
            targets, options, extensions
        )
    names = ", ".join(extensions)
    try:
        jsonschema_rs.Draft202012Validator(
            _remove_annotations(extended), retriever=_refuse_to_fetch
        )
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise ExtensionError(
            f"the schema of a field of {names} is not valid: {reason}"
        ) from error
    for properties in added_fields:
        for problem in _check_extension_annotations({"properties": properties}):
            raise ExtensionError(f"invalid annotation of a field of {names}: {problem}")
    return extended


def _check_extension_annotations(node: Mapping[str, Any]) -> Iterator[str]:
    try:
        yield from check_annotations(node)
    except ValueError as error:
        yield str(error)  # A value that JSON does not have.
    for dotted_path, field in _walk_fields("", node):
        kinds = field.get("names"), field.get("keys_name")
        for kind in _PATH_SPECIFIC_KINDS.intersection(kinds):
            yield f"{dotted_path}: only Toolcast's own fields can contain names of the kind `{kind}`"


@cache
def _load_language(kind: str) -> dict[str, Any]:
    language: dict[str, Any] = _resolve_like(_read_yaml(f"{kind}.language"))
    return language


def _resolve_like(node: Any) -> Any:
    """Return a schema in which each `like` is replaced by the referenced keywords.

    Keywords next to `like` have priority.
    """
    if not isinstance(node, dict):
        return node
    resolved = {key: _resolve_like(child) for key, child in node.items()}
    # Inside `properties`, `like` is the name of a field, and its value is an object.
    if not isinstance(resolved.get("like"), str):
        return resolved
    kind, *keys = resolved.pop("like").split(".")
    inherited = _resolve_like(_get_field(_read_yaml(f"{kind}.language"), keys))
    return {**inherited, **resolved}


def _get_field(node: Mapping[str, Any], keys: Sequence[str]) -> Mapping[str, Any]:
    """Return the schema of a subfield.

    Raises:
        KeyError: the subfield does not exist.
    """
    for key in keys:
        node = dict(list_subfields(node))[key]
    return node


@cache
def _read_yaml(name: str) -> dict[str, Any]:
    text = read_package_file("spec_language", f"{name}.yaml")
    value: dict[str, Any] = yaml.load(text, _Loader)  # noqa: S506 - a safe loader
    return value


def _add_properties(
    node: Mapping[str, Any], added: Mapping[str, Any], extensions: tuple[str, ...]
) -> dict[str, Any]:
    """Return a copy of a schema with additional properties.

    Raises:
        ExtensionError: a property already exists.
    """
    for name in added:
        if name in node["properties"]:
            names = ", ".join(extensions)
            raise ExtensionError(f"the field `{name}` of {names} already exists")
    return {**node, "properties": {**node["properties"], **added}}


def render_schema(kind: str, extensions: tuple[str, ...] = ()) -> str:
    """Return one of `SCHEMAS` as JSON text.

    Raises:
        ExtensionError: see `load_annotated_schema`.
    """
    value = get_schema(kind, extensions)
    if kind == "project":
        # With one field per line, a diff of the file shows which field changed.
        return f"{encode_json_lines(value, 4)}\n"
    return str(encode_json(value, expanded=("properties",)))


def encode_json_lines(value: Any, levels: int, indent: str = "") -> str:
    """Return JSON text whose outer objects have one member per line.

    Args:
        value: the value.
        levels: the number of nested levels of objects that are broken into lines.
        indent: the indentation of the value.
    """
    if not (levels and isinstance(value, dict) and value):
        return json.dumps(value, ensure_ascii=False)
    member_indent = f"{indent}  "
    lines = (
        f"{member_indent}{json.dumps(key)}:"
        f" {encode_json_lines(member, levels - 1, member_indent)}"
        for key, member in value.items()
    )
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}"


def get_schema(kind: str, extensions: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return one of `SCHEMAS` without annotations, for editors and validators.

    Raises:
        ExtensionError: see `load_annotated_schema`.
    """
    # `cache` would store calls with and without the default argument separately, so
    # only the inner function is cached.
    return _load_schema(kind, extensions)


@cache
def _load_schema(kind: str, extensions: tuple[str, ...]) -> dict[str, Any]:
    if kind == "project":
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://toolcast.dev/schema/v1/project.json",
            "title": "The files of a Toolcast project, version 1",
            "description": "A file names its kind: `toolcast.schema.json#/$defs/tool`.",
            "$defs": {
                described: get_schema(described, extensions)
                for described in DESCRIBED_KINDS
            },
        }
    if kind not in DESCRIBED_KINDS:
        text = read_package_file("schemas", f"{kind}.schema.json").decode("utf-8")
        output_schema: dict[str, Any] = json.loads(text)
        return output_schema
    return _remove_annotations(load_annotated_schema(kind, extensions))


def _remove_annotations(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema without annotations; a literal `absent` becomes `default`."""
    annotations = load_annotation_schema()["$defs"]["annotations"]["properties"].keys()
    schema: dict[str, Any] = _remove_keywords(annotations, node)
    return schema


def _remove_keywords(annotations: Collection[str], node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    schema: dict[str, Any] = {}
    for keyword, value in node.items():
        # The names of properties can be equal to those of annotations: only their
        # schemas are searched.
        if keyword == "properties":
            schema[keyword] = {
                name: _remove_keywords(annotations, subschema)
                for name, subschema in value.items()
            }
        elif keyword in ("items", "additionalProperties"):
            schema[keyword] = _remove_keywords(annotations, value)
        elif keyword == "absent" and not isinstance(value, dict):
            schema["default"] = value
        elif keyword not in annotations:
            schema[keyword] = value
    return schema


def _refuse_to_fetch(uri: str) -> Any:
    raise ValueError(f"the external schema {uri} is not fetched")
