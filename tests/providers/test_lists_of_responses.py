"""Lists for OpenAI's Responses: what is deferred, namespaces, programs and results."""

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


def listed(**options: Any) -> list[dict[str, Any]]:
    provider = provider_named("openai-responses")
    headings = {"notes": "Notes and lists"}
    return render_tools(provider, TOOLS, ListOptions(**options), headings).tools


def function(name: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "function",
        "name": name,
        "description": f"Does {name}.",
        "parameters": ANY,
        "strict": False,
        **more,
    }


def test_every_function_says_whether_it_is_strict_and_what_it_returns() -> None:
    assert listed() == [
        function("now", output_schema=RESULT),
        function("list_notes", output_schema=RESULT),
        function("drop_notes", output_schema=RESULT),
        function("ping"),
    ]


def test_what_is_not_always_is_searched_in_the_namespace_of_its_section() -> None:
    deferred: dict[str, Any] = {"output_schema": RESULT, "defer_loading": True}
    assert listed(tool_search=True) == [
        function("now", output_schema=RESULT),
        {
            "type": "namespace",
            "name": "notes",
            "description": "Notes and lists",
            "tools": [
                function("list_notes", **deferred),
                function("drop_notes", **deferred),
            ],
        },
        function("ping", defer_loading=True),
        {"type": "tool_search"},
    ]


def test_a_section_of_any_name_is_a_namespace() -> None:
    tools = [tool("feed", section="Home & garden"), tool("dig", section="größe")]
    provider = provider_named("openai-responses")
    forms = render_tools(provider, tools, ListOptions(tool_search=True)).tools
    assert [one.get("name") for one in forms] == ["Home___garden", "gr__e", None]


def test_programs_call_what_says_its_result_and_asks_nobody() -> None:
    tools = listed(programmatic=True)
    both = {"allowed_callers": ["direct", "programmatic"]}
    assert tools[0] == function("now", output_schema=RESULT, **both)
    assert tools[2] == function("drop_notes", output_schema=RESULT)
    assert tools[3] == function("ping")
    assert tools[4] == {"type": "programmatic_tool_calling"}


def test_a_confirm_has_no_place() -> None:
    provider = provider_named("openai-responses")
    losses = render_tools(provider, TOOLS).losses
    assert [str(loss) for loss in losses] == [
        "drop_notes /confirm confirm note: the format has no field for it"
    ]


def test_names_are_mapped_and_come_back() -> None:
    provider = provider_named("openai-chat")
    names = ["notes.list", "notes_list", "x" * 70, "plain"]
    tools = render_tools(provider, [tool(name) for name in names])
    given = [one.name for one in tools.rendered]
    assert given[1] == "notes_list" and given[3] == "plain"
    assert given[0].startswith("notes_list_") and len(given[2]) == 64
    assert [tools.call(name, "{}").name for name in given] == names
    alone = render_tools(provider, [tool("notes.list")])
    assert alone.rendered[0].name == "notes_list"
