"""Changes of a toolset's clients themselves: which there are, and where they are served."""

from __future__ import annotations

from collections.abc import Iterator

from ...model.endpoints import endpoints
from ...model.model import Toolset, Workspace
from ..change import ABSENT, Change, Grade, Grades, SpecFiles, files_of
from ..family import Family, Rules
from ..field_rows import entries, flag, value
from ..json_values import said

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
ADDED, REMOVED = RULES.pair(
    "client/added",
    "There is a client more.",
    Grades(attachment=_R),
    "client/removed",
    "A client is gone: nobody is served as it any more.",
    Grades(call=_B, prompt=_B, attachment=_B),
)
ASKED, UNASKED = RULES.pair(
    "client/asked-for",
    "The toolset asks who calls: a caller that is no client is refused.",
    Grades(call=_B, code=_B, attachment=_B),
    "client/not-asked-for",
    "The toolset no longer asks who calls: every caller has every tool.",
    Grades(code=_B, attachment=_B),
)
ENDPOINT = RULES.alone(
    "client/endpoint",
    "A client is served at another path: what is set up for the old one fails.",
    Grades(attachment=_B),
)
TOKEN = RULES.alone(
    "client/token-variable",
    "A client's token is read from another variable: the server refuses it until that is"
    " set.",
    Grades(attachment=_B),
)
OVERRIDE = RULES.alone(
    "client/override",
    "Another file says what administrators changed of the clients, or none does.",
    Grades(attachment=_R),
)
PERMISSION_ADDED, PERMISSION_REMOVED = RULES.pair(
    "client/permission-added",
    "Tools may ask for a permission more.",
    Grades(),
    "client/permission-removed",
    "A permission is gone that tools could ask for.",
    Grades(attachment=_R),
)
PERMISSION_MEANING = RULES.alone(
    "client/permission-meaning",
    "A permission means something else, to people who give it.",
    Grades(attachment=_R),
)
APPROVES, APPROVES_NOT = RULES.pair(
    "client/approves",
    "A client's program is trusted to ask a person: the server lets its calls through.",
    Grades(attachment=_B),
    "client/approves-not",
    "The server asks a client's person itself, and refuses calls where it cannot.",
    Grades(call=_B, attachment=_R),
)
ALWAYS, ROUTED = RULES.pair(
    "client/tool-always",
    "A tool is offered in every turn: each costs its tokens, and models may choose it"
    " where it is not meant.",
    Grades(prompt=_R),
    "client/tool-routed",
    "A tool is offered where the router finds it needed: a model may not see it.",
    Grades(prompt=_R),
)

_TOOL = (
    flag(
        "always",
        "the tool is",
        ALWAYS,
        ROUTED,
        ("offered in every turn", "offered by the router alone"),
    ),
)
_TOOLSET = (
    value("clients_override", "the file of the clients' overrides", OVERRIDE),
    flag(
        "clients.*.approves",
        "where a tool has a `confirm`, the program of {}",
        APPROVES,
        APPROVES_NOT,
        ("is trusted to ask a person", "is not trusted to ask a person"),
    ),
    entries(
        "permissions",
        "the permissions",
        PERMISSION_ADDED,
        PERMISSION_REMOVED,
        PERMISSION_MEANING,
    ),
)


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's clients."""
    files = files_of(before, after)
    if bool(before.clients) != bool(after.clients):
        asks = bool(after.clients)
        words = "who calls" if asks else "no longer who calls"
        counts = [len(side.clients) for side in (before, after)]
        yield files.changed(
            ASKED if asks else UNASKED,
            ("clients",),
            f"the toolset asks {words}",
            counts[0] or ABSENT,
            counts[1] or ABSENT,
        )
    for rule, one, other in ((ADDED, after, before), (REMOVED, before, after)):
        for client in one.clients:
            if other.client(client.name) is None:
                yield _whole(files, one, client.name, is_added=rule is ADDED)
    yield from _endpoints(before, after, files)


def _whole(files: SpecFiles, toolset: Toolset, name: str, *, is_added: bool) -> Change:
    client = toolset.client(name)
    count = sum(
        toolset.is_offered(tool, client) for tool in toolset.tools if client is not None
    )
    tools = f"{count} tool{'' if count == 1 else 's'}"
    message = (
        f"there is a client {said(name)}, which has {tools}"
        if is_added
        else f"the client {said(name)} is gone, which had {tools}"
    )
    return files.changed(
        ADDED if is_added else REMOVED,
        ("clients", name),
        message,
        ABSENT if is_added else name,
        name if is_added else ABSENT,
    )


def _endpoints(before: Toolset, after: Toolset, files: SpecFiles) -> Iterator[Change]:
    """Where clients of both sides are served; what the toolset's name decides is its own."""
    if before.name != after.name:
        return
    known = {plan.client: plan for plan in endpoints(before)}
    for plan in endpoints(after):
        old = known.get(plan.client)
        if old is None or plan.client is None:
            continue
        name = plan.client
        if old.path != plan.path:
            yield files.changed(
                ENDPOINT,
                ("clients", name, "path"),
                f"{said(name)} is served at {said(plan.path)} instead of {said(old.path)}",
                old.path,
                plan.path,
            )
        if old.token_variable != plan.token_variable:
            variables = said(plan.token_variable), said(old.token_variable)
            yield files.changed(
                TOKEN,
                ("clients", name, "token_variable"),
                f"the token of {said(name)} is read from {variables[0]} instead of"
                f" {variables[1]}",
                old.token_variable,
                plan.token_variable,
            )


FAMILY = Family(
    rules=RULES,
    tool_rows=_TOOL,
    toolset_rows=_TOOLSET,
    toolset_fields={"clients", "clients.*.path", "clients.*.token_variable"},
    compare_toolsets=compare_toolsets,
)
"""Clients, and how they are served."""
