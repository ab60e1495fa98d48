"""What a schema says, in the words that a dialect has for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..loss import Effect, Losses, Severity
from .alternatives import exclude_each_other, one_object
from .dialect import Dialect
from .flattening import DEEPEST
from .json_types import type_name
from .keywords_of_schemas import DEFINITIONS, STANDARD
from .lost_words import added, told
from .merged_schemas import Inexact, merged
from .property_names import renamed_everywhere
from .schema_parts import Path, SchemaParts


class Restating:
    """Says `const`, `oneOf`, `prefixItems` and alternatives of an object otherwise.

    Args:
        parts: the schema.
        dialect: what is taken.
        losses: where losses are noted.
        names: the provider's names of properties by the spec's, where they differ.
    """

    def __init__(
        self,
        parts: SchemaParts,
        dialect: Dialect,
        losses: Losses,
        names: Mapping[str, str],
    ) -> None:
        self._parts = parts
        self._dialect = dialect
        self._losses = losses
        self._names = names

    def restated(
        self, schema: dict[str, Any], path: Path, is_root: bool
    ) -> dict[str, Any]:
        """Says `const` and `oneOf` otherwise where the dialect has no such word."""
        takes = self._dialect.takes
        types = self._dialect.enum_types
        is_listed = types is None or type_name(schema.get("const")) in types
        if "const" in schema and not takes("const") and takes("enum") and is_listed:
            schema = _replaced(schema, "const", "enum", [schema["const"]])
        for keyword in ("oneOf", "anyOf"):
            members = schema.get(keyword)
            if not isinstance(members, (list, tuple)) or not members:
                continue
            if is_root and not takes(keyword, at_root=True):
                schema = self._as_one_object(schema, keyword, path)
            elif (
                keyword == "oneOf"
                and takes("anyOf")
                and not takes("oneOf")
                and "anyOf" not in schema
            ):
                flat = [
                    self._seen(one, (*path, keyword, n))
                    for n, one in enumerate(members)
                ]
                if not exclude_each_other(flat):
                    self._losses.add(
                        path,
                        "oneOf",
                        "that exactly one alternative holds; `anyOf` stands for it",
                        Effect.WIDER,
                    )
                schema = _replaced(schema, "oneOf", "anyOf", list(members))
        if "prefixItems" in schema and not takes("prefixItems"):
            schema = self._as_items(schema, path)
        if self._dialect.is_closed and "anyOf" in schema and not is_root:
            schema = self._distributed(schema, path)
        return schema

    def _as_items(self, schema: dict[str, Any], path: Path) -> dict[str, Any]:
        """One schema for all items, which allows at each place what one place allows."""
        places = list(schema["prefixItems"])
        rest = schema.get("items", True)
        most = schema.get("maxItems")
        if rest is False or (isinstance(most, int) and most <= len(places)):
            schema = {**schema, "maxItems": min(len(places), most or len(places))}
        else:
            places.append(rest)
        each = [one for n, one in enumerate(places) if one not in places[:n]]
        self._losses.add(
            path,
            "prefixItems",
            "which place of the list has which item; each may have any of them",
            Effect.WIDER,
            Severity.WARNING if len(each) > 1 else Severity.NOTE,
        )
        items = each[0] if len(each) == 1 else {"anyOf": each}
        kept = {k: v for k, v in schema.items() if k not in ("prefixItems", "items")}
        return {**kept, "items": items}

    def _seen(self, member: Any, path: Path) -> Any:
        """An alternative as far as its own keywords say what it is."""
        if not isinstance(member, Mapping):
            return member
        flat = self._parts.in_new_words(member)
        for _ in range(DEEPEST):
            if not isinstance(flat.get("$ref"), str):
                break
            try:
                target = self._parts.target(flat["$ref"])
            except LookupError:
                break
            if not isinstance(target, Mapping):
                break
            flat = self._parts.in_new_words(target)
        return flat

    def _as_one_object(
        self, schema: dict[str, Any], keyword: str, path: Path
    ) -> dict[str, Any]:
        members = [
            self._seen(one, (*path, keyword, index))
            for index, one in enumerate(schema[keyword])
            if isinstance(one, Mapping)
        ]
        base = {key: value for key, value in schema.items() if key != keyword}
        whole = one_object(base, members)
        if whole is None:
            return schema
        # The alternatives are told where they are short: which parameters go together.
        needs = [{"required": one["required"]} for one in members if "required" in one]
        named = renamed_everywhere({keyword: needs}, self._names)
        text, _ = told(named) if len(needs) == len(members) else ("", None)
        if text and not self._dialect.takes("description", at_root=True):
            text = ""
        if text and self._dialect.folds:
            whole["description"] = added(whole.get("description"), text)
        self._losses.add(
            path,
            keyword,
            "one object takes the parameters of every alternative"
            + ("; which go together is told in the description" if text else ""),
            Effect.WIDER,
            Severity.NOTE if text else Severity.WARNING,
        )
        return whole

    def _distributed(self, schema: dict[str, Any], path: Path) -> dict[str, Any]:
        """Alternatives that each say what stood beside them: a closed object says all at once."""
        beside = {
            key: value
            for key, value in schema.items()
            if key in STANDARD and key not in ("anyOf", *DEFINITIONS)
        }
        if not beside:
            return schema
        members = [
            self._seen(one, (*path, "anyOf", index))
            for index, one in enumerate(schema["anyOf"])
        ]
        rest = {key: value for key, value in schema.items() if key not in beside}
        try:
            each = [
                one if one is False else merged(_words(one), beside) for one in members
            ]
            return {**rest, "anyOf": each}
        except (Inexact, AttributeError):
            self._losses.add(
                path,
                "anyOf",
                "cannot be said together with what stands beside it; dropped",
                Effect.WIDER,
                Severity.WARNING,
            )
            return {key: value for key, value in schema.items() if key != "anyOf"}


def _words(member: Any) -> Mapping[str, Any]:
    """A schema as keywords: true has none."""
    return member if isinstance(member, Mapping) else {}


def _replaced(
    schema: Mapping[str, Any], old: str, new: str, value: Any
) -> dict[str, Any]:
    if new in schema:
        return {key: held for key, held in schema.items() if key != old}
    return {
        new if key == old else key: value if key == old else held
        for key, held in schema.items()
    }
