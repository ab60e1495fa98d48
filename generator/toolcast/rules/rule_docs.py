"""Parser for the documentation pages of rule families.

A page has a title, a sentence about the family, and a section for each rule. The heading of
the section is the rule id. A sentence that starts with "Checks that" and the reason follow,
then optional examples:

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
"""Maximum size of a documentation page."""
_HEADING = re.compile(r"^## (?=[a-z]+/[a-z0-9-]+$)", re.MULTILINE)
_EXAMPLES = re.compile(
    r"(?P<before>.*?)"
    r"(?:\nBad:\n\n(?P<fence>`{3,})\w*\n(?P<bad>.*?)(?P=fence)\n)?"
    r"(?:\nGood:\n\n(?P<fence2>`{3,})\w*\n(?P<good>.*?)(?P=fence2)\n)?",
    re.DOTALL,
)


class PageError(Exception):
    """Raised when a page cannot be read, is malformed, or does not document a rule."""


@dataclass(frozen=True)
class Paragraph:
    """The documentation of one rule.

    Attributes:
        purpose: one sentence that starts with "Checks that".
        reason: the reason for the rule.
        bad: an example that the rule reports; empty if an example would be too long.
        good: the corrected example; may be empty.
    """

    purpose: str
    reason: str
    bad: str = ""
    good: str = ""


@dataclass(frozen=True)
class Page:
    """The documentation page of a rule family.

    Attributes:
        file: path of the page.
        about: one sentence that describes the family.
        paragraphs: the rules by id, in the order of the page.
    """

    file: str
    about: str
    paragraphs: Mapping[str, Paragraph]

    def paragraph(self, id: str) -> Paragraph:
        """Return the documentation of a rule.

        Raises:
            PageError: the page has no section for the rule.
        """
        if id not in self.paragraphs:
            raise PageError(f"{self.file} has no heading `## {id}`")
        return self.paragraphs[id]


@cache
def load_page(file: str) -> Page:
    """Read and parse a documentation page.

    Raises:
        PageError: the page cannot be read, or a section is malformed.
    """
    try:
        text = read_regular_file(file, _MAX_PAGE_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PageError(f"{file} cannot be read: {error}") from error
    # git on Windows may have changed LF to CRLF.
    introduction, *sections = _HEADING.split(text.replace("\r\n", "\n"))
    about = introduction.partition("\n")[2].strip()
    paragraphs = dict(_parse_section(file, section) for section in sections)
    return Page(file, about, paragraphs)


def _parse_section(file: str, text: str) -> tuple[str, Paragraph]:
    """Return the rule id and the documentation in one section of a page.

    Raises:
        PageError: the section does not have the form that the module's docstring describes.
    """
    id_, _, body = text.partition("\n")
    match = _EXAMPLES.fullmatch(body.strip("\n") + "\n")
    sentences = match["before"].strip().split("\n\n") if match else []
    if match is None or len(sentences) != 2:
        raise PageError(
            f"{file}: `{id_}` needs a sentence, the reason, and its examples below"
            " `Bad:` and `Good:`"
        )
    purpose, reason = (" ".join(sentence.split()) for sentence in sentences)
    return id_.strip(), Paragraph(
        purpose, reason, match["bad"] or "", match["good"] or ""
    )
