"""What becomes of schemas in a provider's dialect: cases, and what comes back of a call."""

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
def test_a_schema_becomes_what_its_case_says(file: Path) -> None:
    """A case has the tool, what a provider is given of it, the losses, and calls."""
    case = json.loads(file.read_text("utf-8"))
    provider = provider_named(file.parent.name.removesuffix("-strict"))
    strict = file.parent.name.endswith("-strict")
    listed = render_tools(provider, [_tool(case["tool"])], ListOptions(strict))
    assert listed.tools == case["given"]
    assert [str(loss).partition(" ")[2] for loss in listed.losses] == case["losses"]
    for sent, restored in case.get("calls", []):
        name = listed.rendered[0].name
        assert listed.call(name, sent) == (case["tool"]["name"], restored)
        assert listed.call(name, json.dumps(sent)).arguments == restored


def _tool(definition: dict[str, Any]) -> Tool:
    return Tool(definition["name"], "", definition["description"], definition)
