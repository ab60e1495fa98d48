"""Rules of the family `schema`: JSON Schemas of parameters and results.

`schema.md` explains each rule. The last part of the module analyzes regular expressions.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

# Python has no public parser of regular expressions. These private modules of `re` replace the
# deprecated `sre_parse`.
from re import _constants as constants  # type: ignore[attr-defined]  # not in typeshed
from re import _parser as parser  # type: ignore[attr-defined]  # not in typeshed
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.tool_validators import check_action
from toolcast_runtime.core.calls.untrusted_text import escape_excerpt
from toolcast_runtime.core.definitions.tool import Action
from toolcast_runtime.core.validation.checker import Checker
from toolcast_runtime.core.validation.compiled import FORMATS, compile_schema
from toolcast_runtime.core.validation.limits import MAX_PATHS
from toolcast_runtime.values.python_values import ENCODINGS

from ..encoders.json_text import encode_compact_json
from ..findings import Severity
from ..json_schema.dialects import DIALECTS, KEYWORDS, get_dialect
from ..json_schema.graph import JsonSchema
from ..json_schema.schema_errors import ValueChecker, find_schema_problems
from ..model.binding import get_shared_definitions
from ..model.model import Example, Toolset, ToolSpec, Workspace
from ..model.spec_files import DEFINITIONS_FILE
from ..model.toolset_parts import (
    SHARED_REFERENCE_PREFIX,
    Definitions,
    parse_shared_name,
)
from ..parsing.tree import SHARED, Path
from ..suggestions import Suggestions, did_you_mean
from .rule import Problem, problem_at, rule
from .subjects import Scope, ToolSchema

_MAX_TEXT_SHOWN = 60
"""Maximum number of characters of a pattern, value or name in a message."""
_MAX_REFERENCE_SHOWN = 80
"""Maximum number of characters of a reference in a message."""


def _check_patterns(
    schema: ToolSchema,
    find_problem: Callable[[str, PatternAnalysis], tuple[str, str] | None],
) -> Iterator[Problem]:
    """Report the regular expressions of a schema for which a function finds a problem.

    Args:
        schema: the schema.
        find_problem: returns a predicate for the message and a help, or None if the pattern
            has no problem.
    """
    if schema.graph.exceeds_pattern_limit:
        # There are too many large patterns to analyze each; `check_pattern_support` reports
        # the schema instead.
        return
    for path, text, is_key in schema.graph.patterns:
        problem = find_problem(text, analyze_pattern(text))
        if problem is not None:
            predicate, help_ = problem
            message = f"`{text[:_MAX_TEXT_SHOWN]}` {predicate}"
            pattern_path = (schema.field, *path)
            yield problem_at(schema.tool, pattern_path, message, help_, at_key=is_key)


@rule("schema/bad-pattern", on="schema", severity=Severity.ERROR)
def check_pattern_syntax(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report patterns that are valid neither in Python nor in ECMA-262."""

    def find_problem(text: str, analysis: PatternAnalysis) -> tuple[str, str] | None:
        if not analysis.error:
            return None
        return (
            f"is not a regular expression: {analysis.error}",
            "quote the pattern, and escape characters that are meant literally",
        )

    yield from _check_patterns(schema, find_problem)


@rule("schema/default-mismatch", on="schema", severity=Severity.WARNING)
def check_defaults(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report a `default` that the schema next to it does not allow."""
    defaults = {
        path[1:-1]: value for path, value in schema.list_keyword_values("default")
    }
    checker = _build_value_checker(schema.graph, schema.field, scope)
    for path, value in defaults.items():
        problem = checker.problem(value, path)
        if problem:
            message = f"the default is not valid: {problem}"
            help_ = "change the default or the schema; calls that send it are refused"
            default_path = (schema.field, *path, "default")
            yield problem_at(schema.tool, default_path, message, help_)


def _build_value_checker(graph: JsonSchema, field: str, scope: Scope) -> ValueChecker:
    """Build a validator of values; it checks `format` only in arguments, as calls do."""
    asserts = field == "parameters" and scope.toolset.asserts_formats
    return ValueChecker(graph, asserts_formats=asserts)


_IDENTIFYING_KEYWORDS = (
    "$schema",
    "$id",
    "id",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
)
"""Keywords that change the targets of references in a schema."""


@rule("schema/definition-reference", on="toolset", severity=Severity.ERROR)
def check_shared_definitions(
    toolset: Toolset, workspace: Workspace
) -> Iterator[Problem]:
    """Report shared definitions with a duplicate name or a reference out of the file.

    The schema of a tool gets a copy of the definitions, in which such references would have
    another target.
    """
    definitions = toolset.definitions
    if definitions is None:
        return
    source = definitions.source
    # `source.parent` is `definitions.yaml` of the workspace, if both files exist.
    if source.parent is not None:
        for name in source.parent.tree:
            if name in source.tree:
                message = f"`{name}` is also defined in {source.parent.file}"
                help_ = "rename one of the two"
                yield problem_at(definitions, (name,), message, help_)
    for name, definition in definitions.schemas.items():
        yield from _check_definition(definitions, name, JsonSchema(definition))


@rule("schema/definition-reference", on="schema", severity=Severity.ERROR)
def check_container_references(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report a `$ref` to the object of all shared definitions, which is not a schema."""
    if not scope.toolset.definitions:
        return
    whole = SHARED_REFERENCE_PREFIX.rstrip("/")
    for reference in schema.graph.references:
        if reference.text == whole:
            message = f"`{whole}` contains all shared definitions, and is not a schema"
            help_ = f"refer to one definition: `{SHARED_REFERENCE_PREFIX}NAME`"
            path = (schema.field, *reference.path)
            yield problem_at(schema.tool, path, message, help_)


def _check_definition(
    definitions: Definitions, name: str, schema: JsonSchema
) -> Iterator[Problem]:
    """Report references and keywords that have another meaning in a copy of the schema."""
    for reference in schema.references:
        if parse_shared_name(reference.text) is None:
            predicate = "has a different target in each schema that uses the definition"
            if not reference.is_local:
                predicate = "refers to another document"
            message = f"`{reference.text[:_MAX_REFERENCE_SHOWN]}` {predicate}"
            help_ = f"refer to other definitions as `{SHARED_REFERENCE_PREFIX}NAME`"
            path = (name, *reference.path)
            yield problem_at(definitions, path, message, help_)
    for subschema_path, subschema in schema.subschemas.items():
        for keyword in _IDENTIFYING_KEYWORDS:
            if isinstance(subschema.get(keyword), str | bool):
                message = (
                    f"`{keyword}` changes the targets of references in schemas that use"
                    " the definition"
                )
                help_ = f"remove it; tools refer to the definition as `{SHARED_REFERENCE_PREFIX}{name}`"
                path = (name, *subschema_path, keyword)
                yield problem_at(definitions, path, message, help_, at_key=True)


@rule("schema/invalid-enum", on="schema", severity=Severity.ERROR)
def check_empty_enums(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report an `enum` without values."""
    for path, values in schema.list_keyword_values("enum"):
        if values == []:
            message = "`enum` is empty: no value is valid"
            help_ = "list the values, or remove `enum`"
            yield problem_at(schema.tool, path, message, help_)


@rule("schema/invalid-enum", on="schema", severity=Severity.WARNING)
def check_duplicate_enum_values(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report values that an `enum` contains twice."""
    for path, values in schema.list_keyword_values("enum"):
        seen: set[str] = set()
        for index, value in enumerate(values if isinstance(values, list) else ()):
            text = encode_compact_json(value)
            if text in seen:
                message = f"`enum` contains {text[:_MAX_TEXT_SHOWN]} twice"
                help_ = "remove one of the two"
                yield problem_at(schema.tool, (*path, index), message, help_)
            seen.add(text)


@rule("schema/bad-pattern", on="schema", severity=Severity.WARNING)
def check_python_patterns(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report patterns that are valid in ECMA-262, but not in Python."""

    def find_problem(text: str, analysis: PatternAnalysis) -> tuple[str, str] | None:
        if not analysis.is_ecma_only:
            return None
        return (
            "is a regular expression that Python does not support",
            "write it without `\\p{...}`, `(?<name>...)` and unnecessary escapes",
        )

    yield from _check_patterns(schema, find_problem)


@rule("schema/example-mismatch", on="tool", severity=Severity.ERROR)
def check_examples(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report examples with invalid arguments or an invalid result."""
    if not tool.examples:
        return
    checkers = {
        field: _build_value_checker(graph, field, scope)
        for field, graph in tool.schemas.items()
    }
    for index, example in enumerate(tool.examples):
        # The arguments of an example with an `error` may be invalid on purpose.
        if example.error is None:
            problem = checkers["parameters"].problem(example.arguments)
            problems = [problem] if problem else _check_example_action(tool, example)
            for problem in problems:
                path = ("examples", index, "arguments")
                message = f"the arguments of the example are not valid: {problem}"
                help_ = "correct the arguments, or change the schema"
                yield problem_at(tool, path, message, help_)
        if example.has_result and "returns" in checkers:
            problem = checkers["returns"].problem(example.result)
            if problem:
                path = ("examples", index, "result")
                message = (
                    f"the result of the example does not match `returns`: {problem}"
                )
                help_ = "correct the result, or change `returns`"
                yield problem_at(tool, path, message, help_)


def _check_example_action(tool: ToolSpec, example: Example) -> Iterator[str]:
    """Yield a message for each violation of the action that an example selects."""
    if tool.actions is None:
        return
    parameter = tool.actions.parameter
    for spec in tool.actions.values:
        if example.arguments.get(parameter) == spec.name:
            action = Action(
                spec.summary, spec.requires, spec.requires_any, spec.accepts
            )
            yield from check_action(parameter, action, example.arguments)


@rule("schema/invalid", on="schema", severity=Severity.ERROR)
def check_validity(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report schemas that are invalid in their dialect, and unknown dialects.

    Also report a valid schema that the runtime's validator cannot compile.
    """
    for path, dialect in schema.list_keyword_values("$schema"):
        if dialect is not None and get_dialect({"$schema": dialect}) is None:
            message = f"`{str(dialect)[:_MAX_REFERENCE_SHOWN]}` is not a known dialect"
            help_ = (
                "remove `$schema` to use 2020-12, or use one of"
                f" {', '.join(DIALECTS.values())}"
            )
            yield problem_at(schema.tool, path, message, help_)
    for path, message, help_ in find_schema_problems(schema.graph):
        help_ = help_ or "correct the value of this keyword"
        yield problem_at(schema.tool, (schema.field, *path), message, help_)
    error = _find_compile_error(schema, scope)
    if error:
        message = f"the runtime cannot compile `{schema.field}`, so it would refuse every call: {error}"
        help_ = "correct or remove the keyword that the reason names"
        yield problem_at(schema.tool, (schema.field,), message, help_)


def _find_compile_error(schema: ToolSchema, scope: Scope) -> str:
    """Return the error with which the runtime's validator rejects a schema, or "".

    Empty also for schemas with problems that other checks report.
    """
    graph = schema.graph
    if not graph.is_sound or not all(
        can_be_applied(text) for _, text, _ in graph.patterns
    ):
        return ""
    is_result = schema.field == "returns"
    asserts = is_result or scope.toolset.asserts_formats
    try:
        Checker(graph.value, asserts_formats=asserts)
    # The type of the error does not matter: the runtime refuses all calls after any error.
    except Exception as error:
        return escape_excerpt(str(error))
    return ""


@rule("schema/invalid-reference", on="schema", severity=Severity.ERROR)
def check_circular_references(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report `$ref`s that lead back to themselves without a step into the value.

    Validating such a schema would not end. References below `properties` or `items` end with
    the value.
    """
    for reference in schema.graph.loops:
        message = f"the reference `{reference.text[:_MAX_REFERENCE_SHOWN]}` is circular"
        help_ = (
            "move the reference under `properties` or `items`, so that the data ends the"
            " recursion"
        )
        yield problem_at(schema.tool, (schema.field, *reference.path), message, help_)


@rule("schema/invalid-reference", on="schema", severity=Severity.ERROR)
def check_reference_paths(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report schemas whose references expand to too many paths."""
    if schema.graph.multiplies:
        message = f"`$ref`s expand to more than {MAX_PATHS:,} paths"
        help_ = "use fewer `anyOf` or `oneOf` branches with the same definition"
        yield problem_at(schema.tool, (schema.field,), message, help_)


@rule("schema/root-not-object", on="tool", severity=Severity.ERROR)
def check_root_type(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report `parameters` with a type that does not include `object`."""
    types = tool.parameters.get("type", "object")
    if types != "object" and not (isinstance(types, list) and "object" in types):
        message = "`parameters` must have the type `object`, as arguments are an object"
        help_ = "write `type: object`, and make the value one of its `properties`"
        yield problem_at(tool, ("parameters", "type"), message, help_)


@rule("schema/root-not-object", on="tool", severity=Severity.ERROR)
def check_missing_root_type(tool: ToolSpec, scope: Scope) -> Iterator[Problem]:
    """Report `parameters` without the keyword `type`."""
    if "type" not in tool.parameters:
        message = (
            "`parameters` has no `type`, so MCP clients reject the server's whole list"
        )
        help_ = "add `type: object`"
        yield problem_at(tool, ("parameters",), message, help_)


@rule("schema/definition-reference", on="schema", severity=Severity.ERROR)
def check_reserved_definition(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report a schema that itself has a definition `$defs/shared`.

    The name is reserved: a schema with this definition gets no copy of the shared definitions.
    """
    # Tools that were built from a server's list have no spec file and no shared definitions.
    if scope.toolset.definitions is None:
        return
    defs_key, shared_key = SHARED
    raw_schema = schema.tool.source.tree[schema.field]
    own = raw_schema.get(defs_key) if isinstance(raw_schema, dict) else None
    if isinstance(own, dict) and shared_key in own:
        message = "`$defs/shared` is reserved for the shared definitions"
        help_ = "rename this definition"
        path = (schema.field, *SHARED)
        yield problem_at(schema.tool, path, message, help_, at_key=True)


@rule("schema/invalid-reference", on="schema", severity=Severity.ERROR)
def check_external_references(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report references to other documents, and subschemas that set another base URI."""
    for reference in schema.graph.references:
        # `schema/definition-reference` reports references in shared definitions.
        if not reference.is_local and not schema.is_shared(reference.path):
            text = reference.text[:_MAX_REFERENCE_SHOWN]
            message = f"`{text}` refers to another document"
            help_ = "copy the definition into `$defs`, and refer to `#/$defs/...`"
            path = (schema.field, *reference.path)
            yield problem_at(schema.tool, path, message, help_)
    keyword = "id" if schema.graph.dialect == "draft-04" else "$id"
    for path, base in schema.list_keyword_values(keyword):
        is_base = isinstance(base, str) and not base.startswith("#")
        if path[1:-1] and is_base and not schema.is_shared(path[1:]):
            message = f"`{keyword}` sets another base URI for a part of the schema"
            help_ = f"remove `{keyword}`; references such as `#/...` do not need it"
            yield problem_at(schema.tool, path, message, help_)


@rule("schema/required-undeclared", on="schema", severity=Severity.WARNING)
def check_undeclared_required(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report names in `required` that `properties` lacks, but the schema allows."""
    for path, name, _ in _list_unknown_required(schema, is_allowed=True):
        message = f"`required` names `{name}`, which no property describes"
        help_ = f"add `{name}` to `properties` with a description"
        yield problem_at(schema.tool, path, message, help_)


@rule("schema/required-unknown", on="schema", severity=Severity.ERROR)
def check_unknown_required(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report names in `required` that are not properties and that no keyword allows."""
    for path, name, suggestions in _list_unknown_required(schema, is_allowed=False):
        message = f"`required` names `{name}`, which is not a property"
        help_ = suggestions.near(name) or (
            f"add `{name}` to `properties`, or remove it from `required`"
        )
        yield problem_at(schema.tool, path, message, help_)


def _list_unknown_required(
    schema: ToolSchema, *, is_allowed: bool
) -> Iterator[tuple[Path, str, Suggestions]]:
    """Yield the names in `required` that are not in `properties`.

    Args:
        schema: the schema.
        is_allowed: True to yield the names that `additionalProperties` or
            `patternProperties` allows, False to yield the other names.

    Yields:
        The path in the spec, the name, and suggestions of similar properties.
    """
    for required_path, required in schema.list_keyword_values("required"):
        path = required_path[1:-1]
        own = schema.graph.subschemas[path].get("properties")
        own = own if isinstance(own, dict) else None
        # A subschema without `properties`, such as a branch of `anyOf`, may require properties
        # of another subschema.
        if not isinstance(required, list) or (own is None and path):
            continue
        if own and all(isinstance(name, str) and name in own for name in required):
            continue
        properties, is_open, patterns = _collect_properties(schema, path)
        suggestions = Suggestions(properties)
        for index, name in enumerate(required):
            if not isinstance(name, str) or name in properties:
                continue
            allows = is_open or any(_matches(text, name) for text in patterns)
            if allows == is_allowed:
                yield (*required_path, index), name, suggestions


def _collect_properties(
    schema: ToolSchema, path: Path
) -> tuple[dict[str, None], bool, list[str]]:
    """Collect the properties of an object from all subschemas that apply to it.

    Returns:
        The property names, whether other names are allowed, and the patterns of
        `patternProperties`.
    """
    names: dict[str, None] = {}
    patterns: list[str] = []
    # Without `additionalProperties`, a result may have other properties. Parameters must be
    # declared, because callers cannot know others, unless the schema allows others explicitly.
    is_open, is_closed = schema.field == "returns", False
    for subschema in schema.graph.list_applied_schemas(path):
        if isinstance(subschema.get("properties"), dict):
            names |= dict.fromkeys(subschema["properties"])
        if isinstance(subschema.get("patternProperties"), dict):
            patterns += subschema["patternProperties"]
        additional = subschema.get("additionalProperties")
        is_open = is_open or additional is True or isinstance(additional, dict)
        is_closed = is_closed or additional is False
    return names, is_open and not is_closed, patterns


def _matches(text: str, name: str) -> bool:
    """Return whether a pattern matches a name.

    A valid pattern that may be slow is not run; the result is True.
    """
    analysis = analyze_pattern(text)
    if not analysis.is_quick(len(name)):
        return not analysis.error
    return re.search(text, name) is not None


@rule("schema/slow-pattern", on="schema", severity=Severity.WARNING)
def check_slow_patterns(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report patterns with nested repetitions, which can take exponential time."""

    def find_problem(text: str, analysis: PatternAnalysis) -> tuple[str, str] | None:
        if not analysis.is_slow:
            return None
        return (
            "has nested repetitions: matching can take exponential time",
            "make each repetition start with a distinct character",
        )

    yield from _check_patterns(schema, find_problem)


# Formats that are not part of JSON Schema. The first part lists those of the OpenAPI
# Initiative's registry (https://spec.openapis.org/registry/format/), the second part those of
# model providers.
_OTHER_FORMATS = (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double double-int"
    " decimal128 byte binary base64url char password commonmark html media-range"
    " date-time-local time-local http-date unixtime sf-binary sf-boolean sf-decimal"
    " sf-integer sf-string sf-token"
    " base64 color cidr ipv4-cidr ipv6-cidr ip markdown enum google-datetime"
    " google-duration google-fieldmask"
).split()


@dataclass(frozen=True, eq=False)
class _Vocabulary:
    """The standardized values of a JSON Schema keyword, such as `format`.

    Attributes:
        keyword: the keyword.
        label: noun phrase for a standardized value, for messages, such as "a format of ...".
        values: the standardized values.
        synonyms: the standardized value by the name that is often used instead.
        effect: the effect of an unknown value, for messages.
        help: the help for values that are not similar to a standardized one.
    """

    keyword: str
    label: str
    values: Sequence[str]
    synonyms: Mapping[str, str]
    effect: str
    help: str


_FORMATS = _Vocabulary(
    "format",
    "a format of JSON Schema or OpenAPI",
    (*FORMATS, *sorted(_OTHER_FORMATS)),
    {"url": "uri", "guid": "uuid", "timestamp": "date-time", "iso8601": "date-time"},
    "validators and clients ignore it",
    "describe the value with `pattern` or in the description, or suppress this finding if all"
    " your clients support the format",
)
_ENCODINGS = _Vocabulary(
    "contentEncoding",
    "an encoding of RFC 4648 or RFC 2045",
    # `7bit`, `8bit` and `binary` do not change a string (RFC 2045, section 6.2).
    (*ENCODINGS, "7bit", "8bit", "binary"),
    {"hex": "base16", "qp": "quoted-printable"},
    "the string is not decoded",
    "remove it, and describe the encoding in the description",
)


@rule("schema/unknown-format", on="schema", severity=Severity.WARNING)
def check_formats(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report values of `format` that are not standardized."""
    yield from _check_vocabulary(schema, _FORMATS)


@rule("schema/unknown-format", on="schema", severity=Severity.WARNING)
def check_encodings(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report values of `contentEncoding` that are not standardized."""
    yield from _check_vocabulary(schema, _ENCODINGS)


def _check_vocabulary(schema: ToolSchema, vocabulary: _Vocabulary) -> Iterator[Problem]:
    for path, name in schema.list_keyword_values(vocabulary.keyword):
        if isinstance(name, str) and name not in vocabulary.values:
            message = (
                f"`{name[:_MAX_TEXT_SHOWN]}` is not {vocabulary.label}, so"
                f" {vocabulary.effect}"
            )
            yield problem_at(
                schema.tool, path, message, _suggest_value(vocabulary, name)
            )


@lru_cache(maxsize=4096)
def _suggest_value(vocabulary: _Vocabulary, name: str) -> str:
    """Return the help for an unknown value: a synonym, a similar value, or the default."""
    synonym = vocabulary.synonyms.get(name.casefold())
    if synonym:
        return f"did you mean `{synonym}`?"
    return did_you_mean(name, vocabulary.values) or vocabulary.help


# Common keywords of other vocabularies, such as OpenAPI, which are not reported although some
# are similar to a keyword of JSON Schema.
OTHER_KEYWORDS = frozenset(
    (
        "example discriminator xml externalDocs enumNames"
        " enumDescriptions markdownDescription propertyOrdering optional ref"
        " defs defaults name names label order group propertyOrder units unit"
        " hidden secret strict options"
    ).split()
)


@rule("schema/unknown-keyword", on="schema", severity=Severity.WARNING)
def check_keywords(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report keywords that are probably misspelled, and `nullable` of OpenAPI 3.0.

    Other unknown keywords, and those that begin with `x-`, are not reported.
    """
    for path, subschema in schema.graph.subschemas.items():
        if subschema.keys() <= KEYWORDS:
            continue
        for key in subschema:
            if key in KEYWORDS or key in OTHER_KEYWORDS or key.startswith("x-"):
                continue
            help_ = _suggest_keyword(key)
            if key == "nullable":
                is_set = subschema[key] is True
                help_ = 'add `"null"` to the `type`' if is_set else ""
            if help_:
                message = (
                    f"`{key}` is not a keyword of JSON Schema, so validators ignore it"
                )
                key_path = (schema.field, *path, key)
                yield problem_at(schema.tool, key_path, message, help_, at_key=True)


@lru_cache(maxsize=4096)
def _suggest_keyword(key: str) -> str:
    """Return "did you mean" with a similar keyword; empty if no keyword is similar.

    To be fast, only keywords with the same first or last character and a similar length are
    compared.
    """
    candidates = [
        keyword
        for keyword in sorted(KEYWORDS)
        if abs(len(keyword) - len(key)) <= 2
        and (keyword[0] == key[:1].lower() or keyword[-1] == key[-1:])
    ]
    return did_you_mean(key, candidates) if candidates else ""


@rule("schema/invalid-reference", on="schema", severity=Severity.ERROR)
def check_dangling_references(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report references to a definition that does not exist."""
    definitions = scope.toolset.definitions
    suggestions: Suggestions | None = None
    for reference in schema.graph.references:
        if not reference.is_local or reference.target is not None:
            continue
        name = parse_shared_name(reference.text)
        is_whole = f"{reference.text}/" == SHARED_REFERENCE_PREFIX and definitions
        if is_whole or (name is None and schema.is_shared(reference.path)):
            # `schema/definition-reference` reports these references.
            continue
        # Build the suggestions only here, because most schemas have no reference without target.
        if suggestions is None:
            suggestions = Suggestions(_list_targets(schema.graph, definitions))
        text = reference.text[:_MAX_REFERENCE_SHOWN]
        help_ = suggestions.near(reference.text)
        if name is not None:
            message = f"`{text}` is not a shared definition"
            file = f"{scope.toolset.folder}/{DEFINITIONS_FILE}"
            help_ = help_ or f"add the definition to {file}"
        else:
            message = f"`{text}` does not exist in this schema"
            help_ = help_ or "add the definition to `$defs`, or correct the reference"
        yield problem_at(schema.tool, (schema.field, *reference.path), message, help_)


def _list_targets(schema: JsonSchema, shared: Definitions | None) -> Iterator[str]:
    """Yield a reference to each definition of a schema and each shared definition."""
    for path in schema.subschemas:
        if path[-2:-1] in (("$defs",), ("definitions",)):
            yield "#/" + "/".join(map(str, path))
    if shared is not None:
        yield from (SHARED_REFERENCE_PREFIX + name for name in shared.schemas)


# The regular expressions of the runtime's validator match the edges of a word with `\<` and
# `\>`, which are literal characters in Python and ECMA-262.
_WORD_EDGE = re.compile(r"(?<!\\)(?:\\\\)*(\\[<>])")


@rule("schema/bad-pattern", on="schema", severity=Severity.ERROR)
def check_pattern_support(schema: ToolSchema, scope: Scope) -> Iterator[Problem]:
    """Report patterns that the runtime's validator rejects or interprets differently."""
    if _exceed_size_together(schema.graph):
        message = "the patterns of the schema are too large together to validate calls"
        help_ = "use fewer patterns with smaller repetition counts, and `maxLength` for lengths"
        yield problem_at(schema.tool, (schema.field,), message, help_)
    yield from _check_patterns(schema, _find_support_problem)


def _exceed_size_together(schema: JsonSchema) -> bool:
    """Return whether a schema's patterns are too large together, but none by itself."""
    return schema.patterns_are_too_large and (
        schema.exceeds_pattern_limit
        or all(can_be_applied(text) for _, text, _ in schema.patterns)
    )


def _find_support_problem(
    text: str, analysis: PatternAnalysis
) -> tuple[str, str] | None:
    """Return a predicate and a help for a pattern that validators treat differently."""
    if analysis.error:
        return None
    if not can_be_applied(text):
        return (
            "is too large or not valid in ECMA-262, so calls cannot be validated",
            "use the syntax of ECMA-262 (`$` instead of `\\Z`), smaller repetition counts"
            " and fewer groups",
        )
    edge = _WORD_EDGE.search(text)
    if edge is None:
        return None
    return (
        f"contains `{edge[1]}`, about which validators disagree",
        f"use `\\b` for the edge of a word, or `{edge[1][1]}` for the character",
    )


@rule("schema/unused-definition", on="workspace", severity=Severity.WARNING)
def check_unused_definitions(workspace: Workspace) -> Iterator[Problem]:
    """Report shared definitions that no tool uses."""
    # Several toolsets can use the workspace's definitions. A definition is therefore identified
    # by its file and name, and reported only if no toolset uses it.
    owners: dict[tuple[str, str], Definitions] = {}
    used: set[tuple[str, str]] = set()
    for toolset in workspace.toolsets:
        if toolset.definitions is None:
            continue
        used_names = {
            name
            for tool in toolset.tools
            for graph in tool.schemas.values()
            for name in get_shared_definitions(graph.value)
        }
        for name in toolset.definitions.schemas:
            key = toolset.definitions.source.home((name,))[0].file, name
            owners[key] = toolset.definitions
            if name in used_names:
                used.add(key)
    for key, definitions in owners.items():
        if key not in used:
            _, name = key
            message = f"no tool uses the definition `{name}`"
            help_ = "remove the definition"
            yield problem_at(definitions, (name,), message, help_)


_MIN_LARGE_REPEAT = 16
"""Minimum upper bound from which a repetition such as `{0,16}` counts as unbounded."""
_MAX_BACKTRACKS = 1_000_000
"""Maximum estimated number of backtracking steps of a quick match."""
_MAX_NESTED_LENGTH = 200
"""Length of a string from which a pattern with nested repetitions is never quick."""
_REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)
# Syntax of ECMA-262 that Python does not support. The replacements have the same structure, so
# that the analysis of repetitions is still correct, but may match other characters.
_ECMA_REPLACEMENTS = (
    (re.compile(r"\\[pP]\{[A-Za-z_]+(=[A-Za-z_]+)?\}"), r"\\w"),
    (re.compile(r"\(\?<(?![=!])([A-Za-z_]\w*)>"), r"(?P<\1>"),
    (re.compile(r"\\k<([A-Za-z_]\w*)>"), r"(?P=\1)"),
    (re.compile(r"\\u\{[0-9A-Fa-f]{1,6}\}"), "x"),
    (re.compile(r"\\c[A-Za-z]"), "x"),
    (re.compile(r"\[\^\]"), "."),
    (re.compile(r"\\([-/:;<=>@!#%&,'\"~`_ ]|[^\W\dA-Za-z])"), "x"),
)


class PatternAnalysis(NamedTuple):
    """The analysis of one regular expression.

    Attributes:
        error: the error of a pattern that is valid neither in Python nor in ECMA-262;
            otherwise empty.
        is_ecma_only: whether the pattern is valid in ECMA-262, but not in Python.
        is_slow: whether a repetition contains a repetition that can match the same
            characters, so that a mismatch can take exponential time.
        depth: the nesting depth of unbounded repetitions; 0 without any.
        repeats: the number of unbounded repetitions.
    """

    error: str = ""
    is_ecma_only: bool = False
    is_slow: bool = False
    depth: int = 0
    repeats: int = 0

    def is_quick(self, length: int) -> bool:
        """Return whether matching a string of this length is certain to be fast.

        False if Python cannot match the pattern, or if the estimated number of steps exceeds
        `_MAX_BACKTRACKS`.
        """
        if self.error or self.is_ecma_only:
            return False
        if self.depth > 1 and length >= _MAX_NESTED_LENGTH:
            return False
        # Integers, because floats overflow.
        steps: int = (length + 1) ** min(self.repeats, 40)
        if self.depth > 1:
            steps = self.depth**length
        return steps <= _MAX_BACKTRACKS


@lru_cache(maxsize=4096)
def analyze_pattern(text: str) -> PatternAnalysis:
    """Return the analysis of a regular expression, which is parsed, but not matched.

    A pattern that Python rejects is translated from ECMA-262 first. Its analysis has only
    `is_ecma_only` and `is_slow`.
    """
    error = _find_syntax_error(text)
    if not error:
        return _analyze_python_pattern(text)
    translated = text
    for ecma, python in _ECMA_REPLACEMENTS:
        translated = ecma.sub(python, translated)
    if _find_syntax_error(translated):
        return PatternAnalysis(error)
    is_slow = _analyze_python_pattern(translated).is_slow
    return PatternAnalysis(is_ecma_only=True, is_slow=is_slow)


@lru_cache(maxsize=4096)
def can_be_applied(text: str) -> bool:
    """Return whether the runtime's validator accepts a regular expression."""
    try:
        compile_schema({"pattern": text})
    except ValueError:
        return False
    return True


def _find_syntax_error(text: str) -> str:
    """Return the error with which Python rejects a pattern, or an empty string."""
    try:
        with warnings.catch_warnings():
            # Python warns about ambiguous, but valid syntax, such as nested sets.
            warnings.simplefilter("ignore")
            re.compile(text)
    except re.error as error:
        return error.msg
    except (OverflowError, RecursionError) as error:
        return f"too large: {error}"
    return ""


def _analyze_python_pattern(text: str) -> PatternAnalysis:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = parser.parse(text)
    max_depth, repeats, is_slow = 0, 0, False
    # The sequences of operations to visit, each with the number of repetitions around it.
    pending: list[tuple[Any, int]] = [(parsed, 0)]
    while pending:
        sequence, outer_depth = pending.pop()
        for operation, argument in sequence:
            depth = outer_depth
            if operation in (constants.MAX_REPEAT, constants.MIN_REPEAT):
                _, upper_bound, body = argument
                if upper_bound >= _MIN_LARGE_REPEAT:
                    repeats += 1
                    operations = [op for op, _ in _flatten_groups(body)]
                    # A repetition of alternatives, such as `(a|b)*`, counts as two levels.
                    depth += 2 if constants.BRANCH in operations else 1
                    max_depth = max(max_depth, depth)
                    is_slow = is_slow or _can_repeat_itself(body)
            for part in _list_nested_sequences(operation, argument):
                pending.append((part, depth))
    return PatternAnalysis(is_slow=is_slow, depth=max_depth, repeats=repeats)


def _list_nested_sequences(operation: Any, argument: Any) -> Iterator[Any]:
    """Yield the sequences of operations inside an operation of a parsed pattern."""
    if operation is constants.BRANCH:
        yield from argument[1]
    elif operation is constants.SUBPATTERN:
        yield argument[3]
    elif operation in _REPEATS:
        yield argument[2]
    elif operation is constants.ATOMIC_GROUP:
        yield argument
    elif operation in (constants.ASSERT, constants.ASSERT_NOT):
        yield argument[1]
    elif operation is constants.GROUPREF_EXISTS:
        yield from (part for part in argument[1:] if part is not None)


def _flatten_groups(sequence: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the operations of a sequence; a group is replaced by its operations."""
    for operation, argument in sequence:
        if operation is constants.SUBPATTERN:
            yield from _flatten_groups(argument[3])
        else:
            yield operation, argument


def _can_repeat_itself(body: Any) -> bool:
    """Return whether a repeated part of a pattern can consist of one repetition only.

    In `(a+)+`, for example, the same characters can be distributed over the outer and the
    inner repetition in exponentially many ways.
    """
    has_repetition, required_length = False, 0
    for operation, argument in _flatten_groups(body):
        if operation in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            lower_bound, upper_bound, repeated = argument
            if upper_bound >= _MIN_LARGE_REPEAT:
                has_repetition = True
            else:
                required_length += lower_bound * repeated.getwidth()[0]
        elif operation is constants.BRANCH:
            branches = argument[1]
            if any(map(_can_repeat_itself, branches)):
                has_repetition = True
            else:
                required_length += min(branch.getwidth()[0] for branch in branches)
        elif operation not in (constants.AT, constants.ASSERT, constants.ASSERT_NOT):
            required_length += 1
    return has_repetition and required_length == 0
