"""Changes of what is generated: targets, their options, and tools left out of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...model.endpoints import variable
from ...model.model import Toolset, Workspace
from ..change import ABSENT, Change, ChangeRule, Grade, Grades, SpecFiles, files_of
from ..family import Family, Rules
from ..field_rows import amount, changes_of, fields_of_rows, flag, items, value
from ..json_equality import same
from ..json_values import said

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING
_GRADES = {
    "mcp": Grades(call=_B, prompt=_R, attachment=_B),
    "registry": Grades(call=_B, code=_B),
    "langchain": Grades(call=_B, code=_B),
    "cli": Grades(prompt=_R, code=_B),
    "prompts": Grades(prompt=_B),
    "skills": Grades(prompt=_B, attachment=_R),
    "providers": Grades(call=_B, code=_B),
    "snapshots": Grades(),
}
"""What it means that a target is gone, or a tool is gone from it."""
_OF_OTHERS = Grades(call=_R, prompt=_R, code=_R, attachment=_B)
"""The same of an extension's target: who has the tool there loses it."""

RULES = Rules()
TARGET_ADDED, TARGET_REMOVED = RULES.pair(
    "offer/target-added",
    "A target is generated that was not.",
    Grades(),
    "offer/target-removed",
    "A target is no longer generated: what imports, runs or reads it fails.",
    Grades(_B, _B, _B, _B),
)
INCLUDED, EXCLUDED = RULES.pair(
    "offer/tool-included",
    "A tool is in a target that left it out.",
    Grades(attachment=_R),
    "offer/tool-excluded",
    "A tool is left out of a target.",
    Grades(_B, _B, _B, _B),
)
EXCLUSION = RULES.alone(
    "offer/exclusion-reason",
    "A tool is left out of a target for another reason.",
    Grades(),
)
CLIENT = RULES.alone(
    "offer/default-client",
    "Who names no client is taken for another one, with other tools.",
    Grades(call=_R, prompt=_R, attachment=_B),
)
EXTERNAL, NO_EXTERNAL = RULES.pair(
    "offer/external-shown",
    "The MCP server shows and calls the tools of external servers, too.",
    Grades(prompt=_R, attachment=_R),
    "offer/external-hidden",
    "The MCP server no longer shows the tools of external servers.",
    Grades(call=_B, prompt=_R, attachment=_B),
)
HOST_ADDED, HOST_REMOVED = RULES.pair(
    "offer/host-allowed",
    "Requests may be sent to one more name of the server.",
    Grades(attachment=_R),
    "offer/host-refused",
    "Requests to a name of the server are refused.",
    Grades(call=_B, attachment=_B),
)
ORIGIN_ADDED, ORIGIN_REMOVED = RULES.pair(
    "offer/origin-allowed",
    "Web pages of one more origin may send requests.",
    Grades(attachment=_R),
    "offer/origin-refused",
    "Requests of web pages of an origin are refused.",
    Grades(call=_B, attachment=_B),
)
BODY_SMALLER, BODY_LARGER = RULES.pair(
    "offer/body-smaller",
    "The largest request over HTTP is smaller: a call with much in it is refused.",
    Grades(call=_R),
    "offer/body-larger",
    "Larger requests over HTTP are taken.",
    Grades(),
)
ADMIN = RULES.alone(
    "offer/admin-token-variable",
    "The administrator's token is read from another variable: the paths for"
    " administrators are closed until that is set.",
    Grades(attachment=_R),
)
HEARTBEAT, SILENT = RULES.pair(
    "offer/heartbeat",
    "Callers that asked for progress are told that a long call still runs.",
    Grades(),
    "offer/no-heartbeat",
    "Callers are not told any more that a long call still runs: some clients give up.",
    Grades(call=_R),
)
STATE_KEY = RULES.alone(
    "offer/state-key-variable",
    "The key of questions to people is read from another variable: until that is set,"
    " several processes ask nobody.",
    Grades(attachment=_R),
)
KEPT, NOT_KEPT = RULES.pair(
    "offer/links-kept",
    "The content of handlers' links is kept for their caller, and was sent with the answer.",
    Grades(call=_R, prompt=_R),
    "offer/links-not-kept",
    "The content of handlers' links is sent with the answer, and was kept for their caller.",
    Grades(call=_R, prompt=_R),
)
HEADER, HEADER_NOT = RULES.pair(
    "offer/header-read",
    "A header of requests is given to handlers.",
    Grades(attachment=_R),
    "offer/header-not-read",
    "A header of requests is not given to handlers any more.",
    Grades(code=_R),
)
KEPT_LESS, KEPT_MORE = RULES.pair(
    "offer/links-shorter",
    "Less content of links is kept, or for a shorter time: some is gone when it is asked for.",
    Grades(call=_R),
    "offer/links-longer",
    "More content of links is kept, or for a longer time.",
    Grades(),
)
PROGRAM = RULES.alone(
    "offer/program",
    "Help and prompts call the program otherwise; a command of the old name may be gone.",
    Grades(prompt=_R, code=_R),
)
OPTION = RULES.alone(
    "offer/option",
    "An option of a target is another one.",
    Grades(attachment=_R),
)

_ROWS = (
    value("targets.mcp.client", "the client of stdio and the default path", CLIENT),
    flag(
        "targets.mcp.external",
        "the tools of external servers",
        EXTERNAL,
        NO_EXTERNAL,
        ("are shown", "are not shown any more"),
    ),
    items(
        "targets.mcp.http.allowed_hosts", "the allowed hosts", HOST_ADDED, HOST_REMOVED
    ),
    items(
        "targets.mcp.http.allowed_origins",
        "the allowed origins",
        ORIGIN_ADDED,
        ORIGIN_REMOVED,
    ),
    items(
        "targets.mcp.http.headers", "the headers that handlers read", HEADER, HEADER_NOT
    ),
    amount(
        "targets.mcp.http.max_body",
        "the largest request in bytes",
        BODY_SMALLER,
        BODY_LARGER,
        4_194_304,
    ),
    flag(
        "targets.mcp.heartbeat",
        "the heartbeat of long calls",
        HEARTBEAT,
        SILENT,
        ("is sent", "is not sent any more"),
        default=True,
    ),
    value("targets.mcp.state_key_variable", "the variable of the key", STATE_KEY),
    value("targets.cli.client", "the client of the command line", CLIENT),
)
_LINKS = (
    amount(
        "targets.mcp.links.seconds", "the seconds of links", KEPT_LESS, KEPT_MORE, 600
    ),
    amount(
        "targets.mcp.links.bytes",
        "the bytes of links",
        KEPT_LESS,
        KEPT_MORE,
        16_777_216,
    ),
)
_OWN_OPTIONS = frozenset(_GRADES) - {"providers"}


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's targets, their options, and exclusions."""
    files = files_of(before, after)
    for name in after.targets:
        if name not in before.targets:
            message = f"the target {said(name)} is generated"
            path = ("targets", name)
            yield files.changed(TARGET_ADDED, path, message, after=name)
    for name in before.targets:
        if name not in after.targets:
            message = f"the target {said(name)} is no longer generated"
            path = ("targets", name)
            yield _graded(files, TARGET_REMOVED, path, message, name, before=name)
    shared = [name for name in after.targets if name in before.targets]
    # What a target does that comes or goes is told by that alone.
    rows = [row for row in _ROWS if row.field.split(".")[1] in shared]
    yield from changes_of(rows, files)
    sides = before, after
    if "mcp" in shared:
        keeps = ["links" in side.targets["mcp"] for side in sides]
        if all(keeps):
            yield from changes_of(_LINKS, files)
        elif any(keeps):
            rule = KEPT if keeps[1] else NOT_KEPT
            words = "is kept" if keeps[1] else "is not kept any more"
            raws = [_at(side.targets, "mcp", "links") for side in sides]
            where = ("targets", "mcp", "links")
            yield files.changed(rule, where, f"content of links {words}", *raws)
        option = ("mcp", "http", "admin_token_variable")
        variables = [variable(side, "ADMIN", "TOKEN") for side in sides]
        words = "the administrator's token is read from"
        yield from _named(files, sides, option, ADMIN, words, variables)
    if "cli" in shared:
        words = "the program is called"
        programs = [_program(before, was.package), _program(after, now.package)]
        yield from _named(files, sides, ("cli", "program"), PROGRAM, words, programs)
    for name in shared:
        if name not in _OWN_OPTIONS:
            yield from _options(files, name, before.targets[name], after.targets[name])
    yield from _exclusions(before, after, files, frozenset(shared))


def _named(
    files: SpecFiles,
    sides: tuple[Toolset, Toolset],
    path: tuple[str, ...],
    rule: ChangeRule,
    words: str,
    defaults: list[str],
) -> Iterator[Change]:
    """The change of a name whose default is made of other names, which tell their own."""
    raws = [_at(side.targets, *path) for side in sides]
    names = [
        default if name is ABSENT else name
        for name, default in zip(raws, defaults, strict=True)
    ]
    if names[0] != names[1] and raws != [ABSENT, ABSENT]:
        message = f"{words} {said(names[1])} instead of {said(names[0])}"
        yield files.changed(rule, ("targets", *path), message, raws[0], raws[1])


def _program(toolset: Toolset, package: str) -> str:
    """What a toolset's program is called where it does not say."""
    return ".".join(filter(None, (f"python -m {package}", toolset.name, "cli")))


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key, ABSENT) if isinstance(value, Mapping) else ABSENT
    return value


def _options(
    files: SpecFiles, target: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[Change]:
    for key in dict.fromkeys((*old, *new)):
        before, after = old.get(key, ABSENT), new.get(key, ABSENT)
        if not same(before, after):
            message = f"the option {said(key)} of the target {said(target)} differs"
            path = ("targets", target, key)
            yield files.changed(OPTION, path, message, before, after)


def _exclusions(
    before: Toolset, after: Toolset, files: SpecFiles, targets: frozenset[str]
) -> Iterator[Change]:
    names = {name: t.name for t in after.tools for name in (*t.renamed_from, t.name)}
    there = {tool.name for tool in after.tools}
    had = {names.get(tool.name) for tool in before.tools}
    old = {(names.get(e.tool, e.tool), e.target): e.reason for e in before.exclusions}
    new = {(e.tool, e.target): e.reason for e in after.exclusions}
    for tool, target in dict.fromkeys((*new, *old)):
        was, is_ = old.get((tool, target)), new.get((tool, target))
        if was == is_:
            continue
        where = files._replace(tool=tool) if tool in there else files
        path = ("exclusions",)
        # A tool or target that only one side has is told by that.
        is_effective = tool in there and tool in had and target in targets
        if was is not None and is_ is not None:
            message = f"{said(tool)} is left out of {said(target)} for another reason"
            yield where.changed(EXCLUSION, path, message, was, is_)
        elif is_ is not None:
            message = f"{said(tool)} is left out of {said(target)}: {said(is_)}"
            yield _graded(
                where, EXCLUDED, path, message, target, after=is_, counts=is_effective
            )
        else:
            message = f"{said(tool)} is no longer left out of {said(target)}"
            grades = None if is_effective else Grades()
            reason = "" if is_effective else _NO_EFFECT
            yield where.changed(
                INCLUDED, path, message, before=was, grades=grades, reason=reason
            )


_NO_EFFECT = "the tool or the target is not on both sides"


def _graded(
    files: SpecFiles,
    rule: ChangeRule,
    path: tuple[str, ...],
    message: str,
    target: str,
    *,
    before: Any = ABSENT,
    after: Any = ABSENT,
    counts: bool = True,
) -> Change:
    """A change whose grades are those of the target that loses something."""
    grades = _GRADES.get(target, _OF_OTHERS)
    reason = f"that is what {said(target)} is for"
    if not counts:
        grades, reason = Grades(), _NO_EFFECT
    return files.changed(
        rule, path, message, before, after, grades=grades, reason=reason
    )


FAMILY = Family(
    rules=RULES,
    toolset_fields=fields_of_rows((*_ROWS, *_LINKS))
    | {f"targets.{name}" for name in ("registry", "langchain", "prompts", "snapshots")}
    | {"targets", "targets.mcp.http.admin_token_variable", "targets.cli.program"}
    | {"targets.providers"}
    | {
        f"targets.providers.*.{key}"
        for key in ("strict", "tool_search", "programmatic")
    }
    | {"exclusions"}
    | {f"exclusions.*.{key}" for key in ("tool", "target", "reason")},
    compare_toolsets=compare_toolsets,
)
"""What is generated of a toolset."""
