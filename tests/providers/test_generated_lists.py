"""The tool lists of a generated toolset: options, reports and calls."""

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
def test_committed_provider_report_lists_the_rendered_tool_losses(report: Path) -> None:
    options = DECLARED.get(report.stem, ListOptions())
    listing = render_tools(provider_named(report.stem), REGISTRY.local_tools, options)
    lines = report.read_text("utf-8").splitlines()
    assert lines[1:] == [str(loss) for loss in listing.losses]


def test_toolset_file_schema_accepts_list_options_for_every_provider() -> None:
    options = {"strict": ["do"], "tool_search": True, "programmatic": True}
    targets = {"providers": {**dict.fromkeys(PROVIDERS, options), PROVIDERS[0]: None}}
    toolset = {"name": "notes", "title": "Notes", "targets": targets}
    assert build_validator(get_schema("toolset")).is_valid(toolset)


async def test_get_provider_tools_arguments_override_the_toolset_list_options() -> None:
    names = ["stickynotes", "memory"]
    listing = await provider_lists.get_provider_tools(
        "openai-responses", "internal", names=names
    )
    entries = [entry for tool in listing.tools for entry in tool.get("tools", [tool])]
    functions = [entry for entry in entries if entry["type"] == "function"]
    assert {tool["name"] for tool in functions} == set(names)
    assert all(tool["strict"] for tool in functions)
    # The namespace has the title of the section.
    assert listing.tools[0]["type"] == "namespace"
    assert listing.tools[0]["description"] == "Memory and Reminders"
    loose = await provider_lists.get_provider_tools(
        "openai-responses", "internal", names=names, strict=False, tool_search=False
    )
    assert [(tool["name"], tool["strict"]) for tool in loose.tools] == [
        (name, False) for name in names
    ]


async def test_null_for_an_optional_parameter_is_removed_from_the_call() -> None:
    listing = await provider_lists.get_provider_tools("openai-responses", "internal")
    tool = next(form for form in listing.rendered if form.tool.name == "stickynotes")
    names = tool.parameters.schema["properties"]
    required = tool.tool.parameters.get("required", ())
    model_arguments = {name: "list" if name in required else None for name in names}
    call = listing.call("stickynotes", model_arguments)
    assert call.arguments == dict.fromkeys(required, "list")
    assert REGISTRY.check_arguments(*call, client="internal") == []


async def test_unknown_provider_and_arguments_that_are_no_object_raise_errors() -> None:
    with pytest.raises(UnknownProviderError, match="there are `openai-chat`"):
        await provider_lists.get_provider_tools("openai", "internal")
    listing = await provider_lists.get_provider_tools("openai-chat", "internal")
    for text in ("[1]", "{", '"a"', "[" * 100_000):
        with pytest.raises(ArgumentsError, match=r"not (valid JSON|a JSON object)"):
            listing.call("memory", text)
    assert listing.call("unknown", '{"a": null}').arguments == {"a": None}


def test_tool_named_like_a_built_in_anthropic_tool_gets_a_suffix_in_the_list() -> None:
    definition = {"name": "code_execution", "inputSchema": {"type": "object"}}
    tool = Tool("code_execution", "", "Runs code.", definition)
    listing = render_tools(provider_named("anthropic"), [tool])
    (name,) = [rendered.name for rendered in listing.rendered]
    assert name.startswith("code_execution_")
    assert listing.call(name, {}).name == "code_execution"
