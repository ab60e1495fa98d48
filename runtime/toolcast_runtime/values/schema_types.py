"""Conversion of JSON Schemas to Python types.

A type includes every value that the schema allows, and may include more. Keywords that types cannot
express (`not`, `if`, several combinations at once) are recorded: the type is wider than the schema
says. Limits of values, such as `minimum` and `pattern`, are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.validation.checker import DeclaredNames
from ..core.validation.references import References
from .annotated_types import (
    ANY,
    COMBINED,
    SCALARS,
    Array,
    Choice,
    ConditionalTexts,
    Member,
    NamedType,
    ObjectName,
    ObjectType,
    PythonType,
    SchemaNode,
    Table,
    find_tag,
    is_literal,
    make_union,
    nested_class_name,
)
from .python_values import get_conversion

# Keywords that Python types cannot express. They are recorded, and the type allows more values.
_INEXPRESSIBLE = tuple(
    "not if dependentSchemas dependentRequired dependencies $dynamicRef $recursiveRef".split()
)
# Keywords that determine a type. Members of `anyOf` without such a keyword only restrict the
# enclosing schema, so they do not become a union.
_TYPE_KEYWORDS = frozenset(
    "type enum const properties items prefixItems anyOf oneOf".split()
)
_MAX_DEPTH = 24
"""Maximum number of enclosing objects and arrays; deeper values have the type Any."""
_MAX_UNION_CLASSES = 50
"""Maximum number of classes in one union.

mypy takes a minute for 150 classes, and four minutes for 200.
"""
_MAX_STEPS = 20_000
"""Maximum number of subschemas that are resolved; the remaining ones become Any.

References to references can multiply the number of subschemas.
"""

# All keywords that matter for types. Subschemas without any of them are ignored.
_RELEVANT = _TYPE_KEYWORDS.union(
    ["required", "additionalItems", "patternProperties", "additionalProperties"],
    _INEXPRESSIBLE,
)
# Keywords that may change the type that `type` alone determines.
_REFINING = _RELEVANT.union(["$ref", "allOf"]).difference(["type"])


_FORMATS = frozenset(("format", "contentEncoding"))


class SchemaTypes:
    """Builder of the Python types of one schema, and of the classes in them.

    Args:
        root: the schema.
        name: the first part of the name of each class.
        used_names: names that no class may have.
        has_values: whether strings with a format are Python values, as handlers receive them.

    Attributes:
        uses_python_values: whether a type contains a Python value.
        objects: the classes, each before the ones that it contains.
    """

    def __init__(
        self,
        root: Any,
        name: str,
        used_names: Sequence[str] = (),
        *,
        has_values: bool = False,
    ) -> None:
        self._relevant = _RELEVANT | _FORMATS if has_values else _RELEVANT
        self._conditional = ConditionalTexts(root) if has_values else None
        self.uses_python_values = False
        self.objects: list[ObjectType] = []
        self._root = root
        self._references = References(root)
        self._name = name
        self._used_names = set(used_names)
        self._types_by_key: dict[tuple[Any, ...], PythonType] = {}
        self._in_progress: set[tuple[Any, ...]] = set()
        # Stack of lists of keywords that types cannot express, one list for each class or
        # member that is being built.
        self._inexpressible: list[list[str]] = [[]]
        self._steps = 0

    def build_arguments_class(self, name: str) -> ObjectType:
        """Build the class of a call's arguments, which are always an object."""
        node = self._make_node([self._root])
        class_ = self._build_class(node, name)
        members = dict(class_.members)
        # A name that only one alternative declares has the type Any, because other
        # alternatives may allow any value for the name.
        for key in sorted(DeclaredNames(self._root).names.difference(members)):
            members[key] = Member(ANY, False)
        combinations = [
            keyword for part in node.parts for keyword in COMBINED if keyword in part
        ]
        for keyword in combinations:
            self._record(keyword)
        class_.members = members
        class_.wider = tuple(dict.fromkeys([*class_.wider, *combinations]))
        return class_

    def build_type(self, name: str) -> tuple[PythonType, tuple[str, ...]]:
        """Return the type of the schema, and the keywords that it cannot express.

        Args:
            name: the name of the class, if the type is a class; its own keywords are in
                the class instead.
        """
        node = self._make_node([self._root])
        self._inexpressible.append([])
        type_ = self._get_type(node, name)
        return type_, tuple(dict.fromkeys(self._inexpressible.pop()))

    def _make_node(
        self,
        schemas: Sequence[Any],
        depth: int = 0,
        name_parts: tuple[str, ...] = (),
        resolved: frozenset[tuple[int, str]] = frozenset(),
    ) -> SchemaNode:
        """Return all schemas that apply to a value, with references and `allOf` resolved."""
        parts: dict[int, Mapping[str, Any]] = {}
        stack = list(reversed(schemas))
        first_reference = None
        while stack:
            schema = stack.pop()
            self._steps += 1
            if not isinstance(schema, dict) or id(schema) in parts:
                continue
            if self._steps > _MAX_STEPS:
                break
            parts[id(schema)] = schema
            reference = schema.get("$ref")
            if isinstance(reference, str):
                first_reference = first_reference or reference
                try:
                    stack.append(self._references.resolve(reference))
                except LookupError:
                    self._record("$ref")
            all_of = schema.get("allOf")
            if isinstance(all_of, list):
                stack += reversed(all_of)
        # Name the class of a referenced definition by the definition, not by the property that
        # refers to it.
        if first_reference is not None and first_reference.startswith(("#/$", "#/def")):
            name_parts = (first_reference.rpartition("/")[2],)
        relevant = self._relevant
        relevant_parts = tuple(
            part for part in parts.values() if not relevant.isdisjoint(part)
        )
        if not resolved:
            return SchemaNode(relevant_parts, depth, name_parts)
        relevant_parts = tuple(
            part
            for part in relevant_parts
            if any(key in relevant and (id(part), key) not in resolved for key in part)
        )
        part_ids = set(map(id, relevant_parts))
        resolved = frozenset(pair for pair in resolved if pair[0] in part_ids)
        return SchemaNode(relevant_parts, depth, name_parts, resolved)

    def _record(self, keyword: str) -> None:
        """Record a keyword that the current type cannot express."""
        self._inexpressible[-1].append(keyword)

    def _get_type(self, node: SchemaNode, name: str | None = None) -> PythonType:
        if node.depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            self._record("$ref" if self._steps > _MAX_STEPS else "type")
            return ANY
        key = node.key
        if key in self._types_by_key:
            return self._types_by_key[key]
        if key in self._in_progress:
            # Only classes may contain themselves, and they are found in `_types_by_key`; all
            # other recursive types become Any.
            self._record("$ref")
            return ANY
        self._in_progress.add(key)
        try:
            type_ = self._build_new_type(node, name)
        finally:
            self._in_progress.discard(key)
        if not isinstance(type_, ObjectName):
            return type_
        self._types_by_key[key] = type_
        return type_

    def _build_new_type(self, node: SchemaNode, name: str | None) -> PythonType:
        enum_type = self._build_enum_type(node)
        if enum_type is not None:
            return enum_type
        combination = self._find_combination(node)
        if combination is not None:
            part, keyword = combination
            resolved = node.left | {(id(part), keyword)}
            members = []
            for index, member in enumerate(part[keyword]):
                name_parts = (
                    *node.name_parts,
                    find_tag(member) or f"option {index + 1}",
                )
                member_node = self._make_node(
                    [*node.parts, member], node.depth, name_parts, resolved
                )
                members.append(self._get_type(member_node))
            return make_union(members)
        kinds = node.kinds
        # For objects, `_build_class` records these keywords in the class.
        if "object" not in kinds:
            self._record_inexpressible(node)
        if not kinds:
            self._record_all(node, ("type", "properties", "items", "prefixItems"))
            return ANY
        is_class = kinds == ["object"] and any(node.values("properties"))
        if not is_class and self._is_conditional(node):
            return ANY
        name = name if len(kinds) == 1 else None
        return make_union([self._build_kind(node, kind, name) for kind in kinds])

    def _build_enum_type(self, node: SchemaNode) -> PythonType | None:
        """Return the type of the values in `const` and `enum`; None if there is neither."""
        value_lists = [[value] for value in node.values("const")]
        value_lists += [
            value for value in node.values("enum") if isinstance(value, list)
        ]
        if not value_lists:
            return None
        values = min(value_lists, key=len)
        types: list[PythonType] = []
        if self._is_conditional(node):
            return ANY
        strings = [value for value in values if isinstance(value, str)]
        if strings:
            literal = Choice(tuple(dict.fromkeys(strings)))
            string_type = self._build_string_type(node, literal)
            if string_type != literal:
                types.append(string_type)
                values = [value for value in values if not isinstance(value, str)]
        literals = list(filter(is_literal, values))
        # Use the Python type as part of the key, because `1 == True`.
        distinct = {
            (type(value), value): value for value in literals if value is not None
        }
        if distinct:
            types.append(Choice(tuple(distinct.values())))
        if None in literals:
            types.append(SCALARS["null"])
        if len(literals) != len(values):
            self._record_all(node, ("const", "enum"))
            others = [value for value in values if not is_literal(value)]
            for kind, type_ in (
                (int, SCALARS["integer"]),
                (float, SCALARS["number"]),
                (list, Array(ANY)),
                (dict, Table(ANY)),
            ):
                if any(isinstance(value, kind) for value in others):
                    types.append(type_)
        return make_union(types)

    def _is_conditional(self, node: SchemaNode) -> bool:
        """Return whether a string's type depends on a condition, here or inside the value."""
        if self._conditional is None or not self._conditional.may_be(node):
            return False
        self.uses_python_values = True
        return True

    def _find_combination(
        self, node: SchemaNode
    ) -> tuple[Mapping[str, Any], str] | None:
        """Return the `anyOf` or `oneOf` that becomes a union; record all others."""
        combination: tuple[Mapping[str, Any], str] | None = None
        for part in node.parts:
            for keyword in COMBINED:
                members = part.get(keyword)
                if not isinstance(members, list) or not members:
                    continue
                if (id(part), keyword) in node.left:
                    continue
                # Resolve at most two nested combinations, because the numbers of their members
                # multiply.
                is_excess = combination is not None or len(node.left) > 1
                has_type = any(map(self._determines_type, members))
                if is_excess or not has_type or self._exceeds_class_limit(members):
                    self._record(keyword)
                else:
                    combination = part, keyword
        return combination

    def _determines_type(self, member: Any) -> bool:
        keywords = _TYPE_KEYWORDS
        if self._conditional is not None:
            keywords = keywords | _FORMATS
        parts = self._make_node([member]).parts
        return any(not keywords.isdisjoint(part) for part in parts)

    def _exceeds_class_limit(self, members: Sequence[Any]) -> bool:
        if len(members) <= _MAX_UNION_CLASSES:
            return False
        nodes = [self._make_node([member]) for member in members]
        class_count = sum(any(node.values("properties")) for node in nodes)
        return class_count > _MAX_UNION_CLASSES

    def _build_kind(self, node: SchemaNode, kind: str, name: str | None) -> PythonType:
        """Return the type for one JSON type of a value."""
        if kind == "array":
            return self._build_array_type(node)
        if kind == "string":
            return self._build_string_type(node)
        if kind != "object":
            return SCALARS[kind]
        if any(node.values("properties")) or any(node.values("required")):
            return ObjectName(self._build_class(node, name).name)
        return self._build_table_type(node)

    def _build_string_type(
        self, node: SchemaNode, default: PythonType = SCALARS["string"]
    ) -> PythonType:
        """Return the Python type by the first format of the node; `default` without one.

        Without `has_values` the type is always `default`.
        """
        for part in node.parts if self._conditional is not None else ():
            conversion = get_conversion(part)
            if conversion is not None:
                self.uses_python_values = True
                return NamedType(conversion.type)
        return default

    def _build_array_type(self, node: SchemaNode) -> PythonType:
        items: list[Any] = []
        first_items: list[Any] = []
        for part in node.parts:
            value = part.get("items")
            # Up to draft 2019-09 `items` may be an array, like `prefixItems` since then.
            if isinstance(value, list):
                first_items += value
                value = part.get("additionalItems")
            elif isinstance(part.get("prefixItems"), list):
                first_items += part["prefixItems"]
            if value is not None:
                items.append(value)
        depth = node.depth + 1
        name_parts = (*node.name_parts, "item")
        item = (
            self._get_type(self._make_node(items, depth, name_parts)) if items else ANY
        )
        if first_items:
            self._record_all(node, ("prefixItems", "additionalItems"))
            types = []
            for index, schema in enumerate(first_items):
                name_parts = (*node.name_parts, f"item {index + 1}")
                types.append(
                    self._get_type(self._make_node([schema], depth, name_parts))
                )
            # With `items: false` an array has no further items, whose type would matter.
            if items != [False]:
                types.append(item)
            item = make_union(types)
        return Array(item)

    def _build_table_type(self, node: SchemaNode) -> PythonType:
        """Return the type of an object without declared properties."""
        self._record_inexpressible(node)
        pattern_maps = [
            value
            for value in node.values("patternProperties")
            if isinstance(value, dict)
        ]
        additional = list(node.values("additionalProperties"))
        name_parts = (*node.name_parts, "value")
        types = [
            self._get_type(self._make_node([schema], node.depth + 1, name_parts))
            for patterns in pattern_maps
            for schema in patterns.values()
        ]
        if len(node.parts) > 1 and len(additional) + len(pattern_maps) > 1:
            # A property that is additional for one schema may match a pattern of another, so
            # no single type is certain.
            return Table(ANY)
        if not (pattern_maps and additional == [False]):
            value_node = self._make_node(additional, node.depth + 1, name_parts)
            types.append(self._get_type(value_node) if additional else ANY)
        return Table(make_union(types))

    def _build_class(self, node: SchemaNode, name: str | None) -> ObjectType:
        class_ = ObjectType(self._make_unique_name(name, node.name_parts))
        self.objects.append(class_)
        # Store the class before its members are built, because members may refer to the class.
        self._types_by_key[node.key] = ObjectName(class_.name)
        self._inexpressible.append([])
        schemas: dict[str, list[Any]] = {}
        for properties in node.values("properties"):
            if isinstance(properties, dict):
                for key, schema in properties.items():
                    schemas.setdefault(key, []).append(schema)
        required = {
            key
            for keys in node.values("required")
            if isinstance(keys, list)
            for key in keys
            if isinstance(key, str)
        }
        self._record_inexpressible(node)
        for keyword in ("patternProperties", "additionalProperties"):
            for part in node.parts:
                if isinstance(part.get(keyword), dict) and part[keyword]:
                    self._record(keyword)
        members = {}
        for key, parts in schemas.items():
            scalar = self._find_scalar_type(parts, node.depth + 1)
            if scalar is not None:
                members[key] = Member(scalar, key in required)
                continue
            self._inexpressible.append([])
            value = self._make_node(parts, node.depth + 1, (*node.name_parts, key))
            type_ = self._get_type(value)
            wider = tuple(dict.fromkeys(self._inexpressible.pop()))
            members[key] = Member(type_, key in required, wider)
        for key in sorted(required - schemas.keys()):
            members[key] = Member(ANY, True)
        if self._conditional is not None:
            for key in list(self._conditional.members(node, members)):
                self.uses_python_values = True
                members[key] = Member(ANY, members[key].is_required)
        class_.members = members
        class_.wider = tuple(dict.fromkeys(self._inexpressible.pop()))
        return class_

    def _find_scalar_type(
        self, schemas: Sequence[Any], depth: int
    ) -> PythonType | None:
        """Return the type of a member whose one schema only has a scalar `type`; else None.

        This fast path covers most members, which then skip the general conversion.
        """
        if len(schemas) != 1 or self._conditional is not None:
            return None
        schema = schemas[0]
        if not isinstance(schema, dict) or not _REFINING.isdisjoint(schema):
            return None
        if depth > _MAX_DEPTH or self._steps >= _MAX_STEPS:
            return None
        kind = schema.get("type")
        scalar = SCALARS.get(kind) if isinstance(kind, str) else None
        if scalar is not None:
            self._steps += 1
        return scalar

    def _record_all(self, node: SchemaNode, keywords: Sequence[str]) -> None:
        for part in node.parts:
            for keyword in keywords:
                if part.get(keyword):
                    self._record(keyword)

    def _record_inexpressible(self, node: SchemaNode) -> None:
        for part in node.parts:
            for keyword in _INEXPRESSIBLE:
                if keyword in part:
                    self._record(keyword)

    def _make_unique_name(self, name: str | None, name_parts: Sequence[str]) -> str:
        base_name = name or nested_class_name(self._name, name_parts)
        unique_name, number = base_name, 2
        while unique_name in self._used_names:
            unique_name, number = f"{base_name}{number}", number + 1
        self._used_names.add(unique_name)
        return unique_name
