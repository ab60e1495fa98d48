"""The rules `spec/...`; `spec.md` says what each is for."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from toolcast_runtime.consent.confirmation import has_backtracking_pattern
from toolcast_runtime.core.definitions.tool import look_alike_key, module_name
from toolcast_runtime.core.safe_file import read_regular_file
from toolcast_runtime.core.validation.checker import Checker, DeclaredNames
from toolcast_runtime.results.field_selection import list_schemas_on_path

from ..analysis.network_reach import find_secret_paths, has_secret, list_sent_variables
from ..analysis.uri_templates import check_template, list_variables
from ..findings import Location, Severity
from ..json_schema.graph import JsonSchema
from ..json_schema.schema_errors import find_schema_problems
from ..model.mcp_servers import McpServer, describe_invalid_reference
from ..model.model import Actions, Toolset, ToolSpec, Workspace
from ..model.spec_schema import collect_declared_schemas
from ..model.toolset_parts import PromptSpec, ResourceSpec, parse_shared_name
from ..parsing.tree import Path
from ..spec_language.spec_language import get_fields_read_by, render_schema
from ..suggestions import Suggestions, describe_value, did_you_mean, format_quoted_list
from ..targets.table import list_enabled_targets, load_targets
from .rule import Problem, problem_at, rule
from .subjects import Scope
from .unknown_names import unknown_names

unknown_permission = unknown_names("spec/unknown-permission", "permission")
unknown_replacement = unknown_names("spec/unknown-replacement", "replacement")
unknown_section = unknown_names("spec/unknown-section", "section")
unknown_in_result = unknown_names(
    "spec/invalid-result", "parameter", "item_property", "pick"
)


@rule("spec/actions-mismatch", on="tool", severity=Severity.ERROR)
def actions(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if tool.actions is not None:
        yield from _parameter(tool, tool.actions)
        yield from _needs(tool, tool.actions)


def _parameter(tool: ToolSpec, actions: Actions) -> Iterator[Problem]:
    parameter = actions.parameter
    if parameter not in tool.properties:
        message = f"`{parameter}` is not a parameter"
        meant = did_you_mean(parameter, tool.properties)
        yield problem_at(tool, ("actions", "parameter"), message, meant)
        return
    schema = tool.properties[parameter]
    values = schema.get("enum") if isinstance(schema, dict) else None
    names = [action.name for action in actions.values]
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        message = f"`{parameter}` has no `enum` of texts to choose an action from"
        help_ = f"add `enum: [{', '.join(names)}]` to it"
        yield problem_at(tool, ("actions", "parameter"), message, help_)
        return
    allowed, described = frozenset(values), frozenset(names)
    suggestions = Suggestions(values)
    for name in names:
        if name not in allowed:
            place = ("actions", "values", name)
            message = f"`{name}` is not in the `enum` of `{parameter}`"
            meant = (
                suggestions.near(name) or f"it has {format_quoted_list(values[:20])}"
            )
            yield problem_at(tool, place, message, meant, at_key=True)
    for index, value in enumerate(values):
        if value not in described:
            path = ("parameters", "properties", parameter, "enum", index)
            help_ = f"add `{value}: {{}}` to `actions.values`"
            yield problem_at(
                tool, path, f"`actions` says nothing about `{value}`", help_
            )


def _needs(tool: ToolSpec, actions: Actions) -> Iterator[Problem]:
    suggestions = Suggestions(tool.properties)
    for action in actions.values:
        for key in ("requires", "requires_any", "accepts"):
            for index, name in enumerate(getattr(action, key) or ()):
                if name not in tool.properties:
                    path = ("actions", "values", action.name, key, index)
                    message = f"`{name}` is not a parameter"
                    yield problem_at(tool, path, message, suggestions.near(name))


_PATH = ("confirm", "when")


@rule("spec/confirm-condition", on="tool", severity=Severity.ERROR)
def confirm_condition(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if tool.confirm is not None and tool.confirm.when is not None:
        yield from _of_condition(tool, JsonSchema(tool.confirm.when))


def _of_condition(tool: ToolSpec, condition: JsonSchema) -> Iterator[Problem]:
    if condition.dialect is None:
        help_ = "without `$schema` it is 2020-12"
        yield problem_at(tool, (*_PATH, "$schema"), "the dialect is not known", help_)
    for path, message, help_ in find_schema_problems(condition):
        yield problem_at(tool, (*_PATH, *path), message, help_)
    is_applied = condition.is_sound and _checker(condition.value) is not None
    if condition.is_valid and not is_applied:
        message = "the condition cannot be applied, so that a person is always asked"
        help_ = "it stands alone: no `$ref` out of it, no loop, no broken pattern"
        if any(parse_shared_name(one.text) is not None for one in condition.references):
            help_ = (
                "only `parameters` and `returns` are given shared definitions: write out"
                " what is meant"
            )
        yield problem_at(tool, _PATH, message, help_)
    if has_backtracking_pattern(condition.value):
        message = (
            "a pattern of the condition may give up, so that a person is always asked"
        )
        yield problem_at(tool, _PATH, message, "say it without look-around and `\\1`")
    declared = DeclaredNames(tool.parameters)
    for name in declared.find_undeclared(sorted(DeclaredNames(condition.value).names)):
        meant = did_you_mean(name, declared.names) or "name one of the parameters"
        message = f"the condition is about `{name[:80]}`, which is no parameter"
        yield problem_at(tool, _PATH, message, meant)
    if not (condition.is_valid and JsonSchema(tool.parameters).is_valid):
        return
    for name in _left_out(tool.parameters, condition.value):
        message = (
            f"nobody is asked about a call that leaves `{name[:80]}` out, although its"
            " default is what a person is to be asked about"
        )
        help_ = "take it out of `required` of the condition"
        yield problem_at(tool, (*_PATH, "required"), message, help_)


def _left_out(parameters: Mapping[str, Any], condition: Any) -> Iterator[str]:
    """Parameters that a call may leave out and the condition requires, with their default."""
    if not isinstance(condition, Mapping):
        return
    meant = condition.get("properties", {})
    for name in condition.get("required", ()):
        declared = parameters.get("properties", {}).get(name)
        if (
            isinstance(declared, Mapping)
            and "default" in declared
            and name not in parameters.get("required", ())
            and _allows(meant.get(name, True), declared["default"])
        ):
            yield name


def _allows(schema: Any, value: Any) -> bool:
    checker = _checker(schema)
    return checker is None or checker.matches(value) is not False


def _checker(schema: Any) -> Checker | None:
    """What tells the runtime of any arguments what a schema says of them; None where nothing does."""
    try:
        return Checker(schema)
    except ValueError:
        return None


@rule("spec/deprecated-replacement", on="tool", severity=Severity.WARNING)
def deprecated_replacement(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    name = (tool.deprecated or {}).get("replacement")
    for other in where.toolset.tools if name not in (None, tool.name) else ():
        if other.name == name and other.deprecated:
            message = f"the replacement `{name}` is deprecated itself"
            further = other.deprecated.get("replacement")
            named = further is not None and further not in (name, tool.name)
            help_ = f"name `{further}`" if named else "name a tool that stays"
            yield problem_at(tool, ("deprecated", "replacement"), message, help_)


@rule("spec/mcp-content", on="toolset", severity=Severity.ERROR)
def mcp_content(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for spec in toolset.mcp_specs:
        keys, does = ["messages", "handler"], "says"
        if isinstance(spec, ResourceSpec):
            keys, does = ["text", "file", "handler"], "holds"
        given = [key for key in keys if getattr(spec, key) not in (None, ())]
        if len(given) != 1:
            has = " and ".join(f"`{key}`" for key in given) or "nothing"
            message = f"`{spec.name}` has {has} for what it {does}"
            place = given[-1] if given else "name"
            yield problem_at(
                spec, (place,), message, f"write one of {format_quoted_list(keys)}"
            )
        elif isinstance(spec, ResourceSpec) and spec.uri_template and not spec.handler:
            message = "each URI of a template would hold the same"
            yield problem_at(
                spec, (given[0],), message, "write a `handler`, or a `uri`"
            )


_ANNOTATIONS = {
    "title": str,
    "readOnlyHint": bool,
    "destructiveHint": bool,
    "idempotentHint": bool,
    "openWorldHint": bool,
}
_EXECUTION = {"taskSupport": str}
_ICON = {"src": str, "mimeType": str, "sizes": list, "theme": str}
_WORDS = {str: "text", bool: "true or false", list: "a list"}
_VALUES = {
    "taskSupport": ("forbidden", "optional", "required"),
    "theme": ("light", "dark"),
}


@rule("spec/mcp-key", on="tool", severity=Severity.WARNING)
def mcp_key(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    yield from _object(tool, ("annotations",), tool.annotations, _ANNOTATIONS)
    yield from _object(tool, ("execution",), tool.execution, _EXECUTION)
    for index, icon in enumerate(tool.icons or ()):
        yield from _object(tool, ("icons", index), icon, _ICON)


def _object(
    tool: ToolSpec, path: Path, value: Any, known: Mapping[str, type]
) -> Iterator[Problem]:
    for key, inner in (value or {}).items():
        here = (*path, key)
        if key not in known:
            meant = did_you_mean(key, known)
            if meant:
                message = f"`{key}` is no key of MCP's `{path[0]}`, so nobody reads it"
                yield problem_at(tool, here, message, meant, at_key=True)
        elif type(inner) is not known[key]:
            message = f"`{key}` is {_WORDS[known[key]]}, not {describe_value(inner)}"
            yield problem_at(tool, here, message)
        elif isinstance(inner, str) and inner not in _VALUES.get(key, (inner,)):
            choices = ", ".join(f"`{choice}`" for choice in _VALUES[key])
            message = f"`{inner}` is no value of `{key}`"
            help_ = did_you_mean(inner, _VALUES[key]) or f"one of {choices}"
            yield problem_at(tool, here, message, help_)


_MAX_FILE_BYTES = 8 * 1024 * 1024
"""Size of a schema file that is read."""


@rule("spec/outdated-schema", on="toolset", severity=Severity.WARNING)
def old_schema(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    before: dict[str, str] = {}
    for one in workspace.toolsets:
        if one.name == toolset.name:
            break
        before |= _named(one, workspace)
    for path, kind in _named(toolset, workspace).items():
        if path in before:
            continue
        message = (
            "the schema is not the one of this version and the project's extensions"
        )
        try:
            there = read_regular_file(
                os.path.join(workspace.root, path), _MAX_FILE_BYTES
            )
            text = render_schema(kind, workspace.extensions)
            if there.replace(b"\r\n", b"\n") == text.encode("utf-8"):
                continue
        except OSError:
            message = "specs name this file as their schema, and it cannot be read"
        yield Problem(Location(path), message, "run `toolcast schema --write`")


def _named(toolset: Toolset, workspace: Workspace) -> dict[str, str]:
    sources = [("workspace", workspace.source), ("toolset", toolset.source)]
    sources += [("tool", tool.source) for tool in toolset.tools]
    if toolset.definitions is not None:
        sources += [("definitions", one) for one in toolset.definitions.sources]
    return collect_declared_schemas(
        (kind, source.file, source.opening) for kind, source in sources
    )


_BRACES = re.compile(r"\{\{([^{}]*)\}\}")


@rule("spec/prompt-argument", on="toolset", severity=Severity.ERROR)
def prompt_argument(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for prompt in toolset.mcp_prompts:
        names = [argument.name for argument in prompt.arguments]
        for index, name in enumerate(names):
            if name in names[:index]:
                message = f"the argument `{name}` is there twice"
                yield problem_at(prompt, ("arguments", index, "name"), message)
        if prompt.messages:
            yield from _places(prompt, names)


def _places(prompt: PromptSpec, names: list[str]) -> Iterator[Problem]:
    used: set[str] = set()
    for index, message in enumerate(prompt.messages):
        for match in _BRACES.finditer(message.text):
            name = match[1].strip(" ")
            used.add(name)
            if name not in names:
                text = f"`{match[0]}` stands for no argument"
                help_ = did_you_mean(name, names) or f"add `{name}` to `arguments`"
                yield problem_at(prompt, ("messages", index, "text"), text, help_)
    for index, name in enumerate(names):
        if name not in used and name not in names[:index]:
            text = f"nothing that the prompt says has `{{{{{name}}}}}`"
            yield problem_at(
                prompt, ("arguments", index, "name"), text, "use it, or remove it"
            )


@rule("spec/removal-date", on="tool", severity=Severity.ERROR)
def removal_date(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    deprecated = tool.deprecated or {}
    removal = deprecated.get("removal")
    if removal is None:
        return
    path = ("deprecated", "removal")
    day = _date(removal)
    if day is None:
        message = f"the removal `{removal}` is no date"
        yield problem_at(tool, path, message, 'write it as "2030-01-31"')
        return
    since = _date(deprecated["since"])
    if since is not None and day < since:
        message = f"the removal is before the deprecation of {since}"
        yield problem_at(tool, path, message, "name a later day")


def _date(text: str) -> datetime.date | None:
    try:
        return datetime.date.fromisoformat(text) if len(text) == 10 else None
    except ValueError:
        return None


_OWN = "kept:"
_NAMES = re.compile(r"\{([+?]?)[^{}]*\}")


@rule("spec/resource-uri", on="toolset", severity=Severity.ERROR)
def resource_uri(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    first: dict[str, ResourceSpec] = {}
    for spec in toolset.mcp_resources:
        uri = spec.uri if spec.uri is not None else spec.uri_template
        if uri is None or (spec.uri is not None and spec.uri_template is not None):
            message = "a resource has a `uri` or a `uri_template`, and not both"
            yield problem_at(spec, ("uri",), message)
            continue
        key = "uri" if spec.uri is not None else "uri_template"
        if uri.startswith(_OWN):
            message = f"`{_OWN}` is for what handlers' links lead to"
            yield problem_at(spec, (key,), message, "choose another scheme")
        other = first.setdefault(_NAMES.sub(r"{\1}", uri), spec)
        # Of two that differ in names, the second is read where the first takes some values only.
        if other is not spec and (
            not other.variables or uri in (other.uri, other.uri_template)
        ):
            message = f"`{uri}` is the URI of `{other.name}`, too"
            yield problem_at(spec, (key,), message, "give one of the two another URI")
        if spec.uri_template is not None:
            for problem in check_template(uri):
                yield problem_at(spec, (key,), f"the template {problem}")
        known = list_variables(spec.uri_template or "")
        for name in spec.variables:
            if name not in known:
                message = f"`{name}` is no variable of the URI"
                help_ = did_you_mean(name, known)
                yield problem_at(spec, ("variables", name), message, help_, at_key=True)
    yield from _same_files(toolset.mcp_resources)
    yield from _same_files(toolset.mcp_prompts)


def _same_files(specs: tuple[ResourceSpec | PromptSpec, ...]) -> Iterator[Problem]:
    first: dict[str, ResourceSpec | PromptSpec] = {}
    for spec in specs:
        other = first.setdefault(module_name(spec.name), spec)
        if other is not spec:
            message = f"`{spec.name}` and `{other.name}` would be one file"
            yield problem_at(spec, ("name",), message, "rename one of the two")


# What may be broken by what is left out.
_HINDERING = (
    "minProperties dependentRequired dependentSchemas dependencies allOf anyOf oneOf not"
    " if enum const uniqueItems contains prefixItems $ref $dynamicRef"
).split()


@rule("spec/invalid-result", on="tool", severity=Severity.ERROR)
def result(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    has_value = tool.returns is not None or where.toolset.get_proxy(tool) is not None
    if tool.result.send == "structured" and not has_value:
        message = "there is no `returns`, so that nothing is sent as structured content"
        help_ = "describe the result in `returns`, or send `text`"
        yield problem_at(tool, ("result", "send"), message, help_)


@rule("spec/invalid-result", on="tool", severity=Severity.ERROR)
def picked_fields(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if tool.picks is None:
        return
    path, allowed = ("result", "fields"), tool.picks["allowed"]
    names = map(look_alike_key, [*DeclaredNames(tool.parameters).names, *tool.uses])
    if look_alike_key(tool.picks["parameter"]) in {*names}:
        message = f"`{tool.picks['parameter']}` is a parameter already, or like one"
        help_ = "give the one that picks another name: `result.fields.parameter`"
        yield problem_at(tool, (*path, "parameter"), message, help_)
    for index, name in enumerate(allowed):
        try:
            *way, _ = list_schemas_on_path(tool.returns, name)
        except LookupError:
            message = f"`{name}` is no property that `returns` writes out"
            help_ = "name a way through `properties` and `items`: `items.title`"
            yield problem_at(tool, (*path, "allowed", index), message, help_)
            continue
        found = [key for key in _HINDERING if any(key in schema for schema in way)]
        if found:
            message = f"`{name}` cannot be left out: `{found[0]}` is on its way"
            help_ = "say that otherwise in `returns`, or pick something else"
            yield problem_at(tool, (*path, "allowed", index), message, help_)


@rule("spec/section-missing", on="tool", severity=Severity.WARNING, target="prompts")
def section_missing(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if where.toolset.sections and tool.section is None:
        message = f"`{tool.name}` has no section, while the toolset has some"
        help_ = "add `section:`; without one it stands behind all others"
        yield problem_at(tool, ("name",), message, help_)


@rule("spec/server-lock", on="toolset", severity=Severity.ERROR)
def server_lock(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    owners: dict[str, str] = {}
    for server in toolset.listed_servers:
        path = ("mcp_servers", server.name)
        update = f"`toolcast lock --update {server.name}` writes it"
        if server.lock is None:
            continue
        other = owners.setdefault(server.lock, server.name)
        if other != server.name:
            message = f"`{server.lock}` is the lock of `{other}`, too"
            yield problem_at(toolset, (*path, "lock"), message, "name another file")
            continue
        file = f"{toolset.folder}/{server.lock}"
        if server.locked is None:
            message = f"the lock `{file}` cannot be read"
            yield problem_at(toolset, (*path, "lock"), message, update)
            continue
        # Its reader is not needed where there is no lock.
        from ..mcp_client.server_listing import ListingError, parse_lock
        from ..parsing.exact_json import JsonError, read_json

        anew = f"take it from a commit, or {update} anew"
        try:
            read_json(server.locked)
        except JsonError as problem:
            place = Location(file, problem.line, problem.column)
            message = f"the lock of `{server.name}` is no JSON: {problem}"
            yield Problem(place, message, anew)
            continue
        try:
            parse_lock(server.locked, file)
        except ListingError as error:
            yield problem_at(toolset, (*path, "lock"), str(error), anew)


@rule("spec/server-lock", on="toolset", severity=Severity.ERROR)
def unused_lock(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for server in toolset.listed_servers:
        if server.lock is None and "on_change" in server.fields:
            path = ("mcp_servers", server.name, "on_change")
            message = "`on_change` has no effect without `lock`"
            help_ = "remove `on_change`, or name a `lock`"
            yield problem_at(toolset, path, message, help_, at_key=True)


_HELP = "put it into an environment variable and write `${NAME}` here"


@rule("spec/server-secret", on="toolset", severity=Severity.ERROR)
def server_secret(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    places: list[tuple[Path, str]] = [
        (("mcp_servers", server.name, *inner), f"the server `{server.name}`")
        for server in toolset.mcp_servers
        for inner in find_secret_paths(server)
    ]
    if toolset.router is not None and has_secret(toolset.router.base_url):
        places.append((("router", "base_url"), "the router's address"))
    for path, what in places:
        message = f"{what} has a secret written out"
        at_key = isinstance(path[-1], str)
        # It says where the value is, and shows neither that nor its line.
        yield problem_at(toolset, path, message, _HELP, at_key=at_key)._replace(
            source_line=""
        )


_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# A path and a variable's default may have spaces; a name that is looked for has none.
_ONE_PROGRAM = re.compile(r"[/\\]|\$\{[^}]*$")
_BELONGS = {"args": "command", "env": "command", "cwd": "command", "headers": "url"}


@rule("spec/server-transport", on="toolset", severity=Severity.ERROR)
def server_transport(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    texts: list[tuple[str, Path, str]] = []
    for server in toolset.mcp_servers:
        path = ("mcp_servers", server.name)
        for key, message, help_ in _problems(server):
            at_fault = (*path, key) if key else path
            yield problem_at(toolset, at_fault, message, help_, at_key=True)
        name = f"`{server.name}`"
        texts += [(name, (*path, *inner), text) for inner, text in server.texts]
    if toolset.router is not None:
        keys = ("base_url", "model")
        router = toolset.router
        texts += [("the router", ("router", k), getattr(router, k)) for k in keys]
    for owner, place, text in texts:
        problem = describe_invalid_reference(text)
        if problem is not None:
            message = f"{owner} names a variable in a way that is not read"
            yield problem_at(toolset, place, message, problem)


def _problems(server: McpServer) -> Iterator[tuple[str, str, str]]:
    """Key, message and help of each problem with the keys of a server."""
    if not _NAME.fullmatch(server.name):
        message = f"`{server.name}` is no name of a server"
        yield "", message, "letters, digits, `_` and `-`, at most 64 of them"
    for key, name_form, what in (
        ("headers", _HEADER, "a header"),
        ("env", _VARIABLE, "a variable"),
    ):
        for name, text in getattr(server, key).items():
            if not name_form.fullmatch(name) or "\n" in text or "\r" in text:
                wrong = (
                    f"`{key}` of `{server.name}` has what is no name or value of {what}"
                )
                yield key, wrong, f"`{name}` cannot be sent as it is"
    if server.command is None and server.url is None:
        message = f"the server `{server.name}` has neither `command` nor `url`"
        yield "", message, "say how it is reached: a program to start, or an address"
        return
    if server.command is not None and server.url is not None:
        message = f"the server `{server.name}` has both `command` and `url`"
        yield "url", message, "remove one of the two"
        return
    words = (server.command or "").split()
    if len(words) > 1 and not _ONE_PROGRAM.search(words[0]):
        message = f"`command` of `{server.name}` is a program with its arguments"
        help_ = f"`command: {words[0]}`, and the words after it as a list in `args`"
        yield "command", message, help_
    for key, other in _BELONGS.items():
        if key in server.fields and getattr(server, other) is None:
            message = f"`{key}` has no effect without `{other}`"
            yield key, message, f"remove `{key}`, or give `{other}`"


@rule("spec/unread-field", on="toolset", severity=Severity.NOTE)
def unread_field(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    extensions = workspace.extensions
    chosen = list_enabled_targets(tuple(toolset.targets), extensions)
    read = get_fields_read_by("tool", "rules", extensions).union(
        *(one.reads for one in chosen)
    )
    found: list[tuple[ToolSpec | Toolset, str]] = [
        (tool, field)
        for tool in toolset.tools
        for field in tool.fields
        if field not in read
    ]
    with_reader = {*toolset.extensions}
    with_reader.update(
        *(one.reads_toolset for one in load_targets(extensions).values())
    )
    always = get_fields_read_by("toolset", "rules", extensions)
    read = always.union(*(target.reads_toolset for target in chosen))
    unread = with_reader - read
    found += [(toolset, field) for field in toolset.fields if field in unread]
    for owner, field in found:
        message = f"none of the toolset's targets reads `{field}`"
        yield problem_at(owner, (field,), message, at_key=True)


_MADE_TO_BE_SENT = re.compile(r"TOKEN|API_?KEY")


@rule(
    "spec/variable-name", on="toolset", severity=Severity.ERROR, can_be_suppressed=False
)
def variable_name(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    for path, owner, name in list_sent_variables(toolset):
        owners = [_capitals(owner), _capitals(toolset.name)]
        if _MADE_TO_BE_SENT.search(name) or any(
            f"_{o}_" in f"_{name}_" for o in owners
        ):
            continue
        message = f"the value of `{name}` would go to another host"
        help_ = (
            f"name a variable for it: `{owners[0]}_...`, or one with `TOKEN` or `API_KEY`"
            " in its name"
        )
        yield problem_at(toolset, path, message, help_)


def _capitals(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", name.upper())
