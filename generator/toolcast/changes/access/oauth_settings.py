"""Changes of whose tokens open a toolset's endpoints, and of what their scopes give."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.model import Toolset, Workspace
from ..change import Change, Grade, Grades, files_of
from ..family import Family, Rules
from ..field_rows import changes_of, entries, fields_of_rows, flag, items, value

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING
_AT = "targets.mcp.http.oauth"

RULES = Rules()
ISSUER = RULES.alone(
    "access/issuer",
    "Tokens of another authorization server are taken, or by other keys.",
    Grades(call=_B, attachment=_B),
)
ASKED, SIGNED = RULES.pair(
    "access/token-introspected",
    "The authorization server is asked for each token.",
    Grades(call=_R, attachment=_R),
    "access/token-signed",
    "Tokens are checked by their signature; one that is revoked holds until it expires.",
    Grades(call=_B, attachment=_R),
)
ALGORITHM_ADDED, ALGORITHM_REMOVED = RULES.pair(
    "access/algorithm-taken",
    "Tokens may be signed with one more algorithm.",
    Grades(attachment=_R),
    "access/algorithm-refused",
    "Tokens that are signed with an algorithm are refused.",
    Grades(call=_B, attachment=_R),
)
SCOPE_ADDED, SCOPE_REMOVED = RULES.pair(
    "access/scope-added",
    "A scope of tokens gives something.",
    Grades(attachment=_R),
    "access/scope-removed",
    "A scope of tokens gives nothing any more.",
    Grades(call=_B, attachment=_B),
)
SCOPE = RULES.alone(
    "access/scope-gives",
    "A scope of tokens gives something else.",
    Grades(call=_R, attachment=_R),
)

_ROWS = (
    value(f"{_AT}.issuer", "the authorization server", ISSUER),
    value(f"{_AT}.jwks_uri", "the address of its keys", ISSUER),
    flag(
        f"{_AT}.introspection",
        "the authorization server",
        ASKED,
        SIGNED,
        ("is asked for each token", "is not asked for tokens any more"),
    ),
    items(
        f"{_AT}.algorithms",
        "the algorithms of tokens",
        ALGORITHM_ADDED,
        ALGORITHM_REMOVED,
    ),
    entries(f"{_AT}.scopes", "the scopes of tokens", SCOPE_ADDED, SCOPE_REMOVED, SCOPE),
)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's settings for tokens."""
    # What a target does that comes or goes is told by that alone.
    if "mcp" in before.targets and "mcp" in after.targets:
        yield from changes_of(_ROWS, files_of(before, after))


FAMILY = Family(
    rules=RULES,
    toolset_fields=fields_of_rows(_ROWS)
    | {f"{_AT}.scopes.*.{key}" for key in ("clients", "permissions")},
    compare_toolsets=compare_toolsets,
)
"""Whose tokens open endpoints, and what they give."""
