"""Rules of the family `spec`: fields of spec files and their relations.

`spec.md` explains each rule.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from toolcast_runtime.consent.confirmation import has_backtracking_pattern
from toolcast_runtime.core.definitions.tool import get_similarity_key, module_name
from toolcast_runtime.core.safe_file import read_regular_file
from toolcast_runtime.core.validation.checker import Checker, DeclaredNames
from toolcast_runtime.results.field_selection import list_schemas_on_path

from ..analysis.condition_calls import (
    ConditionResult,
    evaluate_condition,
    list_tried_names,
)
from ..analysis.network_reach import find_secret_paths, has_secret, list_sent_variables
from ..analysis.texts import get_summary_field
from ..analysis.uri_templates import check_template, list_variables
from ..findings import Location, Severity
from ..json_schema.graph import JsonSchema
from ..json_schema.schema_errors import find_schema_problems
from ..model.mcp_servers import McpServer, describe_invalid_reference
from ..model.model import Actions, Toolset, ToolSpec, Workspace
from ..model.spec_schema import collect_declared_schemas
from ..model.toolset_parts import PromptSpec, ResourceSpec, parse_shared_name
from ..parsing.dates import parse_iso_date
from ..parsing.tree import Path
from ..spec_language.spec_language import get_fields_read_by, render_schema
from ..suggestions import (
    Suggestions,
    describe_value,
    did_you_mean,
    format_list,
    format_quoted_list,
)
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

_USE_PARAMETER = "use the name of a parameter"


@rule("spec/actions-mismatch", on="tool", severity=Severity.ERROR)
def check_actions(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report actions that do not match the `enum` of their parameter.

    Also report actions that refer to unknown parameters.
    """
    if tool.actions is not None:
        yield from _check_action_names(tool, tool.actions)
        yield from _check_action_parameters(tool, tool.actions)


def _check_action_names(tool: ToolSpec, actions: Actions) -> Iterator[Problem]:
    """Report differences between the actions and the `enum` of their parameter."""
    parameter = actions.parameter
    if parameter not in tool.properties:
        message = f"`{parameter}` is not a parameter"
        help_ = did_you_mean(parameter, tool.properties) or _USE_PARAMETER
        yield problem_at(tool, ("actions", "parameter"), message, help_)
        return
    schema = tool.properties[parameter]
    values = schema.get("enum") if isinstance(schema, dict) else None
    names = [action.name for action in actions.values]
    if not isinstance(values, list) or not all(isinstance(v, str) for v in values):
        message = f"`{parameter}` has no `enum` of strings that lists the actions"
        help_ = f"add `enum: [{', '.join(names)}]` to `{parameter}`"
        yield problem_at(tool, ("actions", "parameter"), message, help_)
        return
    allowed, described = frozenset(values), frozenset(names)
    suggestions = Suggestions(values)
    for name in names:
        if name not in allowed:
            path: Path = ("actions", "values", name)
            message = f"`{name}` is not in the `enum` of `{parameter}`"
            help_ = suggestions.near(name) or (
                f"add `{name}` to the `enum`, or remove it from `actions.values`"
            )
            yield problem_at(tool, path, message, help_, at_key=True)
    for index, value in enumerate(values):
        if value not in described:
            path = ("parameters", "properties", parameter, "enum", index)
            message = f"`actions.values` has no entry for `{value}`"
            help_ = f"add `{value}: {{}}` to `actions.values`"
            yield problem_at(tool, path, message, help_)


def _check_action_parameters(tool: ToolSpec, actions: Actions) -> Iterator[Problem]:
    suggestions = Suggestions(tool.properties)
    for action in actions.values:
        for key in ("requires", "requires_any", "accepts"):
            for index, name in enumerate(getattr(action, key) or ()):
                if name not in tool.properties:
                    path = ("actions", "values", action.name, key, index)
                    message = f"`{name}` is not a parameter"
                    help_ = suggestions.near(name) or _USE_PARAMETER
                    yield problem_at(tool, path, message, help_)


_CONDITION = ("confirm", "when")
_MAX_NAME_LENGTH = 80
"""Maximum number of characters of a parameter's name in a message."""


@rule("spec/confirm-condition", on="tool", severity=Severity.ERROR)
def check_confirm_condition(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a `confirm.when` that is invalid or does not match the parameters.

    Also report calls that skip the confirmation because they omit a parameter whose default
    requires it.
    """
    if tool.confirm is not None and tool.confirm.when is not None:
        yield from _check_condition(tool, JsonSchema(tool.confirm.when))


def _check_condition(tool: ToolSpec, condition: JsonSchema) -> Iterator[Problem]:
    if condition.dialect is None:
        message = "`$schema` of `confirm.when` is not a known JSON Schema dialect"
        help_ = "remove `$schema`: the default is 2020-12"
        yield problem_at(tool, (*_CONDITION, "$schema"), message, help_)
    for path, message, help_ in find_schema_problems(condition):
        help_ = help_ or "correct the value of this keyword"
        yield problem_at(tool, (*_CONDITION, *path), message, help_)
    can_be_evaluated = (
        condition.is_sound and _build_checker(condition.value) is not None
    )
    if condition.is_valid and not can_be_evaluated:
        message = (
            "`confirm.when` cannot be evaluated, so the user is asked before each call"
        )
        help_ = "remove external `$ref`s, circular `$ref`s and invalid patterns"
        if any(parse_shared_name(ref.text) is not None for ref in condition.references):
            help_ = (
                "replace the `$ref` with the definition itself: only `parameters` and"
                " `returns` can refer to shared definitions"
            )
        yield problem_at(tool, _CONDITION, message, help_)
    if has_backtracking_pattern(condition.value):
        message = (
            "`confirm.when` has a pattern that needs backtracking, so the user is asked"
            " before each call"
        )
        help_ = (
            "write the pattern without look-around and back-references such as `\\1`"
        )
        yield problem_at(tool, _CONDITION, message, help_)
    for name in _list_unknown(tool, condition):
        message = (
            f"`confirm.when` refers to `{name[:_MAX_NAME_LENGTH]}`, which is not a"
            " parameter"
        )
        names = DeclaredNames(tool.parameters).names
        help_ = did_you_mean(name, names) or _USE_PARAMETER
        yield problem_at(tool, _CONDITION, message, help_)
    result = _evaluate_condition(tool)
    if result is None:
        return
    required = condition.value.get("required", ()) if condition.value else ()
    for name in result.skipped_defaults:
        message = (
            f"calls that omit `{name[:_MAX_NAME_LENGTH]}` skip the confirmation, although"
            " its default matches `confirm.when`"
        )
        help_ = f"remove `{name[:_MAX_NAME_LENGTH]}` from `confirm.when.required`"
        if name in required:
            yield problem_at(tool, (*_CONDITION, "required"), message, help_)
        else:
            help_ = "change the condition so that calls without the parameter match it"
            yield problem_at(tool, _CONDITION, message, help_)


@rule("spec/confirm-condition", on="tool", severity=Severity.WARNING)
def check_condition_is_satisfiable(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a `confirm.when` that no valid call satisfies."""
    if tool.confirm is not None and tool.confirm.when is not None:
        condition = JsonSchema(tool.confirm.when)
        result = _evaluate_condition(tool)
        # An unknown name in the condition is the cause, and is reported as an error.
        if result and result.is_unsatisfiable and not _list_unknown(tool, condition):
            message = (
                "no valid call satisfies `confirm.when`, so the user is never asked"
            )
            help_ = "compare the condition with the values that `parameters` allows"
            yield problem_at(tool, _CONDITION, message, help_)


def _list_unknown(tool: ToolSpec, condition: JsonSchema) -> list[str]:
    """Return the names in a condition that are not parameters of the tool, sorted."""
    names = sorted(list_tried_names(condition.value))
    return DeclaredNames(tool.parameters).find_undeclared(names)


@lru_cache(maxsize=2)
def _evaluate_condition(tool: ToolSpec) -> ConditionResult | None:
    """Return the analysis of `confirm.when` against the tool's parameters.

    None if one of the two schemas cannot be evaluated. The cache serves the two checks that
    analyze the same tool one after the other.
    """
    condition = JsonSchema(tool.confirm.when if tool.confirm is not None else None)
    parameters = JsonSchema(tool.parameters)
    if not all(s.is_valid and s.is_sound for s in (condition, parameters)):
        return None
    try:
        return evaluate_condition(tool.parameters, condition.value)
    except ValueError:
        return None


def _build_checker(schema: Any) -> Checker | None:
    """Return the runtime's validator for a schema, or None if it rejects the schema."""
    try:
        return Checker(schema)
    except ValueError:
        return None


@rule("spec/deprecated-replacement", on="tool", severity=Severity.WARNING)
def check_deprecated_replacement(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a deprecated tool whose `replacement` in the toolset is deprecated, too."""
    name = (tool.deprecated or {}).get("replacement")
    if name is None or name == tool.name:
        return
    for other in scope.toolset.tools:
        if other.name == name and other.deprecated:
            message = f"the replacement `{name}` is deprecated itself"
            next_name = other.deprecated.get("replacement")
            is_usable = next_name is not None and next_name not in (name, tool.name)
            help_ = "set `replacement` to a tool that is not deprecated"
            if is_usable:
                help_ = f"set `replacement` to `{next_name}`"
            yield problem_at(tool, ("deprecated", "replacement"), message, help_)


@rule("spec/mcp-content", on="toolset", severity=Severity.ERROR)
def check_mcp_content(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report resources and MCP prompts without exactly one source of content.

    Also report a URI template with fixed content, which would be the same for each URI.
    """
    for spec in toolset.mcp_specs:
        keys = ["messages", "handler"]
        if isinstance(spec, ResourceSpec):
            keys = ["text", "file", "handler"]
        sources = [key for key in keys if getattr(spec, key) not in (None, ())]
        if len(sources) != 1:
            has = format_quoted_list(sources) if sources else "no content"
            message = f"the {spec.kind} `{spec.name}` has {has}"
            help_ = f"set exactly one of {format_quoted_list(keys)}"
            path = (sources[-1] if sources else "name",)
            yield problem_at(spec, path, message, help_)
        elif isinstance(spec, ResourceSpec) and spec.uri_template and not spec.handler:
            message = f"`{spec.name}` has the same content for each URI of its template"
            help_ = "set `handler`, or replace `uri_template` with `uri`"
            yield problem_at(spec, (sources[0],), message, help_)


_ANNOTATIONS = {
    "title": str,
    "readOnlyHint": bool,
    "destructiveHint": bool,
    "idempotentHint": bool,
    "openWorldHint": bool,
}
_EXECUTION = {"taskSupport": str}
_ICON = {"src": str, "mimeType": str, "sizes": list, "theme": str}
_TYPE_LABELS = {str: "a string", bool: "a boolean", list: "an array"}
_VALUES = {
    "taskSupport": ("forbidden", "optional", "required"),
    "theme": ("light", "dark"),
}


@rule("spec/mcp-key", on="tool", severity=Severity.WARNING)
def check_mcp_keys(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report misspelled keys and nulls in `annotations`, `execution` and `icons`."""
    for path, key, member, types in _list_mcp_members(tool):
        if key not in types:
            # Unknown keys that are not similar to a key of MCP are passed to clients unchanged.
            help_ = did_you_mean(key, types)
            if help_:
                message = (
                    f"`{key}` is not a key of MCP's `{path[0]}`, so clients ignore it"
                )
                yield problem_at(tool, path, message, help_, at_key=True)
        elif member is None:
            label = _TYPE_LABELS[types[key]]
            message = f"`{key}` must be {label}, not null"
            yield problem_at(tool, path, message, f"change the value to {label}")


@rule("spec/mcp-key", on="tool", severity=Severity.ERROR)
def check_mcp_values(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report values of these keys that MCP does not allow."""
    effect = "so MCP clients reject the server's whole list"
    for path, key, member, types in _list_mcp_members(tool):
        if key not in types or member is None:
            continue
        if type(member) is not types[key]:
            label = _TYPE_LABELS[types[key]]
            message = f"`{key}` must be {label}, not {describe_value(member)}, {effect}"
            yield problem_at(tool, path, message, f"change the value to {label}")
        elif isinstance(member, str) and member not in _VALUES.get(key, (member,)):
            choices = format_list([f"`{choice}`" for choice in _VALUES[key]], "or")
            message = f"`{member}` is not a value of `{key}`, {effect}"
            help_ = did_you_mean(member, _VALUES[key]) or f"use {choices}"
            yield problem_at(tool, path, message, help_)


def _list_mcp_members(
    tool: ToolSpec,
) -> Iterator[tuple[Path, str, Any, Mapping[str, type]]]:
    """Yield the path, key and value of each member, and the types of its object's keys."""
    objects: list[tuple[Path, Any, Mapping[str, type]]] = [
        (("annotations",), tool.annotations, _ANNOTATIONS),
        (("execution",), tool.execution, _EXECUTION),
    ]
    objects += [(("icons", n), icon, _ICON) for n, icon in enumerate(tool.icons or ())]
    for path, value, types in objects:
        for key, member in (value or {}).items():
            yield (*path, key), key, member, types


_DESTRUCTION = re.compile(
    # The start of a sentence or clause, or words before a verb, such as "used to".
    r"(?:^|[.;!?\n/&*\u2022-]\s*|[:,(]\s*(?=\w+\s+\w)|\b(?:and|or|then|also|will|tool"
    r"|tool (?:that|which|to|can)|used? (?:this |it )?to|(?:allow|let|enable)s? \w+(?: to)?)\s+)"
    r"(?:\w+ly\s+|(?:hard|bulk|batch|force)[ -])?"
    r"((?:delet|remov|eras|wip|prun|revok|terminat|overwrit)(?:es?|ing)"
    r"|(?:destroy|drop|kill|shred|discard|unlink|expunge|nuke|uninstall|unpublish"
    r"|annihilate|obliterate|purge|truncate(?=.* tables?\b))s?"
    r"|(?:clear|empty|reset)s?(?=\s+(?:the|an?|all|each|every|its|their|your|this|cache"
    r"|trash|counters?)\b))\b"
    # Not before words with which the verb is part of a noun or an operation on a text.
    r"(?!-|\s+(?:is|was|are|of|nothing|none|status|rat(?:e|io)|polic(?:y|ies)|markers?|preview"
    r"|protection|pile|zones?|costs?|shipping|transition|(?:\w+ )?(?:whitespace|spaces"
    r"|duplicates|accents|punctuation|markup|html|noise|outliers))\b)",
    re.IGNORECASE,
)
_INDIRECT = re.compile(
    r"\b(?:who|which|whether|how|what|that|would|could|can(?! be\b)|not|never|without|if|dry[ -]run"
    r"|preview)\b[^.;!?\n]*$",
    re.IGNORECASE,
)
"""The start of a sentence after which a verb does not describe the effect of the tool."""


def _find_destruction(summary: str) -> str:
    """Return the first verb of a summary that announces a destruction, or "".

    A verb after a word such as "without" or "whether" in the same sentence is ignored.
    """
    for match in _DESTRUCTION.finditer(summary):
        if not _INDIRECT.search(summary[: match.start()]):
            return match[1]
    return ""


@rule("spec/read-only-destruction", on="tool", severity=Severity.WARNING)
def check_read_only(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool with `readOnlyHint` whose summary has a verb such as "deletes"."""
    if (tool.annotations or {}).get("readOnlyHint") is not True:
        return
    verb = _find_destruction(tool.summary)
    if verb:
        field = get_summary_field(tool)
        message = f"the summary says `{verb}`, and `readOnlyHint` is true"
        help_ = (
            "set `readOnlyHint: false` and `destructiveHint: true`, or describe in the"
            " summary what the tool reads"
        )
        yield problem_at(tool, (field,), message, help_)


_MAX_SCHEMA_BYTES = 8 * 1024 * 1024
"""Maximum size of a schema file that is read."""


@rule("spec/outdated-schema", on="toolset", severity=Severity.WARNING)
def check_schema_files(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report schema files for editors that are outdated or cannot be read."""
    # Several toolsets may use the same schema file. It is reported for the first of them.
    reported: dict[str, str] = {}
    for earlier in workspace.toolsets:
        if earlier.name == toolset.name:
            break
        reported |= _list_schema_files(earlier, workspace)
    for path, kind in _list_schema_files(toolset, workspace).items():
        if path in reported:
            continue
        message = (
            "the schema file does not match this version of Toolcast and the project's"
            " extensions"
        )
        try:
            data = read_regular_file(
                os.path.join(workspace.root, path), _MAX_SCHEMA_BYTES
            )
            text = render_schema(kind, workspace.extensions)
            if data.replace(b"\r\n", b"\n") == text.encode("utf-8"):
                continue
        except OSError:
            message = "specs use this schema file, but it cannot be read"
        yield Problem(Location(path), message, "run `toolcast schema --write`")


def _list_schema_files(toolset: Toolset, workspace: Workspace) -> dict[str, str]:
    """Return the kind of each schema file that a toolset's files refer to, by path."""
    sources = [("workspace", workspace.source), ("toolset", toolset.source)]
    sources += [("tool", tool.source) for tool in toolset.tools]
    if toolset.definitions is not None:
        sources += [("definitions", source) for source in toolset.definitions.sources]
    return collect_declared_schemas(
        (kind, source.file, source.opening) for kind, source in sources
    )


_PLACEHOLDER = re.compile(r"\{\{([^{}]*)\}\}")


@rule("spec/prompt-argument", on="toolset", severity=Severity.ERROR)
def check_prompt_arguments(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report duplicate, unknown and unused arguments of MCP prompts.

    Only prompts with messages have unknown and unused arguments.
    """
    for prompt in toolset.mcp_prompts:
        names = [argument.name for argument in prompt.arguments]
        for index, name in enumerate(names):
            if name in names[:index]:
                path: Path = ("arguments", index, "name")
                message = f"the argument `{name}` is declared twice"
                yield problem_at(prompt, path, message, "remove one of the two")
        if prompt.messages:
            yield from _check_placeholders(prompt, names)


def _check_placeholders(prompt: PromptSpec, names: list[str]) -> Iterator[Problem]:
    used: set[str] = set()
    for index, message in enumerate(prompt.messages):
        for match in _PLACEHOLDER.finditer(message.text):
            name = match[1].strip(" ")
            used.add(name)
            if name not in names:
                path: Path = ("messages", index, "text")
                text = f"`{match[0]}` is not the name of an argument"
                help_ = did_you_mean(name, names) or f"add `{name}` to `arguments`"
                yield problem_at(prompt, path, text, help_)
    for index, name in enumerate(names):
        if name not in used and name not in names[:index]:
            path = ("arguments", index, "name")
            text = f"no message uses the argument `{name}`"
            help_ = f"write `{{{{{name}}}}}` in a message, or remove the argument"
            yield problem_at(prompt, path, text, help_)


@rule("spec/removal-date", on="tool", severity=Severity.ERROR)
def check_removal_date(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a removal date that is not `YYYY-MM-DD` or is before the deprecation."""
    deprecated = tool.deprecated or {}
    removal = deprecated.get("removal")
    if removal is None:
        return
    path = ("deprecated", "removal")
    removal_date = parse_iso_date(removal)
    if removal_date is None:
        message = f"`deprecated.removal` is not a date: `{removal}`"
        yield problem_at(tool, path, message, 'use the format "2030-01-31"')
        return
    since = parse_iso_date(deprecated["since"])
    if since is not None and removal_date < since:
        message = f"`deprecated.removal` is before `deprecated.since`, {since}"
        yield problem_at(tool, path, message, "set `removal` to a later date")


_RESERVED_SCHEME = "kept:"
_VARIABLE = re.compile(r"\{([+?]?)[^{}]*\}")
_TEMPLATE_HELP = "use `{name}`, `{+name}` or a final `{?name}`, with literal text between two variables"


@rule("spec/resource-uri", on="toolset", severity=Severity.ERROR)
def check_resource_uris(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report invalid and duplicate URIs of resources, and unknown `variables`.

    Also report resources or prompts that would be generated into the same file.
    """
    first: dict[str, ResourceSpec] = {}
    for spec in toolset.mcp_resources:
        uri = spec.uri if spec.uri is not None else spec.uri_template
        if uri is None or (spec.uri is not None and spec.uri_template is not None):
            message = (
                f"the resource `{spec.name}` must have either `uri` or `uri_template`"
            )
            yield problem_at(spec, ("uri",), message, "set exactly one of the two")
            continue
        key = "uri" if spec.uri is not None else "uri_template"
        if uri.startswith(_RESERVED_SCHEME):
            message = (
                f"the URI scheme `{_RESERVED_SCHEME}` is reserved for links in results"
            )
            yield problem_at(spec, (key,), message, "use another scheme")
        # Remove the names of variables: templates that differ only in them match the same URIs.
        other = first.setdefault(_VARIABLE.sub(r"{\1}", uri), spec)
        # If `variables` of a template allow only some values, the next template with the same
        # form can serve the other values.
        if other is not spec and (
            not other.variables or uri in (other.uri, other.uri_template)
        ):
            message = f"`{uri}` is also the URI of `{other.name}`"
            yield problem_at(spec, (key,), message, "change one of the two URIs")
        if spec.uri_template is not None:
            for problem in check_template(uri):
                message = f"the template {problem}"
                yield problem_at(spec, (key,), message, _TEMPLATE_HELP)
        variables = list_variables(spec.uri_template or "")
        for name in spec.variables:
            if name not in variables:
                message = f"`{name}` is not a variable of the URI"
                help_ = did_you_mean(name, variables) or (
                    f"remove it, or add `{{{name}}}` to `uri_template`"
                )
                yield problem_at(spec, ("variables", name), message, help_, at_key=True)
    yield from _check_file_names(toolset.mcp_resources)
    yield from _check_file_names(toolset.mcp_prompts)


def _check_file_names(
    specs: tuple[ResourceSpec | PromptSpec, ...],
) -> Iterator[Problem]:
    first: dict[str, ResourceSpec | PromptSpec] = {}
    for spec in specs:
        other = first.setdefault(module_name(spec.name), spec)
        if other is not spec:
            message = f"`{spec.name}` and `{other.name}` would be generated into the same file"
            yield problem_at(spec, ("name",), message, "rename one of the two")


# Keywords with which a result can become invalid if one of its properties is left out.
_BLOCKING_KEYWORDS = (
    "minProperties dependentRequired dependentSchemas dependencies allOf anyOf oneOf not"
    " if enum const uniqueItems contains prefixItems $ref $dynamicRef"
).split()


@rule("spec/invalid-result", on="tool", severity=Severity.ERROR)
def check_structured_result(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report `result.send: structured` of a tool without `returns`.

    Proxied tools are not reported, since their server defines the result.
    """
    has_schema = tool.returns is not None or scope.toolset.get_proxy(tool) is not None
    if tool.result.send == "structured" and not has_schema:
        message = "`result.send` is `structured`, but the tool has no `returns`"
        help_ = "describe the result in `returns`, or set `result.send` to `text`"
        yield problem_at(tool, ("result", "send"), message, help_)


@rule("spec/invalid-result", on="tool", severity=Severity.ERROR)
def check_result_fields(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report fields in `result.fields` that callers cannot leave out of a result.

    Such a field is not defined in `returns`, or a keyword such as `anyOf` on its path could
    make a result without it invalid. The name of the parameter must be unused.
    """
    if tool.picks is None:
        return
    path, allowed = ("result", "fields"), tool.picks["allowed"]
    used_names = [*DeclaredNames(tool.parameters).names, *tool.uses]
    parameter = tool.picks["parameter"]
    if get_similarity_key(parameter) in map(get_similarity_key, used_names):
        message = (
            f"`result.fields.parameter`: `{parameter}` is already a parameter or"
            " dependency, or looks like one"
        )
        help_ = "set `result.fields.parameter` to another name"
        yield problem_at(tool, (*path, "parameter"), message, help_)
    for index, name in enumerate(allowed):
        name_path = (*path, "allowed", index)
        try:
            *parents, _ = list_schemas_on_path(tool.returns, name)
        except LookupError:
            message = f"`result.fields.allowed`: `returns` does not define a property `{name}`"
            help_ = "use a path through `properties` and `items`, such as `items.title`"
            yield problem_at(tool, name_path, message, help_)
            continue
        blocking = [
            keyword
            for keyword in _BLOCKING_KEYWORDS
            if any(keyword in schema for schema in parents)
        ]
        if blocking:
            keyword = blocking[0]
            message = (
                f"`result.fields.allowed`: `{name}` cannot be optional because of"
                f" `{keyword}` on its path in `returns`"
            )
            help_ = (
                f"remove `{keyword}` from the schemas that contain `{name}`, or remove"
                f" `{name}` from `allowed`"
            )
            yield problem_at(tool, name_path, message, help_)


@rule("spec/section-missing", on="tool", severity=Severity.WARNING, target="prompts")
def check_section(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report a tool without a section in a toolset with sections."""
    if scope.toolset.sections and tool.section is None:
        message = f"`{tool.name}` has no section, although the toolset has sections"
        help_ = "add `section:`; tools without a section are listed last"
        yield problem_at(tool, ("name",), message, help_)


@rule("spec/server-lock", on="toolset", severity=Severity.ERROR)
def check_server_locks(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report lock files that two servers share, or that are unreadable or invalid."""
    owners: dict[str, str] = {}
    for server in toolset.listed_servers:
        if server.lock is None:
            continue
        path = ("mcp_servers", server.name, "lock")
        update = f"run `toolcast lock --update {server.name}`"
        other = owners.setdefault(server.lock, server.name)
        if other != server.name:
            message = f"`{server.lock}` is also the lock file of `{other}`"
            yield problem_at(toolset, path, message, "use another file")
            continue
        file = f"{toolset.folder}/{server.lock}"
        if server.locked is None:
            message = f"the lock file `{file}` cannot be read"
            yield problem_at(toolset, path, message, update)
            continue
        # Import the parsers only here: few toolsets have a lock.
        from ..mcp_client.server_listing import ListingError, parse_lock
        from ..parsing.exact_json import JsonError, read_json

        help_ = f"restore the file from git, or {update}"
        try:
            read_json(server.locked)
        except JsonError as error:
            location = Location(file, error.line, error.column)
            message = f"the lock file of `{server.name}` is not valid JSON: {error}"
            yield Problem(location, message, help_)
            continue
        try:
            parse_lock(server.locked, file)
        except ListingError as error:
            yield problem_at(toolset, path, str(error), help_)


@rule("spec/server-lock", on="toolset", severity=Severity.ERROR)
def check_on_change(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report `on_change` of a server without a lock."""
    for server in toolset.listed_servers:
        if server.lock is None and "on_change" in server.fields:
            path = ("mcp_servers", server.name, "on_change")
            message = "`on_change` has no effect without `lock`"
            help_ = "remove `on_change`, or set `lock`"
            yield problem_at(toolset, path, message, help_, at_key=True)


@rule("spec/server-secret", on="toolset", severity=Severity.ERROR)
def check_server_secrets(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report literal secrets in the settings of servers and of the router."""
    secrets: list[tuple[Path, str]] = []
    for server in toolset.mcp_servers:
        for path in find_secret_paths(server):
            owner = f"the server `{server.name}`"
            secrets.append((("mcp_servers", server.name, *path), owner))
    if toolset.router is not None and has_secret(toolset.router.base_url):
        secrets.append((("router", "base_url"), "the router's URL"))
    help_ = "move it to an environment variable, and write `${NAME}` here"
    for path, owner in secrets:
        message = f"{owner} contains a literal secret"
        problem = problem_at(toolset, path, message, help_, at_key=True)
        # The source line contains the secret, which must not be printed in reports.
        yield problem._replace(source_line="")


_SERVER_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# A command that is a path, or that ends within a reference to a variable, may contain spaces.
# In other commands, a space separates arguments.
_PATH_OR_REFERENCE = re.compile(r"[/\\]|\$\{[^}]*$")
_REQUIRED_KEYS = {
    "args": "command",
    "env": "command",
    "cwd": "command",
    "headers": "url",
}


@rule("spec/server-transport", on="toolset", severity=Severity.ERROR)
def check_server_transports(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report invalid and contradictory settings of external servers.

    Also report malformed references to environment variables in servers and the router.
    """
    texts: list[tuple[str, Path, str]] = []
    for server in toolset.mcp_servers:
        path = ("mcp_servers", server.name)
        for key, message, help_ in _check_server(server):
            key_path = (*path, key) if key else path
            yield problem_at(toolset, key_path, message, help_, at_key=True)
        owner = f"`{server.name}`"
        for text_path, text in server.texts:
            texts.append((owner, (*path, *text_path), text))
    router = toolset.router
    if router is not None:
        for key in ("base_url", "model"):
            texts.append(("the router", ("router", key), getattr(router, key)))
    for owner, text_path, text in texts:
        correction = describe_invalid_reference(text)
        if correction is not None:
            message = f"{owner} has a malformed reference to an environment variable"
            yield problem_at(toolset, text_path, message, correction)


def _check_server(server: McpServer) -> Iterator[tuple[str, str, str]]:
    """Yield the key, message and help of each problem in a server's settings.

    An empty key is the server's entry itself.
    """
    if not _SERVER_NAME.fullmatch(server.name):
        message = f"`{server.name}` is not a valid server name"
        yield "", message, "use 1 to 64 letters, digits, `_` and `-`"
    for key, pattern, label in (
        ("headers", _HEADER_NAME, "header"),
        ("env", _VARIABLE_NAME, "variable"),
    ):
        for name, text in getattr(server, key).items():
            if not pattern.fullmatch(name) or "\n" in text or "\r" in text:
                message = (
                    f"`{key}` of `{server.name}` has an invalid name or value: `{name}`"
                )
                help_ = f"use a valid {label} name, and a value without line breaks"
                yield key, message, help_
    if server.command is None and server.url is None:
        message = f"the server `{server.name}` has neither `command` nor `url`"
        help_ = "set `command` to start a program, or `url` to connect to a server"
        yield "", message, help_
        return
    if server.command is not None and server.url is not None:
        message = f"the server `{server.name}` has both `command` and `url`"
        yield "url", message, "remove one of the two"
        return
    arguments = (server.command or "").split()
    if len(arguments) > 1 and not _PATH_OR_REFERENCE.search(arguments[0]):
        message = f"`command` of `{server.name}` contains arguments"
        help_ = f"write `command: {arguments[0]}`, and move the arguments to `args`"
        yield "command", message, help_
    for key, required_key in _REQUIRED_KEYS.items():
        if key in server.fields and getattr(server, required_key) is None:
            message = f"`{key}` has no effect without `{required_key}`"
            yield key, message, f"remove `{key}`, or set `{required_key}`"


@rule("spec/unread-field", on="toolset", severity=Severity.NOTE)
def check_unread_fields(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report fields of tools and of toolset.yaml that no enabled target uses."""
    extensions = workspace.extensions
    enabled = list_enabled_targets(tuple(toolset.targets), extensions)
    read_fields = get_fields_read_by("tool", "rules", extensions)
    read_fields = read_fields.union(*(target.reads for target in enabled))
    unread: list[tuple[ToolSpec | Toolset, str]] = [
        (tool, field)
        for tool in toolset.tools
        for field in tool.fields
        if field not in read_fields
    ]
    # Of the fields of toolset.yaml, only those of targets and extensions can be unused. Other
    # fields, such as `name`, are always used.
    target_fields = {*toolset.extensions}
    for target in load_targets(extensions).values():
        target_fields.update(target.reads_toolset)
    read_fields = get_fields_read_by("toolset", "rules", extensions)
    read_fields = read_fields.union(*(target.reads_toolset for target in enabled))
    unread += [
        (toolset, field)
        for field in toolset.fields
        if field in target_fields - read_fields
    ]
    for owner, field in unread:
        message = f"none of the toolset's targets uses `{field}`"
        help_ = "remove the field, or add a target that uses it"
        yield problem_at(owner, (field,), message, help_, at_key=True)


_TOKEN_VARIABLE = re.compile(r"TOKEN|API_?KEY")


@rule(
    "spec/variable-name", on="toolset", severity=Severity.ERROR, can_be_suppressed=False
)
def check_sent_variables(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    """Report variables whose value is sent to a host, but whose name does not show that.

    The name must contain the name of the server or toolset, `TOKEN` or `API_KEY`. Otherwise a
    spec could send any variable, such as `DATABASE_PASSWORD`, to any host.
    """
    for path, owner, name in list_sent_variables(toolset):
        prefixes = [_format_variable_part(owner), _format_variable_part(toolset.name)]
        is_named_for_owner = any(f"_{prefix}_" in f"_{name}_" for prefix in prefixes)
        if _TOKEN_VARIABLE.search(name) or is_named_for_owner:
            continue
        message = f"the value of `{name}` would be sent to another host"
        help_ = (
            f"use a variable whose name contains `{prefixes[0]}`, `TOKEN` or `API_KEY`"
        )
        yield problem_at(toolset, path, message, help_)


def _format_variable_part(name: str) -> str:
    return re.sub(r"[^A-Z0-9]", "_", name.upper())
