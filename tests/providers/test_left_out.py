"""A tool whose schema no call satisfies is in no list, and the report says so."""

from __future__ import annotations

from typing import Any

import pytest

from toolcast_runtime.providers import ListOptions, provider_named
from toolcast_runtime.providers.model_provider import render_tools
from toolcast_runtime.tools.tool import Tool


@pytest.mark.parametrize("name", ["openai-chat", "anthropic", "gemini", "ollama"])
@pytest.mark.parametrize(
    "more",
    [{"const": None}, {"enum": [None, "x"]}, {"const": None, "properties": {"a": {}}}],
)
def test_a_root_that_is_no_object(name: str, more: dict[str, Any]) -> None:
    definition = {"name": "do", "inputSchema": {"type": "object", **more}}
    other = {"name": "other", "inputSchema": {"type": "object", "const": {"a": 1}}}
    tools = [Tool("do", "", "Does.", definition), Tool("other", "", "Too.", other)]
    listed = render_tools(provider_named(name), tools, ListOptions(True))
    assert [one.tool.name for one in listed.rendered] == ["other"]
    [loss] = [one for one in listed.losses if one.tool == "do"]
    assert "error: the schema takes no object, and so no call" in str(loss)
