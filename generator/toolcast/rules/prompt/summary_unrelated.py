"""`prompt/summary-unrelated`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from ...facts.texts import all_texts
from ...findings import Finding, Severity
from ...model.model import Toolset, ToolSpec, Workspace
from ..rule import Rule

__all__ = ["RULE"]

# Letters; where scripts write no spaces, each letter is a word.
_WORD = re.compile(r"[\u0e00-\U0010ffff]|[^\W\d_\u0e00-\U0010ffff]{2,}")
_INNER_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FUNCTION_WORDS = """
a about all also an and any are as at be but by can for from has have if in into is it
its more no not of on one only or other our out so some than that the their them then
there these they this those to too up was we what when where which who will with you your
"""
# Words that every tool's line could have.
_SAY_NOTHING = """
action actions anything call calls do does execute executes function functions handle
handler handles helper helps job misc miscellaneous operation operations perform performs
placeholder run runs something stuff task tbd thing things todo tool tools use used useful
uses using utilities utility various work works
"""
_COMMON = frozenset(_FUNCTION_WORDS.split())
_EMPTY = _COMMON.union(_SAY_NOTHING.split())
_BEGINNING = 4
"""Words that begin with the same four letters count as forms of one word."""


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    for tool in toolset.tools:
        words = _words(tool.summary)
        if words <= _EMPTY:
            message = "the summary says nothing of what the tool does"
        elif _is_unrelated(tool, words):
            message = "the summary and the description have no word in common"
        else:
            continue
        yield RULE.at(
            tool,
            ("summary",),
            message,
            "say in one line what the description says at length; prompts, catalogue"
            " and `--help` show this line alone",
        )


def _is_unrelated(tool: ToolSpec, words: frozenset[str]) -> bool:
    description = (tool.description or "").strip()
    if not description or tool.summary in description:
        return False
    # Its name and parameters speak of the same thing as its description.
    others = chain([tool.name], _other_texts(tool))
    known = frozenset().union(*(_beginnings(_words(text)) for text in others))
    return known.isdisjoint(_beginnings(words))


def _other_texts(tool: ToolSpec) -> Iterator[str]:
    yield from (t.text for t in all_texts(tool) if t.text != tool.summary)


def _words(text: str) -> frozenset[str]:
    spaced = _INNER_CASE.sub(" ", text.replace("_", " "))
    return frozenset(_WORD.findall(spaced.lower()))


def _beginnings(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word.rstrip("s")[:_BEGINNING] for word in words - _COMMON)


RULE = Rule(
    id="prompt/summary-unrelated",
    severity=Severity.WARNING,
    purpose="Checks that a summary says what the tool's other texts say.",
    why=(
        "Prompts and the router's catalogue show the summary, MCP the description. They are"
        " two texts; when only one is kept up, models are told two things of one tool."
    ),
    bad="""\
summary: Stuff.
description: Stores a note and gives its identifier.
""",
    good="""\
summary: Store a note.
description: Stores a note and gives its identifier.
""",
    check=check,
)
