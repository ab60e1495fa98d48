"""OpenAI's limits of strict schemas: above them, a tool is not strict."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import ListOptions, provider_named, render_tools


def make_object(names: list[str], property_schema: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict.fromkeys(names, property_schema),
        "required": names,
        "additionalProperties": False,
    }


def nested(levels: int) -> dict[str, Any]:
    return make_object(["a"], nested(levels - 1)) if levels else {"type": "string"}


def make_enum(count: int, length: int) -> dict[str, Any]:
    return make_object(["a"], {"enum": [f"{n:0{length}}" for n in range(count)]})


NAMES = [f"n{n}" for n in range(5_000)]
LONG = [f"{n:0100}" for n in range(1_200)]


@pytest.mark.parametrize(
    ("at_limit", "beyond_limit", "reason"),
    [
        (
            make_object(NAMES, {"type": "string"}),
            make_object([*NAMES, "one"], {"type": "string"}),
            "has 5,001 properties",
        ),
        (nested(10), nested(11), "has 11 levels"),
        (make_enum(1_000, 4), make_enum(1_001, 4), "has 1,001 values of `enum`"),
        (
            make_object(LONG, {"type": "string"}),
            make_object([*LONG, "a"], {"type": "string"}),
            "has 120,001 characters of names and values",
        ),
        (make_enum(250, 61), make_enum(251, 60), "has 15,060 characters in one `enum`"),
    ],
    ids=["properties", "levels", "values", "characters", "long-enum"],
)
def test_tool_schema_above_an_openai_size_limit_is_not_strict(
    at_limit: dict[str, Any], beyond_limit: dict[str, Any], reason: str
) -> None:
    for schema, is_strict in ((at_limit, True), (beyond_limit, False)):
        tool = Tool("do", "", "Does it.", {"name": "do", "inputSchema": schema})
        provider = provider_named("openai-chat")
        tool_list = render_tools(provider, [tool], ListOptions(strict=True))
        assert tool_list.rendered[0].is_strict is is_strict
        assert [reason in loss.message for loss in tool_list.losses] == [True] * (
            not is_strict
        )
