"""The page of a family of rules: what a person reads, in Markdown.

A page has a title, what the family is about, and for each rule a heading, which is its id, a
sentence that starts "Checks that", the reason, and a bad and a good example where there is one:

    ## prompt/todo

    Checks that no text of a tool is unfinished.

    A model reads the note to the author as a fact about the tool.

    Bad:

    ```yaml
    summary: "TODO"
    ```

    Good:

    ```yaml
    summary: Stores a note.
    ```
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from toolcast_runtime.core.safe_file import read_regular_file

_MAX_PAGE_BYTES = 1024 * 1024
"""Size of a rule's documentation page."""
_HEADING = re.compile(r"^## (?=[a-z]+/[a-z0-9-]+$)", re.MULTILINE)
_EXAMPLES = re.compile(
    r"(?P<before>.*?)"
    r"(?:\nBad:\n\n(?P<fence>`{3,})\w*\n(?P<bad>.*?)(?P=fence)\n)?"
    r"(?:\nGood:\n\n(?P<fence2>`{3,})\w*\n(?P<good>.*?)(?P=fence2)\n)?",
    re.DOTALL,
)


class PageError(Exception):
    """A page is not there, cannot be read, or does not have a rule."""


@dataclass(frozen=True)
class Paragraph:
    """What a person reads of a rule.

    Attributes:
        purpose: one sentence that starts "Checks that".
        why: what goes wrong without it.
        bad: a spec, or the part of one, that it finds; empty where it is too long to show.
        good: the same, right; may be empty, too.
    """

    purpose: str
    why: str
    bad: str = ""
    good: str = ""


@dataclass(frozen=True)
class Page:
    """The page of a family.

    Attributes:
        file: where it stands.
        about: what the family looks at, in a sentence.
        paragraphs: the rules by their ids, in the order of the page.
    """

    file: str
    about: str
    paragraphs: Mapping[str, Paragraph]

    def paragraph(self, id: str) -> Paragraph:
        """What it says of a rule.

        Raises:
            PageError: it says nothing of it.
        """
        if id not in self.paragraphs:
            raise PageError(f"{self.file} has no heading `## {id}`")
        return self.paragraphs[id]


@cache
def load_page(file: str) -> Page:
    """A page, read and taken apart.

    Raises:
        PageError: it cannot be read, or a paragraph is not as it should be.
    """
    try:
        text = (
            read_regular_file(file, _MAX_PAGE_BYTES)
            .decode("utf-8")
            .replace("\r\n", "\n")
        )
    except (OSError, UnicodeDecodeError) as error:
        raise PageError(f"{file} cannot be read: {error}") from error
    start, *rules = _HEADING.split(text)
    about = start.partition("\n")[2].strip()
    return Page(file, about, dict(_paragraph(file, rule) for rule in rules))


def _paragraph(file: str, text: str) -> tuple[str, Paragraph]:
    id_, _, rest = text.partition("\n")
    parts = _EXAMPLES.fullmatch(rest.strip("\n") + "\n")
    before = parts["before"].strip().split("\n\n") if parts else []
    if parts is None or len(before) != 2:
        raise PageError(
            f"{file}: `{id_}` needs a sentence, the reason, and its examples below"
            " `Bad:` and `Good:`"
        )
    purpose, why = (" ".join(words.split()) for words in before)
    return id_.strip(), Paragraph(purpose, why, parts["bad"] or "", parts["good"] or "")
