"""JSON Schema subset that a provider accepts, and the keywords that are lost in it.

A provider has one `Dialect` for its loose form and may have another for its strict form.
`dialect_table` builds the dialects of providers. `schema_rendering` applies them without depending
on a provider's name: to support a new restriction, add a row to the table and an attribute with a
default to `Dialect`, and apply it there.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from ..core.validation.references import format_pointer

ANNOTATIONS = frozenset(
    "title description default examples deprecated readOnly writeOnly".split()
)
"""Keywords that do not affect validation (JSON Schema 2020-12, validation, section 9)."""


def has_only_annotations(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema has only annotation keywords and so accepts every value."""
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
    " unevaluatedProperties unevaluatedItems contentSchema".split()
)
SUBSCHEMA_KEYWORDS = NAMED | LISTED | HELD | set(DEFINITIONS)


class References(Enum):
    """Treatment of `$ref` in a rendered schema."""

    KEPT = "kept"
    """References point to `$defs` of the root; recursive references are kept."""
    NO_CYCLES = "no cycles"
    """References are kept, except that recursion is cut."""
    INLINED = "inlined"
    """References are replaced by the schemas they point to; recursion is cut."""


class Nullable(Enum):
    """Spelling of nullable types."""

    ANY = "any"
    """The spec's spelling is kept; an added null goes into the type list."""
    TYPE_LIST = "type list"
    """`type: [string, null]`, if null has only one other type next to it."""
    ANY_OF = "anyOf"
    """`anyOf: [{type: string}, {type: null}]`; there are no type lists."""


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """JSON Schema subset that a provider's loose or strict form accepts.

    Attributes:
        keywords: the accepted keywords; None for all, including unknown keywords. `$defs`
            may be omitted.
        lost_at_root: keywords that are not accepted at the root of the schema.
        lost_of_parameters: keywords that are not accepted directly in the schema of a
            parameter, which is a property of the root.
        formats: the accepted values of `format`; None for any.
        has_plain_patterns: whether `pattern` must not contain look-arounds, back references
            or word boundaries.
        has_python_patterns: whether Python's `re` must be able to compile every `pattern` and
            every name of `patternProperties`.
        enum_types: the JSON types that values of `enum` and `const` may have; None for any.
        max_min_items: the largest accepted `minItems`; None for any.
        max_integer: the largest absolute value of an integer anywhere; None for any.
        references: the treatment of `$ref`.
        has_reference_siblings: whether a schema may have other keywords next to `$ref`;
            otherwise the reference is wrapped in `anyOf`.
        nullable: the spelling of nullable types.
        is_closed: whether every object must reject undeclared properties. A tool whose schema
            needs a map or a value of any type is then rendered in the loose form.
        is_required_whole: whether `required` must list every property. Optional properties
            become nullable, and null arguments for them are removed from calls.
        needs_items: whether every array needs `items`; `items: {}` is added if it is missing.
        property_names: the pattern of valid property names; other names are mapped to valid
            ones. None for any.
    """

    keywords: frozenset[str] | None = None
    lost_at_root: frozenset[str] = frozenset()
    lost_of_parameters: frozenset[str] = frozenset()
    formats: frozenset[str] | None = None
    has_plain_patterns: bool = False
    has_python_patterns: bool = False
    enum_types: frozenset[str] | None = None
    max_min_items: int | None = None
    max_integer: int | None = None
    references: References = References.KEPT
    has_reference_siblings: bool = True
    nullable: Nullable = Nullable.ANY
    is_closed: bool = False
    is_required_whole: bool = False
    needs_items: bool = False
    property_names: re.Pattern[str] | None = None

    def accepts(self, keyword: str, *, at_root: bool = False) -> bool:
        """Return whether the dialect accepts a keyword, at the root or below it."""
        if at_root and keyword in self.lost_at_root:
            return False
        return self.keywords is None or keyword in self.keywords

    def accepts_pattern(self, pattern: str) -> bool:
        """Return whether the dialect accepts a regular expression as `pattern`."""
        if self.has_plain_patterns and any(
            part in pattern for part in _COMPLEX_PATTERN_PARTS
        ):
            return False
        return not self.has_python_patterns or _compiles_in_python(pattern)

    def accepts_integers(self, value: Any) -> bool:
        """Return whether no integer in a JSON value exceeds the dialect's `max_integer`.

        Integers in nested objects and arrays are included.
        """
        return self.max_integer is None or not has_larger_integer(
            value, self.max_integer
        )


_COMPLEX_PATTERN_PARTS = (
    "(?=",
    "(?!",
    "(?<",
    "\\b",
    "\\B",
    *(f"\\{number}" for number in range(1, 10)),
)
# `re` of Python 3.14 and later compiles `\z`, so its success does not prove that a provider
# with an older Python accepts the pattern.
_NEW_PYTHON_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\z")


@lru_cache(maxsize=1024)
def _compiles_in_python(pattern: str) -> bool:
    try:
        # `re` warns about ambiguous syntax, which it accepts.
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return not _NEW_PYTHON_ESCAPE.search(pattern)


def has_larger_integer(value: Any, maximum: int) -> bool:
    """Return whether a value contains a number that is NaN or exceeds a maximum.

    Absolute values are compared. Numbers in nested objects and arrays are included.
    """
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            waiting.extend(part.values())
        elif isinstance(part, (list, tuple)):
            waiting.extend(part)
        elif isinstance(part, (int, float)) and not abs(part) <= maximum:
            return True
    return False


class InexpressibleError(Exception):
    """Schema that a provider's dialect cannot express.

    Attributes:
        path: the path of the schema in the spec.
        keyword: the keyword that cannot be expressed.
        reason: the reason, as a clause for messages.
    """

    def __init__(self, path: tuple[str | int, ...], keyword: str, reason: str) -> None:
        super().__init__(path, keyword, reason)
        self.path = path
        self.keyword = keyword
        self.reason = reason


_MAX_KEYWORD_CHARACTERS = 400
"""Characters of a lost keyword and its value in a description."""
_MAX_PROPERTIES_CHARACTERS = 4_000
"""Characters of lost `properties` in a description.

The limit is higher because a model needs the properties to send the object.
"""

_OMITTED_KEYWORDS = frozenset("title readOnly writeOnly $comment".split())


class Severity(StrEnum):
    """Severity of a loss."""

    NOTE = "note"
    """The model can still read the lost information, or no call depends on it."""
    WARNING = "warning"
    """The model may send invalid arguments, or cannot send some valid arguments."""
    ERROR = "error"
    """The provider does not accept the tool unchanged."""


class Effect(StrEnum):
    """Effect of a loss on the arguments that the provider's form allows."""

    WORDS = "words"
    """None: the same arguments are valid."""
    WIDER = "wider"
    """The form allows arguments that the spec rejects; calls with them still fail."""
    NARROWER = "narrower"
    """The spec allows arguments that the form cannot express."""
    OTHER = "other"
    """The form may be wider or narrower, for example after a loss below `not`."""


class Loss(NamedTuple):
    """Keyword or spec field that a provider's form cannot express.

    Losses sort by tool, path and keyword, which is their order in reports.

    Attributes:
        tool: the tool's name in the spec.
        path: the JSON pointer from the root of the spec: `/parameters/properties/a`.
        keyword: the lost keyword or spec field.
        message: the lost information and its replacement, without a final period.
        severity: the severity of the loss.
        effect: the effect on the arguments that the form allows.
    """

    tool: str
    path: str
    keyword: str
    message: str
    severity: Severity = Severity.NOTE
    effect: Effect = Effect.WORDS

    def __str__(self) -> str:
        return f"{self.tool} {self.path} {self.keyword} {self.severity}: {self.message}"


class Losses:
    """Collection of the losses of one tool.

    Args:
        tool: the tool's name in the spec.

    Attributes:
        is_reversed: whether the schema being rendered is below a keyword such as `not`, where
            a wider subschema can make the whole schema narrower.
    """

    def __init__(self, tool: str) -> None:
        self.is_reversed = False
        self._tool = tool
        self._found: dict[Loss, None] = {}

    def add(
        self,
        path: tuple[str | int, ...],
        keyword: str,
        message: str,
        effect: Effect = Effect.WORDS,
        severity: Severity = Severity.NOTE,
    ) -> None:
        """Add a loss, unless an identical loss was added before."""
        if self.is_reversed and effect is not Effect.WORDS:
            effect = Effect.OTHER
        loss = Loss(
            self._tool, format_pointer(path), keyword, message, severity, effect
        )
        self._found[loss] = None

    def remove_narrowing(self, count: int) -> bool:
        """Remove the losses after the first `count` if one may make the schema narrower.

        Renamed properties (keyword `name`) do not make it narrower: the spec's names are
        restored in the model's arguments.

        Returns:
            Whether the losses were removed.
        """
        losses = list(self._found)[count:]
        is_narrowing = any(
            loss.effect is Effect.OTHER and loss.keyword != "name" for loss in losses
        )
        for loss in losses if is_narrowing else ():
            del self._found[loss]
        return is_narrowing

    def __len__(self) -> int:
        return len(self._found)

    def list_losses(self) -> tuple[Loss, ...]:
        """Return all losses in report order."""
        return tuple(sorted(self._found))


def describe_lost_keywords(lost: Mapping[str, Any]) -> tuple[str, frozenset[str]]:
    """Format lost keywords for a description; return the text and the keywords in it.

    The text has each keyword with its value as JSON, `(minimum: 1, maximum: 10)`, like that of
    Anthropic's SDK. Keywords with a long value and keywords of no use to a model are omitted.
    The text is empty if no keyword is stated.
    """
    parts = {}
    for keyword, value in lost.items():
        part = "" if keyword in _OMITTED_KEYWORDS else _format_keyword(keyword, value)
        max_characters = (
            _MAX_PROPERTIES_CHARACTERS
            if keyword == "properties"
            else _MAX_KEYWORD_CHARACTERS
        )
        if part and len(part) <= max_characters:
            parts[keyword] = part
    return (f"({', '.join(parts.values())})" if parts else ""), frozenset(parts)


def _format_keyword(keyword: str, value: Any) -> str:
    if keyword == "deprecated":
        return "deprecated" if value is True else ""
    text = json.dumps(value, ensure_ascii=False, default=str)
    if keyword == "examples" and isinstance(value, (list, tuple)):
        # Without the brackets, so that models do not read the examples as one array.
        text = text[1:-1]
    return f"{'for example' if keyword == 'examples' else keyword}: {text}"


def append_text(description: Any, text: str) -> str:
    """Append text to a description that may be missing or empty."""
    return f"{description} {text}" if description else text
