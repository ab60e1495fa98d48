"""Rules from the providers' documentation, independent of the runtime's tables.

Each rule is written from a provider's page or error message, and checks a finished
list.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolcast_runtime.core.validation.compiled import build_validator

__all__ = ["find_problems"]

_SCHEMA_MAPS = ("properties", "$defs", "patternProperties")
_SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_SUBSCHEMAS = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_COMPLEX_PATTERN = re.compile(r"\(\?[=!<]|\\[bB1-9]")
_STRICT_FORMATS = frozenset(
    "date-time time date duration email hostname ipv4 ipv6 uuid".split()
)
_OPENAI_STRICT = frozenset(
    (
        "type title description properties required additionalProperties items enum const"
        " anyOf $ref $defs pattern format multipleOf minimum maximum exclusiveMinimum"
        " exclusiveMaximum minItems maxItems"
    ).split()
)
_ANTHROPIC_STRICT = frozenset(
    (
        "type title description properties required additionalProperties items enum const"
        " anyOf allOf $ref $defs default format pattern minItems"
    ).split()
)
_GEMINI = frozenset(
    (
        "$id $defs $ref $anchor type format title description enum items prefixItems"
        " minItems maxItems minimum maximum anyOf oneOf properties additionalProperties"
        " required propertyOrdering"
    ).split()
)
_OLLAMA_PARAMETER = frozenset("type items description enum".split())


def find_problems(provider: str, tools: list[dict[str, Any]]) -> list[str]:
    """Return the problems for which a provider rejects a list or ignores a keyword."""
    return list(_CHECKS[provider](tools))


def _walk(schema: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(schema, Mapping):
        return
    yield path or "the root", schema
    for keyword in _SCHEMA_MAPS:
        for name, part in schema.get(keyword, {}).items():
            yield from _walk(part, f"{path}/{keyword}/{name}")
    for keyword in _SCHEMA_LISTS:
        for number, part in enumerate(schema.get(keyword, ())):
            yield from _walk(part, f"{path}/{keyword}/{number}")
    for keyword in _SUBSCHEMAS:
        yield from _walk(schema.get(keyword), f"{path}/{keyword}")


def _allows(schema: Mapping[str, Any], name: str) -> bool:
    types = schema.get("type", ())
    return name == types or (not isinstance(types, str) and name in types)


def _check_names(names: list[str], grammar: str) -> Iterator[str]:
    for name in names:
        if not re.fullmatch(grammar, name):
            yield f"`{name}` is no name"
        if names.count(name) > 1:
            yield f"`{name}` is there twice"


def _check_root(schema: Mapping[str, Any], *keywords: str) -> Iterator[str]:
    if schema.get("type") != "object":
        yield "the root is no object"
    for keyword in keywords:
        if keyword in schema:
            yield f"`{keyword}` at the root"


def _check_references(schema: Mapping[str, Any], *, cycles: bool) -> Iterator[str]:
    """Yield references that are unresolvable, circular or have siblings.

    References must be `#` or `#/$defs/NAME`.
    """
    for path, part in _walk(schema):
        if "$ref" in part:
            name = str(part["$ref"]).removeprefix("#/$defs/")
            if part["$ref"] != "#" and name not in schema.get("$defs", {}):
                yield f"{path}: `$ref` leads nowhere"
            if len(part) > 1:
                yield f"{path}: something stands beside `$ref`"
    if not cycles and any(_is_cyclic(schema, name) for name in schema.get("$defs", ())):
        yield "a definition contains itself"
    if not cycles and any(part.get("$ref") == "#" for _, part in _walk(schema)):
        yield "the root contains itself"


def _is_cyclic(schema: Mapping[str, Any], name: str) -> bool:
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for _, part in _walk(schema["$defs"].get(waiting.pop(), {})):
            reference = str(part.get("$ref", "")).removeprefix("#/$defs/")
            if reference == name:
                return True
            if reference and reference not in seen:
                seen.add(reference)
                waiting.append(reference)
    return False


def _check_strict(
    schema: Mapping[str, Any], keywords: frozenset[str], formats: frozenset[str]
) -> Iterator[str]:
    """Yield violations of the rules that all strict formats share."""
    for path, part in _walk(schema):
        for keyword in part.keys() - keywords:
            yield f"{path}: `{keyword}`"
        if _allows(part, "object") and part.get("additionalProperties") is not False:
            yield f"{path}: an object that is not closed"
        if part.get("format", "date") not in formats:
            yield f"{path}: the format `{part['format']}`"
        if _COMPLEX_PATTERN.search(part.get("pattern", "")):
            yield f"{path}: a pattern with look-around"
        if any(isinstance(value, (dict, list)) for value in part.get("enum", ())):
            yield f"{path}: an enum of lists or objects"
        if not part.keys() & {"type", "enum", "const", "anyOf", "allOf", "$ref"}:
            yield f"{path}: a value of any type"


def _check_openai_schema(schema: Mapping[str, Any], is_strict: bool) -> Iterator[str]:
    yield from _check_root(schema, "oneOf", "anyOf", "allOf", "enum", "const", "not")
    yield from _check_integers(schema)
    for path, part in _walk(schema):
        for pattern in [part.get("pattern", ""), *part.get("patternProperties", ())]:
            try:
                re.compile(pattern)
            except re.error:
                yield f"{path}: {pattern!r} is not a 'regex'"
    for path, part in _walk(schema):
        if _allows(part, "array") and "items" not in part:
            yield f"{path}: an array without `items`"
        if (
            is_strict
            and _allows(part, "object")
            and ({*part.get("properties", {})} != {*part.get("required", ())})
        ):
            yield f"{path}: not all properties are required"
    if is_strict:
        yield from _check_strict(schema, _OPENAI_STRICT, _STRICT_FORMATS)
        yield from _check_references(schema, cycles=True)


def _check_openai_chat(tools: list[dict[str, Any]]) -> Iterator[str]:
    functions = [tool["function"] for tool in tools]
    yield from _check_openai_functions(functions)


def _check_openai_responses(tools: list[dict[str, Any]]) -> Iterator[str]:
    functions = []
    for tool in tools:
        if tool["type"] == "function":
            functions.append(tool)
        if tool["type"] == "namespace":
            functions += tool["tools"]
    yield from _check_openai_functions(functions)
    for function in functions:
        if "strict" not in function:
            yield f"`{function['name']}` does not say whether it is strict"
    kinds = [tool["type"] for tool in tools]
    if any(function.get("defer_loading") for function in functions) and (
        "tool_search" not in kinds
    ):
        yield "what is deferred is not searched for"


def _check_openai_functions(functions: list[dict[str, Any]]) -> Iterator[str]:
    yield from _check_names(
        [function["name"] for function in functions], r"[a-zA-Z0-9_-]{1,64}"
    )
    for function in functions:
        for problem in _check_openai_schema(
            function["parameters"], function.get("strict") is True
        ):
            yield f"{function['name']}: {problem}"


def _check_integers(value: Any, maximum: int = 2**53 - 1) -> Iterator[str]:
    """Yield integers that providers cannot represent exactly."""
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _check_integers(item, maximum)
    elif isinstance(value, (int, float)) and abs(value) > maximum:
        yield f"int too big to convert: {value}"


def _check_claude_schema(schema: Mapping[str, Any], is_strict: bool) -> Iterator[str]:
    yield from _check_root(schema, "oneOf", "anyOf", "allOf")
    yield from _check_integers(schema)
    for name in schema.get("properties", {}):
        if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
            yield f"`{name}` is no property's name"
    if not is_strict:
        return
    yield from _check_strict(schema, _ANTHROPIC_STRICT, _STRICT_FORMATS | {"uri"})
    yield from _check_references(schema, cycles=False)
    optional = unions = 0
    for path, part in _walk(schema):
        if part.get("minItems", 0) > 1:
            yield f"{path}: `minItems` above 1"
        optional += len({*part.get("properties", {})} - {*part.get("required", ())})
        unions += "anyOf" in part or isinstance(part.get("type"), list)
    if optional > 24:
        yield f"{optional} optional parameters"
    if unions > 16:
        yield f"{unions} parameters of several types"


def _check_anthropic(tools: list[dict[str, Any]]) -> Iterator[str]:
    custom = [tool for tool in tools if "input_schema" in tool]
    kinds = [tool.get("type", "custom") for tool in tools]
    yield from _check_names([tool["name"] for tool in custom], r"[a-zA-Z0-9_-]{1,64}")
    if tools and all(tool.get("defer_loading") for tool in tools):
        yield "all tools are deferred"
    for tool in custom:
        is_strict = tool.get("strict") is True
        schema = tool["input_schema"]
        problems = list(_check_claude_schema(schema, is_strict))
        callers = tool.get("allowed_callers", ["direct"])
        if is_strict and callers != ["direct"]:
            problems.append("programs call no strict tools")
        problems += [
            f"nothing runs the programs of `{caller}`"
            for caller in callers
            if caller not in ("direct", *kinds)
        ]
        for example in tool.get("input_examples", ()):
            if not build_validator(schema).is_valid(example):
                problems.append("an example that the schema refuses")
        yield from (f"{tool['name']}: {problem}" for problem in problems)
    if any(tool.get("defer_loading") for tool in custom) and not any(
        str(kind).startswith("tool_search_tool") for kind in kinds
    ):
        yield "what is deferred is not searched for"


def _check_gemini(tools: list[dict[str, Any]]) -> Iterator[str]:
    declared = [entry for tool in tools for entry in tool["functionDeclarations"]]
    grammar = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"
    yield from _check_names([entry["name"] for entry in declared], grammar)
    if len(declared) > 512:
        yield "more than 512 declarations"
    for entry in declared:
        yield from (
            f"{entry['name']}: {text}"
            for text in _check_root(entry["parametersJsonSchema"])
        )
        for keyword in ("parametersJsonSchema", "responseJsonSchema"):
            for problem in _check_gemini_schema(entry.get(keyword, {})):
                yield f"{entry['name']} {keyword}: {problem}"


def _check_gemini_schema(schema: Mapping[str, Any]) -> Iterator[str]:
    yield from _check_integers(schema)
    yield from _check_references(schema, cycles=False)
    for path, part in _walk(schema):
        for keyword in part.keys() - _GEMINI:
            yield f"{path}: `{keyword}`"
        for value in part.get("enum", ()):
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                yield f"{path}: {value!r} in `enum`"
        for name in part.get("properties", {}):
            if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}", name):
                yield f"{path}: `{name}` is no parameter's name"


def _check_bedrock(tools: list[dict[str, Any]]) -> Iterator[str]:
    specs = [tool["toolSpec"] for tool in tools]
    yield from _check_names([spec["name"] for spec in specs], r"[a-zA-Z0-9_-]{1,64}")
    for spec in specs:
        if spec.get("description") == "":
            yield f"{spec['name']}: an empty description"
        is_strict = spec.get("strict") is True
        schema = spec["inputSchema"]["json"]
        yield from _check_integers(schema, 2**53 - 2)
        for problem in _check_claude_schema(schema, is_strict):
            yield f"{spec['name']}: {problem}"


def _check_ollama(tools: list[dict[str, Any]]) -> Iterator[str]:
    functions = [tool["function"] for tool in tools]
    yield from _check_names([function["name"] for function in functions], r".+")
    for function in functions:
        schema = function["parameters"]
        yield from _check_root(schema)
        yield from _check_integers(schema)
        for keyword in schema.keys() - {"type", "$defs", "items", "required"}:
            if keyword != "properties":
                yield f"{function['name']}: `{keyword}` is dropped at the root"
        for name, part in schema.get("properties", {}).items():
            for keyword in part.keys() - _OLLAMA_PARAMETER:
                yield f"{function['name']}: `{keyword}` of `{name}` is dropped"
        if any("$ref" in part for _, part in _walk(schema)):
            yield f"{function['name']}: a reference"


_CHECKS: Mapping[str, Callable[[list[dict[str, Any]]], Iterator[str]]] = {
    "openai-chat": _check_openai_chat,
    "openai-responses": _check_openai_responses,
    "anthropic": _check_anthropic,
    "gemini": _check_gemini,
    "bedrock": _check_bedrock,
    "ollama": _check_ollama,
}
