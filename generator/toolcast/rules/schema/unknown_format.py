"""`schema/unknown-format`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from toolcast_runtime.validation.formats import FORMATS

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule
from . import subschemas_of

__all__ = ["RULE"]

# Those of the OpenAPI Initiative's registry (https://spec.openapis.org/registry/format/), and
# of providers.
_OTHERS = frozenset(
    (
        "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double double-int decimal"
        " decimal128 byte binary base64url char password commonmark html media-range"
        " date-time-local time-local http-date unixtime sf-binary sf-boolean sf-decimal"
        " sf-integer sf-string sf-token"
        " base64 color cidr ipv4-cidr ipv6-cidr ip markdown enum google-datetime"
        " google-duration google-fieldmask"
    ).split()
)
_MOST_SHOWN = 60
_OTHERWISE = (
    "say what a value has to be with `pattern`, or in the description; suppress this where"
    " all your clients know it"
)
_MEANT = {
    "url": "uri",
    "guid": "uuid",
    "timestamp": "date-time",
    "iso8601": "date-time",
}


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, place, subschema in subschemas_of(toolset):
        name = subschema.get("format")
        if isinstance(name, str) and name not in FORMATS and name not in _OTHERS:
            message = (
                f"`{name[:_MOST_SHOWN]}` is no format of JSON Schema or OpenAPI, so nothing"
                " knows it"
            )
            yield RULE.at(tool, (*place, "format"), message, _meant(name))


@lru_cache(maxsize=4096)
def _meant(name: str) -> str:
    meant = _MEANT.get(name.casefold())
    if meant:
        return f"did you mean `{meant}`?"
    return did_you_mean(name, [*FORMATS, *sorted(_OTHERS)]) or _OTHERWISE


RULE = Rule(
    id="schema/unknown-format",
    severity=Severity.WARNING,
    purpose="Checks that every `format` is one of JSON Schema or OpenAPI.",
    why=(
        "A format that nobody knows is passed over: nothing checks the value, and models"
        " and clients do without the hint. Sources: JSON Schema Validation 2020-12, section"
        " 7.3; the format registry of the OpenAPI Initiative."
    ),
    bad="""\
parameters:
  type: object
  properties: {due: {type: string, format: datetime}}
""",
    good="""\
parameters:
  type: object
  properties: {due: {type: string, format: date-time}}
""",
    check=check,
)
