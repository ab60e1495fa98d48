"""The errors of the validator, jsonschema-rs, in a form that can be worded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..reading.tree import Path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["Refusal", "refusals"]


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


def refusals(validator: Any, value: Any) -> Iterator[Refusal]:
    """All that a validator refuses in a value.

    The validator finds everything before it gives the first. A pattern whose match takes too
    long is no fault of the value and left out.
    """
    for error in validator.iter_errors(value):
        refusal = _refusal(error)
        if refusal is not None:
            yield refusal


def _refusal(error: ValidationError) -> Refusal | None:
    kind: Any = error.kind
    details = kind.as_dict()
    if "error" in details and kind.name != "propertyNames":
        return None
    if kind.name == "propertyNames":
        return _refusal(details["error"])
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
