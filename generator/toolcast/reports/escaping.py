"""Escaping of untrusted text for terminals, logs, workflow commands and Markdown."""

from __future__ import annotations

import re

from ..encoders.markdown import encode_code_span
from ..parsing.characters import is_printable

# Characters that neither Markdown nor GitHub's extensions of it interpret inside a word.
# Mentions, issue references, addresses, emphasis and HTML contain other characters.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9,;.()'\"?!%=+-]+")
_LOG_COMMAND = re.compile(r"##(?=\w*\[)")
_LOG_LINE = re.compile(r"^(\s*)::")
# GitHub links `www.` addresses also after punctuation, and `GH-12` like `#12`.
_AUTOLINK = re.compile(r"www\.|\bGH-\d", re.IGNORECASE)
_TOKENS = re.compile(r"`([^`]+)`|([^\s`]+)|(\s+)|`")


def printable(text: str) -> str:
    """Escape characters that are invisible or control the terminal or log that displays them.

    `##` before a log command is escaped, too: GitHub, Azure Pipelines and TeamCity execute
    commands within any line of a log. Source: `ActionCommand.TryParse` of actions/runner.
    """
    if "##" in text:
        text = _LOG_COMMAND.sub(r"#\\x23", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if c == " " or is_printable(c) else c.encode("unicode_escape").decode()
        for c in text
    )


def escape_log_line(text: str) -> str:
    """Escape `::` at the beginning of a line, which starts a workflow command."""
    return _LOG_LINE.sub(r"\1\\x3a:", text)


def escape_workflow_message(text: str) -> str:
    """Escape the message of a workflow command, which must be one line.

    Source: GitHub Docs, "Workflow commands for GitHub Actions"; `escapeData` of
    actions/toolkit.
    """
    return printable(text).replace("%", "%25")


def escape_workflow_property(text: str) -> str:
    """Escape a property of a GitHub workflow command.

    Source: `escapeProperty` of actions/toolkit.
    """
    return escape_workflow_message(text).replace(":", "%3A").replace(",", "%2C")


def render_code_span(text: str) -> str:
    """Render a name or a value as a Markdown code span on one line."""
    return str(encode_code_span(printable(text)))


def escape_markdown(message: str) -> str:
    """Render a message that has names in backticks as one line of Markdown.

    Names become code spans, and so does every word that Markdown or GitHub might interpret:
    mentions, issue references, addresses and tags.
    """
    parts: list[str] = []
    for name, word, space in _TOKENS.findall(message):
        if name:
            parts.append(render_code_span(name))
        elif space:
            parts.append(" ")
        elif word:
            parts.append(_escape_token(word))
    return "".join(parts).strip()


def _escape_token(word: str) -> str:
    # A colon after a word is punctuation and stays outside of the code span.
    core = word.rstrip(":")
    is_plain = _PLAIN_WORD.fullmatch(core) and not _AUTOLINK.search(core)
    if not core or is_plain:
        return word
    return render_code_span(core) + word[len(core) :]
