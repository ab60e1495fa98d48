"""Checks values of a spec (defaults, examples) by its schemas, within bounded time.

The same validator checks the arguments of calls when the tool is served. A schema that is
not valid itself checks nothing here: that has rules of its own.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any
from urllib.parse import quote

from toolcast_runtime.validation.compiled import build
from toolcast_runtime.validation.formats import wanted
from toolcast_runtime.validation.json_bounds import measure
from toolcast_runtime.validation.schema_visits import most_visits
from toolcast_runtime.validation.work import Work

from ..reading.tree import Path
from ..suggestions import dotted, kinds
from .graph import JsonSchema
from .refusals import Refusal, first_refusal

__all__ = ["ValueChecker"]

_MOST_VISITS = 500
_ADDRESS = "json-schema:///schema"


class ValueChecker:
    """Checks values against one schema and its parts.

    Args:
        schema: any.
        asserts_formats: whether a text has to be of its `format`.
    """

    def __init__(self, schema: JsonSchema, *, asserts_formats: bool = False) -> None:
        self._schema = schema
        self._asserts_formats = asserts_formats

    @cached_property
    def _registry(self) -> Any:
        """A registry of the schema alone, by `_ADDRESS`; None when the schema is not sound."""
        if not self._schema.is_sound:
            return None
        import jsonschema_rs

        return jsonschema_rs.Registry([(_ADDRESS, self._schema.value)])

    def problem(self, value: Any, path: Path = ()) -> str:
        """What is wrong with a value by the subschema at a path; empty when nothing is."""
        if self._registry is None:
            return ""
        size = measure(value)
        excess = size.problem or self._work.excess(value, size, self._schema.at(path))
        if excess:
            return f"it cannot be checked: {excess}"
        try:
            validator = build(
                self._part(path), self._registry, asserts_formats=self._asserts_formats
            )
        except ValueError:
            return ""  # a regular expression that is none
        if validator.is_valid(value):
            return ""
        # Alternatives that come back to themselves have errors without end.
        if most_visits(self._schema.value, size.levels, _MOST_VISITS) is None:
            return "it does not match the schema"
        refusal = first_refusal(validator, value)
        return "" if refusal is None else _worded(refusal)

    @cached_property
    def _work(self) -> Work:
        return Work(self._schema.value)

    def _part(self, path: Path) -> dict[str, str]:
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in path)
        pointer = "".join(f"/{step}" for step in steps)
        part = {"$ref": f"{_ADDRESS}#{quote(pointer, safe='/~')}"}
        if isinstance(self._schema.value, dict) and "$schema" in self._schema.value:
            part["$schema"] = self._schema.value["$schema"]
        return part


def _worded(refusal: Refusal) -> str:
    """One refusal as a clause about `it`, or about the place in it."""
    keyword, expected = refusal.keyword, refusal.expected
    place = dotted(refusal.path)
    where = f"`{place}` " if place else "it "
    if keyword == "required":
        return f"{where}lacks `{refusal.names[0]}`"
    if refusal.names:
        return f"{where}has `{refusal.names[0]}`, which is not a property"
    if keyword == "type":
        return f"{where}must be {kinds(expected)}"
    if keyword == "format":
        return f"{where}must be {wanted(expected)}"
    if keyword == "false":
        return f"{where}is not allowed"
    if keyword in ("anyOf", "oneOf", "not", "contains"):
        return f"{where}does not match `{keyword}`"
    shown = json.dumps(expected, ensure_ascii=False)
    if keyword == "enum":
        return f"{where}must be one of {shown[:80]}"
    return f"{where}breaks `{keyword}: {shown[:60]}`"
