"""Changes of what a schema tells and does not check."""

from __future__ import annotations

from .rule_row import Row, told

__all__ = ["TOLD_ROWS"]

TOLD_ROWS: tuple[Row, ...] = (
    # What refuses nothing.
    *told("title", "title", "A title", "safe", "safe", "safe"),
    *told(
        "description", "description", "What a value is for", "safe", "breaking", "risky"
    ),
    Row(
        "default-set",
        "default-removed",
        ("default",),
        "none",
        "What is meant when nothing is given is told.",
        "safe",
    ),
    Row(
        "default-removed",
        "default-set",
        ("default",),
        "none",
        "What is meant when nothing is given is not told any more.",
        "risky",
        call="risky",
    ),
    Row(
        "default-changed",
        "default-changed",
        ("default",),
        "none",
        "When nothing is given, something else is meant.",
        "risky",
        call="risky",
    ),
    *told("examples", "examples", "Examples of values", "safe", "risky", "safe"),
    *told(
        "format",
        "format",
        "The format of a text, which is not checked,",
        "safe",
        "risky",
        "risky",
    ),
    *told(
        "contentEncoding",
        "content-encoding",
        "The encoding of a text, which is not checked,",
        "safe",
        "risky",
        "risky",
    ),
    *told(
        "contentMediaType",
        "content-media-type",
        "What a text holds, which is not checked,",
        "safe",
        "risky",
        "risky",
    ),
    *told(
        "contentSchema",
        "content-schema",
        "The schema of what a text holds, which is not checked,",
        "safe",
        "risky",
        "risky",
    ),
    Row(
        "deprecated-set",
        "deprecated-removed",
        ("deprecated",),
        "none",
        "Something should not be used any more.",
        "risky",
    ),
    Row(
        "deprecated-removed",
        "deprecated-set",
        ("deprecated",),
        "none",
        "Something may be used again.",
    ),
    Row(
        "read-only-set",
        "read-only-removed",
        ("readOnly",),
        "none",
        "Something is said to be set by the tool alone.",
        "risky",
        call="risky",
    ),
    Row(
        "read-only-removed",
        "read-only-set",
        ("readOnly",),
        "none",
        "Something is not said to be set by the tool alone any more.",
    ),
    Row(
        "write-only-set",
        "write-only-removed",
        ("writeOnly",),
        "none",
        "Something is said never to be shown.",
        "safe",
        call="risky",
    ),
    Row(
        "write-only-removed",
        "write-only-set",
        ("writeOnly",),
        "none",
        "Something is not said never to be shown any more.",
    ),
    *told(
        "$comment",
        "comment",
        "A comment for those who write the schema",
        "safe",
        "safe",
        "safe",
    ),
    *told(
        "unknown keyword",
        "unknown-keyword",
        "Something that JSON Schema has no keyword for",
        "safe",
        "safe",
        "safe",
    ),
)
