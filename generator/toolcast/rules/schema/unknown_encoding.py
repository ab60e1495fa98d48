"""`schema/unknown-encoding`."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.values.encodings import ENCODINGS

from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule
from . import subschemas_of

__all__ = ["RULE"]

# Those of RFC 2045, section 6.2, that change nothing of a text.
_PLAIN = ("7bit", "8bit", "binary")
_KNOWN = (*ENCODINGS, *_PLAIN)
_MOST_SHOWN = 60
_OTHERWISE = "such a text stays a text for handlers; say in its description what it is"
_MEANT = {"hex": "base16", "qp": "quoted-printable"}


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, place, subschema in subschemas_of(toolset):
        name = subschema.get("contentEncoding")
        if isinstance(name, str) and name not in _KNOWN:
            message = (
                f"`{name[:_MOST_SHOWN]}` is no encoding of RFC 4648 or RFC 2045, so nothing"
                " knows it"
            )
            meant = _MEANT.get(name.casefold())
            help_ = f"did you mean `{meant}`?" if meant else did_you_mean(name, _KNOWN)
            where = (*place, "contentEncoding")
            yield RULE.at(tool, where, message, help_ or _OTHERWISE)


RULE = Rule(
    id="schema/unknown-encoding",
    severity=Severity.WARNING,
    purpose="Checks that every `contentEncoding` is one of RFC 4648 or RFC 2045.",
    why=(
        "A caller has to turn bytes into a text, and an encoding that nobody knows is a"
        " guess. With `values: python` a handler is given such a text as it was sent, and no"
        " bytes. Source: JSON Schema Validation 2020-12, section 8.3."
    ),
    bad="""\
parameters:
  type: object
  properties: {scan: {type: string, contentEncoding: hex}}
""",
    good="""\
parameters:
  type: object
  properties: {scan: {type: string, contentEncoding: base16}}
""",
    check=check,
)
