"""The rules `schema/...`; `schema.md` says what each is for.

At the end, what a regular expression of a schema may cost.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

# Nobody else parses Python's regular expressions: `sre_parse` is these modules, deprecated.
from re import _constants as constants  # type: ignore[attr-defined]  # not in typeshed
from re import _parser as parser  # type: ignore[attr-defined]  # likewise
from typing import Any, NamedTuple

from toolcast_runtime.core.calls.tool_validators import check_action
from toolcast_runtime.core.definitions.tool import Action
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


def _patterns_that(
    schema: ToolSchema, problem: Callable[[str, Pattern], str], help: str
) -> Iterator[Problem]:
    """A problem at each regular expression of a schema that has one.

    Args:
        schema: whose expressions are looked at.
        problem: says what is wrong with a pattern, after its text; empty when nothing is.
        help: what to do.
    """
    if schema.graph.has_too_many_patterns:
        return  # `schema/bad-pattern` says so
    for path, text, is_key in schema.graph.patterns:
        words = problem(text, pattern(text))
        if words:
            message = f"`{text[:60]}` {words}"
            yield problem_at(
                schema.tool, (schema.field, *path), message, help, at_key=is_key
            )


@rule("schema/bad-pattern", on="schema", severity=Severity.ERROR)
def no_expression(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    yield from _patterns_that(
        schema,
        lambda _, facts: facts.error and f"is no regular expression: {facts.error}",
        "quote the pattern and escape what is meant literally",
    )


@rule("schema/default-mismatch", on="schema", severity=Severity.WARNING)
def default_mismatch(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    defaults = {path[1:-1]: value for path, value in schema.having("default")}
    checker = _checker(schema.graph, schema.field, where)
    for path, value in defaults.items():
        problem = checker.problem(value, path)
        if problem:
            message = f"the default is not valid: {problem}"
            help_ = (
                "a caller that sends it is refused; change the default or the schema"
            )
            yield problem_at(
                schema.tool, (schema.field, *path, "default"), message, help_
            )


def _checker(graph: JsonSchema, field: str, where: Scope) -> ValueChecker:
    asserts = field == "parameters" and where.toolset.asserts_formats
    return ValueChecker(graph, asserts_formats=asserts)


_NAMING = ("$schema", "$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor")


@rule("schema/definition-reference", on="toolset", severity=Severity.ERROR)
def ambiguous_references(toolset: Toolset, workspace: Workspace) -> Iterator[Problem]:
    definitions = toolset.definitions
    if definitions is None:
        return
    own, above = definitions.source.tree, definitions.source.above
    for name in filter(own.__contains__, above.tree if above is not None else ()):
        message = f"`{name}` stands in {above.file}, too" if above else ""
        help_ = "give one of the two another name"
        yield problem_at(definitions, (name,), message, help_, at_key=True)
    for name, definition in definitions.schemas.items():
        yield from _in_definition(definitions, name, JsonSchema(definition))


@rule("schema/definition-reference", on="schema", severity=Severity.ERROR)
def to_all_definitions(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    whole = SHARED_REFERENCE_PREFIX.rstrip("/")
    for reference in schema.graph.references if where.toolset.definitions else ():
        if reference.text == whole:
            message = f"`{whole}` names all shared definitions, which are no schema"
            help_ = f"name one: `{SHARED_REFERENCE_PREFIX}NAME`"
            yield problem_at(
                schema.tool, (schema.field, *reference.path), message, help_
            )


def _in_definition(
    definitions: Definitions, name: str, schema: JsonSchema
) -> Iterator[Problem]:
    for reference in schema.references:
        if parse_shared_name(reference.text) is None:
            what = "means another thing in each tool's schema"
            what = what if reference.is_local else "leads out of the definitions"
            message = f"`{reference.text[:80]}` {what}"
            help_ = f"a definition refers to others as `{SHARED_REFERENCE_PREFIX}NAME`"
            yield problem_at(definitions, (name, *reference.path), message, help_)
    for path, subschema in schema.subschemas.items():
        for keyword in _NAMING:
            if isinstance(subschema.get(keyword), str | bool):
                message = (
                    f"`{keyword}` changes what references mean where this is put in"
                )
                help_ = f"leave it out; tools refer to it as `{SHARED_REFERENCE_PREFIX}{name}`"
                path = (name, *path, keyword)
                yield problem_at(definitions, path, message, help_, at_key=True)


@rule("schema/invalid-enum", on="schema", severity=Severity.ERROR)
def empty_enum(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    for path, values in schema.having("enum"):
        if values == []:
            message = "`enum` is empty: no value is valid"
            help_ = "list the values, or remove `enum`"
            yield problem_at(schema.tool, path, message, help_)


@rule("schema/invalid-enum", on="schema", severity=Severity.WARNING)
def twice_in_enum(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    for path, values in schema.having("enum"):
        seen: set[str] = set()
        for index, value in enumerate(values if isinstance(values, list) else ()):
            text = encode_compact_json(value)
            if text in seen:
                message = f"{text[:60]} stands twice in `enum`"
                help_ = "remove one of the two"
                yield problem_at(schema.tool, (*path, index), message, help_)
            seen.add(text)


@rule("schema/bad-pattern", on="schema", severity=Severity.WARNING)
def not_for_python(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    words = "is a regular expression that Python cannot read"
    yield from _patterns_that(
        schema,
        lambda _, facts: words if facts.is_ecma_only else "",
        "write it without `\\p{...}`, `(?<name>...)` and needless escapes",
    )


@rule("schema/example-mismatch", on="tool", severity=Severity.ERROR)
def example_mismatch(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    schemas = tool.schemas if tool.examples else {}
    checkers = {field: _checker(one, field, where) for field, one in schemas.items()}
    for index, example in enumerate(tool.examples):
        # An example with an error may show how wrong arguments are refused.
        if example.error is None:
            refused = checkers["parameters"].problem(example.arguments)
            problems = [refused] if refused else _problems_with_action(tool, example)
            for problem in problems:
                path = ("examples", index, "arguments")
                message = f"the example is refused: {problem}"
                yield problem_at(tool, path, message, "mend the example")
        if example.has_result and "returns" in checkers:
            problem = checkers["returns"].problem(example.result)
            if problem:
                path = ("examples", index, "result")
                message = f"the result is not what `returns` says: {problem}"
                yield problem_at(tool, path, message, "mend one of the two")


def _problems_with_action(tool: ToolSpec, example: Example) -> Iterator[str]:
    if tool.actions is None:
        return
    parameter = tool.actions.parameter
    for one in tool.actions.values:
        if example.arguments.get(parameter) == one.name:
            action = Action(one.summary, one.requires, one.requires_any, one.accepts)
            yield from check_action(parameter, action, example.arguments)


@rule("schema/invalid", on="schema", severity=Severity.ERROR)
def invalid(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    for path, declared in schema.having("$schema"):
        if declared is not None and get_dialect({"$schema": declared}) is None:
            known = ", ".join(DIALECTS.values())
            message = f"the dialect `{str(declared)[:80]}` is not known"
            help_ = f"the dialects are {known}; without `$schema` it is 2020-12"
            yield problem_at(schema.tool, path, message, help_)
    for path, message, help_ in find_schema_problems(schema.graph):
        yield problem_at(schema.tool, (schema.field, *path), message, help_)


@rule("schema/invalid-reference", on="schema", severity=Severity.ERROR)
def loops(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    for reference in schema.graph.loops:
        message = f"`{reference.text[:80]}` leads back to itself"
        help_ = (
            "a schema may contain itself only below `properties` or `items`,"
            " where the data ends the recursion"
        )
        yield problem_at(schema.tool, (schema.field, *reference.path), message, help_)


@rule("schema/invalid-reference", on="schema", severity=Severity.ERROR)
def too_many_ways(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    if schema.graph.multiplies:
        message = f"more than {MAX_PATHS:,} ways lead to one place of a value"
        help_ = "let fewer alternatives name the same definition"
        yield problem_at(schema.tool, (schema.field,), message, help_)


@rule("schema/root-not-object", on="tool", severity=Severity.ERROR)
def other_root(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    kinds = tool.parameters.get("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        help_ = "write `type: object` and make the value one of its `properties`"
        yield problem_at(
            tool, ("parameters", "type"), "arguments are always an object", help_
        )


@rule("schema/root-not-object", on="tool", severity=Severity.WARNING)
def root_without_type(tool: ToolSpec, where: Scope) -> Iterator[Problem]:
    if "type" not in tool.parameters:
        message = "`parameters` has no `type`"
        yield problem_at(
            tool, ("parameters",), message, "add `type: object`", at_key=True
        )


@rule("schema/definition-reference", on="schema", severity=Severity.ERROR)
def own_shared(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    if where.toolset.definitions is None:
        return  # tools of a server's list have no file either
    defs, shared = SHARED
    written = schema.tool.source.tree[schema.field]
    own = written.get(defs) if isinstance(written, dict) else None
    if isinstance(own, dict) and shared in own:
        message = "`$defs/shared` is where the shared definitions are put"
        help_ = "give this definition another name"
        yield problem_at(
            schema.tool, (schema.field, *SHARED), message, help_, at_key=True
        )


@rule("schema/invalid-reference", on="schema", severity=Severity.ERROR)
def leading_out(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    for reference in schema.graph.references:
        # Of those in definitions `schema/definition-reference` tells.
        if not reference.is_local and not schema.is_shared(reference.path):
            message = f"`{reference.text[:80]}` leads out of this schema"
            help_ = "copy what it names into `$defs` and write `#/$defs/...`"
            yield problem_at(
                schema.tool, (schema.field, *reference.path), message, help_
            )
    keyword = "id" if schema.graph.dialect == "draft-04" else "$id"
    for path, base in schema.having(keyword):
        is_address = isinstance(base, str) and not base.startswith("#")
        if path[1:-1] and is_address and not schema.is_shared(path[1:]):
            message = f"`{keyword}` gives a part of the schema an address of its own"
            help_ = f"remove `{keyword}`; references by `#/...` need none"
            yield problem_at(schema.tool, path, message, help_)


@rule("schema/required-undeclared", on="schema", severity=Severity.WARNING)
def required_undeclared(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    for path, name, _ in _unknown_names(schema, permitted=True):
        message = f"`required` names `{name}`, which no property describes"
        help_ = f"add `{name}` to `properties`, so that a caller learns what it is"
        yield problem_at(schema.tool, path, message, help_)


@rule("schema/required-unknown", on="schema", severity=Severity.ERROR)
def required_unknown(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    for path, name, suggestions in _unknown_names(schema, permitted=False):
        message = f"`required` names `{name}`, which is not a property"
        yield problem_at(schema.tool, path, message, suggestions.near(name))


def _unknown_names(
    schema: ToolSchema, *, permitted: bool
) -> Iterator[tuple[Path, str, Suggestions]]:
    """Names of `required` that no property has.

    Args:
        schema: where they are looked for.
        permitted: those that `additionalProperties` or `patternProperties` lets in, or
            those that nothing lets in.
    """
    for place, listed in schema.having("required"):
        path = place[1:-1]
        own = schema.graph.subschemas[path].get("properties")
        own = own if isinstance(own, dict) else None
        # An object without properties of its own may be half of another schema.
        if not isinstance(listed, list) or (own is None and path):
            continue
        if own and all(isinstance(name, str) and name in own for name in listed):
            continue
        known, is_open, patterns = _properties_of(schema, path)
        suggestions = Suggestions(known)
        for index, name in enumerate(listed):
            if not isinstance(name, str) or name in known:
                continue
            lets_in = is_open or any(_matches(text, name) for text in patterns)
            if lets_in == permitted:
                yield (*place, index), name, suggestions


def _properties_of(
    schema: ToolSchema, path: Path
) -> tuple[dict[str, None], bool, list[str]]:
    """The properties of an object, whether it is open by its own word, and its patterns."""
    known: dict[str, None] = {}
    patterns: list[str] = []
    # What a caller is not told it cannot send; what a handler gives nobody needs to guess.
    is_open, is_closed = schema.field == "returns", False
    for part in schema.graph.list_applied_schemas(path):
        if isinstance(part.get("properties"), dict):
            known |= dict.fromkeys(part["properties"])
        if isinstance(part.get("patternProperties"), dict):
            patterns += part["patternProperties"]
        more = part.get("additionalProperties")
        is_open = is_open or more is True or isinstance(more, dict)
        is_closed = is_closed or more is False
    return known, is_open and not is_closed, patterns


def _matches(text: str, name: str) -> bool:
    facts = pattern(text)
    if not facts.is_quick(len(name)):
        return not facts.error
    return re.search(text, name) is not None


@rule("schema/slow-pattern", on="schema", severity=Severity.WARNING)
def slow_pattern(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    words = "repeats a repetition: matching can take time without end"
    yield from _patterns_that(
        schema,
        lambda _, facts: words if facts.is_slow else "",
        "let each round of the outer repetition begin with a character of its own",
    )


# Those of the OpenAPI Initiative's registry (https://spec.openapis.org/registry/format/), and
# of providers.
_OTHER_FORMATS = (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float double double-int"
    " decimal128 byte binary base64url char password commonmark html media-range"
    " date-time-local time-local http-date unixtime sf-binary sf-boolean sf-decimal"
    " sf-integer sf-string sf-token"
    " base64 color cidr ipv4-cidr ipv6-cidr ip markdown enum google-datetime"
    " google-duration google-fieldmask"
).split()


@dataclass(frozen=True, eq=False)
class _Standard:
    """What standards know as the value of a keyword.

    Attributes:
        keyword: whose value it is.
        what: what it is, and whose.
        known: the values.
        meant: those that are meant by what others say.
        otherwise: what to do where none is near.
    """

    keyword: str
    what: str
    known: Sequence[str]
    meant: Mapping[str, str]
    otherwise: str


_FORMATS = _Standard(
    "format",
    "format of JSON Schema or OpenAPI",
    (*FORMATS, *sorted(_OTHER_FORMATS)),
    {"url": "uri", "guid": "uuid", "timestamp": "date-time", "iso8601": "date-time"},
    "say what a value has to be with `pattern`, or in the description; suppress this where"
    " all your clients know it",
)
_ENCODINGS = _Standard(
    "contentEncoding",
    "encoding of RFC 4648 or RFC 2045",
    # The last three change nothing of a text: RFC 2045, section 6.2.
    (*ENCODINGS, "7bit", "8bit", "binary"),
    {"hex": "base16", "qp": "quoted-printable"},
    "such a text stays a text for handlers; say in its description what it is",
)


@rule("schema/unknown-format", on="schema", severity=Severity.WARNING)
def unknown_format(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    yield from _unknown_values(schema, _FORMATS)


@rule("schema/unknown-format", on="schema", severity=Severity.WARNING)
def unknown_encoding(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    yield from _unknown_values(schema, _ENCODINGS)


def _unknown_values(schema: ToolSchema, standard: _Standard) -> Iterator[Problem]:
    for path, name in schema.having(standard.keyword):
        if isinstance(name, str) and name not in standard.known:
            message = f"`{name[:60]}` is no {standard.what}, so nothing knows it"
            yield problem_at(schema.tool, path, message, _near_value(standard, name))


@lru_cache(maxsize=4096)
def _near_value(standard: _Standard, name: str) -> str:
    meant = standard.meant.get(name.casefold())
    if meant:
        return f"did you mean `{meant}`?"
    return did_you_mean(name, standard.known) or standard.otherwise


# Widely used words of other vocabularies, some of them near a keyword.
OTHERS = frozenset(
    (
        "example nullable discriminator xml externalDocs enumNames"
        " enumDescriptions markdownDescription propertyOrdering optional ref"
        " defs defaults name names label order group propertyOrder units unit"
        " hidden secret strict options"
    ).split()
)


@rule("schema/unknown-keyword", on="schema", severity=Severity.WARNING)
def unknown_keyword(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    for path, subschema in schema.graph.subschemas.items():
        for word in () if subschema.keys() <= KEYWORDS else subschema:
            if word in KEYWORDS or word in OTHERS or word.startswith("x-"):
                continue
            meant = _near(word)
            if meant:
                message = f"`{word}` is no keyword of JSON Schema, so nothing checks it"
                place = (schema.field, *path, word)
                yield problem_at(schema.tool, place, message, meant, at_key=True)


@lru_cache(maxsize=4096)
def _near(word: str) -> str:
    """The keyword that a word is nearly, which begins or ends as it does."""
    candidates = [
        keyword
        for keyword in sorted(KEYWORDS)
        if abs(len(keyword) - len(word)) <= 2
        and (keyword[0] == word[:1].lower() or keyword[-1] == word[-1:])
    ]
    return did_you_mean(word, candidates) if candidates else ""


@rule("schema/invalid-reference", on="schema", severity=Severity.ERROR)
def naming_nothing(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    suggestions: Suggestions | None = None
    for reference in schema.graph.references:
        if not reference.is_local or reference.target is not None:
            continue
        name = parse_shared_name(reference.text)
        is_whole = (
            f"{reference.text}/" == SHARED_REFERENCE_PREFIX
            and where.toolset.definitions
        )
        if is_whole or (name is None and schema.is_shared(reference.path)):
            continue  # `schema/definition-reference` says so
        if suggestions is None:
            suggestions = Suggestions(
                _references_that_lead(schema.graph, where.toolset.definitions)
            )
        message = f"`{reference.text[:80]}` names nothing in this schema"
        help_ = suggestions.near(reference.text)
        if name is not None:
            message = f"`{reference.text[:80]}` names no shared definition"
            help_ = help_ or f"write it into {where.toolset.folder}/{DEFINITIONS_FILE}"
        yield problem_at(schema.tool, (schema.field, *reference.path), message, help_)


def _references_that_lead(
    schema: JsonSchema, shared: Definitions | None
) -> Iterator[str]:
    """The references that would name something."""
    for path in schema.subschemas:
        if path[-2:-1] in (("$defs",), ("definitions",)):
            yield "#/" + "/".join(map(str, path))
    if shared is not None:
        yield from (SHARED_REFERENCE_PREFIX + name for name in shared.schemas)


_OWN_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*(\\[<>])")


@rule("schema/bad-pattern", on="schema", severity=Severity.ERROR)
def not_applicable(schema: ToolSchema, where: Scope) -> Iterator[Problem]:
    if _are_too_large_together(schema.graph):
        message = "the patterns are too large together to check calls by"
        help_ = "write fewer, with smaller counts, and use `maxLength` for lengths"
        yield problem_at(schema.tool, (schema.field,), message, help_)
    help_ = (
        "write it in the syntax of ECMA-262 (`$` for `\\Z`, `<` for `\\<`), with smaller"
        " counts and fewer brackets"
    )
    yield from _patterns_that(schema, _problem, help_)


def _are_too_large_together(schema: JsonSchema) -> bool:
    """Whether there are too many, where each alone can be applied."""
    return schema.patterns_are_too_large and (
        schema.has_too_many_patterns
        or all(can_be_applied(text) for _, text, _ in schema.patterns)
    )


def _problem(text: str, facts: Pattern) -> str:
    if facts.error:
        return ""
    if not can_be_applied(text):
        return "is a regular expression that calls cannot be checked by"
    own = _OWN_ESCAPE.search(text)
    what = "the edge of a word to the validator of calls alone"
    return "" if own is None else f"has `{own[1]}`, {what}"


@rule("schema/unused-definition", on="workspace", severity=Severity.WARNING)
def unused_definition(workspace: Workspace) -> Iterator[Problem]:
    found: dict[tuple[str, str], Definitions] = {}
    used: set[tuple[str, str]] = set()
    for toolset in workspace.toolsets:
        if toolset.definitions is None:
            continue
        schemas = [one for tool in toolset.tools for one in tool.schemas.values()]
        names = {name for one in schemas for name in get_shared_definitions(one.value)}
        for name in toolset.definitions.schemas:
            place = toolset.definitions.source.home((name,))[0].file, name
            found[place] = toolset.definitions
            used.update([place] if name in names else [])
    for place, definitions in found.items():
        if place not in used:
            message = f"no tool uses the definition `{place[1]}`"
            yield problem_at(
                definitions, (place[1],), message, "remove it", at_key=True
            )


_MANY = 16
"""Repeating this often is as bad as repeating without end."""
_MAX_BACKTRACKS = 1_000_000
"""Estimated backtracking steps of a pattern."""
_REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT)
# ECMA-262 with words that Python spells in another way or has not at all.
_ECMA = (
    (re.compile(r"\\[pP]\{[A-Za-z_]+(=[A-Za-z_]+)?\}"), r"\\w"),
    (re.compile(r"\(\?<(?![=!])([A-Za-z_]\w*)>"), r"(?P<\1>"),
    (re.compile(r"\\k<([A-Za-z_]\w*)>"), r"(?P=\1)"),
    (re.compile(r"\\u\{[0-9A-Fa-f]{1,6}\}"), "x"),
    (re.compile(r"\\c[A-Za-z]"), "x"),
    (re.compile(r"\[\^\]"), "."),
    (re.compile(r"\\([-/:;<=>@!#%&,'\"~`_ ]|[^\W\dA-Za-z])"), "x"),
)


class Pattern(NamedTuple):
    """The analysis of one regular expression.

    Attributes:
        error: why neither Python nor ECMA-262 takes it; empty when one does.
        is_ecma_only: Python does not take it.
        is_slow: repeats something that can repeat in the same place, so that a text that
            does not match can take time without end.
        depth: how deep its repetitions are nested.
        repeats: how many unbounded repetitions it has.
    """

    error: str = ""
    is_ecma_only: bool = False
    is_slow: bool = False
    depth: int = 0
    repeats: int = 0

    def is_quick(self, length: int) -> bool:
        """Whether matching a text of that length surely takes little time."""
        if self.error or self.is_ecma_only:
            return False
        if self.depth > 1:
            return length < 200 and float(self.depth) ** length <= _MAX_BACKTRACKS
        return float(length + 1) ** min(self.repeats, 40) <= _MAX_BACKTRACKS


@lru_cache(maxsize=4096)
def pattern(text: str) -> Pattern:
    """Analyses a regular expression, which is parsed and never run."""
    error = _error(text)
    if error:
        translated = text
        for ecma, python in _ECMA:
            translated = ecma.sub(python, translated)
        if _error(translated):
            return Pattern(error)
        return Pattern(is_ecma_only=True, is_slow=_facts(translated).is_slow)
    return _facts(text)


@lru_cache(maxsize=4096)
def can_be_applied(text: str) -> bool:
    """Whether the validator of calls takes a regular expression."""
    try:
        compile_schema({"pattern": text})
    except ValueError:
        return False
    return True


def _error(text: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except re.error as error:
        return error.msg
    except (OverflowError, RecursionError) as error:
        return f"too large: {error}"
    return ""


def _facts(text: str) -> Pattern:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parsed = parser.parse(text)
    depth, repeats, is_slow = 0, 0, False
    waiting: list[tuple[Any, int]] = [(parsed, 0)]
    while waiting:
        sequence, above = waiting.pop()
        for operation, argument in sequence:
            here = above
            if operation in (constants.MAX_REPEAT, constants.MIN_REPEAT):
                _, most, body = argument
                if most >= _MANY:
                    repeats += 1
                    here = (
                        above + 1 + any(op is constants.BRANCH for op, _ in _flat(body))
                    )
                    depth = max(depth, here)
                    is_slow = is_slow or _repeats_itself(body)
            waiting += ((part, here) for part in _parts(operation, argument))
    return Pattern(is_slow=is_slow, depth=depth, repeats=repeats)


def _parts(operation: Any, argument: Any) -> Iterator[Any]:
    """The sequences within one operation."""
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


def _flat(sequence: Any) -> Iterator[tuple[Any, Any]]:
    """The operations of a sequence, those of its plain groups among them."""
    for operation, argument in sequence:
        if operation is constants.SUBPATTERN:
            yield from _flat(argument[3])
        else:
            yield operation, argument


def _repeats_itself(body: Any) -> bool:
    """Whether a repeated body can be one endless repetition and nothing else."""
    repeated, needed = False, 0
    for operation, argument in _flat(body):
        if operation in (constants.MAX_REPEAT, constants.MIN_REPEAT):
            least, most, inner = argument
            if most >= _MANY:
                repeated = True
            else:
                needed += least * inner.getwidth()[0]
        elif operation is constants.BRANCH:
            branches = argument[1]
            repeated = repeated or any(map(_repeats_itself, branches))
            needed += min(branch.getwidth()[0] for branch in branches)
            if repeated:
                needed = 0
        elif operation not in (constants.AT, constants.ASSERT, constants.ASSERT_NOT):
            needed += 1
    return repeated and needed == 0
