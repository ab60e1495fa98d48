"""`schema/unknown-format`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule
from . import subschemas_of

__all__ = ["RULE"]

_FORMATS = (
    "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri"
    " uri-reference iri iri-reference uuid uri-template json-pointer"
    " relative-json-pointer regex"
).split()
# Those of OpenAPI and of providers, which are near some of them.
_OTHERS = frozenset(
    (
        "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double decimal byte binary"
        " base64 base64url password color char cidr ipv4-cidr ipv6-cidr ip html markdown"
        " enum google-datetime google-duration google-fieldmask media-range"
        " sf-string sf-token sf-integer sf-boolean sf-decimal sf-binary double-int"
    ).split()
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
        meant = _near(name) if isinstance(name, str) else ""
        if meant:
            message = f"`{name}` is no format of JSON Schema, so nothing knows it"
            place = (*place, "format")
            yield RULE.at(tool, place, message, meant)


@lru_cache(maxsize=4096)
def _near(name: str) -> str:
    if name in _FORMATS or name in _OTHERS:
        return ""
    meant = _MEANT.get(name.casefold())
    return f"did you mean `{meant}`?" if meant else did_you_mean(name, _FORMATS)


RULE = Rule(
    id="schema/unknown-format",
    severity=Severity.WARNING,
    purpose="Checks that no `format` is a misspelt one of JSON Schema.",
    why=(
        "A format that nobody knows is passed over: nothing checks the value, and models"
        " and clients do without the hint. Source: JSON Schema Validation 2020-12,"
        " section 7.3."
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
