"""What providers refuse by their documentation, apart from the tables of the runtime.

Each rule is written from the provider's page or error message, and knows nothing of how a list
was made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from toolcast_runtime.core.validation.compiled import build_validator

__all__ = ["problems"]

_NAMED = ("properties", "$defs", "patternProperties")
_LISTED = ("anyOf", "oneOf", "allOf", "prefixItems")
_HELD = ("items", "additionalProperties", "not", "if", "then", "else", "contains")
_NOT_SIMPLE = re.compile(r"\(\?[=!<]|\\[bB1-9]")
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


def problems(provider: str, tools: list[dict[str, Any]]) -> list[str]:
    """What a provider would refuse in a list of tools, or drop in silence."""
    return list(_CHECKS[provider](tools))


def _schemas(schema: Any, place: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(schema, Mapping):
        return
    yield place or "the root", schema
    for keyword in _NAMED:
        for name, inner in schema.get(keyword, {}).items():
            yield from _schemas(inner, f"{place}/{keyword}/{name}")
    for keyword in _LISTED:
        for number, inner in enumerate(schema.get(keyword, ())):
            yield from _schemas(inner, f"{place}/{keyword}/{number}")
    for keyword in _HELD:
        yield from _schemas(schema.get(keyword), f"{place}/{keyword}")


def _of_type(schema: Mapping[str, Any], name: str) -> bool:
    types = schema.get("type", ())
    return name == types or (not isinstance(types, str) and name in types)


def _names(names: list[str], grammar: str) -> Iterator[str]:
    for name in names:
        if not re.fullmatch(grammar, name):
            yield f"`{name}` is no name"
        if names.count(name) > 1:
            yield f"`{name}` is there twice"


def _root(schema: Mapping[str, Any], *keywords: str) -> Iterator[str]:
    if schema.get("type") != "object":
        yield "the root is no object"
    for keyword in keywords:
        if keyword in schema:
            yield f"`{keyword}` at the root"


def _references(schema: Mapping[str, Any], *, cycles: bool) -> Iterator[str]:
    """References lead to `#` or `#/$defs/x` and stand alone."""
    for place, one in _schemas(schema):
        if "$ref" in one:
            name = str(one["$ref"]).removeprefix("#/$defs/")
            if one["$ref"] != "#" and name not in schema.get("$defs", {}):
                yield f"{place}: `$ref` leads nowhere"
            if len(one) > 1:
                yield f"{place}: something stands beside `$ref`"
    if not cycles and any(_is_cyclic(schema, name) for name in schema.get("$defs", ())):
        yield "a definition contains itself"
    if not cycles and any(one.get("$ref") == "#" for _, one in _schemas(schema)):
        yield "the root contains itself"


def _is_cyclic(schema: Mapping[str, Any], name: str) -> bool:
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for _, one in _schemas(schema["$defs"].get(waiting.pop(), {})):
            reference = str(one.get("$ref", "")).removeprefix("#/$defs/")
            if reference == name:
                return True
            if reference and reference not in seen:
                seen.add(reference)
                waiting.append(reference)
    return False


def _closed(
    schema: Mapping[str, Any], keywords: frozenset[str], formats: frozenset[str]
) -> Iterator[str]:
    """What both strict forms ask for."""
    for place, one in _schemas(schema):
        for keyword in one.keys() - keywords:
            yield f"{place}: `{keyword}`"
        if _of_type(one, "object") and one.get("additionalProperties") is not False:
            yield f"{place}: an object that is not closed"
        if one.get("format", "date") not in formats:
            yield f"{place}: the format `{one['format']}`"
        if _NOT_SIMPLE.search(one.get("pattern", "")):
            yield f"{place}: a pattern with look-around"
        if any(isinstance(value, (dict, list)) for value in one.get("enum", ())):
            yield f"{place}: an enum of lists or objects"
        if not one.keys() & {"type", "enum", "const", "anyOf", "allOf", "$ref"}:
            yield f"{place}: a value of any type"


def _openai_schema(schema: Mapping[str, Any], is_strict: bool) -> Iterator[str]:
    yield from _root(schema, "oneOf", "anyOf", "allOf", "enum", "const", "not")
    yield from _integers(schema)
    for place, one in _schemas(schema):
        for pattern in [one.get("pattern", ""), *one.get("patternProperties", ())]:
            try:
                re.compile(pattern)
            except re.error:
                yield f"{place}: {pattern!r} is not a 'regex'"
    for place, one in _schemas(schema):
        if _of_type(one, "array") and "items" not in one:
            yield f"{place}: an array without `items`"
        if (
            is_strict
            and _of_type(one, "object")
            and ({*one.get("properties", {})} != {*one.get("required", ())})
        ):
            yield f"{place}: not all properties are required"
    if is_strict:
        yield from _closed(schema, _OPENAI_STRICT, _STRICT_FORMATS)
        yield from _references(schema, cycles=True)


def _openai_chat(tools: list[dict[str, Any]]) -> Iterator[str]:
    functions = [tool["function"] for tool in tools]
    yield from _openai_functions(functions)


def _openai_responses(tools: list[dict[str, Any]]) -> Iterator[str]:
    functions = []
    for tool in tools:
        if tool["type"] == "function":
            functions.append(tool)
        if tool["type"] == "namespace":
            functions += tool["tools"]
    yield from _openai_functions(functions)
    for one in functions:
        if "strict" not in one:
            yield f"`{one['name']}` does not say whether it is strict"
    kinds = [tool["type"] for tool in tools]
    if any(one.get("defer_loading") for one in functions) and (
        "tool_search" not in kinds
    ):
        yield "what is deferred is not searched for"


def _openai_functions(functions: list[dict[str, Any]]) -> Iterator[str]:
    yield from _names([one["name"] for one in functions], r"[a-zA-Z0-9_-]{1,64}")
    for one in functions:
        for problem in _openai_schema(one["parameters"], one.get("strict") is True):
            yield f"{one['name']}: {problem}"


def _integers(value: Any, most: int = 2**53 - 1) -> Iterator[str]:
    """Integers that no provider reads as they are."""
    if isinstance(value, Mapping):
        value = [*value.values()]
    if isinstance(value, (list, tuple)):
        for inner in value:
            yield from _integers(inner, most)
    elif isinstance(value, (int, float)) and abs(value) > most:
        yield f"int too big to convert: {value}"


def _anthropic_schema(schema: Mapping[str, Any], is_strict: bool) -> Iterator[str]:
    yield from _root(schema, "oneOf", "anyOf", "allOf")
    yield from _integers(schema)
    for name in schema.get("properties", {}):
        if not re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name):
            yield f"`{name}` is no property's name"
    if not is_strict:
        return
    yield from _closed(schema, _ANTHROPIC_STRICT, _STRICT_FORMATS | {"uri"})
    yield from _references(schema, cycles=False)
    optional = unions = 0
    for place, one in _schemas(schema):
        if one.get("minItems", 0) > 1:
            yield f"{place}: `minItems` above 1"
        optional += len({*one.get("properties", {})} - {*one.get("required", ())})
        unions += "anyOf" in one or isinstance(one.get("type"), list)
    if optional > 24:
        yield f"{optional} optional parameters"
    if unions > 16:
        yield f"{unions} parameters of several types"


def _anthropic(tools: list[dict[str, Any]]) -> Iterator[str]:
    own = [tool for tool in tools if "input_schema" in tool]
    kinds = [tool.get("type", "custom") for tool in tools]
    yield from _names([tool["name"] for tool in own], r"[a-zA-Z0-9_-]{1,64}")
    if tools and all(tool.get("defer_loading") for tool in tools):
        yield "all tools are deferred"
    for tool in own:
        is_strict = tool.get("strict") is True
        schema = tool["input_schema"]
        found = list(_anthropic_schema(schema, is_strict))
        callers = tool.get("allowed_callers", ["direct"])
        if is_strict and callers != ["direct"]:
            found.append("programs call no strict tools")
        found += [
            f"nothing runs the programs of `{caller}`"
            for caller in callers
            if caller not in ("direct", *kinds)
        ]
        for example in tool.get("input_examples", ()):
            if not build_validator(schema).is_valid(example):
                found.append("an example that the schema refuses")
        yield from (f"{tool['name']}: {problem}" for problem in found)
    if any(tool.get("defer_loading") for tool in own) and not any(
        str(kind).startswith("tool_search_tool") for kind in kinds
    ):
        yield "what is deferred is not searched for"


def _gemini(tools: list[dict[str, Any]]) -> Iterator[str]:
    declared = [one for tool in tools for one in tool["functionDeclarations"]]
    grammar = r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}"
    yield from _names([one["name"] for one in declared], grammar)
    if len(declared) > 512:
        yield "more than 512 declarations"
    for one in declared:
        yield from (f"{one['name']}: {it}" for it in _root(one["parametersJsonSchema"]))
        for keyword in ("parametersJsonSchema", "responseJsonSchema"):
            for problem in _gemini_schema(one.get(keyword, {})):
                yield f"{one['name']} {keyword}: {problem}"


def _gemini_schema(schema: Mapping[str, Any]) -> Iterator[str]:
    yield from _integers(schema)
    yield from _references(schema, cycles=False)
    for place, one in _schemas(schema):
        for keyword in one.keys() - _GEMINI:
            yield f"{place}: `{keyword}`"
        for value in one.get("enum", ()):
            if isinstance(value, bool) or not isinstance(value, (str, int, float)):
                yield f"{place}: {value!r} in `enum`"
        for name in one.get("properties", {}):
            if not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}", name):
                yield f"{place}: `{name}` is no parameter's name"


def _bedrock(tools: list[dict[str, Any]]) -> Iterator[str]:
    specs = [tool["toolSpec"] for tool in tools]
    yield from _names([spec["name"] for spec in specs], r"[a-zA-Z0-9_-]{1,64}")
    for spec in specs:
        if spec.get("description") == "":
            yield f"{spec['name']}: an empty description"
        is_strict = spec.get("strict") is True
        schema = spec["inputSchema"]["json"]
        yield from _integers(schema, 2**53 - 2)
        for problem in _anthropic_schema(schema, is_strict):
            yield f"{spec['name']}: {problem}"


def _ollama(tools: list[dict[str, Any]]) -> Iterator[str]:
    functions = [tool["function"] for tool in tools]
    yield from _names([one["name"] for one in functions], r".+")
    for one in functions:
        schema = one["parameters"]
        yield from _root(schema)
        yield from _integers(schema)
        for keyword in schema.keys() - {"type", "$defs", "items", "required"}:
            if keyword != "properties":
                yield f"{one['name']}: `{keyword}` is dropped at the root"
        for name, inner in schema.get("properties", {}).items():
            for keyword in inner.keys() - _OLLAMA_PARAMETER:
                yield f"{one['name']}: `{keyword}` of `{name}` is dropped"
        if any("$ref" in inner for _, inner in _schemas(schema)):
            yield f"{one['name']}: a reference"


_CHECKS: Mapping[str, Callable[[list[dict[str, Any]]], Iterator[str]]] = {
    "openai-chat": _openai_chat,
    "openai-responses": _openai_responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
    "bedrock": _bedrock,
    "ollama": _ollama,
}
