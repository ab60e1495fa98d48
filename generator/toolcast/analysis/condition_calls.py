"""Evaluation of a `confirm` condition on sample calls, as the runtime evaluates it.

The condition is a JSON Schema: a call whose arguments match it needs a confirmation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product
from typing import Any, NamedTuple

from toolcast_runtime.core.validation.checker import Checker
from toolcast_runtime.core.validation.references import (
    References,
    as_mapping,
    walk_schemas,
)

_MAX_CALLS = 2_000
"""Sample calls of one tool that are validated."""
_MAX_NAMES = 12
"""Parameters whose values are varied; with more, nothing is concluded from the calls."""
_MAX_VALUES = 8
"""Sample values of one of several parameters, and items of a sample array."""
_MAX_DEPTH = 3
"""Levels of objects and arrays in a sample value."""
_MAX_LENGTH = 200
"""Characters and items of a sample value."""
_MAX_SCHEMAS = 400
"""Subschemas of one location, and locations, from which values are collected."""
_UNSAMPLED_KEYWORDS = frozenset(
    "pattern format patternProperties propertyNames contains uniqueItems multipleOf"
    " contentSchema unevaluatedItems unevaluatedProperties".split()
)
"""Keywords for which a matching value may exist although no sample matches."""
_OMITTED = object()
_ITEM = "[]"
"""Step of a path to the first item of an array."""
_SEPARATE_KEYWORDS = frozenset(
    "type properties required additionalProperties $schema $defs definitions"
    " title description $comment examples".split()
)
"""Keywords of parameters with which the validity of one property depends on no other."""
_ANY_NAME_KEYWORDS = frozenset(
    "additionalProperties const enum maxProperties minProperties patternProperties"
    " propertyNames unevaluatedProperties".split()
)
"""Keywords by which a condition can depend on parameters that it does not name."""
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_LENGTHS = ("minLength", "maxLength")
_COUNTS = ("minItems", "maxItems")
_SIMPLE_VALUES: Mapping[str, tuple[Any, ...]] = {
    "string": ("a",),
    "integer": (1, 0),
    "number": (1, 0.5),
    "boolean": (True, False),
    "null": (None,),
}


class ConditionResult(NamedTuple):
    """Result of evaluating a condition on sample calls.

    Attributes:
        skipped_defaults: optional parameters, and optional properties in them, for which a
            call with their default meets the condition, and the same call without does not.
        is_unsatisfiable: whether no valid call meets the condition; False if the sample calls
            cannot decide that.
    """

    skipped_defaults: tuple[str, ...]
    is_unsatisfiable: bool


def list_tried_names(condition: Any) -> set[str]:
    """Return the parameter names that a condition refers to, including inside `not`."""
    references = References(condition)
    names: set[str] = set()
    for part in walk_schemas([condition], references.list_tried_schemas):
        # Check each type, because the condition can be an invalid schema here.
        required = [
            part.get("required"),
            *as_mapping(part.get("dependentRequired")).values(),
        ]
        for value in required:
            if isinstance(value, list):
                names.update(name for name in value if isinstance(name, str))
        for keyword in ("properties", "dependentRequired", "dependentSchemas"):
            names.update(as_mapping(part.get(keyword)))
    return names


def evaluate_condition(
    parameters: Mapping[str, Any], condition: Any
) -> ConditionResult:
    """Evaluate a condition on sample calls, with and without each default.

    Args:
        parameters: a valid schema of a tool's arguments.
        condition: a valid schema.

    Raises:
        ValueError: the runtime rejects one of the schemas.
    """
    tried = list_tried_names(condition)
    parameters = _select_tried(parameters, condition, tried)
    checker, accepts = Checker(condition), Checker(parameters)
    sampler = _Sampler(References(parameters), References(condition))
    names = sampler.list_names([parameters])
    values = _list_values_by_name(sampler, parameters, condition, tried)
    # One call more than the limit shows that the sample is not complete.
    calls = list(islice(_list_calls(values, tried, parameters), _MAX_CALLS + 1))
    has_calls = is_satisfiable = False
    skipped: set[str] = set()
    defaults = {
        ".".join(path).replace(f".{_ITEM}", _ITEM): (path, default)
        for path, default in sampler.list_defaults([parameters])
        if path[0] in values
    }
    for call in calls[:_MAX_CALLS]:
        if not accepts.matches(call):
            continue
        has_calls = True
        is_satisfiable = is_satisfiable or checker.matches(call) is not False
        for name in defaults.keys() - skipped:
            path, default = defaults[name]
            base = _replace_member(call, path, _OMITTED)
            if (
                base is not None
                and checker.matches(base) is False
                and checker.matches(_replace_member(call, path, default)) is not False
                and accepts.matches(base)
            ):
                skipped.add(name)
    keywords = _collect_keywords([condition, parameters])
    # Only a complete sample can show that no valid call meets the condition.
    is_decided = (
        has_calls
        and sampler.is_complete
        and len(calls) <= _MAX_CALLS
        and len(names) <= _MAX_NAMES
        and not keywords & _UNSAMPLED_KEYWORDS
    )
    return ConditionResult(
        tuple(sorted(skipped)), is_decided and not is_satisfiable and not skipped
    )


def _select_tried(
    parameters: Mapping[str, Any], condition: Any, tried: set[str]
) -> Mapping[str, Any]:
    """Return the parameters without properties on which a condition cannot depend."""
    is_separate = parameters.keys() <= _SEPARATE_KEYWORDS
    if not is_separate or _ANY_NAME_KEYWORDS & _collect_root_keywords(condition):
        return parameters
    properties, required = (parameters.get(k, ()) for k in ("properties", "required"))
    return {
        **parameters,
        "properties": {name: properties[name] for name in properties if name in tried},
        "required": [name for name in required if name in tried],
    }


def _collect_root_keywords(condition: Any) -> set[str]:
    """Return the keywords of a condition that apply to the whole call."""
    next_schemas = References(condition).list_tried_schemas
    return {key for part in walk_schemas([condition], next_schemas) for key in part}


def _collect_keywords(schemas: list[Any]) -> set[str]:
    return {key for part in walk_schemas(schemas, _list_children) for key in part}


def _replace_member(value: Any, path: tuple[str, ...], member: Any) -> Any:
    """Return a copy of an object with another nested member, or without it if omitted.

    None means that the value has no object that could contain the member.
    """
    head, *rest = path
    if head == _ITEM and isinstance(value, list) and value:
        item = _replace_member(value[0], tuple(rest), member)
        return None if item is None else [item, *value[1:]]
    if not isinstance(value, dict):
        return None
    if rest:
        member = _replace_member(value.get(head), tuple(rest), member)
        if member is None:
            return None
    others = {name: item for name, item in value.items() if name != head}
    return others if member is _OMITTED else {**others, head: member}


def _list_children(part: Mapping[str, Any]) -> Iterator[Any]:
    for value in part.values():
        if isinstance(value, list):
            yield from value
        else:
            yield value


def _list_values_by_name(
    sampler: _Sampler, parameters: Mapping[str, Any], condition: Any, tried: set[str]
) -> dict[str, list[Any]]:
    """Return sample values of at most 12 parameters, those of the condition first.

    The list of a parameter has only values that its schema accepts, and can be empty. It
    has at most 8 values, but all if the parameter is the only one of the condition.
    """
    # The schema of a parameter can refer to definitions and depends on the dialect.
    context = {
        key: parameters[key]
        for key in ("$schema", "$defs", "definitions")
        if key in parameters
    }
    values: dict[str, list[Any]] = {}
    # The number of parameters is limited, so those of the condition come first.
    names = sampler.list_names([parameters])
    for name in sorted(names, key=lambda name: name not in tried)[:_MAX_NAMES]:
        # Several alternatives can declare the parameter; calls are validated as a whole later.
        members = sampler.list_members([parameters], name, False)
        samples = sampler.list_values(
            members, sampler.list_members([condition], name, True), 0
        )
        accepts = Checker({**context, "anyOf": members})
        # The values of a single parameter need no combinations with those of others.
        limit = _MAX_CALLS if tried == {name} else _MAX_VALUES
        accepted = list(islice(filter(accepts.matches, samples), limit + 1))
        if len(accepted) > limit:
            sampler.mark_omission(is_tried=name in tried)
        values[name] = accepted[:limit]
    return values


def _list_calls(
    values: Mapping[str, list[Any]], tried: set[str], parameters: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Yield calls with all combinations of the values that the condition tries.

    Of the other parameters, the required ones have one value, and the optional ones are added
    one after the other.
    """
    required = set(parameters.get("required", ()))
    options = {
        name: samples if name in required else [*samples, _OMITTED]
        for name, samples in values.items()
        if name in tried
    }
    others = {
        name: samples[0]
        for name, samples in values.items()
        if name not in tried and samples
    }
    optional = [name for name in others if name not in required]
    for count in range(len(optional) + 1):
        base = {n: v for n, v in others.items() if n not in optional[count:]}
        for row in product(*options.values()):
            call = dict(zip(options, row, strict=True))
            yield base | {n: v for n, v in call.items() if v is not _OMITTED}


class _Sampler:
    """Collects example values for the parameters in a tool's `confirm.when` condition.

    The values come from the schemas of the parameters and of the condition.

    Attributes:
        is_complete: whether no limit omitted values of the condition.
    """

    def __init__(self, own: References, tried: References) -> None:
        self._references = {False: own, True: tried}
        self._remaining = _MAX_SCHEMAS
        self.is_complete = True

    def mark_omission(self, *, is_tried: bool) -> None:
        """Record that a limit omitted samples of a value.

        Omitted samples matter only for a value that the condition tests (`is_tried`).
        """
        self.is_complete = self.is_complete and not is_tried

    def list_parts(self, schemas: list[Any], is_tried: bool) -> list[Mapping[str, Any]]:
        """Return the schemas that apply to the same value, at most 400.

        Args:
            schemas: the schemas to start from; their references and branches are followed.
            is_tried: whether the schemas are part of the condition, not of the parameters.
        """
        next_schemas = self._references[is_tried].list_tried_schemas
        parts = list(islice(walk_schemas(schemas, next_schemas), _MAX_SCHEMAS + 1))
        if len(parts) > _MAX_SCHEMAS:
            self.mark_omission(is_tried=is_tried)
        return parts[:_MAX_SCHEMAS]

    def list_names(self, schemas: list[Any]) -> list[str]:
        """Return the names of an object's properties, without duplicates."""
        parts = self.list_parts(schemas, False)
        return list(dict.fromkeys(n for p in parts for n in p.get("properties", ())))

    def list_members(self, schemas: list[Any], name: str, is_tried: bool) -> list[Any]:
        """Return the schemas of a property."""
        return [
            part["properties"][name]
            for part in self.list_parts(schemas, is_tried)
            if name in part.get("properties", {})
        ]

    def list_defaults(
        self, schemas: list[Any], path: tuple[str, ...] = ()
    ) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Yield the path and the default of each property, also in objects and items."""
        names = sorted(self.list_names(schemas))
        items = [p["items"] for p in self.list_parts(schemas, False) if "items" in p]
        self._remaining -= 1
        if items and path and self._remaining > 0 and len(path) < _MAX_DEPTH:
            yield from self.list_defaults(items, (*path, _ITEM))
        for name in names if self._remaining > 0 and len(path) < _MAX_DEPTH else ():
            members = self.list_members(schemas, name, False)
            for part in self.list_parts(members, False):
                if "default" in part:
                    yield (*path, name), part["default"]
            yield from self.list_defaults(members, (*path, name))

    def list_values(self, own: list[Any], tried: list[Any], depth: int) -> list[Any]:
        """Return sample values for a parameter, without duplicates.

        Args:
            own: the schemas of the parameter.
            tried: the condition's schemas of the parameter; their values come first.
            depth: the nesting of the parameter in other values.
        """
        self._remaining -= 1
        parts = [*self.list_parts(tried, True), *self.list_parts(own, False)]
        sizes = [p[key] for p in parts for key in (*_LENGTHS, *_COUNTS) if key in p]
        if (
            self._remaining < 0
            or depth > _MAX_DEPTH
            or max(sizes, default=0) > _MAX_LENGTH
        ):
            self.mark_omission(is_tried=bool(tried))
        if self._remaining < 0 or depth > _MAX_DEPTH:
            return []
        values = [value for part in parts for value in _list_declared_values(part)]
        types: set[str] = set()
        for part in self.list_parts(own, False):
            type_ = part.get("type", ())
            types.update([type_] if isinstance(type_, str) else type_)
        # A schema without `type` allows all types.
        for type_ in sorted(types or {*_SIMPLE_VALUES, "array", "object"}):
            values += _SIMPLE_VALUES.get(type_, ())
        if not types or "object" in types:
            names = {name for part in parts for name in part.get("properties", {})}
            if len(names) > _MAX_NAMES:
                self.mark_omission(is_tried=bool(tried))
            members = {
                name: self.list_values(
                    self.list_members(own, name, False),
                    self.list_members(tried, name, True),
                    depth + 1,
                )
                for name in sorted(names)[:_MAX_NAMES]
            }
            full = {name: samples[0] for name, samples in members.items() if samples}
            values += [full, {}]
            values += [{**full, name: v} for name, vs in members.items() for v in vs]
            values += [{name: v} for name, vs in members.items() for v in vs]
        if not types or "array" in types:
            own_items, tried_items = (
                [p["items"] for p in self.list_parts(schemas, is_tried) if "items" in p]
                for schemas, is_tried in ((own, False), (tried, True))
            )
            samples = self.list_values(own_items, tried_items, depth + 1)
            if len(samples) > _MAX_VALUES:
                self.mark_omission(is_tried=bool(tried_items))
            values += [[sample] for sample in samples[:_MAX_VALUES]]
            counts = [part[key] for part in parts for key in _COUNTS if key in part]
            for count in (0, *counts, *(count + 1 for count in counts)):
                values.append(samples[:1] * min(int(count), _MAX_LENGTH))
        return list({repr(value): value for value in values}.values())


def _list_declared_values(part: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the values in a schema, and values at and next to its limits."""
    for keyword in ("const", "default"):
        if keyword in part:
            yield part[keyword]
    for keyword in ("enum", "examples"):
        yield from part.get(keyword, ())
    for keyword in _BOUNDS:
        bound = part.get(keyword)
        if isinstance(bound, (int, float)) and not isinstance(bound, bool):
            yield from (bound, bound + 1, bound - 1)
    for keyword in _LENGTHS:
        if keyword in part:
            length = min(int(part[keyword]), _MAX_LENGTH)
            yield from ("a" * length, "a" * (length + 1))
