"""Changes of what runs a tool: handlers, time-outs, the ledger."""

from __future__ import annotations

from collections.abc import Iterator

from toolcast_runtime.validation.formats import ASSERTED as ASSERTED_FORMATS

from ...model.model import Toolset, ToolSpec, Workspace
from ..change import ABSENT, Both, Change, Grade, Grades, files_of, raw
from ..family import Family, Rules
from ..field_rows import entries, flag, items, value

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()
HANDLED, UNHANDLED = RULES.pair(
    "run/handled",
    "A tool has a handler, and had none.",
    Grades(),
    "run/handler-gone",
    "A tool has no handler any more: its calls fail.",
    Grades(call=_B, code=_R),
)
HANDLER = RULES.alone(
    "run/handler", "Another function does a tool's work.", Grades(call=_R, code=_R)
)
PROXIED, UNPROXIED = RULES.pair(
    "run/proxied",
    "Another program answers the calls: the server that `proxy` names.",
    Grades(call=_R, attachment=_R),
    "run/proxy-gone",
    "No server answers the calls any more: they fail where there is no handler.",
    Grades(call=_B),
)
PROXY = RULES.alone(
    "run/proxy", "Another server answers the calls.", Grades(call=_R, attachment=_R)
)
PACKAGE = RULES.alone(
    "run/handlers-package",
    "Handlers come from another package; those outside of it are refused.",
    Grades(code=_B),
)
SHORTER, LONGER = RULES.pair(
    "run/timeout-shorter",
    "Calls are given up earlier: one that was answered may fail.",
    Grades(call=_R),
    "run/timeout-longer",
    "Calls are given up later: a caller may wait longer for an error.",
    Grades(),
)
RECORDED, UNRECORDED = RULES.pair(
    "run/recorded",
    "Calls are written to the ledger.",
    Grades(),
    "run/not-recorded",
    "Calls are no longer written to the ledger: nobody can look them up.",
    Grades(attachment=_R),
)
SERVICE = RULES.alone(
    "run/service",
    "A tool depends on another service, which whoever runs it has to have.",
    Grades(attachment=_R),
)
VALUES = RULES.alone(
    "run/values",
    "Handlers are given other kinds of values: Python's dates and bytes, or texts.",
    Grades(code=_B),
)
TYPE = RULES.alone(
    "run/handler-type",
    "A handler is given, or gives, instances of another class.",
    Grades(code=_B),
)
MODULE = RULES.alone(
    "run/types-module",
    "The types of a tool are generated into another module.",
    Grades(code=_B),
)
ASSERTED, NOT_ASSERTED = RULES.pair(
    "run/formats-asserted",
    "Texts in arguments have to be of their formats, and had not: some are refused.",
    Grades(call=_B),
    "run/formats-not-asserted",
    "Texts in arguments need not be of their formats any more: handlers get others, too.",
    Grades(code=_R),
)
LEDGER = RULES.alone(
    "run/ledger",
    "Calls are recorded elsewhere: earlier records are not found beside new ones.",
    Grades(attachment=_R),
)
KEEP = RULES.alone(
    "run/ledger-keep",
    "The ledger's rows stay for another time: with a shorter one, older ones are removed.",
    Grades(attachment=_R),
)
KEPT_FOR_A_TIME, KEPT = RULES.pair(
    "run/ledger-kept-for-a-time",
    "The ledger's rows are removed after some time.",
    Grades(attachment=_R),
    "run/ledger-kept",
    "The ledger's rows are not removed any more.",
    Grades(),
)
USES, USES_NOT = RULES.pair(
    "run/resource-used",
    "A tool is given a resource: its handler has to take it.",
    Grades(call=_R, code=_B),
    "run/resource-not-used",
    "A tool is no longer given a resource: its handler may not need it.",
    Grades(call=_R, code=_B),
)
LIFESPAN, NO_LIFESPAN = RULES.pair(
    "run/lifespan",
    "A function runs before the first call and after the last; servers wait for it.",
    Grades(call=_R, attachment=_R),
    "run/lifespan-gone",
    "Nothing is opened before the first call any more.",
    Grades(call=_R),
)
OTHER_LIFESPAN = RULES.alone(
    "run/lifespan-other",
    "Another function opens what tools use.",
    Grades(call=_R, code=_R),
)
RESOURCE, NO_RESOURCE = RULES.pair(
    "run/resource",
    "The lifespan has to yield one more resource.",
    Grades(code=_B),
    "run/resource-gone",
    "The lifespan may no longer yield a resource.",
    Grades(code=_B),
)
RESOURCE_TYPE = RULES.alone(
    "run/resource-type", "A resource is of another type.", Grades(code=_R)
)

_KINDS = {True: "Python's values", False: "JSON values"}
_TOOL = (
    value("handler", "the handler", HANDLER, came=HANDLED, gone=UNHANDLED),
    value("proxy", "the server that answers", PROXY, came=PROXIED, gone=UNPROXIED),
    items("uses", "the resources that the tool uses", USES, USES_NOT),
    flag(
        "persistent",
        "calls",
        RECORDED,
        UNRECORDED,
        ("are written to the ledger", "are no longer written to the ledger"),
    ),
    value("arguments_type", "the class of the arguments", TYPE),
    value("result_type", "the class of the result", TYPE),
    value("service", "the service that the tool depends on", SERVICE),
)
_TOOLSET = (
    value("proxy", "the server that answers", PROXY, came=PROXIED, gone=UNPROXIED),
    value("handlers", "the handlers' package", PACKAGE),
    value("lifespan", "the lifespan", OTHER_LIFESPAN, came=LIFESPAN, gone=NO_LIFESPAN),
    entries("resources", "the resources", RESOURCE, NO_RESOURCE, RESOURCE_TYPE),
    value("ledger.path", "the ledger's file", LEDGER),
    value("ledger.sink", "the ledger's sink", LEDGER),
    value("ledger.keep", "how long rows stay", KEEP, came=KEPT_FOR_A_TIME, gone=KEPT),
)


def compare_tools(both: Both) -> Iterator[Change]:
    """The changes of what runs a tool."""
    yield from _values(both)
    modules = both.before.module, both.after.module
    if both.before.name == both.after.name and modules[0] != modules[1]:
        message = f"the module of the types is `{modules[1]}` instead of `{modules[0]}`"
        yield both.files.changed(MODULE, ("name",), message, *modules)
    before, after = raw(both.before, "timeout"), raw(both.after, "timeout")
    if before == after:
        return
    # What a tool does not say is its toolset's.
    old = both.toolset_before.timeout if before is ABSENT else float(before)
    new = both.toolset_after.timeout if after is ABSENT else float(after)
    if old != new:
        yield both.files.changed(
            SHORTER if new < old else LONGER,
            ("timeout",),
            f"calls are given up after {new:g} seconds instead of {old:g}",
            before,
            after,
        )


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of what runs a toolset's tools."""
    yield from _formats(before, after)
    yield from _values_of_all(before, after)
    files = files_of(before, after)
    old, new = before.timeout, after.timeout
    if old != new:
        concerned = sum(tool.timeout is None for tool in after.tools)
        concerned += sum("call_timeout" not in s.fields for s in after.mcp_servers)
        whose = f"of the {concerned} tools and servers without a time-out of their own"
        yield files.changed(
            SHORTER if new < old else LONGER,
            ("timeout",),
            f"calls {whose} are given up after {new:g} seconds instead of {old:g}",
            raw(before, "timeout"),
            raw(after, "timeout"),
            grades=None if concerned else Grades(),
            reason="" if concerned else "all have a time-out of their own",
        )


def _values(both: Both) -> Iterator[Change]:
    before, after = raw(both.before, "values"), raw(both.after, "values")
    # What a tool does not say is its toolset's.
    old = both.toolset_before.has_python_values(both.before)
    new = both.toolset_after.has_python_values(both.after)
    if before != after and old != new:
        message = f"the handler is given {_KINDS[new]}"
        yield both.files.changed(VALUES, ("values",), message, before, after)


def _values_of_all(before: Toolset, after: Toolset) -> Iterator[Change]:
    if before.values == after.values:
        return
    concerned = sum(tool.values is None and bool(tool.handler) for tool in after.tools)
    yield files_of(before, after).changed(
        VALUES,
        ("values",),
        f"the handlers of {concerned} tools are given {_KINDS[after.values == 'python']}",
        raw(before, "values"),
        raw(after, "values"),
        grades=None if concerned else Grades(),
        reason="" if concerned else "all tools say themselves what they are given",
    )


def _formats(before: Toolset, after: Toolset) -> Iterator[Change]:
    if before.formats == after.formats:
        return
    is_asserted = after.formats == "assertion"
    own = after.tools if after.handlers is not None else ()
    with_format = sum(map(_has_asserted, own))
    said = "asserted" if is_asserted else "told and not asserted"
    yield files_of(before, after).changed(
        ASSERTED if is_asserted else NOT_ASSERTED,
        ("formats",),
        f"the formats in the arguments of {with_format} tools are {said}",
        raw(before, "formats"),
        raw(after, "formats"),
        grades=None if with_format else Grades(),
        reason="" if with_format else "no tool has a format that can be asserted",
    )


def _has_asserted(tool: ToolSpec) -> bool:
    schema = tool.schemas.get("parameters")
    return schema is not None and any(
        part.get("format") in ASSERTED_FORMATS for part in schema.subschemas.values()
    )


FAMILY = Family(
    rules=RULES,
    tool_rows=_TOOL,
    tool_fields={"timeout", "values"},
    toolset_rows=_TOOLSET,
    toolset_fields={"timeout", "formats", "values"},
    compare_tools=compare_tools,
    compare_toolsets=compare_toolsets,
)
"""What runs tools."""
