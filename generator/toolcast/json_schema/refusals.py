"""The errors of the validator, jsonschema-rs, in a form that can be worded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from toolcast_runtime.validation.json_bounds import measure

from ..reading.tree import Path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["Refusal", "first_refusal", "refusals"]

_MOST_VALUES = 2_000


class Refusal(NamedTuple):
    """One thing that is wrong with a value.

    Attributes:
        path: the way to the part of the value that is refused.
        value: that part.
        keyword: the keyword that refuses it; `false` for the schema that allows nothing.
        expected: what the keyword asks for; None where the validator gives no value.
        names: the keys that are missing or not allowed.
        schema_path: the way to the keyword in its own schema.
        within: the refusals of each alternative of `anyOf` or `oneOf`.
    """

    path: Path
    value: Any
    keyword: str
    expected: Any
    names: tuple[str, ...]
    schema_path: Path
    within: tuple[Refusal, ...] = ()


def refusals(
    validator: Any, value: Any, most_values: int = _MOST_VALUES
) -> Iterator[Refusal]:
    """What a validator refuses in a value, each thing once.

    The validator finds everything before it gives the first, which can take much time and
    memory. In a value of more than `most_values` values it is asked for the first alone.
    """
    if measure(value).values > most_values:
        first = first_refusal(validator, value)
        yield from () if first is None else (first,)
        return
    seen: set[tuple[Path, str, tuple[str, ...]]] = set()
    for error in validator.iter_errors(value):
        refusal = _refusal(error)
        if refusal is not None:
            key = refusal.path, refusal.keyword, refusal.names
            if key not in seen:
                seen.add(key)
                yield refusal


def first_refusal(validator: Any, value: Any) -> Refusal | None:
    """The first thing that a validator refuses in a value; None when there is none.

    A pattern whose match takes too long is no fault of the value and not counted.
    """
    import jsonschema_rs

    try:
        validator.validate(value)
    except jsonschema_rs.ValidationError as error:
        return _refusal(error)
    return None


def _refusal(error: ValidationError) -> Refusal | None:
    kind: Any = error.kind
    details = kind.as_dict()
    if "error" in details and kind.name != "propertyNames":
        return None
    if kind.name == "propertyNames":
        inner = _refusal(details["error"])
        if inner is None or not isinstance(inner.value, str):
            return inner
        return inner._replace(path=(*error.instance_path, inner.value))
    steps = tuple(error.schema_path)
    keyword = "false" if kind.name == "falseSchema" else kind.name
    names = details.get("unexpected") or details.get("property") or ()
    return Refusal(
        tuple(error.instance_path),
        error.instance,
        keyword,
        next(iter(details.values()), None),
        (names,) if isinstance(names, str) else tuple(names),
        steps,
        tuple(
            inner
            for group in details.get("context", ())
            for inner in map(_refusal, group)
            if inner is not None
        ),
    )
