"""`prompt/mixed-script`."""

from __future__ import annotations

from collections.abc import Iterator

from ...detectors.confusables import confusable_word
from ...facts.texts import all_texts
from ...findings import Finding, Severity
from ...model.model import Toolset, Workspace
from ...reading.characters import describe
from ..rule import Rule
from . import shown

__all__ = ["RULE"]


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        for found in all_texts(tool):
            hit = confusable_word(found.text)
            if hit is not None:
                word, character = hit
                yield RULE.at(
                    tool,
                    found.path,
                    f"the word {shown(word)} has {describe(character)} among Latin"
                    " letters",
                    "write the word in one script",
                    at_key=found.is_key,
                )


RULE = Rule(
    id="prompt/mixed-script",
    severity=Severity.WARNING,
    purpose="Checks that no word mixes Latin letters with their doubles of other scripts.",
    why=(
        "A Cyrillic letter in a Latin word looks right to a reviewer and slips through"
        " every search; models read it as another word. The check is a heuristic: it knows"
        " the common doubles, and a word written wholly in another script passes."
    ),
    bad="""\
summary: "Sends to \\u0430dmin."
parameters: {type: object}
""",
    good="""\
summary: Sends to admin, администратор.
parameters: {type: object}
""",
    check=check,
)
