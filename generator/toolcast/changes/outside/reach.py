"""Programs, hosts and variables that a toolset comes to reach, or reaches no more."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace

from ...facts.network_reach import is_secret_text, reach_of, sent_variables
from ...model.endpoints import endpoints, variable
from ...model.model import Toolset, Workspace
from ...reading.tree import Path
from ..change import Change, Grade, Grades, SpecFiles, files_of
from ..family import Family, Rules
from ..field_rows import amount, changes_of, fields_of_rows, value
from ..json_values import said

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
PROGRAM, PROGRAM_GONE = RULES.pair(
    "reach/program",
    "Whoever serves the toolset starts a program that it did not start.",
    Grades(attachment=_B),
    "reach/program-no-more",
    "A program is no longer started.",
    Grades(),
)
HOST, HOST_GONE = RULES.pair(
    "reach/host",
    "Whoever serves the toolset speaks to a host that it did not speak to.",
    Grades(attachment=_B),
    "reach/host-no-more",
    "A host is no longer spoken to.",
    Grades(),
)
VARIABLE, VARIABLE_GONE = RULES.pair(
    "reach/variable",
    "An environment variable is read that was not: it has to be set.",
    Grades(attachment=_R),
    "reach/variable-no-more",
    "An environment variable is no longer read.",
    Grades(),
)
SENT, SENT_NO_MORE = RULES.pair(
    "reach/variable-sent",
    "The value of an environment variable goes to another host, which it did not.",
    Grades(attachment=_B),
    "reach/variable-sent-no-more",
    "The value of an environment variable no longer goes to another host.",
    Grades(),
)
ROUTER, NO_ROUTER = RULES.pair(
    "router/added",
    "A model chooses the tools for a message: messages go to its host, and other tools"
    " are offered.",
    Grades(prompt=_R, attachment=_R),
    "router/removed",
    "Tools are chosen by their words, no longer by a model.",
    Grades(prompt=_R),
)
ROUTER_HOST = RULES.alone(
    "router/address",
    "Messages go to another address for the choice of tools.",
    Grades(prompt=_R, attachment=_R),
)
ROUTER_MODEL = RULES.alone(
    "router/model", "Another model chooses the tools for a message.", Grades(prompt=_R)
)
ROUTER_KEY = RULES.alone(
    "router/key",
    "The key of the model that chooses tools is another variable.",
    Grades(attachment=_R),
)
ROUTER_SHORTER, ROUTER_LONGER = RULES.pair(
    "router/timeout-shorter",
    "The choice of tools is given up earlier; then all of them are offered.",
    Grades(prompt=_R),
    "router/timeout-longer",
    "The choice of tools is given up later; turns may wait for it.",
    Grades(),
)
ROUTER_LESS, ROUTER_MORE = RULES.pair(
    "router/history-less",
    "Fewer messages are shown to the model that chooses tools.",
    Grades(prompt=_R),
    "router/history-more",
    "More messages are sent to the model that chooses tools.",
    Grades(prompt=_R, attachment=_R),
)

_ROWS = (
    value(
        "router.base_url",
        "the address of the router's model",
        ROUTER_HOST,
        is_secret=is_secret_text,
    ),
    value("router.model", "the router's model", ROUTER_MODEL),
    value("router.api_key", "the key of the router's model", ROUTER_KEY),
    amount(
        "router.timeout",
        "the time-out for the choice of tools",
        ROUTER_SHORTER,
        ROUTER_LONGER,
        5,
    ),
    amount(
        "router.history",
        "the number of messages that the router's model is shown",
        ROUTER_LESS,
        ROUTER_MORE,
        3,
    ),
)


_KINDS = (
    ("program", PROGRAM, PROGRAM_GONE, "started"),
    ("host", HOST, HOST_GONE, "spoken to"),
    ("variable", VARIABLE, VARIABLE_GONE, "read"),
)
"""In the order of `NetworkReach`, each with what is done to it."""


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """What a toolset comes to reach, each once; then the changes of its router."""
    files = files_of(before, after)
    # That a server has another program is told as a change of that server.
    named = {s.name for s in before.mcp_servers if s.command is not None}
    shared = {s.name for s in after.mcp_servers if s.command is not None} & named
    unsaid = [_by_default(side) for side in (before, after)]
    reached = [_reached(side, shared) for side in (before, after)]
    there = [_reached(side, ()) for side in (before, after)]
    for index, (kind, came, gone, done) in enumerate(_KINDS):
        for name, path in reached[1][index].items():
            if name not in there[0][index] and name not in unsaid[0]:
                message = f"the {kind} {said(name)} is {done}, and was not"
                yield files.changed(came, path, message, after=name)
        for name, path in reached[0][index].items():
            if name not in there[1][index] and name not in unsaid[1]:
                message = f"the {kind} {said(name)} is no longer {done}"
                yield files.changed(gone, path, message, before=name)
    yield from _sent(before, after, files)
    yield from _router(before, after, files)


def _reached(
    toolset: Toolset, shared: Collection[str]
) -> tuple[dict[str, Path], dict[str, Path], dict[str, Path]]:
    """The programs, hosts and variables that a toolset reaches, and where it says so first."""
    found: tuple[dict[str, Path], ...] = ({}, {}, {})
    for path, part in _parts(toolset):
        reached = reach_of(part)
        if len(path) == 2 and path[0] == "mcp_servers" and path[1] in shared:
            reached = reached._replace(programs=())
        for names, known in zip(reached, found, strict=True):
            for name in names:
                known.setdefault(name, path)
    return found[0], found[1], found[2]


def _by_default(toolset: Toolset) -> set[str]:
    """The variables of tokens that are read where the toolset names none."""
    names = {plan.token_variable for plan in endpoints(toolset)}
    return names | {variable(toolset, "ADMIN", "TOKEN")}


def _parts(toolset: Toolset) -> Iterator[tuple[Path, Toolset]]:
    """A toolset cut into what can reach something, each with its path."""
    rest = replace(
        toolset, mcp_servers=(), router=None, clients=(), targets={}, extensions={}
    )
    for server in toolset.mcp_servers:
        yield ("mcp_servers", server.name), replace(rest, mcp_servers=(server,))
    if toolset.router is not None:
        yield ("router",), replace(rest, router=toolset.router)
    for client in toolset.clients:
        path = ("clients", client.name, "token_variable")
        yield path, replace(rest, clients=(client,))
    for name, options in toolset.targets.items():
        yield ("targets", name), replace(rest, targets={name: options})
    for field, content in toolset.extensions.items():
        yield (field,), replace(rest, extensions={field: content})


def _sent(before: Toolset, after: Toolset, files: SpecFiles) -> Iterator[Change]:
    old, new = (
        {(owner, name): path for path, owner, name in sent_variables(side)}
        for side in (before, after)
    )
    for (owner, name), path in new.items():
        if (owner, name) not in old:
            message = f"the variable {said(name)} is sent to {said(owner)}"
            yield files.changed(SENT, path, message, after=name)
    for (owner, name), path in old.items():
        if (owner, name) not in new:
            message = f"the variable {said(name)} is no longer sent to {said(owner)}"
            yield files.changed(SENT_NO_MORE, path, message, before=name)


def _router(before: Toolset, after: Toolset, files: SpecFiles) -> Iterator[Change]:
    old, new = before.router, after.router
    if old is not None and new is not None:
        yield from changes_of(_ROWS, files)
    elif new is not None:
        message = f"the model {said(new.model)} chooses the tools for a message"
        yield files.changed(ROUTER, ("router",), message, after=new.model)
    elif old is not None:
        message = f"the model {said(old.model)} no longer chooses the tools"
        yield files.changed(NO_ROUTER, ("router",), message, before=old.model)


FAMILY = Family(
    rules=RULES, toolset_fields=fields_of_rows(_ROWS), compare_toolsets=compare_toolsets
)
"""Programs, hosts, variables, and the model that chooses tools."""
