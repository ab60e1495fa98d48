"""JSON Schema dialects: their keywords, their metaschemas, and which one a schema declares."""

from __future__ import annotations

from functools import cache
from typing import Any

DIALECTS = {
    "json-schema.org/draft/2020-12/schema": "2020-12",
    "json-schema.org/draft/2019-09/schema": "2019-09",
    "json-schema.org/draft-07/schema": "draft-07",
    "json-schema.org/draft-06/schema": "draft-06",
    "json-schema.org/draft-04/schema": "draft-04",
}
"""Supported dialects by the URI in `$schema`, without its scheme."""

KEYWORDS = frozenset(
    (
        "$schema $id id $ref $defs $anchor $comment $dynamicRef"
        " $dynamicAnchor $recursiveRef $recursiveAnchor $vocabulary"
        " definitions title description default deprecated readOnly writeOnly"
        " examples type enum const multipleOf maximum exclusiveMaximum minimum"
        " exclusiveMinimum maxLength minLength pattern maxItems minItems"
        " uniqueItems maxContains minContains maxProperties minProperties"
        " required dependentRequired allOf anyOf oneOf not if then else"
        " dependentSchemas dependencies prefixItems items contains"
        " additionalItems properties patternProperties additionalProperties"
        " propertyNames unevaluatedItems unevaluatedProperties format"
        " contentEncoding contentMediaType contentSchema"
    ).split()
)
"""The keywords of 2020-12 and all earlier drafts."""

METASCHEMAS = {
    "2020-12": ("Draft202012Validator", "https://json-schema.org/draft/2020-12/schema"),
    "2019-09": ("Draft201909Validator", "https://json-schema.org/draft/2019-09/schema"),
    "draft-07": ("Draft7Validator", "http://json-schema.org/draft-07/schema#"),
    "draft-06": ("Draft6Validator", "http://json-schema.org/draft-06/schema#"),
    "draft-04": ("Draft4Validator", "http://json-schema.org/draft-04/schema#"),
}
"""Class name of the validator, in jsonschema-rs and `jsonschema`, and metaschema URI."""


def get_dialect(schema: Any) -> str | None:
    """Return the dialect that a schema declares (default: 2020-12), or None if unknown."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if declared is None:
        return "2020-12"
    if not isinstance(declared, str):
        return None
    scheme, _, address = declared.removesuffix("#").partition("://")
    return DIALECTS.get(address) if scheme in ("http", "https") else None


@cache
def build_metaschema_validator(dialect: str) -> Any:
    """Return the jsonschema-rs validator for schemas of a dialect."""
    import jsonschema_rs

    kind, address = METASCHEMAS[dialect]
    # jsonschema-rs contains the metaschemas, so this reference fetches nothing.
    return getattr(jsonschema_rs, kind)({"$ref": address}, validate_formats=False)


def is_address(value: Any) -> bool:
    """Return whether a value of `$id` is a URI reference, which validators require."""
    return bool(_build_uri_validator().is_valid(value))


@cache
def _build_uri_validator() -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(
        {"type": "string", "format": "uri-reference"}, validate_formats=True
    )
