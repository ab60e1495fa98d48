"""Validation of tool lists and answers by the providers' SDKs, without extra keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, TypeAdapter
from typing_extensions import get_type_hints, is_typeddict

__all__ = ["validate", "validate_answer"]

_FORBIDDEN = ConfigDict(extra="forbid", arbitrary_types_allowed=True)
_OPEN = frozenset(["InputSchemaTyped"])
"""Types that can have any key: a JSON Schema has any keyword."""


def validate(provider: str, tools: list[dict[str, Any]]) -> None:
    """Validate a tool list against the types of a provider's SDK.

    Raises:
        ValueError: the list is invalid.
    """
    _VALIDATORS[provider](tools)


def validate_answer(provider: str, answer: dict[str, Any]) -> None:
    """Validate a tool's answer to a model against the types of a provider's SDK.

    Raises:
        ValueError: the answer is invalid, or the SDK drops a part of it.
    """
    if provider == "gemini":
        from google.genai.types import Part

        Part.model_validate(answer)
    elif provider == "bedrock":
        problems = _bedrock_validator("ContentBlock")(answer)
        if problems:
            raise ValueError(problems)
    elif provider == "ollama":
        from ollama import Message

        if Message.model_validate(answer).model_dump(exclude_none=True) != answer:
            raise ValueError("it drops something")
    else:
        module, name = _ANSWERS[provider]
        _consume(_adapter(module, name).validate_python([answer]))


_ANSWERS = {
    "openai-chat": ("openai.types.chat", "ChatCompletionToolMessageParam"),
    "openai-responses": (
        "openai.types.responses.response_input_item_param",
        "FunctionCallOutput",
    ),
    "anthropic": ("anthropic.types", "ToolResultBlockParam"),
}


@cache
def _adapter(module: str, name: str) -> TypeAdapter[Any]:
    type_ = getattr(import_module(module), name)
    _forbid_extra_keys(type_, set())
    list_type: Any = list[type_]  # type: ignore[valid-type]
    return TypeAdapter(list_type)


def _forbid_extra_keys(kind: Any, seen: set[int]) -> None:
    """Forbid extra keys in a typed dictionary or model, and in the types of its fields."""
    if id(kind) in seen:
        return
    seen.add(id(kind))
    if is_typeddict(kind):
        if kind.__name__ not in _OPEN:
            kind.__pydantic_config__ = _FORBIDDEN
        for field_type in get_type_hints(kind).values():
            _forbid_extra_keys(field_type, seen)
    for field_type in get_args(kind):
        _forbid_extra_keys(field_type, seen)


def _consume(value: Any) -> None:
    """Consume nested iterables, which pydantic validates only while they are read."""
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        for item in value:
            _consume(item)


def _build_check(module: str, name: str) -> Callable[[list[dict[str, Any]]], None]:
    def check(tools: list[dict[str, Any]]) -> None:
        _consume(_adapter(module, name).validate_python(tools))

    return check


def _gemini(tools: list[dict[str, Any]]) -> None:
    from google.genai.types import Tool  # Its models forbid extra keys.

    for tool in tools:
        Tool.model_validate(tool)


def _bedrock(tools: list[dict[str, Any]]) -> None:
    problems = _bedrock_validator("ToolConfiguration")({"tools": tools})
    if problems:
        raise ValueError(problems)


@cache
def _bedrock_validator(name: str) -> Callable[[Mapping[str, Any]], str]:
    from botocore.session import get_session  # type: ignore[import-untyped]
    from botocore.validate import ParamValidator  # type: ignore[import-untyped]

    shape = get_session().get_service_model("bedrock-runtime").shape_for(name)

    def check(value: Mapping[str, Any]) -> str:
        report: str = ParamValidator().validate(value, shape).generate_report()
        return report

    return check


def _ollama(tools: list[dict[str, Any]]) -> None:
    tool_type = _ollama_tool()
    for tool in tools:
        tool_type.model_validate(tool)


@cache
def _ollama_tool() -> type[BaseModel]:
    from ollama import Tool

    models: list[type[BaseModel]] = [
        Tool.Function.Parameters.Property,
        Tool.Function.Parameters,
        Tool.Function,
        Tool,
    ]
    for model in models:
        model.model_config["extra"] = "forbid"
        model.model_rebuild(force=True)
    return Tool


_VALIDATORS: dict[str, Callable[[list[dict[str, Any]]], None]] = {
    "openai-chat": _build_check("openai.types.chat", "ChatCompletionToolUnionParam"),
    "openai-responses": _build_check("openai.types.responses", "ToolParam"),
    "anthropic": _build_check("anthropic.types", "ToolUnionParam"),
    "gemini": _gemini,
    "bedrock": _bedrock,
    "ollama": _ollama,
    "anthropic-remote": _build_check("anthropic.types.beta", "BetaToolUnionParam"),
}
