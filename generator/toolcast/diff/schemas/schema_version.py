"""One version of a compared schema, with its references resolved inside the schema."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from toolcast_runtime.core.validation.checker import DeclaredNames
from toolcast_runtime.core.validation.compiled import build_validator
from toolcast_runtime.core.validation.references import (
    REFERENCES,
    References,
    list_applied_subschemas,
    list_subschemas,
)

from ...json_schema.dialects import get_dialect
from ...parsing.tree import Path

ANNOTATIONS = frozenset(
    (
        "title description default examples deprecated readOnly writeOnly $comment format"
        " contentEncoding contentMediaType contentSchema $schema $id id $anchor"
        " $dynamicAnchor $recursiveAnchor $vocabulary $defs definitions"
    ).split()
)
"""The keywords that make no value invalid; `format` only if formats are not validated."""

Conjunction = tuple[Any, ...]
"""Schemas that all apply to one value: objects without `$ref` and `allOf`, or `false`."""

UNEVALUATED_KEYWORDS = ("unevaluatedProperties", "unevaluatedItems")
"""The keywords that depend on all other keywords and branches of their schema object."""

_DRAFTS_BEFORE_2019 = ("draft-04", "draft-06", "draft-07")
_KEYWORDS_SINCE_2019 = frozenset(
    (
        "dependentRequired dependentSchemas prefixItems minContains maxContains"
        " unevaluatedProperties unevaluatedItems"
    ).split()
)
_SIMILAR_DRAFTS = ("draft-07", "2019-09", "2020-12")
_DRAFT_DEPENDENT_KEYWORDS = _KEYWORDS_SINCE_2019.union(
    (
        "additionalItems dependencies $dynamicRef $recursiveRef"
        " $id id $anchor $dynamicAnchor $recursiveAnchor $vocabulary"
    ).split()
)
_ALLOWED_NEXT_TO_REF = ANNOTATIONS | {"$ref"}
MAX_PARTS = 400
"""Subschemas that are collected for one location."""
_CONDITION_KEYWORDS = ("if", "then", "else")
_DEFINITION_KEYWORDS = ("$defs", "definitions")
_DEFINITION_PREFIXES = tuple(f"#/{keyword}/" for keyword in _DEFINITION_KEYWORDS)


class DividedSchema(dict[str, Any]):
    """A schema with an `unevaluated*` keyword, without some of its branches or references.

    These branches still decide which values the keyword applies to.

    Args:
        keywords: the keywords that are kept.
        undivided: the schema with all of its keywords.
    """

    def __init__(
        self, keywords: Mapping[str, Any], undivided: Mapping[str, Any]
    ) -> None:
        super().__init__(keywords)
        self.undivided = get_undivided(undivided)


def get_undivided(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a part of a conjunction was divided from.

    Parts without an `unevaluated*` keyword are returned unchanged.
    """
    return part.undivided if isinstance(part, DividedSchema) else part


class ItemSchemas(NamedTuple):
    """The schemas of the items of an array.

    Attributes:
        leading: the schemas of the first items, one each.
        rest: the schema of all further items.
    """

    leading: list[Any]
    rest: Any

    def get_schema(self, index: int) -> Any:
        """Return the schema of the item at an index."""
        return self.leading[index] if index < len(self.leading) else self.rest


class SchemaVersion:
    """The old or the new version of a schema.

    Args:
        root: a valid schema whose references all resolve.
        asserts_formats: whether `format` is validated.

    Attributes:
        dialect: the URI in `$schema`, or None.
        draft: the draft that `$schema` names; 2020-12 without it.
        is_before_2019: whether the draft is older than 2019-09, so that keywords next to
            `$ref` are ignored.
    """

    def __init__(self, root: Any, *, asserts_formats: bool = False) -> None:
        self.root = root
        self.asserts_formats = asserts_formats
        self._annotations = ANNOTATIONS - {"format"} if asserts_formats else ANNOTATIONS
        self.references = References(root)
        self.dialect = root.get("$schema") if isinstance(root, dict) else None
        self.draft = get_dialect(root)
        self.is_before_2019 = self.draft in _DRAFTS_BEFORE_2019
        self._has_prefix_items = self.draft == "2020-12"
        self._conjunctions: dict[int, Conjunction] = {}

    @cached_property
    def declared_names(self) -> DeclaredNames:
        """The parameters that the schema declares.

        The runtime passes no other arguments to a handler.
        """
        return DeclaredNames(self.root)

    @cached_property
    def paths_by_id(self) -> dict[int, Path]:
        """The path of each object in the schema, by the object's `id()`."""
        paths: dict[int, Path] = {}
        for path, node in _walk_objects(self.root):
            # An object that occurs at several paths keeps the first path.
            paths.setdefault(id(node), path)
        return paths

    @cached_property
    def has_unevaluated_keywords(self) -> bool:
        """Whether the schema contains an `unevaluated*` keyword anywhere."""
        return any(
            keyword in node
            for _, node in _walk_objects(self.root)
            for keyword in UNEVALUATED_KEYWORDS
        )

    @cached_property
    def has_references(self) -> bool:
        """Whether the schema contains a reference anywhere."""
        return has_references(self.root)

    def has_same_semantics(self, other: SchemaVersion) -> bool:
        """Return whether equal keywords have the same meaning in both versions.

        In different drafts this is possible if these drafts define all used keywords equally.
        """
        return self.asserts_formats == other.asserts_formats and (
            self.draft == other.draft
            or (self._is_draft_independent and other._is_draft_independent)
        )

    @cached_property
    def _is_draft_independent(self) -> bool:
        """Whether draft-07, 2019-09 and 2020-12 give the schema the same meaning."""
        if self.draft not in _SIMILAR_DRAFTS:
            return False
        pending = [self.root]
        while pending:
            schema = pending.pop()
            if isinstance(schema, dict):
                if not _DRAFT_DEPENDENT_KEYWORDS.isdisjoint(schema):
                    return False
                # 2020-12 has `prefixItems` instead of an array in `items`.
                if isinstance(schema.get("items"), list):
                    return False
                # draft-07 ignores keywords next to `$ref`, and newer drafts apply them.
                if "$ref" in schema and not _ALLOWED_NEXT_TO_REF.issuperset(schema):
                    return False
                pending += [subschema for _, subschema in list_subschemas(schema)]
        return True

    def shares_definitions(self, other: SchemaVersion) -> bool:
        """Return whether equal references in both versions lead to the same objects."""
        if not self.has_references and not other.has_references:
            return True
        own_root, other_root = self.root, other.root
        if not isinstance(own_root, dict) or not isinstance(other_root, dict):
            return False
        for keyword in _DEFINITION_KEYWORDS:
            if own_root.get(keyword) is not other_root.get(keyword):
                return False
        return self._refers_only_to_definitions and other._refers_only_to_definitions

    @cached_property
    def _refers_only_to_definitions(self) -> bool:
        """Whether all references lead into `$defs` or `definitions`."""
        for _, node in _walk_objects(self.root):
            for keyword in REFERENCES:
                # The default passes the check: an absent keyword is not a reference.
                reference = node.get(keyword, "#/$defs/")
                if not isinstance(reference, str):
                    return False
                if not reference.startswith(_DEFINITION_PREFIXES):
                    return False
        return True

    def resolve_reference(self, schema: Mapping[str, Any]) -> Any:
        """Return the schema that a schema refers to.

        None if the schema has no reference, or if the reference has no target.
        """
        for keyword in REFERENCES:
            if isinstance(schema.get(keyword), str):
                try:
                    return self.references.resolve(schema[keyword])
                except LookupError:
                    return None
        return None

    def get_conjunction(self, schema: Any) -> Conjunction:
        """Return a schema as a conjunction, with references and `allOf` resolved.

        The schema `true` is an empty conjunction, and any other value than an object is
        `(False,)`. The result is cached by the identity of the schema.
        """
        if schema is True:
            return ()
        if not isinstance(schema, dict):
            return (False,)
        parts = self._conjunctions.get(id(schema))
        if parts is None:
            parts = tuple(self._build_conjunction(schema))
            self._conjunctions[id(schema)] = parts
        return parts

    def _build_conjunction(self, schema: Any) -> list[Any]:
        parts: list[Any] = []
        pending, seen = [schema], set[int]()
        # Validators of older drafts ignore keywords that 2019-09 and later introduced.
        unknown_keywords = (
            _KEYWORDS_SINCE_2019 if self.is_before_2019 else frozenset[str]()
        )
        while pending and len(parts) < MAX_PARTS:
            part = pending.pop(0)
            if part is True or id(part) in seen:
                continue
            if not isinstance(part, dict):
                parts.append(False)
                continue
            seen.add(id(part))
            target = self.resolve_reference(part)
            if target is not None:
                pending.append(target)
                # Drafts before 2019-09 ignore the keywords next to `$ref`.
                if self.is_before_2019:
                    continue
            branches = part.get("allOf")
            branches = branches if isinstance(branches, list) else []
            pending += branches
            if target is None and not branches and unknown_keywords.isdisjoint(part):
                parts.append(part)
                continue
            omitted = {"allOf", *unknown_keywords}
            if target is not None:
                omitted.update(REFERENCES)
            remaining = _omit_keywords(part, omitted)
            # A part that has only annotations accepts every value and can be omitted.
            if not self._annotations.issuperset(remaining):
                parts.append(remaining)
        return parts

    def collect_applicable(self, *schemas: Any) -> list[dict[str, Any]]:
        """Return all object schemas that can apply to the value that some schemas apply to.

        These are the schemas themselves, the targets of their references, and nested
        branches and conditions, whether or not a value matches the branch. At most 400
        schemas are returned.
        """
        applicable: list[dict[str, Any]] = []
        pending, seen = [*schemas], set[int]()
        while pending and len(applicable) < MAX_PARTS:
            part = pending.pop(0)
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.add(id(part))
            applicable.append(part)
            target = self.resolve_reference(part)
            if target is not None:
                pending.append(target)
                if self.is_before_2019:
                    continue
            pending += list_applied_subschemas(part)
        return applicable

    def split_cases(self, parts: Conjunction) -> list[Conjunction]:
        """Return one conjunction for each branch of the first `anyOf`, `oneOf` or `if`.

        Every value of the conjunction is valid in at least one case. The list is empty if
        there is no such keyword.
        """
        for index, part in enumerate(parts):
            if not isinstance(part, dict):
                continue
            other_parts = (*parts[:index], *parts[index + 1 :])
            for keyword in ("anyOf", "oneOf"):
                if isinstance(part.get(keyword), list):
                    rest = _omit_keywords(part, (keyword,))
                    return [
                        (*other_parts, rest, *self.get_conjunction(branch))
                        for branch in part[keyword]
                    ]
            if "if" in part:
                rest = _omit_keywords(part, _CONDITION_KEYWORDS)
                if_parts, then_parts, else_parts = (
                    self.get_conjunction(part.get(keyword, True))
                    for keyword in _CONDITION_KEYWORDS
                )
                # The second case omits the negation of `if` and so includes more values,
                # which is safe: each value must be in at least one case.
                return [
                    (*other_parts, rest, *if_parts, *then_parts),
                    (*other_parts, rest, *else_parts),
                ]
        return []

    def get_item_schemas(self, schema: Mapping[str, Any]) -> ItemSchemas:
        """Return the schemas of an array's items, by the keywords of the schema's draft."""
        items = schema.get("items", True)
        # Before 2020-12, an array in `items` has the schemas of the first items.
        if isinstance(items, list):
            return ItemSchemas(items, schema.get("additionalItems", True))
        leading = schema.get("prefixItems")
        if isinstance(leading, list) and self._has_prefix_items:
            return ItemSchemas(leading, items)
        return ItemSchemas([], items)

    def list_dependencies(self, schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield property names with what their presence requires: names or a schema."""
        for keyword in ("dependentRequired", "dependentSchemas", "dependencies"):
            value = schema.get(keyword)
            if isinstance(value, dict):
                yield from value.items()


class Acceptor:
    """Decides which arguments or results are valid for one version of a schema.

    Args:
        version: the schema.
        is_closed: accept only objects, and reject names at the top level that the schema
            does not declare, as the runtime does for arguments.
        rejects_value: a further check that returns whether a value is rejected.
    """

    def __init__(
        self,
        version: SchemaVersion,
        *,
        is_closed: bool,
        rejects_value: Callable[[Any], bool] | None = None,
    ) -> None:
        self.version = version
        self.is_closed = is_closed
        self._rejects_value = rejects_value

    @cached_property
    def conjunction(self) -> Conjunction:
        """The schema, and the restriction to declared names if it is closed."""
        parts = self.version.get_conjunction(self.version.root)
        if not self.is_closed:
            return parts
        declared = self.version.declared_names
        closed = {
            "type": "object",
            "properties": dict.fromkeys(sorted(declared.names), True),
            "patternProperties": dict.fromkeys(declared.patterns, True),
            "additionalProperties": False,
        }
        return (*parts, closed)

    @cached_property
    def _validator(self) -> Any:
        return build_validator(
            self.version.root, asserts_formats=self.version.asserts_formats
        )

    def accepts(self, value: Any) -> bool:
        """Return whether a value is valid.

        Raises:
            ValueError: a validator cannot be built for the schema.
        """
        validator = self._validator
        try:
            if not validator.is_valid(value):
                return False
        except (ValueError, TypeError):
            # A validator that aborts the matching of a pattern has not accepted the value.
            return False
        if self.is_closed and not isinstance(value, dict):
            return False
        if self.is_closed and self.version.declared_names.find_undeclared(value):
            return False
        return self._rejects_value is None or not self._rejects_value(value)


def _omit_keywords(
    schema: Mapping[str, Any], omitted: Collection[str]
) -> dict[str, Any]:
    """Return a schema without some keywords."""
    remaining = {name: schema[name] for name in schema if name not in omitted}
    if any(keyword in remaining for keyword in UNEVALUATED_KEYWORDS):
        return DividedSchema(remaining, schema)
    return remaining


def lists_all_names(schemas: Collection[Mapping[str, Any]]) -> bool:
    """Return whether schemas list properties of an object and declare no additional ones.

    A client that follows such schemas sends no other names, even if they would be valid. A
    schema with `additionalProperties`, or without properties, allows any name.
    """
    for schema in schemas:
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if schema.get(keyword, False) is not False:
                return False
    return any(schema.get("properties") for schema in schemas)


def list_property_schemas(
    schema: Mapping[str, Any], name: str, *, include_additional: bool = True
) -> list[Any]:
    """Return the schemas that apply to the value of a property.

    Args:
        schema: the schema of the object.
        name: the name of the property.
        include_additional: include `additionalProperties` if no other keyword applies.
    """
    properties = schema.get("properties", {})
    schemas = [properties[name]] if name in properties else []
    for pattern, property_schema in schema.get("patternProperties", {}).items():
        if matches_pattern(pattern, name):
            schemas.append(property_schema)
    if include_additional and not schemas and "additionalProperties" in schema:
        schemas.append(schema["additionalProperties"])
    return schemas


def has_references(value: Any) -> bool:
    """Return whether a schema, or a list of schemas, contains a reference anywhere."""
    for _, node in _walk_objects(value):
        if any(keyword in node for keyword in REFERENCES):
            return True
    return False


def _walk_objects(value: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield all objects in a JSON value with their paths."""
    pending: list[tuple[Path, Any]] = [((), value)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, dict):
            yield path, node
            pending += [((*path, name), child) for name, child in node.items()]
        elif isinstance(node, list):
            pending += [((*path, index), child) for index, child in enumerate(node)]


@lru_cache(maxsize=4096)
def matches_pattern(pattern: str, text: str) -> bool:
    """Return whether a pattern matches a text, by the runtime's engine; cached.

    False also for an invalid pattern.
    """
    try:
        return bool(_build_pattern_validator(pattern).is_valid(text))
    except ValueError:
        return False


@lru_cache(maxsize=512)
def _build_pattern_validator(pattern: str) -> Any:
    return build_validator({"pattern": pattern})
