"""Secrets that stand in a toolset instead of in the environment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model.mcp.mcp_servers import McpServer, without_references

__all__ = ["is_secret_text", "secret_places"]

_SECRET_NAME = re.compile(
    r"authorization|cookie|credential|passw(?:or)?d|passphrase|secret"
    r"|(?:^|[-_])(?:token|key|pat|pwd)(?:$|[-_])|(?:api|access|private)[-_]?key",
    re.IGNORECASE,
)
# What stands before the secret itself, and says nothing.
_SCHEME = re.compile(r"^\s*(?:bearer|basic|token|apikey|digest)?\s*$", re.IGNORECASE)
_SECRET_TEXT = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bAKIA[0-9A-Z]{16}\b|\bAIza[0-9A-Za-z_-]{30,}|\beyJ[A-Za-z0-9_-]{10,}\."
    r"|\bglpat-[A-Za-z0-9_-]{16,}|\bhf_[A-Za-z0-9]{20,}",
)
_PASSWORD_IN_URL = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_OPTION = re.compile(r"^--?([A-Za-z0-9_-]+)(?:=(.*))?$", re.DOTALL)


def secret_places(server: McpServer) -> Iterator[tuple[str | int, ...]]:
    """The paths below a server of what looks like a secret, by its name or as a text."""
    option = ""
    for path, text in server.texts:
        literal = without_references(text)
        is_named = False
        if path[0] in ("env", "headers"):
            is_named = bool(_SECRET_NAME.search(str(path[1])))
        elif path[0] == "args":
            is_named = bool(option)
            match = _OPTION.match(literal)
            option = ""
            if match and _SECRET_NAME.search(match[1]):
                if match[2] is None:
                    option = match[1]
                else:
                    literal, is_named = match[2], True
            elif match:
                is_named = False
        if (is_named and not _SCHEME.match(literal)) or is_secret_text(literal):
            yield path


def is_secret_text(text: str) -> bool:
    """Whether a text has something in it that looks like a secret of a known kind."""
    literal = without_references(text)
    return bool(_SECRET_TEXT.search(literal) or _PASSWORD_IN_URL.search(literal))
