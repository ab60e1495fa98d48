"""A generated toolset's lists, live, against its committed reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from generated.kirishima import provider_lists
from generated.kirishima.registry import REGISTRY
from toolcast.spec_language.spec_language import get_schema
from toolcast_runtime.core.definitions.tool import Tool
from toolcast_runtime.core.validation.compiled import build_validator
from toolcast_runtime.providers import (
    PROVIDERS,
    ArgumentsError,
    UnknownProviderError,
    provider_named,
    render_tools,
)
from toolcast_runtime.providers.model_provider import ListOptions

REPORTS = sorted((Path(provider_lists.__file__).parent / "providers").glob("*.txt"))
DECLARED = {"openai-responses": ListOptions(strict=True, tool_search=True)}


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.stem)
def test_the_report_says_what_the_list_loses(report: Path) -> None:
    options = DECLARED.get(report.stem, ListOptions())
    listed = render_tools(provider_named(report.stem), REGISTRY.local_tools, options)
    lines = report.read_text("utf-8").splitlines()
    assert lines[1:] == [str(loss) for loss in listed.losses]


def test_a_toolset_may_declare_every_provider() -> None:
    options = {"strict": ["do"], "tool_search": True, "programmatic": True}
    targets = {"providers": {**dict.fromkeys(PROVIDERS, options), PROVIDERS[0]: None}}
    toolset = {"name": "notes", "title": "Notes", "targets": targets}
    assert build_validator(get_schema("toolset")).is_valid(toolset)


async def test_a_clients_list_is_as_the_toolset_declares_it() -> None:
    names = ["stickynotes", "memory"]
    listed = await provider_lists.get_provider_tools(
        "openai-responses", "internal", names=names
    )
    forms = [one for one in listed.tools if one["type"] != "namespace"]
    forms += [one for n in listed.tools for one in n.get("tools", ())]
    functions = [one for one in forms if one["type"] == "function"]
    assert {one["name"] for one in functions} == set(names)
    assert all(one["strict"] for one in functions)
    loose = await provider_lists.get_provider_tools(
        "openai-responses", "internal", names=names, strict=False, tool_search=False
    )
    assert [(one["name"], one["strict"]) for one in loose.tools] == [
        (name, False) for name in names
    ]


async def test_what_a_model_sends_is_called_as_the_spec_means_it() -> None:
    listed = await provider_lists.get_provider_tools("openai-responses", "internal")
    tool = next(one for one in listed.rendered if one.tool.name == "stickynotes")
    names = tool.parameters.schema["properties"]
    needed = tool.tool.parameters.get("required", ())
    sent = {name: "list" if name in needed else None for name in names}
    call = listed.call("stickynotes", sent)
    assert call.arguments == dict.fromkeys(needed, "list")
    assert REGISTRY.check_arguments(*call, client="internal") == []


async def test_what_is_wrong_is_said() -> None:
    with pytest.raises(UnknownProviderError, match="there are `openai-chat`"):
        await provider_lists.get_provider_tools("openai", "internal")
    listed = await provider_lists.get_provider_tools("openai-chat", "internal")
    for text in ("[1]", "{", '"a"', "[" * 100_000):
        with pytest.raises(ArgumentsError, match=r"not (valid JSON|a JSON object)"):
            listed.call("memory", text)
    assert listed.call("unknown", '{"a": null}').arguments == {"a": None}


def test_a_tool_gives_way_to_the_providers_own_of_its_name() -> None:
    definition = {"name": "code_execution", "inputSchema": {"type": "object"}}
    tool = Tool("code_execution", "", "Runs code.", definition)
    listed = render_tools(provider_named("anthropic"), [tool])
    (name,) = [one.name for one in listed.rendered]
    assert name.startswith("code_execution_")
    assert listed.call(name, {}).name == "code_execution"


@pytest.mark.parametrize("name", ["anthropic", "bedrock"])
def test_too_many_strict_tools_are_beyond_the_limits_of_anthropics_models(
    name: str,
) -> None:
    provider, names = provider_named(name), [f"do_{n}" for n in range(21)]
    schema = {"type": "object", "additionalProperties": False}
    tools = [Tool(one, "", "", {"name": one, "inputSchema": schema}) for one in names]
    listed = render_tools(provider, tools, ListOptions(strict=names))
    counted = [
        (budget.maximum, count)
        for budget in provider.budgets
        for count in budget.counts(listed.rendered).values()
        if count > budget.maximum
    ]
    assert counted == [(20, 21), (6, 21)]


def test_converse_is_told_which_tools_are_strict() -> None:
    schema = {"type": "object", "additionalProperties": False}
    tools = [Tool(one, "", "", {"name": one, "inputSchema": schema}) for one in "ab"]
    listed = render_tools(provider_named("bedrock"), tools, ListOptions(strict=["b"]))
    assert [one["toolSpec"].get("strict") for one in listed.tools] == [None, True]
