"""Validators of JSON Schemas, of `jsonschema-rs`, which is imported at the first one.

It follows JSON Schema 2020-12 and the older drafts, matches patterns in linear time where
they allow it and gives up on them at a bound where they do not. References never leave the
schema: no file and no address is opened.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from .formats import format_checks
from .pattern_cost import pattern_cost
from .schema_visits import multiplies

if TYPE_CHECKING:
    from jsonschema_rs import Registry

_MOST_BACKTRACKS = 20_000
_MOST_PATTERN_BYTES = 1024 * 1024
_MOST_PATTERN_STATES = 20_000
_LEAST_STATES = 10
_STATES_OF_A_SCRIPT = 25
_DIALECTS = {
    "draft-04": "Draft4Validator",
    "draft-06": "Draft6Validator",
    "draft-07": "Draft7Validator",
    "2019-09": "Draft201909Validator",
}


def compiled(schema: Any, *, asserts_formats: bool = False) -> Any:
    """The validator of a schema of anyone's.

    Args:
        schema: in any dialect; 2020-12 when it does not say.
        asserts_formats: whether a text has to be of its `format`.

    Raises:
        ValueError: it cannot be applied.
    """
    if multiplies(schema):
        raise ValueError("its references multiply beyond what can be followed")
    if patterns_are_too_large(schema):
        raise ValueError("its patterns are too large together")
    return build(schema, asserts_formats=asserts_formats)


def patterns_are_too_large(schema: Any) -> bool:
    """Whether to compile all patterns of a schema takes longer than a call may."""
    states = 0
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, Mapping):
            waiting.extend(part.values())
            keyed = part.get("patternProperties")
            texts = list(keyed) if isinstance(keyed, Mapping) else []
            for text in [*texts, part.get("pattern")]:
                if isinstance(text, str):
                    is_wide = "\\p" in text or "\\P" in text
                    each = _STATES_OF_A_SCRIPT if is_wide else 1
                    states += _LEAST_STATES + each * pattern_cost(text).states
            if states > _MOST_PATTERN_STATES:
                return True
    return False


def build(
    schema: Any, registry: Registry | None = None, *, asserts_formats: bool = False
) -> Any:
    """The validator of a schema that is known not to multiply.

    Args:
        schema: in any dialect; 2020-12 when it does not say.
        registry: other schemas that it may refer to; by default it may to none.
        asserts_formats: whether a text has to be of its `format`.

    Raises:
        ValueError: it cannot be applied.
    """
    import jsonschema_rs

    named = schema.get("$schema", "") if isinstance(schema, Mapping) else ""
    dialect = next((d for d in _DIALECTS if d in str(named)), "")
    kind = getattr(jsonschema_rs, _DIALECTS.get(dialect, "Draft202012Validator"))
    return kind(
        schema,
        validate_formats=asserts_formats,
        formats=format_checks(dialect) if asserts_formats else None,
        registry=registry,
        retriever=_refuse,
        pattern_options=jsonschema_rs.FancyRegexOptions(
            backtrack_limit=_MOST_BACKTRACKS,
            size_limit=_MOST_PATTERN_BYTES,
        ),
    )


def _refuse(address: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to {address}")
