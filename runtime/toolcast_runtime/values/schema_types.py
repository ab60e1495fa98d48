"""The one place where a JSON Schema becomes a Python type.

A type takes in every value that the schema lets through, and may take in more: what types
cannot say (`not`, `if`, several combinations at once) is noted as a keyword that the type
is wider than. Limits of a value, such as `minimum` or `pattern`, are no business of types.
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
    Place,
    PythonType,
    Table,
    is_literal,
    nested_class_name,
    one_of,
    tag_of,
)
from .python_values import conversion_of

# What says more of a value than a type can.
_UNSAID = tuple(
    "not if dependentSchemas dependentRequired dependencies $dynamicRef $recursiveRef".split()
)
# A member of `anyOf` with none of these only limits what the schema around it says.
_TELLING = frozenset("type enum const properties items prefixItems anyOf oneOf".split())
_MAX_DEPTH = 24
_MAX_UNION_CLASSES = 50
"""Classes of one union. mypy takes a minute for 150 of them, and four for 200."""
_MAX_STEPS = 20_000
"""Subschemas that are resolved.

References can fan out; the remaining ones become Any.
"""

# Parts of a schema without any of these are alike, whatever else they say.
_RELEVANT = _TELLING.union(
    ["required", "additionalItems", "patternProperties", "additionalProperties"],
    _UNSAID,
)
# What may say more of a value's type than `type` does.
_MORE = _RELEVANT.union(["$ref", "allOf"]).difference(["type"])


_FORMATS = frozenset(("format", "contentEncoding"))


class SchemaTypes:
    """The types of one schema, and the classes that they need.

    Args:
        root: the schema.
        name: what every class is called first, a class name.
        taken: names that no class may have.
        has_values: texts of formats are Python's values, as handlers may be given them.

    Attributes:
        has_found_values: whether there is such a text.
        objects: the classes, each before those that only it needs.
    """

    def __init__(
        self,
        root: Any,
        name: str,
        taken: Sequence[str] = (),
        *,
        has_values: bool = False,
    ) -> None:
        self._relevant = _RELEVANT | _FORMATS if has_values else _RELEVANT
        self._conditional = ConditionalTexts(root) if has_values else None
        self.has_found_values = False
        self.objects: list[ObjectType] = []
        self._root = root
        self._references = References(root)
        self._name = name
        self._taken = set(taken)
        self._known: dict[tuple[Any, ...], PythonType] = {}
        self._open: set[tuple[Any, ...]] = set()
        self._notes: list[list[str]] = [[]]
        self._steps = 0

    def arguments(self, name: str) -> ObjectType:
        """The class of the arguments of a call, which are always an object."""
        place = self._place([self._root])
        made = self._object(place, name)
        members = dict(made.members)
        # One of the combinations declares them, and another may let in anything there.
        for key in sorted(DeclaredNames(self._root).names.difference(members)):
            members[key] = Member(ANY, False)
        wider = [
            keyword for part in place.parts for keyword in COMBINED if keyword in part
        ]
        for keyword in wider:
            self._note(keyword)
        made.members = members
        made.wider = tuple(dict.fromkeys([*made.wider, *wider]))
        return made

    def whole(self, name: str) -> tuple[PythonType, tuple[str, ...]]:
        """The type of the schema itself, and what it does not say.

        A class for it has this name, and does not say the rest.
        """
        place = self._place([self._root])
        self._notes.append([])
        type_ = self._type(place, name)
        return type_, tuple(dict.fromkeys(self._notes.pop()))

    def _place(
        self,
        schemas: Sequence[Any],
        depth: int = 0,
        words: tuple[str, ...] = (),
        left: frozenset[tuple[int, str]] = frozenset(),
    ) -> Place:
        """All that holds for a value of these schemas."""
        parts: dict[int, Mapping[str, Any]] = {}
        waiting = list(reversed(schemas))
        first_reference = None
        while waiting:
            schema = waiting.pop()
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
                    waiting.append(self._references.resolve(reference))
                except LookupError:
                    self._note("$ref")
            whole = schema.get("allOf")
            if isinstance(whole, list):
                waiting += reversed(whole)
        if first_reference is not None and first_reference.startswith(("#/$", "#/def")):
            words = (first_reference.rpartition("/")[2],)
        relevant = self._relevant
        telling = tuple(p for p in parts.values() if not relevant.isdisjoint(p))
        if not left:
            return Place(telling, depth, words)
        telling = tuple(
            part
            for part in telling
            if any(key in relevant and (id(part), key) not in left for key in part)
        )
        kept = frozenset(one for one in left if one[0] in map(id, telling))
        return Place(telling, depth, words, kept)

    def _note(self, keyword: str) -> None:
        self._notes[-1].append(keyword)

    def _type(self, place: Place, name: str | None = None) -> PythonType:
        if place.depth > _MAX_DEPTH or self._steps > _MAX_STEPS:
            self._note("$ref" if self._steps > _MAX_STEPS else "type")
            return ANY
        key = place.key
        if key in self._known:
            return self._known[key]
        if key in self._open:
            # Only a class can be part of itself.
            self._note("$ref")
            return ANY
        self._open.add(key)
        try:
            type_ = self._unknown(place, name)
        finally:
            self._open.discard(key)
        if not isinstance(type_, ObjectName):
            return type_
        self._known[key] = type_
        return type_

    def _unknown(self, place: Place, name: str | None) -> PythonType:
        choices = self._choices(place)
        if choices is not None:
            return choices
        combined = self._combined(place)
        if combined is not None:
            part, keyword = combined
            left = place.left | {(id(part), keyword)}
            members = [
                self._type(
                    self._place(
                        [*place.parts, member],
                        place.depth,
                        (*place.words, tag_of(member) or f"option {index + 1}"),
                        left,
                    )
                )
                for index, member in enumerate(part[keyword])
            ]
            return one_of(members)
        kinds = place.kinds
        if "object" not in kinds:
            self._note_unsaid(place)
        if not kinds:
            self._note_all(place, ("type", "properties", "items", "prefixItems"))
            return ANY
        is_named = kinds == ["object"] and any(place.values("properties"))
        if not is_named and self._is_conditional(place):
            return ANY
        name = name if len(kinds) == 1 else None
        return one_of([self._of_kind(place, kind, name) for kind in kinds])

    def _choices(self, place: Place) -> PythonType | None:
        """What `const` and `enum` leave; None where there is neither."""
        listed = [[value] for value in place.values("const")]
        listed += [value for value in place.values("enum") if isinstance(value, list)]
        if not listed:
            return None
        values = min(listed, key=len)
        types: list[PythonType] = []
        if self._is_conditional(place):
            return ANY
        texts = [value for value in values if isinstance(value, str)]
        if texts:
            as_text = Choice(tuple(dict.fromkeys(texts)))
            text = self._text(place, as_text)
            if text != as_text:
                types.append(text)
                values = [value for value in values if not isinstance(value, str)]
        literals = list(filter(is_literal, values))
        distinct = {(type(v), v): v for v in literals if v is not None}
        if distinct:
            types.append(Choice(tuple(distinct.values())))
        if None in literals:
            types.append(SCALARS["null"])
        if len(literals) != len(values):
            self._note_all(place, ("const", "enum"))
            for kind, type_ in (
                (int, SCALARS["integer"]),
                (float, SCALARS["number"]),
                (list, Array(ANY)),
                (dict, Table(ANY)),
            ):
                if any(isinstance(v, kind) for v in values if not is_literal(v)):
                    types.append(type_)
        return one_of(types)

    def _is_conditional(self, place: Place) -> bool:
        """Whether it is a text, or has one, whose type depends on more than types say."""
        if self._conditional is None or not self._conditional.may_be(place):
            return False
        self.has_found_values = True
        return True

    def _combined(self, place: Place) -> tuple[Mapping[str, Any], str] | None:
        """The `anyOf` or `oneOf` that the type says; others are noted."""
        found: tuple[Mapping[str, Any], str] | None = None
        for part in place.parts:
            for keyword in COMBINED:
                members = part.get(keyword)
                if not isinstance(members, list) or not members:
                    continue
                if (id(part), keyword) in place.left:
                    continue
                # Many members again in each of many would be very many.
                is_last = found is not None or len(place.left) > 1
                is_told = any(map(self._tells, members))
                if is_last or not is_told or self._has_many_classes(members):
                    self._note(keyword)
                else:
                    found = part, keyword
        return found

    def _tells(self, member: Any) -> bool:
        parts = self._place([member]).parts
        telling = _TELLING if self._conditional is None else _TELLING | _FORMATS
        return any(not telling.isdisjoint(part) for part in parts)

    def _has_many_classes(self, members: Sequence[Any]) -> bool:
        if len(members) <= _MAX_UNION_CLASSES:
            return False
        places = (self._place([member]) for member in members)
        return sum(any(one.values("properties")) for one in places) > _MAX_UNION_CLASSES

    def _of_kind(self, place: Place, kind: str, name: str | None) -> PythonType:
        if kind == "array":
            return self._array(place)
        if kind == "string":
            return self._text(place)
        if kind != "object":
            return SCALARS[kind]
        if any(place.values("properties")) or any(place.values("required")):
            return ObjectName(self._object(place, name).name)
        return self._table(place)

    def _text(self, place: Place, text: PythonType = SCALARS["string"]) -> PythonType:
        """The first format decides, as it does when the handler is called."""
        for part in place.parts if self._conditional is not None else ():
            conversion = conversion_of(part)
            if conversion is not None:
                self.has_found_values = True
                return NamedType(conversion.type)
        return text

    def _array(self, place: Place) -> PythonType:
        items: list[Any] = []
        first: list[Any] = []
        for part in place.parts:
            listed = part.get("items")
            if isinstance(listed, list):
                first += listed
                listed = part.get("additionalItems")
            elif isinstance(part.get("prefixItems"), list):
                first += part["prefixItems"]
            if listed is not None:
                items.append(listed)
        depth = place.depth + 1
        words = (*place.words, "item")
        item = self._type(self._place(items, depth, words)) if items else ANY
        if first:
            self._note_all(place, ("prefixItems", "additionalItems"))
            item = one_of(
                [
                    *(
                        self._type(
                            self._place(
                                [one], depth, (*place.words, f"item {index + 1}")
                            )
                        )
                        for index, one in enumerate(first)
                    ),
                    *([] if items == [False] else [item]),
                ]
            )
        return Array(item)

    def _table(self, place: Place) -> PythonType:
        """An object whose members have no names."""
        self._note_unsaid(place)
        named = [p for p in place.values("patternProperties") if isinstance(p, dict)]
        more = list(place.values("additionalProperties"))
        types = [
            self._type(self._place([schema], place.depth + 1, (*place.words, "value")))
            for patterns in named
            for schema in patterns.values()
        ]
        if len(place.parts) > 1 and len(more) + len(named) > 1:
            # What one part calls additional another one may name.
            return Table(ANY)
        if not (named and more == [False]):
            words = (*place.words, "value")
            value = self._place(more, place.depth + 1, words)
            types.append(self._type(value) if more else ANY)
        return Table(one_of(types))

    def _object(self, place: Place, name: str | None) -> ObjectType:
        made = ObjectType(self._unique(name, place.words))
        self.objects.append(made)
        self._known[place.key] = ObjectName(made.name)
        self._notes.append([])
        schemas: dict[str, list[Any]] = {}
        for properties in place.values("properties"):
            if isinstance(properties, dict):
                for key, schema in properties.items():
                    schemas.setdefault(key, []).append(schema)
        required = {
            key
            for listed in place.values("required")
            if isinstance(listed, list)
            for key in listed
            if isinstance(key, str)
        }
        self._note_unsaid(place)
        for keyword in ("patternProperties", "additionalProperties"):
            for part in place.parts:
                if isinstance(part.get(keyword), dict) and part[keyword]:
                    self._note(keyword)
        members = {}
        for key, parts in schemas.items():
            plain = self._plain(parts, place.depth + 1)
            if plain is not None:
                members[key] = Member(plain, key in required)
                continue
            self._notes.append([])
            value = self._place(parts, place.depth + 1, (*place.words, key))
            type_ = self._type(value)
            wider = tuple(dict.fromkeys(self._notes.pop()))
            members[key] = Member(type_, key in required, wider)
        for key in sorted(required - schemas.keys()):
            members[key] = Member(ANY, True)
        if self._conditional is not None:
            for key in list(self._conditional.members(place, members)):
                self.has_found_values = True
                members[key] = Member(ANY, members[key].is_required)
        made.members = members
        made.wider = tuple(dict.fromkeys(self._notes.pop()))
        return made

    def _plain(self, schemas: Sequence[Any], depth: int) -> PythonType | None:
        """The type of a value whose only schema says of types nothing but a `type`.

        Most values are such; None for others.
        """
        schema, plain = schemas[0], None
        if len(schemas) == 1 and isinstance(schema, dict) and _MORE.isdisjoint(schema):
            kind = schema.get("type")
            is_within = depth <= _MAX_DEPTH and self._steps < _MAX_STEPS
            if is_within and self._conditional is None and isinstance(kind, str):
                plain = SCALARS.get(kind)
        self._steps += plain is not None
        return plain

    def _note_all(self, place: Place, keywords: Sequence[str]) -> None:
        for part in place.parts:
            for keyword in keywords:
                if part.get(keyword):
                    self._note(keyword)

    def _note_unsaid(self, place: Place) -> None:
        for part in place.parts:
            for keyword in _UNSAID:
                if keyword in part:
                    self._note(keyword)

    def _unique(self, name: str | None, words: Sequence[str]) -> str:
        wanted = name or nested_class_name(self._name, words)
        found, number = wanted, 2
        while found in self._taken:
            found, number = f"{wanted}{number}", number + 1
        self._taken.add(found)
        return found
