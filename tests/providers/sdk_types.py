"""The providers' own types of lists of tools and of answers, with extra keys forbidden."""

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
"""A schema itself has any keyword."""


def validate(provider: str, tools: list[dict[str, Any]]) -> None:
    """Has a provider's own types read a list.

    Raises:
        ValueError: they refuse it.
    """
    _VALIDATORS[provider](tools)


def validate_answer(provider: str, answer: dict[str, Any]) -> None:
    """Has a provider's own types read what goes back to a model.

    Raises:
        ValueError: they refuse it.
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
        _read(_adapter(module, name).validate_python([answer]))


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
    wanted = getattr(import_module(module), name)
    _close(wanted, set())
    every: Any = list[wanted]  # type: ignore[valid-type]
    return TypeAdapter(every)


def _close(kind: Any, seen: set[int]) -> None:
    """Forbids extra keys in a typed dictionary or a model, and in what it holds."""
    if id(kind) in seen:
        return
    seen.add(id(kind))
    if is_typeddict(kind):
        if kind.__name__ not in _OPEN:
            kind.__pydantic_config__ = _FORBIDDEN
        for held in get_type_hints(kind).values():
            _close(held, seen)
    for held in get_args(kind):
        _close(held, seen)


def _read(value: Any) -> None:
    """Has pydantic look at what it looks at when it is read alone: an `Iterable`."""
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        for inner in value:
            _read(inner)


def _by_types(module: str, name: str) -> Callable[[list[dict[str, Any]]], None]:
    def check(tools: list[dict[str, Any]]) -> None:
        _read(_adapter(module, name).validate_python(tools))

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
    wanted = _ollama_tool()
    for tool in tools:
        wanted.model_validate(tool)


@cache
def _ollama_tool() -> type[BaseModel]:
    from ollama import Tool

    kinds: list[type[BaseModel]] = [
        Tool.Function.Parameters.Property,
        Tool.Function.Parameters,
        Tool.Function,
        Tool,
    ]
    for kind in kinds:
        kind.model_config["extra"] = "forbid"
        kind.model_rebuild(force=True)
    return Tool


_VALIDATORS: dict[str, Callable[[list[dict[str, Any]]], None]] = {
    "openai-chat": _by_types("openai.types.chat", "ChatCompletionToolUnionParam"),
    "openai-responses": _by_types("openai.types.responses", "ToolParam"),
    "anthropic": _by_types("anthropic.types", "ToolUnionParam"),
    "gemini": _gemini,
    "bedrock": _bedrock,
    "ollama": _ollama,
    "anthropic-remote": _by_types("anthropic.types.beta", "BetaToolUnionParam"),
}
