"""The keywords of JSON Schema, of 2020-12 and the drafts before."""

from __future__ import annotations

__all__ = ["KEYWORDS"]

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
