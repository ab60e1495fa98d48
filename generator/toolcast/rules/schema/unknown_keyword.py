"""`schema/unknown-keyword`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ...findings import Finding, Severity
from ...json_schema.keywords import KEYWORDS
from ...model.model import Toolset, Workspace
from ...wording import did_you_mean
from ..rule import Rule
from . import subschemas_of

__all__ = ["RULE"]


# Widely used words of other vocabularies, some of them near a keyword.
OTHERS = frozenset(
    (
        "example nullable discriminator xml externalDocs enumNames"
        " enumDescriptions markdownDescription propertyOrdering optional ref"
        " defs defaults name names label order group propertyOrder units unit"
        " hidden secret strict options"
    ).split()
)


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool, place, subschema in subschemas_of(toolset):
        for word in subschema:
            if word in KEYWORDS or word in OTHERS or word.startswith("x-"):
                continue
            meant = _near(word)
            if meant:
                yield RULE.at(
                    tool,
                    (*place, word),
                    f"`{word}` is no keyword of JSON Schema, so nothing checks it",
                    meant,
                    at_key=True,
                )


@lru_cache(maxsize=4096)
def _near(word: str) -> str:
    """The keyword that a word is nearly, which begins or ends as it does."""
    candidates = [
        keyword
        for keyword in sorted(KEYWORDS)
        if abs(len(keyword) - len(word)) <= 2
        and (keyword[0] == word[:1].lower() or keyword[-1] == word[-1:])
    ]
    return did_you_mean(word, candidates) if candidates else ""


RULE = Rule(
    id="schema/unknown-keyword",
    severity=Severity.WARNING,
    purpose="Checks that no word of a schema is a misspelled keyword.",
    why=(
        "JSON Schema ignores what it does not know: a tool with `propertes` has no"
        " parameters, and nothing says so."
    ),
    bad="""\
parameters:
  type: object
  propertes: {task: {type: string}}
""",
    good="""\
parameters:
  type: object
  properties: {task: {type: string}}
""",
    check=check,
)
