"""A schema of a spec in the words of 2020-12, and of these in those that a dialect has.

References and `allOf` go as far as a dialect has none; `const`, `oneOf`, `prefixItems` and
alternatives of an object are said otherwise; closed dialects want a type everywhere, and objects
of their declared properties alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from ..core.validation.references import References, list_subschemas, walk_schemas
from .combined_schemas import (
    InexactError,
    exclude_each_other,
    merged,
    nullable_schema,
    one_object,
    takes_null,
    type_name,
)
from .dialect import (
    ANNOTATIONS,
    STANDARD,
    Dialect,
    Effect,
    InexpressibleError,
    Losses,
    Severity,
    added,
    describe_lost_keywords,
    only_annotated,
)
from .dialect import References as Referring
from .provider_names import new_names, renamed_everywhere

Path = tuple[str | int, ...]

MAX_DEPTH = 50
"""Levels of schemas, or of nested references; deeper ones are cut."""

# Subschemas that are inlined.
_MAX_INLINED_SCHEMAS = 2_000
_NOT_OF_NAMES = re.compile(r"[^a-zA-Z0-9_.-]")
_WITHOUT_MEANING = frozenset(
    "$schema $id $comment $anchor $dynamicAnchor $recursiveAnchor $vocabulary".split()
)
_OLD_DRAFTS = ("draft-04", "draft-06", "draft-07")


class SchemaParts:
    """A schema of a spec.

    Args:
        root: in any dialect; 2020-12 when it does not say.
        path: where it stands in the spec.

    Attributes:
        root: the whole schema.
    """

    def __init__(self, root: Mapping[str, Any], path: Path) -> None:
        self._references = References(root)
        self.root = root
        self._path = path
        self._places: dict[int, Path] = {}
        named = str(root.get("$schema", ""))
        self._is_old = any(draft in named for draft in _OLD_DRAFTS)
        self._cyclic: dict[int, bool] = {}

    def target(self, reference: str) -> Any:
        """What a reference names.

        Raises:
            LookupError: it leads out of the schema, nowhere, or to one of several.
        """
        return self._references.resolve(reference)

    def location(self, part: Any) -> Path:
        """Where a part stands that a reference names."""
        if not self._places:
            waiting: list[tuple[Path, Any]] = [(self._path, self.root)]
            while waiting:
                path, held = waiting.pop()
                if isinstance(held, Mapping) and id(held) not in self._places:
                    self._places[id(held)] = path
                    for steps, inner in list_subschemas(held):
                        waiting.append((path + steps, inner))
        return self._places.get(id(part), self._path)

    def is_cyclic(self, part: Any) -> bool:
        """Whether what a part refers to leads back to it."""
        if id(part) not in self._cyclic:
            targets = self._references.list_targets
            named = map(targets, walk_schemas([part], self._beyond))
            self._cyclic[id(part)] = any(one is part for each in named for one in each)
        return self._cyclic[id(part)]

    def _beyond(self, part: Mapping[str, Any]) -> Iterator[Any]:
        yield from self._references.list_targets(part)
        yield from (s for steps, s in list_subschemas(part) if steps[0] != "$defs")

    def in_new_words(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """A schema as 2020-12 says it; its order is kept, what has no meaning is left out."""
        new = {k: v for k, v in schema.items() if k not in _WITHOUT_MEANING}
        if self._is_old and "$ref" in new:
            # Before 2019-09 whatever stands beside a reference is ignored.
            return {k: v for k, v in new.items() if k == "$ref" or k in ANNOTATIONS}
        if isinstance(new.get("items"), (list, tuple)):
            new = _renamed(new, "items", "prefixItems")
            new = _renamed(new, "additionalItems", "items")
        new.pop("additionalItems", None)
        for bound in ("minimum", "maximum"):
            exclusive = f"exclusive{bound.capitalize()}"
            is_draft_4 = isinstance(new.get(exclusive), bool)
            if is_draft_4 and new.pop(exclusive) and bound in new:
                new = _renamed(new, bound, exclusive)
        if isinstance(new.get("dependencies"), Mapping):
            for name, needed in new.pop("dependencies").items():
                is_names = isinstance(needed, (list, tuple))
                key = "dependentRequired" if is_names else "dependentSchemas"
                new[key] = {**new.get(key, {}), name: needed}
        return new


def _renamed(schema: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    return {new if key == old else key: value for key, value in schema.items()}


class Flattener:
    """What stands in place of the references of a schema and of its `allOf`.

    Args:
        root: the schema, which is an object's.
        dialect: what is taken.
        tool: the spec's name of the tool.
        field: the spec's field that the schema is the value of.

    Attributes:
        parts: the schema by its parts.
        dialect: what is taken.
        losses: where losses are noted.
        names: the provider's names of properties by the spec's, where they differ.
        opened: the `id`s of the schemas that stand around the present place by references.
        definitions: what kept references lead to, by their names in `$defs`; it grows.
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
        self._names: dict[int, str] = {}
        self._named: dict[str, Any] = {"#": root}
        self._left = _MAX_INLINED_SCHEMAS

    def flat(
        self, schema: Mapping[str, Any], path: Path, is_root: bool = False
    ) -> tuple[dict[str, Any], Path]:
        """A schema without references that are not kept, and without `allOf` that is not."""
        flat = self.parts.in_new_words(schema)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(flat.get(keyword), str):
                flat, path = self._followed(flat, keyword, path, is_root)
        members = flat.get("allOf")
        takes_all = self.dialect.takes("allOf", at_root=is_root)
        is_split = self.dialect.is_closed or not takes_all
        if is_split and isinstance(members, (list, tuple)):
            del flat["allOf"]
            for index, member in enumerate(members):
                flat = self._with_member(flat, member, (*path, "allOf", index))
        return flat, path

    def _with_member(
        self, flat: dict[str, Any], member: Any, path: Path
    ) -> dict[str, Any]:
        if not isinstance(member, Mapping):
            return {**flat, **(self.nothing(path) if member is False else {})}
        inner, place = self.flat(member, path)
        if "$ref" in inner and not only_annotated(flat):
            inner, place = self._inlined(inner, "$ref", place)
        if "$ref" in flat and not only_annotated(inner):
            flat, _ = self._inlined(flat, "$ref", path)
        try:
            return merged(flat, inner)
        except InexactError as refusal:
            is_of_all = path[-2:-1] == ("allOf",)
            place, keyword = (path[:-2], "allOf") if is_of_all else (path, "$ref")
            what = f"what it adds of `{refusal}` cannot be said together with the rest"
            self._wider(place, keyword, f"{what}; dropped")
            return {**{k: v for k, v in inner.items() if k in ANNOTATIONS}, **flat}

    def _followed(
        self, flat: dict[str, Any], keyword: str, path: Path, is_root: bool
    ) -> tuple[dict[str, Any], Path]:
        try:
            target = self.parts.target(flat[keyword])
        except LookupError:
            del flat[keyword]
            self._wider(path, keyword, "it names nothing here", Severity.ERROR)
            return flat, path
        kind = self.dialect.references
        is_kept = self.dialect.takes("$ref") and not is_root
        is_kept &= kind is Referring.KEPT or (
            kind is Referring.NO_CYCLES and not self.parts.is_cyclic(target)
        )
        is_kept &= flat.keys() - ANNOTATIONS <= {keyword}
        if is_kept and isinstance(target, Mapping):
            del flat[keyword]
            return {"$ref": self._name_of(target), **flat}, path
        return self._inlined(flat, keyword, path)

    def _inlined(
        self, flat: dict[str, Any], keyword: str, path: Path
    ) -> tuple[dict[str, Any], Path]:
        beside = {key: value for key, value in flat.items() if key != keyword}
        reference = flat[keyword]
        target = self._named.get(reference)
        if target is None or keyword != "$ref":
            target = self.parts.target(reference)
        if not isinstance(target, Mapping):
            return self._with_member(beside, target, path), path
        place = self.parts.location(target)
        self._left -= 1
        is_open = id(target) in self.opened
        if is_open or len(self.opened) > MAX_DEPTH or self._left < 0:
            cut = self.cut(target, keyword, place)
            return self._with_member(beside, cut, path), path
        self.opened.append(id(target))
        inner, place = self.flat(target, place)
        if "$ref" in inner and not only_annotated(beside):
            inner, place = self._inlined(inner, "$ref", place)
        if not only_annotated(beside):
            return self._with_member(beside, inner, path), path
        return {**inner, **beside}, place

    def cut(
        self, target: Mapping[str, Any], keyword: str, place: Path
    ) -> dict[str, Any]:
        """What stands where a schema would hold itself."""
        if self.dialect.is_closed:
            raise InexpressibleError(place, keyword, "holds itself")
        what = "it holds itself; within itself any value of its type stands for it"
        self._wider(place, keyword, what)
        return {"type": target["type"]} if "type" in target else {}

    def nothing(self, path: Path) -> dict[str, Any]:
        """A schema that allows no value."""
        if self.dialect.is_closed:
            raise InexpressibleError(path, str(path[-1]), "takes no value at all")
        if self.dialect.takes("not"):
            return {"not": {}}
        self._wider(path, "false", "no value at all")
        return {}

    def _wider(
        self, path: Path, keyword: str, what: str, weight: Severity = Severity.WARNING
    ) -> None:
        self.losses.add(path, keyword, what, Effect.WIDER, weight)

    def _name_of(self, target: Mapping[str, Any]) -> str:
        """The reference to a definition of the rendered schema."""
        if target is self.parts.root:
            return "#"
        if id(target) not in self._names:
            place = self.parts.location(target)
            name = _NOT_OF_NAMES.sub("_", str(place[-1]))
            taken = set(self._names.values())
            free, number = name, 2
            while free in taken:
                free, number = f"{name}_{number}", number + 1
            self._names[id(target)] = free
            self.definitions.append((free, target))
        reference = f"#/$defs/{self._names[id(target)]}"
        self._named[reference] = target
        return reference


_IMPLIED = {
    **dict.fromkeys(("properties", "additionalProperties"), "object"),
    **dict.fromkeys(("items", "prefixItems"), "array"),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "format"), "string"),
    **dict.fromkeys(("minimum", "maximum"), "number"),
}


def restated(
    on: Flattener, schema: dict[str, Any], path: Path, is_root: bool
) -> dict[str, Any]:
    """Says `const` and `oneOf` otherwise where the dialect has no such word."""
    takes, types = on.dialect.takes, on.dialect.enum_types
    is_listed = types is None or type_name(schema.get("const")) in types
    if "const" in schema and not takes("const") and takes("enum") and is_listed:
        schema = _replaced(schema, "const", "enum", [schema["const"]])
    is_any = takes("anyOf") and not takes("oneOf") and "anyOf" not in schema
    for keyword in ("oneOf", "anyOf"):
        members = schema.get(keyword)
        if not isinstance(members, (list, tuple)) or not members:
            continue
        if is_root and not takes(keyword, at_root=True):
            schema = _as_one_object(on, schema, keyword, path)
        elif keyword == "oneOf" and is_any:
            if not exclude_each_other([_seen(on, one) for one in members]):
                what = "that exactly one alternative holds; `anyOf` stands for it"
                on.losses.add(path, "oneOf", what, Effect.WIDER)
            schema = _replaced(schema, "oneOf", "anyOf", list(members))
    if "prefixItems" in schema and not takes("prefixItems"):
        schema = _as_items(on, schema, path)
    if on.dialect.is_closed and "anyOf" in schema and not is_root:
        schema = _distributed(on, schema, path)
    return schema


def _as_items(on: Flattener, schema: dict[str, Any], path: Path) -> dict[str, Any]:
    """One schema for all items, which allows at each place what one place allows."""
    places = list(schema["prefixItems"])
    rest = schema.get("items", True)
    most = schema.get("maxItems")
    if rest is False or (isinstance(most, int) and most <= len(places)):
        schema = {**schema, "maxItems": min(len(places), most or len(places))}
    else:
        places.append(rest)
    each = [one for n, one in enumerate(places) if one not in places[:n]]
    what = "which place of the list has which item; each may have any of them"
    severity = Severity.WARNING if len(each) > 1 else Severity.NOTE
    on.losses.add(path, "prefixItems", what, Effect.WIDER, severity)
    items = each[0] if len(each) == 1 else {"anyOf": each}
    kept = {k: v for k, v in schema.items() if k not in ("prefixItems", "items")}
    return {**kept, "items": items}


def _seen(on: Flattener, member: Any) -> Any:
    """An alternative as far as its own keywords say what it is."""
    if not isinstance(member, Mapping):
        return member
    flat = on.parts.in_new_words(member)
    with suppress(LookupError):
        for _ in range(MAX_DEPTH):
            if not isinstance(flat.get("$ref"), str):
                break
            target = on.parts.target(flat["$ref"])
            if not isinstance(target, Mapping):
                break
            flat = on.parts.in_new_words(target)
    return flat


def _as_one_object(
    on: Flattener, schema: dict[str, Any], keyword: str, path: Path
) -> dict[str, Any]:
    members = [_seen(on, one) for one in schema[keyword] if isinstance(one, Mapping)]
    base = {key: value for key, value in schema.items() if key != keyword}
    whole = one_object(base, members)
    if whole is None:
        return schema
    # The alternatives are told where they are short: which parameters go together.
    needs = [{"required": one["required"]} for one in members if "required" in one]
    text = ""
    if len(needs) == len(members) and on.dialect.takes("description", at_root=True):
        text, _ = describe_lost_keywords(renamed_everywhere({keyword: needs}, on.names))
    if text:
        whole["description"] = added(whole.get("description"), text)
    what = "one object takes the parameters of every alternative"
    what += "; which go together is told in the description" if text else ""
    severity = Severity.NOTE if text else Severity.WARNING
    on.losses.add(path, keyword, what, Effect.WIDER, severity)
    return whole


def _distributed(on: Flattener, schema: dict[str, Any], path: Path) -> dict[str, Any]:
    """Alternatives that each say what stood beside them: a closed object says all at once."""
    beside = {k: v for k, v in schema.items() if k in STANDARD and k != "anyOf"}
    if not beside:
        return schema
    members = [_seen(on, one) for one in schema["anyOf"]]
    rest = {key: value for key, value in schema.items() if key not in beside}
    try:
        words = [o if isinstance(o, Mapping) or o is False else {} for o in members]
        each = [one if one is False else merged(one, beside) for one in words]
        return {**rest, "anyOf": each}
    except (InexactError, AttributeError):
        what = "cannot be said together with what stands beside it; dropped"
        on.losses.add(path, "anyOf", what, Effect.WIDER, Severity.WARNING)
        return {key: value for key, value in schema.items() if key != "anyOf"}


def _replaced(
    schema: Mapping[str, Any], old: str, new: str, value: Any
) -> dict[str, Any]:
    if new in schema:
        return {key: held for key, held in schema.items() if key != old}
    return {
        new if key == old else key: value if key == old else held
        for key, held in schema.items()
    }


def typed(on: Flattener, schema: dict[str, Any], path: Path) -> dict[str, Any]:
    """A schema that names its type, as closed dialects want it."""
    if schema.keys() & {"type", "anyOf", "oneOf"}:
        return schema
    implied = next((_IMPLIED[key] for key in _IMPLIED if key in schema), None)
    if implied is None:
        raise InexpressibleError(path, "type", "takes a value of any type")
    on.losses.add(path, "type", f"values that are no {implied}", Effect.NARROWER)
    return {"type": implied, **schema}


def close(
    on: Flattener, schema: Mapping[str, Any], out: dict[str, Any], path: Path
) -> frozenset[str]:
    """Closes an object, and makes its optional properties nullable where all are required.

    Returns:
        The properties whose null means that they are absent.
    """
    properties = out.setdefault("properties", {})
    further = schema.get("additionalProperties", True)
    if schema.get("unevaluatedProperties") is False:
        further = False
    if schema.get("patternProperties"):
        raise InexpressibleError(path, "patternProperties", "takes names by a pattern")
    is_map = not properties and (len(path) > 1 or "additionalProperties" in schema)
    if further is not False:
        if is_map or (isinstance(further, Mapping) and further):
            raise InexpressibleError(path, "additionalProperties", "takes any names")
        what = "names that are not declared"
        on.losses.add(path, "additionalProperties", what, Effect.NARROWER)
    out["additionalProperties"] = False
    for name in out.get("required", ()):
        if name not in properties:
            why = f"needs `{name}`, which is not declared"
            raise InexpressibleError(path, "required", why)
    if not on.dialect.is_required_whole:
        return frozenset()
    absent = frozenset(properties) - frozenset(out.get("required", ()))
    for name in absent:
        inner = schema["properties"][name]
        if takes_null(inner, on.parts.target):
            has_none = isinstance(inner, Mapping) and inner.get("default", 0) is None
            what = "null cannot be sent: it means that the parameter is absent"
            severity = Severity.NOTE if has_none else Severity.WARNING
            place = (*path, "properties", name)
            on.losses.add(place, "null", what, Effect.NARROWER, severity)
        else:
            properties[name] = nullable_schema(properties[name], on.dialect.nullable)
    out["required"] = list(properties)
    return absent
