"""Subschemas of JSON Schemas, and the schemas that references lead to.

Source: JSON Schema 2020-12, core, section 10 (https://json-schema.org/draft/2020-12). The keywords
`dependencies`, `definitions` and `additionalItems` of earlier drafts are included. References are
followed in every dialect, but never out of the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
"""The keywords whose value is a reference to another schema."""

IN_PLACE = frozenset(
    "not if then else allOf anyOf oneOf dependentSchemas dependencies".split()
)
"""The keywords whose subschemas apply to the same value, except references."""

_ARRAY_KEYWORDS = frozenset("allOf anyOf oneOf prefixItems".split())
_OBJECT_KEYWORDS = frozenset(
    "properties patternProperties $defs definitions dependentSchemas dependencies".split()
)
# Groups of keywords of which at most one subschema applies to each property or item.
_DISJOINT_KEYWORDS = (
    ("properties", "additionalProperties"),
    ("prefixItems", "items", "additionalItems"),
)
_OVERLAPPING_KEYWORDS = (
    "patternProperties propertyNames contains unevaluatedProperties unevaluatedItems"
).split()
_SUBSCHEMA_KEYWORDS = frozenset(
    {
        "contentSchema",
        *IN_PLACE,
        *_ARRAY_KEYWORDS,
        *_OBJECT_KEYWORDS,
        *_DISJOINT_KEYWORDS[0],
        *_DISJOINT_KEYWORDS[1],
        *_OVERLAPPING_KEYWORDS,
    }
)
_ANCHOR_KEYWORDS = ("$anchor", "$dynamicAnchor")
_ID_KEYWORDS = ("$id", "id")

_FRAGMENT_CHARACTERS = "/?:@!$&'()*+,;=~"
"""Characters that are not escaped in a fragment, besides letters, digits and `_.-`."""

Step = str | int


def list_subschemas(
    schema: Mapping[str, Any],
) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Yield the direct subschemas of a schema with their paths, in their order.

    Values in the position of a subschema are included even if they are not valid schemas.
    """
    for keyword in schema:
        if keyword in _SUBSCHEMA_KEYWORDS:
            yield from _list_subschemas_at(schema, keyword)


def list_applied_subschemas(schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the subschemas that may also apply to a value of the schema.

    These are the subschemas of `allOf`, `anyOf`, `if` and similar keywords. References, and
    `not`, whose subschema the value must not match, are excluded.
    """
    for keyword in schema:
        if keyword in IN_PLACE and keyword != "not":
            yield from get_subschemas(schema, keyword)


def get_subschemas(schema: Mapping[str, Any], keyword: str) -> list[Any]:
    """Return the subschemas of a keyword: a single one, or those of an array or object."""
    if keyword not in schema:
        return []
    return [subschema for _, subschema in _list_subschemas_at(schema, keyword)]


def group_child_schemas(schema: Mapping[str, Any]) -> tuple[list[list[Any]], list[Any]]:
    """Return the subschemas that apply to the items or members of a value.

    Returns:
        Groups of which at most one schema applies to each child, and the other schemas.
    """
    if _SUBSCHEMA_KEYWORDS.isdisjoint(schema):
        return [], []
    groups = []
    for keywords in _DISJOINT_KEYWORDS:
        group: list[Any] = []
        for keyword in keywords:
            group += get_subschemas(schema, keyword)
        groups.append(group)
    others: list[Any] = []
    for keyword in _OVERLAPPING_KEYWORDS:
        others += get_subschemas(schema, keyword)
    return groups, others


def walk_schemas(
    schemas: Iterable[Any],
    get_next_schemas: Callable[[Mapping[str, Any]], Iterable[Any]],
) -> Iterator[Mapping[str, Any]]:
    """Yield schemas and all schemas that they lead to, each one once.

    Args:
        schemas: the schemas to start from; values that are not objects are skipped.
        get_next_schemas: returns the schemas that a schema leads to.
    """
    waiting, visited = list(schemas), set[int]()
    while waiting:
        schema = waiting.pop()
        if isinstance(schema, Mapping) and id(schema) not in visited:
            visited.add(id(schema))
            yield schema
            waiting.extend(get_next_schemas(schema))


def walk_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a JSON value, each before the objects within it."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        # Check strings first, because most values are strings.
        if isinstance(part, str):
            continue
        if isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, (dict, Mapping)):
            yield part
            waiting.extend(part.values())


def _list_subschemas_at(
    schema: Mapping[str, Any], keyword: str
) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Yield the subschemas of a keyword with their paths."""
    value = schema[keyword]
    if keyword in _OBJECT_KEYWORDS:
        for name in value if isinstance(value, Mapping) else ():
            yield (keyword, name), value[name]
    elif isinstance(value, (list, tuple)) and keyword in (*_ARRAY_KEYWORDS, "items"):
        for index, subschema in enumerate(value):
            yield (keyword, index), subschema
    elif keyword not in _ARRAY_KEYWORDS:
        yield (keyword,), value


class References:
    """References of a schema and their targets inside it.

    A reference may be a JSON pointer (`#/$defs/a`), an anchor (`#a`, declared by `$anchor`,
    `$dynamicAnchor`, `$id` in draft-06 and draft-07, or `id` in draft-04), or the URI that a
    subschema declares by `$id` or `id`, with a pointer relative to that subschema.

    Args:
        root: the schema; it does not have to be valid.
    """

    def __init__(self, root: Any) -> None:
        self._root = root

    def list_same_value_schemas(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield all schemas that may also apply to a value of this schema, except `not`.

        Raises:
            LookupError: a reference leads nowhere in this schema.
        """
        for keyword in REFERENCES:
            if isinstance(schema.get(keyword), str):
                yield self.resolve(schema[keyword])
        yield from list_applied_subschemas(schema)

    def list_targets(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield all schemas that the references of a schema may lead to.

        References that lead nowhere are skipped.
        """
        for keyword in REFERENCES:
            if isinstance(schema.get(keyword), str):
                yield from self.resolve_all(schema[keyword])

    def list_tried_schemas(self, schema: Mapping[str, Any]) -> Iterator[Any]:
        """Yield all schemas that a validator may apply to a value of this schema.

        Includes reference targets and `not`.
        """
        yield from self.list_targets(schema)
        yield from get_subschemas(schema, "not")
        yield from list_applied_subschemas(schema)

    def resolve(self, reference: str) -> Any:
        """Return the schema that a reference leads to.

        Raises:
            LookupError: the reference leads out of the schema, nowhere, or to several
                schemas.
        """
        targets = self.resolve_all(reference)
        if len(targets) != 1:
            raise LookupError(reference)
        return targets[0]

    def resolve_all(self, reference: str) -> list[Any]:
        """Return all schemas that a reference may lead to.

        There may be several: which target of a dynamic reference applies depends on the value.
        The list is empty if the reference leads out of the schema or nowhere.
        """
        uri, _, fragment = reference.partition("#")
        fragment = unquote(fragment)
        anchors, resources = self._declared_names
        if uri:
            # Compare only the last part of the URIs: a relative `$id` or reference has no
            # other part.
            name = uri.rpartition("/")[2]
            bases = [
                schema
                for own_uri, schema in resources.items()
                if own_uri.rpartition("/")[2] == name
            ]
        else:
            bases = [self._root, *resources.values()]
        if not fragment:
            return bases if uri else bases[:1]
        if fragment.startswith("/"):
            targets = [_follow_pointer(base, fragment) for base in bases]
        else:
            targets = anchors.get(fragment, [])
        # Several bases may lead to the same schema, which is listed once.
        by_id = {id(target): target for target in targets if target is not None}
        return list(by_id.values())

    @cached_property
    def _declared_names(self) -> tuple[dict[str, list[Any]], dict[str, Any]]:
        """Subschemas by anchor (several may have the same), and by their declared URI."""
        anchors: dict[str, list[Any]] = {}
        resources: dict[str, Any] = {}
        for part in walk_objects(self._root):
            for keyword in _ANCHOR_KEYWORDS:
                if isinstance(part.get(keyword), str):
                    anchors.setdefault(part[keyword], []).append(part)
            for keyword in _ID_KEYWORDS:
                if isinstance(part.get(keyword), str):
                    uri, _, anchor = part[keyword].partition("#")
                    if anchor:
                        anchors.setdefault(anchor, []).append(part)
                    if uri:
                        resources[uri] = part
        return anchors, resources


def encode_references(root: Any) -> Any:
    """Return a schema whose references are valid URI references (RFC 3986).

    The fragment of a reference may contain any character, as in `#/$defs/Page<User>`: validators
    such as Ajv accept it. A schema without such references is returned unchanged.

    Raises:
        ValueError: the schema is too deep, or a reference contains a lone surrogate.
    """
    encoded: dict[int, dict[str, str]] = {}
    references = References(root)

    def list_next_schemas(schema: Mapping[str, Any]) -> Iterator[Any]:
        yield from (subschema for _, subschema in list_subschemas(schema))
        yield from references.list_targets(schema)

    has_invalid_reference = any(
        isinstance(part.get(keyword), str)
        and _encode_reference(part[keyword]) != part[keyword]
        for part in walk_objects(root)
        for keyword in REFERENCES
    )
    if not has_invalid_reference:
        return root
    # Encode references only in schemas: a key `$ref` inside values of `const`, `enum`,
    # `default` and `examples` is data.
    for schema in walk_schemas([root], list_next_schemas):
        encoded[id(schema)] = {
            keyword: _encode_reference(schema[keyword])
            for keyword in REFERENCES
            if isinstance(schema.get(keyword), str)
        }

    def copy(value: Any) -> Any:
        if isinstance(value, Mapping):
            members = {key: copy(member) for key, member in value.items()}
            return {**members, **encoded.get(id(value), {})}
        return (
            [copy(item) for item in value] if isinstance(value, list | tuple) else value
        )

    try:
        return copy(root)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _encode_reference(reference: str) -> str:
    uri, mark, fragment = reference.partition("#")
    if fragment.isalnum() and fragment.isascii():
        return reference
    return f"{uri}{mark}{quote(unquote(fragment), safe=_FRAGMENT_CHARACTERS)}"


def format_pointer(steps: Iterable[Step]) -> str:
    """Return the JSON pointer (RFC 6901) of a path."""
    escaped = (str(step).replace("~", "~0").replace("/", "~1") for step in steps)
    return "".join(f"/{step}" for step in escaped)


def as_mapping(value: Any) -> Mapping[str, Any]:
    """Return a value if it is a mapping, and an empty mapping otherwise."""
    return value if isinstance(value, Mapping) else {}


def resolve_pointer(base: Any, pointer: str) -> tuple[str | int, ...] | None:
    """Return the path of a JSON pointer (RFC 6901) in a value; None if it leads nowhere."""
    value, path = base, list[str | int]()
    for step in pointer.split("/")[1:]:
        name: str | int = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, (list, tuple)):
            name = int(step) if step.isdecimal() and len(step) < 9 else len(value)
            if name >= len(value):
                return None
        elif not isinstance(value, Mapping) or name not in value:
            return None
        value = value[name]
        path.append(name)
    return tuple(path)


def restore_names(value: Any, path: Iterable[str | int]) -> tuple[str | int, ...]:
    """Return a path of a jsonschema-rs error with the names of properties as strings.

    jsonschema-rs returns a name of digits as a number: `012` and `+12` as 12.

    Args:
        value: the value that contains the path.
        path: the path of the error.
    """
    steps = list[str | int]()
    for step in path:
        if isinstance(value, Mapping):
            step = _find_name(value, step)
            value = value.get(step)
        elif isinstance(value, (list, tuple)) and isinstance(step, int):
            value = value[step] if step < len(value) else None
        steps.append(step)
    return tuple(steps)


def _find_name(value: Mapping[str, Any], step: str | int) -> str:
    name = str(step)
    if name in value or isinstance(step, str):
        return name
    for key in value:
        digits = key.removeprefix("+")
        # The comparison of texts also accepts digits that are too many for `int`.
        if digits.isdecimal() and digits.lstrip("0") == name.lstrip("0"):
            return key
    return name


def _follow_pointer(base: Any, pointer: str) -> Any:
    """Return the value that a JSON pointer leads to; None if it leads nowhere."""
    path = resolve_pointer(base, pointer)
    if path is None:
        return None
    for step in path:
        base = base[step]
    return base
