"""Tools rendered in each provider's format, by the JSON files of `cases/`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import provider_named
from toolcast_runtime.providers.model_provider import ListOptions, render_tools

CASES = sorted(Path(__file__).parent.glob("cases/*/*.json"))


@pytest.mark.parametrize(
    "file", CASES, ids=lambda file: f"{file.parent.name}-{file.stem}"
)
def test_tool_is_rendered_as_in_its_case(file: Path) -> None:
    """Also compare the losses and the restored arguments of calls."""
    case = json.loads(file.read_text("utf-8"))
    provider = provider_named(file.parent.name.removesuffix("-strict"))
    strict = file.parent.name.endswith("-strict")
    tool_list = render_tools(provider, [_make_tool(case["tool"])], ListOptions(strict))
    assert tool_list.tools == case["given"]
    assert [str(loss).partition(" ")[2] for loss in tool_list.losses] == case["losses"]
    for sent, restored in case.get("calls", []):
        name = tool_list.rendered[0].name
        assert tool_list.call(name, sent) == (case["tool"]["name"], restored)
        assert tool_list.call(name, json.dumps(sent)).arguments == restored


def _make_tool(definition: dict[str, Any]) -> Tool:
    return Tool(definition["name"], "", definition["description"], definition)
