"""`spec/server-secret`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ...findings import Finding, Severity
from ...model.mcp_servers import McpServer, without_references
from ...model.model import Toolset, Workspace
from ...reading.tree import Path
from ..rule import Rule, at_toolset

__all__ = ["RULE"]

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
_HELP = "put it into an environment variable and write `${NAME}` here"


def check(toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    """Finds secrets that stand in the toolset instead of in the environment."""
    for server in toolset.mcp_servers:
        for inner in _places(server):
            path = ("mcp_servers", server.name, *inner)
            message = f"the server `{server.name}` has a secret written out"
            yield _found(toolset, path, message)
    router = toolset.router
    if router is not None and _is_secret_text(router.base_url):
        message = "the router's address has a secret written out"
        yield _found(toolset, ("router", "base_url"), message)


def _found(toolset: Toolset, path: Path, message: str) -> Finding:
    """Says where it is, and shows neither the value nor its line."""
    at_key = isinstance(path[-1], str)
    found = at_toolset(RULE, toolset, path, message, _HELP, at_key=at_key)
    return replace(found, source_line="")


def _places(server: McpServer) -> Iterator[tuple[str | int, ...]]:
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
        if (is_named and not _SCHEME.match(literal)) or _is_secret_text(literal):
            yield path


def _is_secret_text(text: str) -> bool:
    literal = without_references(text)
    return bool(_SECRET_TEXT.search(literal) or _PASSWORD_IN_URL.search(literal))


RULE = Rule(
    id="spec/server-secret",
    severity=Severity.ERROR,
    purpose="Checks that external servers get their secrets from the environment.",
    why=(
        "What stands in a toolset is in the repository, in generated code, and in whatever"
        " is made of both; a secret that was there once has to be replaced."
    ),
    bad="""\
# toolset.yaml
mcp_servers:
  mail: {url: "https://mail.example/mcp", headers: {Authorization: Bearer 7f3a9c}}
""",
    good="""\
# toolset.yaml
mcp_servers:
  mail: {url: "https://mail.example/mcp", headers: {Authorization: "Bearer ${MAIL}"}}
""",
    check=check,
)
