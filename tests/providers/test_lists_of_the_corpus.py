"""Each tool of the corpus in each form: the provider's own types and documented rules take it."""

from __future__ import annotations

import json
import os
import time
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.providers.documented_rules import problems
from tests.providers.sdk_types import validate
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.providers import PROVIDERS, ListOptions, provider_named
from toolcast_runtime.providers.model_provider import ProviderTools, render_tools

MOST_SECONDS = 5.0
CORPUS = Path(__file__).parents[1] / "corpus"


@cache
def lists() -> list[list[Tool]]:
    """The tools of each server, with an example as a spec may have it."""
    more = os.environ.get("TOOLCAST_CORPUS")
    found = []
    folders = [CORPUS / "mcp", CORPUS / "snapshots", *([Path(more)] if more else [])]
    for folder in folders:
        for path in sorted(folder.glob("*.json")):
            answer = json.loads(path.read_text("utf-8"))
            found.append([_tool(one) for one in answer["tools"]])
    return found


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


def in_form(provider: str, tools: list[Tool], *, is_strict: bool) -> ProviderTools:
    strict = [tool.name for tool in tools] if is_strict else False
    options = ListOptions(strict=strict, tool_search=True, programmatic=True)
    return render_tools(provider_named(provider), tools, options)


FORMS = [(name, False) for name in PROVIDERS] + [
    (name, True) for name in PROVIDERS if provider_named(name).strict is not None
]


@pytest.mark.rows(3)
@pytest.mark.parametrize(("provider", "is_strict"), FORMS)
def test_every_tool_keeps_the_documented_rules(provider: str, is_strict: bool) -> None:
    start = time.process_time()
    listed = [in_form(provider, tools, is_strict=is_strict) for tools in lists()]
    assert time.process_time() - start < MOST_SECONDS
    rendered = [one for server in listed for one in server.rendered]
    assert len(rendered) > 500
    assert sum(one.is_strict for one in rendered) >= 0.75 * len(rendered) * is_strict
    assert not [
        found for server in listed for found in problems(provider, server.tools)
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("provider", "is_strict"), FORMS)
def test_every_list_is_of_the_providers_own_types(
    provider: str, is_strict: bool
) -> None:
    for tools in lists():
        validate(provider, in_form(provider, tools, is_strict=is_strict).tools)


@pytest.mark.rows(3)
@pytest.mark.parametrize(("provider", "is_strict"), FORMS)
def test_names_lead_back_to_the_tools(provider: str, is_strict: bool) -> None:
    for tools in lists():
        listed = in_form(provider, tools, is_strict=is_strict)
        for tool, rendered in zip(tools, listed.rendered, strict=True):
            assert listed.call(rendered.name, "{}").name == tool.name
