"""Simplification of a spec's schema to JSON Schema 2020-12 with the keywords of a dialect.

References and `allOf` are resolved if the dialect does not have them. `const`, `oneOf`, `prefixItems`,
alternatives of an object, and `patternProperties` are replaced by other keywords.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from .alternatives import describe_relations, exclude_each_other, merge_alternatives
from .combined_schemas import (
    InexactError,
    contains_json,
    get_type_name,
    list_distinct,
    merge_schemas,
    spell_nullable,
)
from .dialect import (
    ANNOTATIONS,
    STANDARD,
    Dialect,
    Effect,
    InexpressibleError,
    Losses,
    Severity,
    append_text,
    describe_lost_keywords,
    has_only_annotations,
)
from .dialect import References as ReferenceMode
from .provider_names import new_names, renamed_everywhere
from .reference_expansion import expand_reference, expand_references
from .schema_parts import Path, SchemaParts

MAX_DEPTH = 50
"""Maximum nesting of subschemas, and of references in each other; deeper ones are cut."""

_MAX_INLINED_SCHEMAS = 2_000
"""Maximum number of references in one schema that are replaced by their targets."""
_INVALID_NAME_CHARACTER = re.compile(r"[^a-zA-Z0-9_.-]")


class Flattener:
    """Replacement of references and `allOf` that a dialect does not accept.

    Args:
        root: the schema, of an object.
        dialect: the provider's dialect.
        tool: the tool's name in the spec.
        field: the field of the spec that contains the schema.

    Attributes:
        parts: the schema with its references.
        dialect: the provider's dialect.
        losses: collects the losses.
        names: the provider's property names by the spec's, where they differ.
        opened: the `id`s of the schemas that enclose the current one by references.
        definitions: the targets of references that are kept, by their names in `$defs`;
            grows while schemas are flattened.
    """

    def __init__(
        self, root: Mapping[str, Any], dialect: Dialect, tool: str, field: str
    ) -> None:
        self.parts = SchemaParts(root, (field,))
        self.dialect = dialect
        self.losses = Losses(tool)
        self.names = new_names(root, dialect.property_names)
        self.opened = [id(root)]
        self.definitions: list[tuple[str, Any]] = []
        self._definition_names: dict[int, str] = {}
        self._targets_by_reference: dict[str, Any] = {"#": root}
        self._remaining = _MAX_INLINED_SCHEMAS

    def flatten(
        self, schema: Mapping[str, Any], path: Path, is_root: bool = False
    ) -> tuple[dict[str, Any], Path]:
        """Return a schema without unaccepted references and `allOf`, and its path in the spec.

        Only the schema itself is changed, not its subschemas. If it is only a reference that
        is replaced, the path is that of the target.
        """
        flat = self.parts.upgrade(schema)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(flat.get(keyword), str):
                flat, path = self._replace_reference(flat, keyword, path, is_root)
        members = flat.get("allOf")
        accepts_all_of = self.dialect.accepts("allOf", at_root=is_root)
        is_merged = self.dialect.is_closed or not accepts_all_of
        if is_merged and isinstance(members, (list, tuple)):
            del flat["allOf"]
            for index, member in enumerate(members):
                flat = self._merge_member(flat, member, (*path, "allOf", index))
        return flat, path

    def _merge_member(
        self, flat: dict[str, Any], member: Any, path: Path
    ) -> dict[str, Any]:
        """Return a schema merged with a member of `allOf` or the target of a reference.

        A member that cannot be merged exactly is dropped except for its annotations, and
        reported as a loss.
        """
        if not isinstance(member, Mapping):
            return {**flat, **(self.build_false(path) if member is False else {})}
        flat_member, member_path = self.flatten(member, path)
        # `merge_schemas` cannot merge a `$ref` with a schema that has validating keywords, so
        # the reference is first replaced by its target.
        if "$ref" in flat_member and not has_only_annotations(flat):
            flat_member, member_path = self._inline(flat_member, "$ref", member_path)
        if "$ref" in flat and not has_only_annotations(flat_member):
            flat, _ = self._inline(flat, "$ref", path)
        try:
            return merge_schemas(flat, flat_member)
        except InexactError as error:
            loss_path, keyword = path, "$ref"
            if path[-2:-1] == ("allOf",):
                loss_path, keyword = path[:-2], "allOf"
            message = f"its `{error}` cannot be combined with the rest of the schema"
            self._add_wider_loss(loss_path, keyword, f"{message}; dropped")
            annotations = {
                key: value for key, value in flat_member.items() if key in ANNOTATIONS
            }
            return {**annotations, **flat}

    def _replace_reference(
        self, flat: dict[str, Any], keyword: str, path: Path, is_root: bool
    ) -> tuple[dict[str, Any], Path]:
        """Return a schema whose reference is kept, inlined or dropped, and its path.

        A reference without a target is dropped. A reference is kept if the dialect accepts it
        at this position and has no other validating keywords next to it.
        """
        try:
            target = self.parts.resolve(flat[keyword])
        except LookupError:
            del flat[keyword]
            message = "the reference has no target in the schema"
            self._add_wider_loss(path, keyword, message, Severity.ERROR)
            return flat, path
        mode = self.dialect.references
        is_kept = self.dialect.accepts("$ref") and not is_root
        is_kept &= mode is ReferenceMode.KEPT or (
            mode is ReferenceMode.NO_CYCLES and not self.parts.is_cyclic(target)
        )
        is_kept &= flat.keys() - ANNOTATIONS <= {keyword}
        if is_kept and isinstance(target, Mapping):
            del flat[keyword]
            return {"$ref": self._make_reference(target), **flat}, path
        return self._inline(flat, keyword, path)

    def _inline(
        self, flat: dict[str, Any], keyword: str, path: Path
    ) -> tuple[dict[str, Any], Path]:
        """Return a schema whose reference is replaced by its flattened target, and its path.

        A target that contains itself, or that is nested too deeply, is replaced by any value
        of its type.
        """
        siblings = {key: value for key, value in flat.items() if key != keyword}
        reference = flat[keyword]
        target = self._targets_by_reference.get(reference)
        if target is None or keyword != "$ref":
            target = self.parts.resolve(reference)
        if not isinstance(target, Mapping):
            return self._merge_member(siblings, target, path), path
        target_path = self.parts.get_path(target)
        # Count every inlined reference, because references to references can multiply.
        self._remaining -= 1
        is_open = id(target) in self.opened
        if is_open or len(self.opened) > MAX_DEPTH or self._remaining < 0:
            cut = self.cut(target, keyword, target_path)
            return self._merge_member(siblings, cut, path), path
        self.opened.append(id(target))
        flat_target, target_path = self.flatten(target, target_path)
        if "$ref" in flat_target and not has_only_annotations(siblings):
            flat_target, target_path = self._inline(flat_target, "$ref", target_path)
        if not has_only_annotations(siblings):
            return self._merge_member(siblings, flat_target, path), path
        return {**flat_target, **siblings}, target_path

    def cut(
        self, target: Mapping[str, Any], keyword: str, path: Path
    ) -> dict[str, Any]:
        """Return a schema with only the type of a target, and add the loss.

        Raises:
            InexpressibleError: the dialect is closed.
        """
        if self.dialect.is_closed:
            raise InexpressibleError(path, keyword, "contains itself")
        message = (
            "the schema contains itself; inside itself it is replaced by any value of its"
            " type"
        )
        self._add_wider_loss(path, keyword, message)
        return {"type": target["type"]} if "type" in target else {}

    def build_false(self, path: Path) -> dict[str, Any]:
        """Return the replacement for the schema `false`, which allows no value.

        Without `not` in the dialect the result is `{}`, which allows every value, and a loss
        is added.

        Raises:
            InexpressibleError: the dialect is closed.
        """
        if self.dialect.is_closed:
            raise InexpressibleError(path, get_last_name(path), "accepts no value")
        if self.dialect.accepts("not"):
            return {"not": {}}
        self._add_wider_loss(path, "false", "no value is valid")
        return {}

    def _add_wider_loss(
        self,
        path: Path,
        keyword: str,
        message: str,
        severity: Severity = Severity.WARNING,
    ) -> None:
        self.losses.add(path, keyword, message, Effect.WIDER, severity)

    def _make_reference(self, target: Mapping[str, Any]) -> str:
        """Return a reference to a target, and add the target to `definitions` once."""
        if target is self.parts.root:
            return "#"
        if id(target) not in self._definition_names:
            path = self.parts.get_path(target)
            name = _INVALID_NAME_CHARACTER.sub("_", str(path[-1]))
            used_names = set(self._definition_names.values())
            unique_name, number = name, 2
            while unique_name in used_names:
                unique_name, number = f"{name}_{number}", number + 1
            self._definition_names[id(target)] = unique_name
            self.definitions.append((unique_name, target))
        reference = f"#/$defs/{self._definition_names[id(target)]}"
        self._targets_by_reference[reference] = target
        return reference


def get_last_name(path: Path) -> str:
    """Return the last keyword or property name in a path, without list indexes."""
    return next(step for step in reversed(path) if isinstance(step, str))


def replace_keywords(
    flattener: Flattener, schema: dict[str, Any], path: Path, is_root: bool
) -> dict[str, Any]:
    """Return a schema with unaccepted keywords replaced by accepted ones.

    Replaces `const`, `oneOf`, `prefixItems`, `patternProperties`, and alternatives at the
    root. Keywords without a replacement stay. Inexact replacements are added as losses.
    """
    accepts, enum_types = flattener.dialect.accepts, flattener.dialect.enum_types
    if "const" in schema and not accepts("const") and accepts("enum"):
        value = schema["const"]
        is_accepted = enum_types is None or get_type_name(value) in enum_types
        is_accepted &= contains_json(schema.get("enum", [value]), value)
        if is_accepted and flattener.dialect.accepts_integers(value):
            replaced = _replace_keyword(schema, "const", "enum", [value])
            schema = {**replaced, "enum": [value]}
    # Keep `oneOf` if the schema also has an `anyOf`: a schema cannot have two of them.
    becomes_any_of = accepts("anyOf") and not accepts("oneOf") and "anyOf" not in schema
    for keyword in ("oneOf", "anyOf"):
        members = schema.get(keyword)
        if not isinstance(members, (list, tuple)) or not members:
            continue
        if is_root and not accepts(keyword, at_root=True):
            schema = _merge_into_object(flattener, schema, keyword, path)
        elif keyword == "oneOf" and becomes_any_of:
            if not exclude_each_other(
                [expand_reference(flattener.parts, member) for member in members]
            ):
                message = "exactly one alternative must match; replaced by `anyOf`"
                flattener.losses.add(path, "oneOf", message, Effect.WIDER)
            schema = _replace_keyword(schema, "oneOf", "anyOf", list(members))
    if "anyOf" in schema and not accepts("anyOf"):
        schema = _spell_nullable(flattener, schema, path)
    if schema.get("patternProperties") and not flattener.dialect.is_closed:
        schema = _replace_pattern_properties(flattener, schema, path)
    if "prefixItems" in schema and not accepts("prefixItems"):
        schema = _replace_prefix_items(flattener, schema, path)
    if flattener.dialect.is_closed and "anyOf" in schema and not is_root:
        schema = _distribute_siblings(flattener, schema, path)
    return schema


def _spell_nullable(
    flattener: Flattener, schema: dict[str, Any], path: Path
) -> dict[str, Any]:
    """Replace an `anyOf` of one schema and null by the dialect's spelling, if possible."""
    null, members = {"type": "null"}, schema["anyOf"]
    if len(members) != 2 or null not in members:
        return schema
    index = 1 - members.index(null)
    if not isinstance(members[index], Mapping):
        return schema
    other, _ = flattener.flatten(members[index], (*path, "anyOf", index))
    spelled = spell_nullable(
        {**schema, "anyOf": [other, null]}, flattener.dialect.nullable
    )
    return schema if "anyOf" in spelled else spelled


def _replace_pattern_properties(
    flattener: Flattener, schema: dict[str, Any], path: Path
) -> dict[str, Any]:
    """Return a schema with unaccepted `patternProperties` moved to `additionalProperties`.

    If they were only dropped, `additionalProperties: false` would reject the matching names.
    """
    dialect = flattener.dialect
    patterns = schema["patternProperties"]
    is_accepted = dialect.accepts("patternProperties")
    lost = {
        pattern: subschema
        for pattern, subschema in patterns.items()
        if not is_accepted or not dialect.accepts_pattern(pattern)
    }
    if not lost or not dialect.accepts("additionalProperties"):
        return schema
    kept = {
        pattern: subschema
        for pattern, subschema in patterns.items()
        if pattern not in lost
    }
    stated: dict[str, Any] = {"patternProperties": lost}
    # Without `additionalProperties`, names that match no pattern may have any value.
    additional = schema.get("additionalProperties", True)
    if additional is not True:
        stated["additionalProperties"] = additional
    members = [item for item in (*lost.values(), additional) if item is not False]
    members = list_distinct(members)
    if any(item is True or not item for item in members):
        members = [True]
    replaced = {
        key: value
        for key, value in schema.items()
        if key not in ("patternProperties", "additionalProperties")
    }
    if kept:
        replaced["patternProperties"] = kept
    is_single = len(members) < 2
    replaced["additionalProperties"] = (
        next(iter(members), False) if is_single else {"anyOf": members}
    )
    messages = {
        "patternProperties": "replaced by `additionalProperties`",
        "additionalProperties": "accepts the values of `patternProperties` too",
    }
    addition, severity = "", Severity.WARNING
    if _state_in_description(flattener, replaced, stated):
        addition, severity = "; stated in the description", Severity.NOTE
    for keyword in stated:
        message = messages[keyword] + addition
        flattener.losses.add(path, keyword, message, Effect.WIDER, severity)
    return replaced


def describe_keywords(
    flattener: Flattener, lost: Mapping[str, Any]
) -> tuple[str, frozenset[str]]:
    """Return text that states lost keywords, and the stated keywords.

    References are replaced by their targets, because the model may not see these. A keyword
    whose references cannot be replaced is omitted.
    """
    readable: dict[str, Any] = {}
    for key, value in lost.items():
        with suppress(LookupError):
            readable |= expand_references(flattener.parts, {key: value})
    return describe_lost_keywords(renamed_everywhere(readable, flattener.names))


def _state_in_description(
    flattener: Flattener,
    schema: dict[str, Any],
    lost: Mapping[str, Any],
    *,
    is_root: bool = False,
) -> bool:
    """Append lost keywords to a schema's description if the text can contain all of them.

    Returns:
        Whether the description was changed.
    """
    if not flattener.dialect.accepts("description", at_root=is_root):
        return False
    text, stated = describe_keywords(flattener, lost)
    if stated != lost.keys():
        return False
    schema["description"] = append_text(schema.get("description"), text)
    return True


def _replace_prefix_items(
    flattener: Flattener, schema: dict[str, Any], path: Path
) -> dict[str, Any]:
    """Return a schema with `items` instead of `prefixItems`: any item schema at any position.

    Adds a loss. If no further items are allowed, `maxItems` limits their number.
    """
    item_schemas = list(schema["prefixItems"])
    other_items = schema.get("items", True)
    max_items = schema.get("maxItems")
    count = len(item_schemas)
    if other_items is False or (isinstance(max_items, int) and max_items <= count):
        # No items may follow the listed ones, so limit the number of items instead.
        schema = {**schema, "maxItems": min(count, max_items or count)}
    else:
        if flattener.dialect.is_closed and other_items in (True, {}):
            raise InexpressibleError(path, "items", "accepts items of any type")
        item_schemas.append(other_items)
    distinct = list_distinct(item_schemas)
    message = "the position of each item; every item may match any of the schemas"
    severity = Severity.WARNING if len(distinct) > 1 else Severity.NOTE
    flattener.losses.add(path, "prefixItems", message, Effect.WIDER, severity)
    items = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    remaining = {
        key: value
        for key, value in schema.items()
        if key not in ("prefixItems", "items")
    }
    return {**remaining, "items": items}


def _merge_into_object(
    flattener: Flattener, schema: dict[str, Any], keyword: str, path: Path
) -> dict[str, Any]:
    """Return a schema with one object instead of the alternatives in a keyword.

    The object has the properties of all alternatives; a loss states that. If an alternative
    is not an object, the schema is returned unchanged.
    """
    members = [
        {} if member is True else expand_reference(flattener.parts, member)
        for member in schema[keyword]
        if member is not False
    ]
    base = {key: value for key, value in schema.items() if key != keyword}
    merged_object = merge_alternatives(base, members)
    if merged_object is None:
        return schema
    message = "the alternatives are merged into one object with all parameters"
    severity = Severity.NOTE
    relations = describe_relations(members)
    if any("$ref" in member for member in members) or (
        relations
        and not _state_in_description(
            flattener, merged_object, {keyword: relations}, is_root=True
        )
    ):
        severity = Severity.WARNING
    elif relations:
        message += "; the description states which belong together"
    is_open = any(member.get("additionalProperties") is not False for member in members)
    # An open alternative accepts any value for a property that only other alternatives
    # declare; the merged object accepts only values that match the declaration.
    names = [member.get("properties", {}).keys() for member in members]
    is_narrower = is_open and any(keys != names[0] for keys in names)
    # An alternative may also evaluate names that it does not list in `properties`.
    is_narrower |= "unevaluatedProperties" in base
    effect = Effect.OTHER if is_narrower else Effect.WIDER
    flattener.losses.add(path, keyword, message, effect, severity)
    if isinstance(base.get("additionalProperties"), Mapping):
        message = "applied to the parameters of the alternatives where possible"
        flattener.losses.add(path, "additionalProperties", message, Effect.WIDER)
    return merged_object


def _distribute_siblings(
    flattener: Flattener, schema: dict[str, Any], path: Path
) -> dict[str, Any]:
    """Return a schema whose validating keywords next to `anyOf` are moved into its members.

    A closed object must declare all its properties in one schema. If the keywords cannot be
    merged into a member, `anyOf` is dropped with a loss.
    """
    siblings = {
        key: value
        for key, value in schema.items()
        if key in STANDARD and key != "anyOf"
    }
    if not siblings:
        return schema
    remaining = {key: value for key, value in schema.items() if key not in siblings}
    try:
        members: list[Any] = []
        for member in schema["anyOf"]:
            expanded = expand_reference(flattener.parts, member)
            if expanded is False:
                members.append(False)
            else:
                alternative = expanded if isinstance(expanded, Mapping) else {}
                members.append(merge_schemas(alternative, siblings))
        return {**remaining, "anyOf": members}
    except (InexactError, AttributeError):
        message = "it cannot be combined with the other keywords; dropped"
        flattener.losses.add(path, "anyOf", message, Effect.WIDER, Severity.WARNING)
        return {key: value for key, value in schema.items() if key != "anyOf"}


def _replace_keyword(
    schema: Mapping[str, Any], old: str, new: str, value: Any
) -> dict[str, Any]:
    """Return a schema with one keyword replaced by another, at the same position.

    If the schema already has the new keyword, the old keyword is only removed.
    """
    if new in schema:
        return {key: item for key, item in schema.items() if key != old}
    return {
        new if key == old else key: value if key == old else item
        for key, item in schema.items()
    }
