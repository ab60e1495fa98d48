"""A schema beyond OpenAI's limits of strict ones: the tool is not strict, and the report says why."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import ListOptions, provider_named, render_tools


def objects(names: list[str], inner: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict.fromkeys(names, inner),
        "required": names,
        "additionalProperties": False,
    }


def deep(levels: int) -> dict[str, Any]:
    return objects(["a"], deep(levels - 1)) if levels else {"type": "string"}


def values(count: int, length: int) -> dict[str, Any]:
    return objects(["a"], {"enum": [f"{n:0{length}}" for n in range(count)]})


NAMES = [f"n{n}" for n in range(5_000)]
LONG = [f"{n:0100}" for n in range(1_200)]


@pytest.mark.parametrize(
    ("within", "beyond", "why"),
    [
        (
            objects(NAMES, {"type": "string"}),
            objects([*NAMES, "one"], {"type": "string"}),
            "has 5,001 properties",
        ),
        (deep(10), deep(11), "has 11 levels"),
        (values(1_000, 4), values(1_001, 4), "has 1,001 values of `enum`"),
        (
            objects(LONG, {"type": "string"}),
            objects([*LONG, "a"], {"type": "string"}),
            "has 120,001 characters of names and values",
        ),
        (values(250, 61), values(251, 60), "has 15,060 characters in one `enum`"),
    ],
    ids=["properties", "levels", "values", "characters", "long-enum"],
)
def test_what_is_beyond_a_limit_is_not_strict(
    within: dict[str, Any], beyond: dict[str, Any], why: str
) -> None:
    for schema, is_strict in ((within, True), (beyond, False)):
        tool = Tool("do", "", "Does it.", {"name": "do", "inputSchema": schema})
        provider = provider_named("openai-chat")
        listed = render_tools(provider, [tool], ListOptions(strict=True))
        assert listed.rendered[0].is_strict is is_strict
        assert [why in loss.message for loss in listed.losses] == [True] * (
            not is_strict
        )
