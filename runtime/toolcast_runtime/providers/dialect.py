"""What a provider takes of JSON Schema, as a table, and what is lost of a tool in its form.

A provider is described by data alone, a `Dialect` for its loose form and one for its strict
form; `schema_rendering` applies it. A row that no provider needed yet is added here, with its
default, and applied there; nothing in there knows a provider by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, NamedTuple

from ..core.validation.references import format_pointer

ANNOTATIONS = frozenset(
    "title description default examples deprecated readOnly writeOnly".split()
)
"""The keywords that allow and refuse no value; JSON Schema 2020-12, validation, section 9."""


def only_annotated(schema: Mapping[str, Any]) -> bool:
    """Whether a schema has no keyword that could refuse a value."""
    return not schema.keys() - ANNOTATIONS


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


class References(Enum):
    """What becomes of references within the schema."""

    KEPT = "kept"
    """They lead to `$defs` of the root; a cycle is kept, too."""
    NO_CYCLES = "no cycles"
    """They are kept; what leads back to itself is cut there."""
    INLINED = "inlined"
    """What they name stands in their place; what leads back to itself is cut there."""


class Nullable(Enum):
    """How "or null" is spelled."""

    ANY = "any"
    """As the spec spells it; where it is added, in the type list."""
    TYPE_LIST = "type list"
    """`type: [string, null]`, wherever one type is all that stands beside it."""
    ANY_OF = "anyOf"
    """`anyOf: [{type: string}, {type: null}]`; there are no type lists."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """What one form of one provider takes of JSON Schema.

    Attributes:
        source: where that is said.
        name: what several providers' forms of one dialect are called together; None for the
            title of the provider.
        keywords: those that it takes; None for every one, unknown ones included. `$defs` need
            not be named.
        lost_at_root: those of them that it does not take at the root.
        lost_of_parameters: those that it does not take of a parameter itself, which is a
            property of the root.
        formats: the values of `format` that it takes; None for any.
        has_plain_patterns: whether regular expressions have no look-around, back reference or
            word boundary.
        enum_types: the JSON types of values of `enum` and `const`; None for any.
        most_min_items: the largest `minItems` that it takes; None for any.
        references: what becomes of references.
        has_reference_siblings: whether keywords may stand beside `$ref`; else the reference
            is wrapped in `anyOf`.
        nullable: how "or null" is spelled.
        is_closed: every object takes its declared properties alone. What no such object
            expresses (a map, a value of any type) makes the tool loose.
        is_required_whole: every property is in `required`: optional ones become nullable, and
            the adapter takes their null for absent.
        needs_items: whether an array without `items` is refused; then `items: {}` is added.
        property_names: the grammar of names of properties; None for any. Others are mapped.
    """

    source: str
    name: str | None = None
    keywords: frozenset[str] | None = None
    lost_at_root: frozenset[str] = frozenset()
    lost_of_parameters: frozenset[str] = frozenset()
    formats: frozenset[str] | None = None
    has_plain_patterns: bool = False
    enum_types: frozenset[str] | None = None
    most_min_items: int | None = None
    references: References = References.KEPT
    has_reference_siblings: bool = True
    nullable: Nullable = Nullable.ANY
    is_closed: bool = False
    is_required_whole: bool = False
    needs_items: bool = False
    property_names: re.Pattern[str] | None = None

    def takes(self, keyword: str, *, at_root: bool = False) -> bool:
        """Whether it takes a keyword."""
        if at_root and keyword in self.lost_at_root:
            return False
        return self.keywords is None or keyword in self.keywords


class InexpressibleError(Exception):
    """Schema that a provider's closed dialect cannot express.

    Attributes:
        path: where in the spec.
        keyword: the keyword that says it.
        why: in words.
    """

    def __init__(self, path: tuple[str | int, ...], keyword: str, why: str) -> None:
        super().__init__(path, keyword, why)
        self.path = path
        self.keyword = keyword
        self.why = why


_MAX_KEYWORD_CHARACTERS = 400
"""Characters of a lost keyword in a description."""
_MAX_PROPERTIES_CHARACTERS = 4_000
"""Characters of lost `properties` in a description: a caller needs them to send the object."""

_UNTOLD = frozenset("title readOnly writeOnly $comment".split())


class Severity(StrEnum):
    """How bad a loss is."""

    NOTE = "note"
    """The model still reads it, or no call depends on it."""
    WARNING = "warning"
    """The model is not told: it may send what a call refuses, or cannot send what one takes."""
    ERROR = "error"
    """The provider does not take the tool as it is."""


class Effect(StrEnum):
    """What a loss does to the arguments that the model may send."""

    WORDS = "words"
    """Nothing: the same arguments are valid."""
    WIDER = "wider"
    """The form allows arguments that the spec refuses; a call still refuses them."""
    NARROWER = "narrower"
    """The spec allows arguments that the form cannot express."""
    OTHER = "other"
    """Both: what stands below `not`, say, and is wider there."""


class Loss(NamedTuple):
    """One keyword, or one field of a spec, that a provider's form has not.

    Losses sort as they stand in a report: by tool, path and keyword.

    Attributes:
        tool: the spec's name of the tool.
        path: where in the spec, as a JSON pointer from its root: `/parameters/properties/a`.
        keyword: the keyword, or the field of the spec, that is lost.
        what: what is lost and what stands in its place, in words, without its end point.
        severity: how bad that is.
        effect: what it does to the arguments that are valid.
    """

    tool: str
    path: str
    keyword: str
    what: str
    severity: Severity = Severity.NOTE
    effect: Effect = Effect.WORDS

    def __str__(self) -> str:
        return f"{self.tool} {self.path} {self.keyword} {self.severity}: {self.what}"


class Losses:
    """The losses of one tool, as they are found.

    Args:
        tool: the spec's name of it.

    Attributes:
        is_reversed: whether they are found below `not` or the like, where what is wider makes
            the whole narrower.
    """

    def __init__(self, tool: str) -> None:
        self.is_reversed = False
        self._tool = tool
        self._found: dict[Loss, None] = {}

    def add(
        self,
        path: tuple[str | int, ...],
        keyword: str,
        what: str,
        effect: Effect = Effect.WORDS,
        severity: Severity = Severity.NOTE,
    ) -> None:
        """Notes a loss; the same one counts once."""
        if self.is_reversed and effect is not Effect.WORDS:
            effect = Effect.OTHER
        loss = Loss(self._tool, format_pointer(path), keyword, what, severity, effect)
        self._found[loss] = None

    def sorted(self) -> tuple[Loss, ...]:
        """All of them, each once."""
        return tuple(sorted(self._found))


def told(lost: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """What to add to a description, and the keywords that it tells.

    A keyword stands with its value as JSON, as Anthropic's and other SDKs put it:
    `(minimum: 1, maximum: 10)`. One whose value is long, or that tells a model nothing, is left
    out.
    """
    parts = {}
    for keyword, value in lost.items():
        part = "" if keyword in _UNTOLD else _part(keyword, value)
        most = (
            _MAX_PROPERTIES_CHARACTERS
            if keyword == "properties"
            else _MAX_KEYWORD_CHARACTERS
        )
        if part and len(part) <= most:
            parts[keyword] = part
    return (f"({', '.join(parts.values())})" if parts else ""), frozenset(parts)


def _part(keyword: str, value: Any) -> str:
    if keyword == "deprecated":
        return "deprecated" if value is True else ""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if keyword == "examples" and isinstance(value, (list, tuple)):
        text = text[1:-1]
    return f"{'for example' if keyword == 'examples' else keyword}: {text}"


def added(description: Any, text: str) -> str:
    """A description and what is told besides."""
    return f"{description} {text}" if description else text
