"""Changes of resources and MCP prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...model.mcp_specs import PromptArgument, PromptSpec, ResourceSpec
from ...model.model import Toolset, Workspace
from ..change import ABSENT, Change, ChangeRule, Grade, Grades, SpecFiles
from ..family import Family, Rules
from ..field_rows import FieldRow, changes_of, entries, items, value
from ..json_values import said
from ..life.life_fields import suppression_changes

__all__ = ["FAMILY"]

_R, _B = Grade.RISKY, Grade.BREAKING

RULES = Rules()


class _Kind(NamedTuple):
    """The rules that resources and prompts both have."""

    added: ChangeRule
    removed: ChangeRule
    shown: ChangeRule
    gives: ChangeRule
    timeout: ChangeRule
    used: ChangeRule
    not_used: ChangeRule
    came: ChangeRule
    went: ChangeRule


def _rules(kind: str, what: str) -> _Kind:
    added, removed = RULES.pair(
        f"mcp/{kind}-added",
        f"{what} is offered.",
        Grades(),
        f"mcp/{kind}-removed",
        f"{what} is gone: whoever asks for it gets an error.",
        Grades(call=_B, attachment=_R),
    )
    shown = RULES.alone(
        f"mcp/{kind}-shown", f"{what} is listed with another text.", Grades(prompt=_R)
    )
    gives = RULES.alone(
        f"mcp/{kind}-gives",
        f"{what} gives something else, or another function gives it.",
        Grades(call=_R, prompt=_R),
    )
    timeout = RULES.alone(
        f"mcp/{kind}-timeout", f"{what} is given up earlier or later.", Grades(call=_R)
    )
    used, not_used = RULES.pair(
        f"mcp/{kind}-use-added",
        f"{what} is given something of the lifespan: its handler has to take it.",
        Grades(call=_R, code=_B),
        f"mcp/{kind}-use-removed",
        f"{what} is no longer given something: its handler may not need it.",
        Grades(call=_R, code=_B),
    )
    came, went = RULES.pair(
        f"mcp/{kind}-client-added",
        f"{what} is offered to another client.",
        Grades(attachment=_R),
        f"mcp/{kind}-client-removed",
        f"{what} is no longer offered to a client.",
        Grades(call=_B, attachment=_B),
    )
    return _Kind(added, removed, shown, gives, timeout, used, not_used, came, went)


RESOURCE = _rules("resource", "A resource")
PROMPT = _rules("prompt", "An MCP prompt")
URI = RULES.alone(
    "mcp/resource-uri",
    "A resource has another URI: whoever kept the old one gets an error.",
    Grades(call=_B),
)
FREED, BOUND = RULES.pair(
    "mcp/resource-variable-freed",
    "A variable of a template may have any value, and had some only.",
    Grades(),
    "mcp/resource-variable-bound",
    "A variable of a template has some values only, and could have any.",
    Grades(call=_B),
)
WIDER, NARROWER = RULES.pair(
    "mcp/resource-value-added",
    "A variable of a template has a value more.",
    Grades(),
    "mcp/resource-value-removed",
    "A variable of a template has a value less.",
    Grades(call=_B),
)
ARGUMENT_ADDED, ARGUMENT_REMOVED = RULES.pair(
    "mcp/prompt-argument-added",
    "An MCP prompt takes an argument more.",
    Grades(),
    "mcp/prompt-argument-removed",
    "An MCP prompt refuses an argument that it took.",
    Grades(call=_B),
)
REQUIRED, OPTIONAL = RULES.pair(
    "mcp/prompt-argument-required",
    "An argument of an MCP prompt has to be given.",
    Grades(call=_B),
    "mcp/prompt-argument-optional",
    "An argument of an MCP prompt may be left out.",
    Grades(),
)
TAKES, REFUSES = RULES.pair(
    "mcp/prompt-value-taken",
    "An argument of an MCP prompt may have a value that was refused.",
    Grades(),
    "mcp/prompt-value-refused",
    "An argument of an MCP prompt refuses a value that it took.",
    Grades(call=_B),
)


def _rows(kind: _Kind) -> tuple[FieldRow, ...]:
    return (
        value("title", "the title", kind.shown),
        value("description", "the description", kind.shown),
        value("handler", "the handler", kind.gives),
        value("timeout", "the time-out", kind.timeout),
        items("uses", "what the handler is given", kind.used, kind.not_used),
        items("clients", "the clients", kind.came, kind.went),
    )


_RESOURCE_ROWS = (
    *_rows(RESOURCE),
    value("uri", "the URI", URI),
    value("uri_template", "the URI template", URI),
    value("mime_type", "the media type", RESOURCE.gives),
    value("text", "the text", RESOURCE.gives),
    value("file", "the file", RESOURCE.gives),
    entries("variables", "the variables with values", BOUND, FREED),
    items("variables.*.enum", "the values of {}", WIDER, NARROWER),
)
_PROMPT_ROWS = (*_rows(PROMPT), value("messages", "what is said", PROMPT.gives))


def compare_toolsets(
    before: Toolset, after: Toolset, was: Workspace, now: Workspace
) -> Iterator[Change]:
    """The changes of a toolset's resources and MCP prompts."""
    resources = before.mcp_resources, after.mcp_resources
    prompts = before.mcp_prompts, after.mcp_prompts
    yield from _came_and_went(after.name, *resources, RESOURCE)
    yield from _came_and_went(after.name, *prompts, PROMPT)
    old_ones = {one.name: one for one in before.mcp_resources}
    for new in after.mcp_resources:
        old = old_ones.get(new.name)
        if old is None:
            continue
        files = _files(after.name, old, new)
        yield from changes_of(_RESOURCE_ROWS, files)
        yield from suppression_changes(files, old.suppress, new.suppress)
        if old.file == new.file and old.content != new.content:
            message = f"{said(new.file)} holds something else"
            digests = map(_digest, (old.content, new.content))
            yield files.changed(RESOURCE.gives, ("file",), message, *digests)
    old_prompts = {one.name: one for one in before.mcp_prompts}
    for prompt in after.mcp_prompts:
        if prompt.name in old_prompts:
            old_prompt = old_prompts[prompt.name]
            files = _files(after.name, old_prompt, prompt)
            yield from changes_of(_PROMPT_ROWS, files)
            suppressed = old_prompt.suppress, prompt.suppress
            yield from suppression_changes(files, *suppressed)
            yield from _arguments(files, old_prompt, prompt)


def _files(
    toolset: str, old: ResourceSpec | PromptSpec, new: ResourceSpec | PromptSpec
) -> SpecFiles:
    """The spec on both sides, named by its folder so that it is no tool's."""
    name = f"mcp_{new.kind}s/{new.name}"
    return SpecFiles(toolset, name, old.source, new.source)


def _digest(content: bytes | None) -> str:
    return hashlib.sha256(content or b"").hexdigest()[:12]


def _came_and_went(
    toolset: str,
    before: Sequence[ResourceSpec | PromptSpec],
    after: Sequence[ResourceSpec | PromptSpec],
    kind: _Kind,
) -> Iterator[Change]:
    for specs, others, rule, words in (
        (after, before, kind.added, "is new"),
        (before, after, kind.removed, "is gone"),
    ):
        names = {one.name for one in others}
        for spec in specs:
            if spec.name in names:
                continue
            message = f"the {spec.kind} {said(spec.name)} {words}"
            files = _files(toolset, spec, spec)
            is_new = rule is kind.added
            sides = (ABSENT, spec.name) if is_new else (spec.name, ABSENT)
            yield files.changed(rule, ("name",), message, *sides)


def _arguments(files: SpecFiles, old: PromptSpec, new: PromptSpec) -> Iterator[Change]:
    """The changes of a prompt's arguments, each by its name."""
    before = {one.name: one for one in old.arguments}
    after = {one.name: one for one in new.arguments}
    for index, one in enumerate(new.arguments):
        path = ("arguments", index)
        if one.name not in before:
            message = f"the argument {said(one.name)} is new"
            yield files.changed(ARGUMENT_ADDED, path, message, ABSENT, one.name)
            if one.required:
                message = f"the argument {said(one.name)} has to be given"
                yield files.changed(REQUIRED, path, message, ABSENT, True)
            continue
        yield from _argument(files, path, before[one.name], one)
    for index, one in enumerate(old.arguments):
        if one.name not in after:
            message = f"the argument {said(one.name)} is gone"
            path = ("arguments", index)
            yield files.changed(ARGUMENT_REMOVED, path, message, one.name)
            if one.required:
                message = f"the argument {said(one.name)} has not to be given any more"
                yield files.changed(OPTIONAL, path, message, True)


def _argument(
    files: SpecFiles, path: tuple[str, int], old: PromptArgument, new: PromptArgument
) -> Iterator[Change]:
    name = said(new.name)
    if old.description != new.description:
        message = f"the argument {name} is described otherwise"
        sides = [ABSENT if d is None else d for d in (old.description, new.description)]
        yield files.changed(PROMPT.shown, (*path, "description"), message, *sides)
    if old.required != new.required:
        rule = REQUIRED if new.required else OPTIONAL
        words = "has to be given" if new.required else "may be left out"
        message = f"the argument {name} {words}"
        sides = [old.required, new.required]
        yield files.changed(rule, (*path, "required"), message, *sides)
    fewer = bool(new.enum) and (not old.enum or set(old.enum) - set(new.enum))
    more = bool(old.enum) and (not new.enum or set(new.enum) - set(old.enum))
    for rule, happened, words in (
        (REFUSES, fewer, "refuses values that it took"),
        (TAKES, more, "takes values that it refused"),
    ):
        if happened:
            message = f"the argument {name} {words}"
            values = list(old.enum) or ABSENT, list(new.enum) or ABSENT
            yield files.changed(rule, (*path, "enum"), message, *values)


_SUPPRESS = ("suppress", "suppress.*.rule", "suppress.*.reason", "suppress.*.until")

FAMILY = Family(
    rules=RULES,
    mcp_resource_rows=_RESOURCE_ROWS,
    mcp_resource_fields={"name", *_SUPPRESS},
    mcp_prompt_rows=_PROMPT_ROWS,
    mcp_prompt_fields={
        "name",
        "arguments",
        "arguments.*.name",
        "arguments.*.description",
        "arguments.*.required",
        "arguments.*.enum",
        "messages.*.role",
        "messages.*.text",
        *_SUPPRESS,
    },
    compare_toolsets=compare_toolsets,
)
"""The resources and MCP prompts of a toolset."""
