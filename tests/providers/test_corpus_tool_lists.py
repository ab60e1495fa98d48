"""Tool lists of the corpus's servers, against documented rules and SDK types."""

from __future__ import annotations

import json
import os
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.providers.documented_rules import find_problems
from tests.providers.sdk_types import validate
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import PROVIDERS, ListOptions, provider_named
from toolcast_runtime.providers.model_provider import ProviderTools, render_tools

MAX_CPU_S = 5.0
CORPUS = Path(__file__).parents[1] / "corpus"


@cache
def load_lists() -> list[list[Tool]]:
    """Return the tools of each server, with examples and sections added."""
    extra = os.environ.get("TOOLCAST_CORPUS")
    tool_lists = []
    folders = [CORPUS / "mcp", CORPUS / "snapshots", *([Path(extra)] if extra else [])]
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            answer = json.loads(path.read_text("utf-8"))
            tool_lists.append([_tool(definition) for definition in answer["tools"]])
    return tool_lists


def _tool(definition: dict[str, Any]) -> Tool:
    return Tool(
        definition["name"],
        "",
        definition.get("description", ""),
        definition,
        always=len(definition["name"]) % 3 == 0,
        section=definition["name"][0].lower(),
        examples=[{"arguments": {}}, {"arguments": {"no such": []}}],
    )


@cache
def render_lists(provider: str, is_strict: bool) -> list[ProviderTools]:
    """Return each server's list with all options."""
    return [
        render_tools(
            provider_named(provider),
            tools,
            ListOptions(
                strict=[tool.name for tool in tools] if is_strict else False,
                tool_search=True,
                programmatic=True,
            ),
        )
        for tools in load_lists()
    ]


FORMS = [(name, False) for name in PROVIDERS] + [
    (name, True) for name in PROVIDERS if provider_named(name).strict is not None
]


@pytest.mark.rows(3)
@pytest.mark.parametrize(("provider", "is_strict"), FORMS)
def test_rendered_real_mcp_server_tool_lists_follow_rules_and_resolve_names(
    provider: str, is_strict: bool
) -> None:
    start = time.process_time()
    lists = render_lists(provider, is_strict)
    assert time.process_time() - start < MAX_CPU_S
    rendered = [tool for server in lists for tool in server.rendered]
    assert len(rendered) > 500
    assert sum(tool.is_strict for tool in rendered) >= 0.75 * len(rendered) * is_strict
    assert not [
        problem for server in lists for problem in find_problems(provider, server.tools)
    ]
    for tools, server in zip(load_lists(), lists, strict=True):
        calls = [server.call(form.name, "{}").name for form in server.rendered]
        assert calls == [tool.name for tool in tools]


@pytest.mark.slow
@pytest.mark.parametrize(("provider", "is_strict"), FORMS)
def test_rendered_real_mcp_server_tool_lists_match_provider_sdk_types(
    provider: str, is_strict: bool
) -> None:
    for server in render_lists(provider, is_strict):
        validate(provider, server.tools)
