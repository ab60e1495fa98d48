"""Changes of what a schema says of values, numbers, texts and arrays."""

from __future__ import annotations

from .rule_row import Row, constraint, limit, pair

__all__ = ["VALUE_ROWS"]

VALUE_ROWS: tuple[Row, ...] = (
    # Types and values.
    *pair(
        ("type",),
        "type-narrowed",
        "type-widened",
        "Values of some type are not taken any more.",
        "Values of another type are taken, too.",
        typed=True,
    ),
    Row(
        "type-changed",
        "type-changed",
        ("type",),
        "either",
        "Values of another type are taken instead.",
        typed=True,
        call="breaking",
    ),
    *pair(
        ("enum",),
        "enum-set",
        "enum-removed",
        "Only listed values are left.",
        "Any value will do, not listed ones only.",
        typed=True,
    ),
    Row(
        "enum-value-removed",
        "enum-value-added",
        ("enum", "const"),
        "fewer",
        "A listed value is gone.",
        "risky",
        typed=True,
    ),
    Row(
        "enum-value-added",
        "enum-value-removed",
        ("enum", "const"),
        "more",
        "There is one more listed value.",
        typed=True,
    ),
    *pair(
        ("const",),
        "const-set",
        "const-removed",
        "Only one value is left.",
        "Any value will do, not one only.",
        typed=True,
    ),
    Row(
        "const-changed",
        "const-changed",
        ("const",),
        "either",
        "The only value is another one.",
        "risky",
        typed=True,
        call="breaking",
    ),
    *pair(
        ("boolean schema",),
        "value-forbidden",
        "value-allowed",
        "No value is valid there any more.",
        "Values are valid there, where none was.",
    ),
    # Numbers.
    *limit("minimum", "minimum", "a number may be", ("exclusiveMinimum",)),
    *limit("maximum", "maximum", "a number may be", ("exclusiveMaximum",)),
    *constraint(
        ("multipleOf",), "multiple-of", "A number that a value must be a multiple of"
    ),
    # Texts.
    *limit("minLength", "min-length", "characters"),
    *limit("maxLength", "max-length", "characters"),
    *constraint(("pattern",), "pattern", "A pattern that texts must match"),
    # Arrays.
    *limit("minItems", "min-items", "items"),
    *limit("maxItems", "max-items", "items"),
    *pair(
        ("uniqueItems",),
        "unique-items-set",
        "unique-items-removed",
        "Items may not be there twice any more.",
        "Items may be there twice.",
    ),
    *pair(
        ("items", "additionalItems"),
        "items-set",
        "items-removed",
        "Something is asked of items.",
        "Nothing is asked of items any more.",
        typed=True,
    ),
    *pair(
        ("prefixItems", "items"),
        "prefix-item-added",
        "prefix-item-removed",
        "One more of the first items has a schema of its own.",
        "One less of the first items has a schema of its own.",
    ),
    *pair(
        ("contains",),
        "contains-set",
        "contains-removed",
        "An array must contain an item of a kind.",
        "An array need not contain an item of a kind any more.",
    ),
    # Without it one item is asked for, so that it is never the first limit.
    *limit("minContains", "min-contains", "items of the kind that is contained")[2:],
    *limit("maxContains", "max-contains", "items of the kind that is contained"),
    *pair(
        ("unevaluatedItems",),
        "unevaluated-items-set",
        "unevaluated-items-removed",
        "Something is asked of items that nothing else looks at.",
        "Nothing is asked of items that nothing else looks at.",
    ),
)
