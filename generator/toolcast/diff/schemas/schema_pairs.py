"""Pairs of an old and a new schema at one location, and the differences between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from toolcast_runtime.core.validation.references import REFERENCES

from ...parsing.tree import Path
from ..change import ABSENT
from .message_text import format_subject
from .schema_rules import MESSAGES
from .schema_version import ANNOTATIONS, SchemaVersion

_INDEPENDENT_KEYWORDS = ANNOTATIONS | frozenset(
    (
        "type enum const minimum maximum exclusiveMinimum exclusiveMaximum multipleOf"
        " minLength maxLength pattern minItems maxItems uniqueItems minProperties"
        " maxProperties required dependentRequired propertyNames not"
        " unevaluatedProperties unevaluatedItems"
    ).split()
)
"""The keywords whose meaning stays the same in a schema that is merged with its `allOf`."""


class SchemaLocation(NamedTuple):
    """A schema with its path.

    Attributes:
        schema: the schema; True if there is none.
        path: the path from the root schema.
    """

    schema: Any
    path: Path


class SchemaNode(NamedTuple):
    """A schema merged with the schemas that it refers to.

    Attributes:
        keywords: the keywords of the schema and of its reference targets, where both can be
            merged without a change of meaning.
        path: the path of the last merged schema.
        keyword_paths: the path of each keyword that the schema has.
        is_false: whether the schema is `false`, or refers to `false`.
        original: the schema without its reference targets.
    """

    keywords: Mapping[str, Any]
    path: Path
    keyword_paths: Mapping[str, Path]
    is_false: bool
    original: Any

    def get_path(self, keyword: str) -> Path:
        """Return the path of a keyword, or the path where it would be added."""
        return self.keyword_paths.get(keyword, (*self.path, keyword))

    def get(self, keyword: str) -> Any:
        """Return the value of a keyword, or ABSENT."""
        return self.keywords.get(keyword, ABSENT)

    def get_object(self, keyword: str) -> Mapping[str, Any]:
        """Return the value of a keyword if it is an object, or an empty object."""
        value = self.keywords.get(keyword)
        return value if isinstance(value, Mapping) else {}

    def get_array(self, keyword: str) -> list[Any]:
        """Return the value of a keyword if it is an array, or an empty array."""
        value = self.keywords.get(keyword)
        return value if isinstance(value, list) else []

    def get_subschema(self, keyword: str, *steps: str | int) -> SchemaLocation:
        """Return the schema in a keyword; True if the keyword is missing.

        Args:
            keyword: the keyword.
            steps: the keys or indexes that lead from its value to the schema.
        """
        value = self.keywords.get(keyword, True)
        for step in steps:
            value = value[step]
        return SchemaLocation(value, (*self.get_path(keyword), *steps))


class Edit(NamedTuple):
    """An edit that applies one change to the old schema, or reverts it in the new one.

    Attributes:
        before_path: the path to edit in the old schema.
        applied: the value to set there to apply the change; ABSENT to remove the path.
        after_path: the path to edit in the new schema.
        reverted: the value to set there to revert the change; ABSENT to remove the path.
    """

    before_path: Path
    applied: Any
    after_path: Path
    reverted: Any


class SchemaPair(NamedTuple):
    """An old and a new schema that apply to values at the same location.

    Attributes:
        before: the old schema.
        after: the new schema.
        location: the location of the values, such as `options.depth`; empty for the root.
        root_label: the name of a value of the root schema in messages, such as: a call.
        direction: 1 if a value that the schema rejects is invalid; -1 if it is valid, as
            inside `not`; 0 if that depends on other keywords, as inside `oneOf`.
        before_version: the version that contains the old schema.
        after_version: the version that contains the new schema.
    """

    before: SchemaNode
    after: SchemaNode
    location: str
    root_label: str
    direction: int
    before_version: SchemaVersion
    after_version: SchemaVersion

    @property
    def nodes(self) -> tuple[SchemaNode, SchemaNode]:
        """The old and the new schema."""
        return self.before, self.after

    @property
    def versions(self) -> tuple[SchemaVersion, SchemaVersion]:
        """The versions that contain the old and the new schema."""
        return self.before_version, self.after_version

    @property
    def subject(self) -> str:
        """The location as the subject of a message."""
        return format_subject(self.location, self.root_label)

    def get_property_location(self, name: str) -> str:
        """Return the location of a property of the value."""
        # An empty name is written in quotes, because an empty location is the root.
        return f"{self.location}.{name}" if self.location else name or '""'

    def get_values(self, keyword: str) -> tuple[Any, Any]:
        """Return the old and the new value of a keyword, ABSENT if it is missing."""
        return self.before.get(keyword), self.after.get(keyword)

    def build_subpair(
        self,
        keyword: str,
        *steps: str | int,
        location: str | None = None,
        factor: int = 1,
    ) -> PendingPair:
        """Return the pair of schemas in a keyword of both schemas.

        Args:
            keyword: the keyword.
            steps: the keys or indexes that lead from its value to the schemas.
            location: the location of their values; defaults to the location of the pair.
            factor: the factor that the direction is multiplied by: -1 if the keyword inverts
                the schema, 0 if its effect depends on other keywords.
        """
        return PendingPair(
            self.before.get_subschema(keyword, *steps),
            self.after.get_subschema(keyword, *steps),
            self.location if location is None else location,
            self.direction * factor,
        )

    def build_edits(self, *keywords: str) -> tuple[Edit, ...]:
        """Return the edits that replace the values of keywords."""
        before, after = self.nodes
        return tuple(
            Edit(
                before.get_path(keyword),
                after.get(keyword),
                after.get_path(keyword),
                before.get(keyword),
            )
            for keyword in keywords
        )

    @property
    def replacement_edit(self) -> Edit:
        """The edit that replaces the whole schema."""
        before, after = self.nodes
        return Edit(before.path, after.original, after.path, before.original)

    def make_difference(
        self,
        kind: str,
        path: Path,
        values: tuple[Any, Any],
        edits: tuple[Edit, ...],
        **message_values: str,
    ) -> Difference:
        """Return a difference, with the message of its kind.

        Args:
            kind: the kind of change, a name in `rules.csv`.
            path: the path of the change.
            values: the old and the new value.
            edits: the edits that make the change.
            message_values: the values for the message template, in addition to `subject`.
        """
        message = MESSAGES[kind].format(**{"subject": self.subject, **message_values})
        return Difference(kind, path, *values, message, edits, self)

    def make_keyword_difference(
        self,
        kind: str,
        keyword: str,
        edits: tuple[Edit, ...] | None = None,
        **message_values: str,
    ) -> Difference:
        """Return the difference between the values of a keyword.

        Args:
            kind: the kind of change.
            keyword: the keyword.
            edits: the edits that make the change; by default the keyword's value is replaced.
            message_values: the values for the message template.
        """
        old, new = self.get_values(keyword)
        # A removed keyword has a path only in the old schema.
        node = self.before if new is ABSENT else self.after
        if edits is None:
            edits = self.build_edits(keyword)
        path = node.get_path(keyword)
        return self.make_difference(kind, path, (old, new), edits, **message_values)

    def make_entry_difference(
        self,
        kind: str,
        keyword: str,
        key: str,
        *further_edits: Edit,
        **message_values: str,
    ) -> Difference:
        """Return the difference of one key in the object of a keyword, such as `properties`.

        Args:
            kind: the kind of the difference, which selects its message.
            keyword: the keyword whose value is an object in both schemas.
            key: the key; it can be absent from one schema.
            further_edits: other edits that belong to the same difference.
            message_values: the values of the placeholders in the message.
        """
        before_path, after_path = (
            (*node.get_path(keyword), key) for node in self.nodes
        )
        old, new = (node.get_object(keyword).get(key, ABSENT) for node in self.nodes)
        edits = (Edit(before_path, new, after_path, old), *further_edits)
        path = before_path if new is ABSENT else after_path
        return self.make_difference(kind, path, (old, new), edits, **message_values)


class PendingPair(NamedTuple):
    """A pair of schemas that is still to be compared.

    Attributes:
        before: the old schema.
        after: the new schema.
        location: see `SchemaPair`.
        direction: see `SchemaPair`.
    """

    before: SchemaLocation
    after: SchemaLocation
    location: str
    direction: int


class Difference(NamedTuple):
    """A change of a schema, before it is graded.

    Attributes:
        kind: the kind of change, a name in `rules.csv`.
        path: the path in the new schema; in the old one if the value was removed.
        before: the old JSON value, or ABSENT.
        after: the new JSON value, or ABSENT.
        message: the message about the change.
        edits: the edits that make only this change and no other; empty for a change that
            makes no value invalid.
        pair: the schemas in which the change is.
    """

    kind: str
    path: Path
    before: Any
    after: Any
    message: str
    edits: tuple[Edit, ...]
    pair: SchemaPair

    @property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for equal changes at the same path."""
        return self.kind, self.path, repr(self.before), repr(self.after)


def build_pending_root(before: SchemaVersion, after: SchemaVersion) -> PendingPair:
    """Return the pair of the root schemas of two versions."""
    return PendingPair(
        SchemaLocation(before.root, ()), SchemaLocation(after.root, ()), "", 1
    )


def build_pair(
    pending: PendingPair, before: SchemaVersion, after: SchemaVersion, root_label: str
) -> SchemaPair:
    """Return a pair of schemas, each merged with the schemas that it refers to.

    If one of the two schemas cannot be merged, neither is. Otherwise the unmerged schema
    would seem to lack the keywords that its reference or `allOf` declares.
    """
    old = _merge_references(before, pending.before)
    new = _merge_references(after, pending.after)
    if _is_blocked(old) and not _is_blocked(new):
        new = _merge_references(after, pending.after, is_merged=False)
    elif _is_blocked(new) and not _is_blocked(old):
        old = _merge_references(before, pending.before, is_merged=False)
    return SchemaPair(
        old,
        new,
        pending.location,
        root_label,
        pending.direction,
        before,
        after,
    )


def build_root_pair(
    before: SchemaVersion, after: SchemaVersion, root_label: str
) -> SchemaPair:
    """Return the pair of root schemas, merged with the schemas that they refer to."""
    pending = build_pending_root(before, after)
    return build_pair(pending, before, after, root_label)


def _is_blocked(node: SchemaNode) -> bool:
    """Return whether a reference, or an `allOf` with one schema, was not merged."""
    branches = node.get_array("allOf")
    return len(branches) == 1 and isinstance(branches[0], dict)


def _merge_references(
    version: SchemaVersion, location: SchemaLocation, *, is_merged: bool = True
) -> SchemaNode:
    """Return a schema merged with the schemas that it refers to.

    If a keyword is declared more than once, which only annotations can be, the value closest
    to the schema is used.

    Args:
        version: the version that contains the schema.
        location: the schema.
        is_merged: whether to merge; a reference is then a branch of `allOf`.
    """
    if not isinstance(location.schema, dict):
        is_false = location.schema is False
        return SchemaNode({}, location.path, {}, is_false, location.schema)
    keywords: dict[str, Any] = {}
    paths: dict[str, Path] = {}
    path = location.path
    for part, part_path, target_path in _follow_references(
        version, location.schema, path, is_merged=is_merged
    ):
        for keyword, value in part.items():
            if keyword not in keywords:
                keywords[keyword] = value
                paths[keyword] = (*part_path, keyword)
        path = part_path if target_path is None else target_path
    is_false = False
    if any(keyword in keywords for keyword in REFERENCES):
        target = version.resolve_reference(keywords)
        # A reference to the schema `true` or `false` has no keywords to merge.
        if isinstance(target, bool):
            is_false = not target
            keywords = {k: v for k, v in keywords.items() if k not in REFERENCES}
    return SchemaNode(keywords, path, paths, is_false, location.schema)


def _follow_references(
    version: SchemaVersion, schema: dict[str, Any], path: Path, *, is_merged: bool
) -> Iterator[tuple[Mapping[str, Any], Path, Path | None]]:
    """Yield a schema and the schemas that it refers to, in the order of the references.

    An `allOf` with a single schema counts as a reference. A target whose keywords cannot be
    merged with those before it is not followed: it is yielded as a branch of `allOf`.

    Yields:
        The keywords of a schema, its path, and the path of the next schema (None at the end).
    """
    seen: set[int] = set()
    merged_keywords: set[str] = set()
    while id(schema) not in seen:
        seen.add(id(schema))
        target: Any = version.resolve_reference(schema)
        target_path = None
        if isinstance(target, dict):
            target_path = version.paths_by_id.get(id(target))
        reference_keywords = set(REFERENCES)
        branches = schema.get("allOf")
        if target is None and isinstance(branches, list) and len(branches) == 1:
            target, reference_keywords = branches[0], {"allOf"}
            target_path = (*path, "allOf", 0) if isinstance(target, dict) else None
        is_all_of = reference_keywords == {"allOf"}
        if target is None or target_path is None or id(target) in seen:
            yield schema, path, None
            return
        keywords = {k: v for k, v in schema.items() if k not in reference_keywords}
        if version.is_before_2019 and not is_all_of:
            # Drafts before 2019-09 ignore keywords next to `$ref`; clients still read the
            # annotations there.
            keywords = {k: v for k, v in keywords.items() if k in ANNOTATIONS}
        merged_keywords |= set(keywords) - ANNOTATIONS
        # Merging keeps the meaning if no keyword depends on its neighbors or occurs twice.
        can_merge = (
            is_merged
            and _INDEPENDENT_KEYWORDS.issuperset(keywords)
            and merged_keywords.isdisjoint(target)
        )
        if not can_merge:
            if not is_all_of:
                reference = {k: schema[k] for k in reference_keywords if k in schema}
                other_branches = branches if isinstance(branches, list) else []
                keywords = {**keywords, "allOf": [reference, *other_branches]}
            else:
                keywords = schema
            yield keywords, path, None
            return
        yield keywords, path, target_path
        schema, path = target, target_path
