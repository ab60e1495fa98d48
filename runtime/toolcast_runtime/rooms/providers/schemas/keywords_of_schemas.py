"""The keywords of JSON Schema, by what a rendering does with them."""

from __future__ import annotations

from .dialect import ANNOTATIONS

WORDS = ANNOTATIONS | set("contentEncoding contentMediaType contentSchema".split())
DEFINITIONS = ("$defs", "definitions")
STANDARD = frozenset(
    "type enum const format pattern minLength maxLength minimum maximum exclusiveMinimum"
    " exclusiveMaximum multipleOf properties required additionalProperties items"
    " patternProperties propertyNames minProperties maxProperties dependentRequired"
    " dependentSchemas prefixItems minItems maxItems uniqueItems contains minContains"
    " maxContains anyOf oneOf allOf not if then else unevaluatedProperties"
    " unevaluatedItems $ref $dynamicRef $recursiveRef".split()
)
KNOWN = STANDARD | WORDS
NAMED = frozenset("properties patternProperties dependentSchemas".split())
REVERSED = frozenset("not if oneOf contains".split())
LISTED = frozenset("anyOf oneOf allOf prefixItems".split())
HELD = frozenset(
    "items contains not if then else propertyNames additionalProperties"
    " unevaluatedProperties unevaluatedItems".split()
)
