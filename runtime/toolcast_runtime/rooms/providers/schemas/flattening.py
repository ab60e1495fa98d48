"""Schemas without references and `allOf`, as far as a dialect has none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..loss import Effect, Losses, Severity
from .dialect import ANNOTATIONS, Dialect, Inexpressible, References
from .merged_schemas import Inexact, merged
from .schema_parts import Path, SchemaParts

DEEPEST = 50
"""More levels of schemas, or of references one in another, than this are cut."""

_MOST_INLINED = 2_000
_NOT_OF_NAMES = re.compile(r"[^a-zA-Z0-9_.-]")


class Flattening:
    """What stands in place of the references of a schema and of its `allOf`.

    Args:
        parts: the schema, which is an object's.
        dialect: what is taken.
        losses: where losses are noted.

    Attributes:
        opened: the `id`s of the schemas that stand around the present place by references.
        definitions: what kept references lead to, by their names in `$defs`; it grows.
    """

    def __init__(self, parts: SchemaParts, dialect: Dialect, losses: Losses) -> None:
        self._parts = parts
        self._dialect = dialect
        self._losses = losses
        self._names: dict[int, str] = {}
        self._named: dict[str, Any] = {"#": parts.root}
        self.opened = [id(parts.root)]
        self._left = _MOST_INLINED
        self.definitions: list[tuple[str, Any]] = []

    def flat(
        self, schema: Mapping[str, Any], path: Path, is_root: bool = False
    ) -> tuple[dict[str, Any], Path]:
        """A schema without references that are not kept, and without `allOf` that is not."""
        flat = self._parts.in_new_words(schema)
        for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(flat.get(keyword), str):
                flat, path = self._followed(flat, keyword, path, is_root)
        members = flat.get("allOf")
        takes_all = self._dialect.takes("allOf", at_root=is_root)
        if isinstance(members, (list, tuple)) and (
            self._dialect.is_closed or not takes_all
        ):
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
        if "$ref" in inner and not flat.keys() <= ANNOTATIONS:
            inner, place = self._inlined(inner, "$ref", place)
        if "$ref" in flat and not inner.keys() <= ANNOTATIONS:
            flat, _ = self._inlined(flat, "$ref", path)
        try:
            return merged(flat, inner)
        except Inexact as refusal:
            is_of_all = path[-2:-1] == ("allOf",)
            self._losses.add(
                path[:-2] if is_of_all else path,
                "allOf" if is_of_all else "$ref",
                f"what it adds of `{refusal}` cannot be said together with the rest; dropped",
                Effect.WIDER,
                Severity.WARNING,
            )
            return {**{k: v for k, v in inner.items() if k in ANNOTATIONS}, **flat}

    def _followed(
        self, flat: dict[str, Any], keyword: str, path: Path, is_root: bool
    ) -> tuple[dict[str, Any], Path]:
        try:
            target = self._parts.target(flat[keyword])
        except LookupError:
            rest = {key: value for key, value in flat.items() if key != keyword}
            self._losses.add(
                path, keyword, "it names nothing here", Effect.WIDER, Severity.ERROR
            )
            return rest, path
        kind = self._dialect.references
        is_kept = self._dialect.takes("$ref") and not is_root
        is_kept &= kind is References.KEPT or (
            kind is References.NO_CYCLES and not self._parts.is_cyclic(target)
        )
        is_kept &= flat.keys() - ANNOTATIONS <= {keyword}
        if is_kept and isinstance(target, Mapping):
            flat = {k: v for k, v in flat.items() if k != keyword}
            return {"$ref": self._name_of(target, path), **flat}, path
        return self._inlined(flat, keyword, path)

    def _inlined(
        self, flat: dict[str, Any], keyword: str, path: Path
    ) -> tuple[dict[str, Any], Path]:
        beside = {key: value for key, value in flat.items() if key != keyword}
        reference = flat[keyword]
        target = self._named.get(reference)
        if target is None or keyword != "$ref":
            target = self._parts.target(reference)
        if not isinstance(target, Mapping):
            nothing = self.nothing(path) if target is False else {}
            return {**beside, **nothing}, path
        place = self._parts.place(target)
        self._left -= 1
        is_open = id(target) in self.opened
        if is_open or len(self.opened) > DEEPEST or self._left < 0:
            return (
                self._with_member(beside, self.cut(target, keyword, place), path),
                path,
            )
        self.opened.append(id(target))
        inner, place = self.flat(target, place)
        if "$ref" in inner and not beside.keys() <= ANNOTATIONS:
            inner, place = self._inlined(inner, "$ref", place)
        if beside.keys() - ANNOTATIONS:
            return self._with_member(beside, inner, path), path
        return {**inner, **beside}, place

    def cut(
        self, target: Mapping[str, Any], keyword: str, place: Path
    ) -> dict[str, Any]:
        """What stands where a schema would hold itself."""
        if self._dialect.is_closed:
            raise Inexpressible(place, keyword, "holds itself")
        self._losses.add(
            place,
            keyword,
            "it holds itself; within itself any value of its type stands for it",
            Effect.WIDER,
            Severity.WARNING,
        )
        return {"type": target["type"]} if "type" in target else {}

    def nothing(self, path: Path) -> dict[str, Any]:
        """A schema that allows no value."""
        if self._dialect.is_closed:
            raise Inexpressible(path, str(path[-1]), "takes no value at all")
        if self._dialect.takes("not"):
            return {"not": {}}
        self._losses.add(
            path, "false", "no value at all", Effect.WIDER, Severity.WARNING
        )
        return {}

    def _name_of(self, target: Mapping[str, Any], path: Path) -> str:
        """The reference to a definition of the rendered schema."""
        if target is self._parts.root:
            return "#"
        if id(target) not in self._names:
            place = self._parts.place(target)
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
