"""Text of specs within a report: seen as it is, and without power over what shows it."""

from __future__ import annotations

import re

from ..encoders.markdown import encode_code_span
from ..parsing.characters import is_printable

# A word that Markdown, and GitHub in what it makes of Markdown, take as it stands. Mentions,
# references to issues, addresses, emphasis and HTML have other characters.
_WORD = re.compile(r"[A-Za-z0-9,;.()'\"?!%=+-]+")
_BY_ITSELF = re.compile(r"[-+=].*|\d+[.)]")
_LOG_COMMAND = re.compile(r"##(?=\w*\[)")
_LOG_LINE = re.compile(r"^(\s*)::")
# An address also behind a bracket or a comma, and the other way to write `#12`.
_LINKED = re.compile(r"www\.|\bGH-\d", re.IGNORECASE)
_PARTS = re.compile(r"`([^`]+)`|([^\s`]+)|(\s+)|`")


def printable(text: str) -> str:
    """Text that cannot steer what shows it: what is not seen becomes an escape.

    So does `##` before a command of GitHub, Azure Pipelines or TeamCity, which take it within
    any line of a log. Source: `ActionCommand.TryParse` of actions/runner.
    """
    if "##" in text:
        text = _LOG_COMMAND.sub(r"#\\x23", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c == " " or is_printable(c) else c.encode("unicode_escape").decode()
        for c in text
    )


def log_line(text: str) -> str:
    """A line of a log that is no workflow command, which `::` would begin."""
    return _LOG_LINE.sub(r"\1\\x3a:", text)


def workflow_message(text: str) -> str:
    """The message of a workflow command, on one line.

    Source: GitHub Docs, "Workflow commands for GitHub Actions"; `escapeData` of
    actions/toolkit.
    """
    return printable(text).replace("%", "%25")


def workflow_property(text: str) -> str:
    """The value of a property of a workflow command; `escapeProperty` of actions/toolkit."""
    return workflow_message(text).replace(":", "%3A").replace(",", "%2C")


def code_span(text: str) -> str:
    """A name or value of one line as a span of code in Markdown."""
    return str(encode_code_span(printable(text)))


def markdown_text(message: str) -> str:
    """A message with names in backticks, as one line of Markdown.

    Names are spans of code, and so is every word that could be more than a word: a mention,
    a reference to an issue, an address, a tag.
    """
    parts = []
    for name, word, space in _PARTS.findall(message):
        if name:
            parts.append(code_span(name))
        elif space:
            parts.append(" ")
        elif word:
            parts.append(_word(word, is_first=not parts))
    return "".join(parts).strip()


def _word(word: str, *, is_first: bool) -> str:
    # What follows a name is often a comma or a colon.
    core = word.rstrip(":")
    is_word = _WORD.fullmatch(core) and not _LINKED.search(core)
    if not core or (is_word and not (is_first and _BY_ITSELF.fullmatch(core))):
        return word
    return code_span(core) + word[len(core) :]
