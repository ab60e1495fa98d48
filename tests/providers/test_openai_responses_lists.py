"""Tool lists of OpenAI's Responses API: deferred tools, namespaces, programs, results."""

from __future__ import annotations

from typing import Any

from toolcast_runtime.core.definitions.tool import Confirm, Tool
from toolcast_runtime.providers import ListOptions, provider_named, render_tools

ANY = {"type": "object", "properties": {}, "additionalProperties": False}
RESULT = {"type": "array", "items": {"type": "string"}}


def tool(name: str, **more: Any) -> Tool:
    definition = {"name": name, "inputSchema": ANY}
    if "returns" in more:
        definition["outputSchema"] = more.pop("returns")
    return Tool(name, "", f"Does {name}.", definition, **more)


TOOLS = [
    tool("now", always=True, returns=RESULT),
    tool("list_notes", section="notes", returns=RESULT),
    tool("drop_notes", section="notes", returns=RESULT, confirm=Confirm("Sure?")),
    tool("ping"),
]


def render_list(**options: Any) -> list[dict[str, Any]]:
    provider = provider_named("openai-responses")
    headings = {"notes": "Notes and lists"}
    return render_tools(provider, TOOLS, ListOptions(**options), headings).tools


def make_function(name: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "description": f"Does {name}.",
        "parameters": ANY,
        "strict": False,
        **more,
    }


def test_openai_responses_function_has_strict_and_the_output_schema() -> None:
    tool_list = render_tools(provider_named("openai-responses"), TOOLS)
    assert [str(loss) for loss in tool_list.losses] == [
        "drop_notes /confirm confirm note: the format has no field for it"
    ]
    assert tool_list.tools == [
        make_function("now", output_schema=RESULT),
        make_function("list_notes", output_schema=RESULT),
        make_function("drop_notes", output_schema=RESULT),
        make_function("ping"),
    ]


def test_openai_responses_deferred_tools_are_grouped_in_namespaces_by_section() -> None:
    deferred: dict[str, Any] = {"output_schema": RESULT, "defer_loading": True}
    assert render_list(tool_search=True) == [
        make_function("now", output_schema=RESULT),
        {
            "type": "namespace",
            "name": "notes",
            "description": "Notes and lists",
            "tools": [
                make_function("list_notes", **deferred),
                make_function("drop_notes", **deferred),
            ],
        },
        make_function("ping", defer_loading=True),
        {"type": "tool_search"},
    ]


def test_tool_section_is_converted_to_a_valid_openai_responses_namespace_name() -> None:
    tools = [tool("feed", section="Home & garden"), tool("dig", section="größe")]
    provider = provider_named("openai-responses")
    entries = render_tools(provider, tools, ListOptions(tool_search=True)).tools
    assert [entry.get("name") for entry in entries] == ["Home___garden", "gr__e", None]


def test_openai_programmatic_callers_need_an_output_schema_and_no_confirm() -> None:
    """`allowed_callers` is set only for such tools."""
    tools = render_list(programmatic=True)
    both = {"allowed_callers": ["direct", "programmatic"]}
    assert tools[0] == make_function("now", output_schema=RESULT, **both)
    assert tools[2] == make_function("drop_notes", output_schema=RESULT)
    assert tools[3] == make_function("ping")
    assert tools[4] == {"type": "programmatic_tool_calling"}


def test_openai_call_to_a_tool_with_a_converted_name_has_the_original_name() -> None:
    provider = provider_named("openai-chat")
    names = ["notes.list", "notes_list", "x" * 70, "plain"]
    tools = render_tools(provider, [tool(name) for name in names])
    new_names = [rendered.name for rendered in tools.rendered]
    assert new_names[1] == "notes_list" and new_names[3] == "plain"
    assert new_names[0].startswith("notes_list_") and len(new_names[2]) == 64
    assert [tools.call(name, "{}").name for name in new_names] == names
    single = render_tools(provider, [tool("notes.list")])
    assert single.rendered[0].name == "notes_list"
