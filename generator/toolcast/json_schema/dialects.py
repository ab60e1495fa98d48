"""The dialects of JSON Schema: their keywords, which one a schema declares, the schema of each."""

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
"""The dialects that can be validated, by the address of `$schema` without its scheme."""

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
"""The keywords of 2020-12 and the drafts before."""

METASCHEMAS = {
    "2020-12": ("Draft202012Validator", "https://json-schema.org/draft/2020-12/schema"),
    "2019-09": ("Draft201909Validator", "https://json-schema.org/draft/2019-09/schema"),
    "draft-07": ("Draft7Validator", "http://json-schema.org/draft-07/schema#"),
    "draft-06": ("Draft6Validator", "http://json-schema.org/draft-06/schema#"),
    "draft-04": ("Draft4Validator", "http://json-schema.org/draft-04/schema#"),
}
"""The validator's class, in jsonschema-rs as in `jsonschema`, and its schema's address."""


def dialect_of(schema: Any) -> str | None:
    """The dialect that a schema declares, 2020-12 by default; None for an unknown one."""
    declared = schema.get("$schema") if isinstance(schema, dict) else None
    if declared is None:
        return "2020-12"
    if not isinstance(declared, str):
        return None
    scheme, _, address = declared.removesuffix("#").partition("://")
    return DIALECTS.get(address) if scheme in ("http", "https") else None


@cache
def metaschema(dialect: str) -> Any:
    """The validator of the schemas of a dialect, of jsonschema-rs."""
    import jsonschema_rs

    kind, address = METASCHEMAS[dialect]
    # Metaschemas are part of the library: none is fetched.
    return getattr(jsonschema_rs, kind)({"$ref": address}, validate_formats=False)


def is_address(value: Any) -> bool:
    """Whether a value of `$id` is one that validators can read: a URI reference."""
    return bool(_addresses().is_valid(value))


@cache
def _addresses() -> Any:
    import jsonschema_rs

    return jsonschema_rs.Draft202012Validator(
        {"type": "string", "format": "uri-reference"}, validate_formats=True
    )
