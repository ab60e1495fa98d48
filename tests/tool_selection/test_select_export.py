"""`toolcast select --export`: cases in the formats of promptfoo and agent skills."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOOL = "summary: {}\nparameters: {{type: object}}\nhandler: handlers.none:none\n"
CASES = """\
cases:
  - message: note that
    near: ["what did I note?"]
    never: [lamp]
"""
TOOLSET = """\
targets: {registry: {}}
cases:
  - {message: tell me a joke, tool: null}
  - {message: the light, tool: lamp}
"""


Make = Callable[..., Any]


@pytest.fixture
def export(make_project: Make) -> Make:
    """Return a function that exports cases and returns the JSON."""

    def export_cases(
        *arguments: str, summary: str = "Stores a note.", cases: str = CASES
    ) -> Any:
        note = TOOL.format(summary) + cases
        tools = {"note": note, "lamp": TOOL.format("Makes light.")}
        project = make_project(tools, toolset=TOOLSET)
        options = ("--export", *arguments, "--output", "out.json")
        result = project.toolcast("select", *options)
        assert result.returncode == 0, result.stderr
        assert result.stdout == "wrote out.json\n"
        return json.loads((project.root / "out.json").read_text("utf-8"))

    return export_cases


def test_promptfoo_export_has_the_tools_and_one_test_per_message(export: Make) -> None:
    value = export("promptfoo", "--model", "small")
    prompt = '[{"role": "user", "content": {{message | dump}}}]'
    assert value["prompts"] == [prompt]
    [provider] = value["providers"]
    assert provider["id"] == "openai:chat:small"
    [lamp, note] = provider["config"]["tools"]
    schema = {"type": "object"}
    function = {"name": "note", "description": "Stores a note.", "parameters": schema}
    assert note == {"type": "function", "function": function}
    assert lamp["function"]["name"] == "lamp"

    def expect_call(*names: str) -> dict[str, Any]:
        return {"type": "tool-call-f1", "value": list(names), "threshold": 0.5}

    def expect_no_call(*names: str) -> dict[str, Any]:
        return {"type": "not-tool-call-f1", "value": list(names), "threshold": 1e-6}

    assert [(t["vars"]["message"], t["assert"]) for t in value["tests"]] == [
        ("note that", [expect_call("note"), expect_no_call("lamp")]),
        ("what did I note?", [expect_no_call("note")]),
        ("tell me a joke", [expect_no_call("lamp", "note")]),
        ("the light", [expect_call("lamp")]),
    ]


def test_selection_export_reports_how_many_cases_it_omits_for_unknown_tools(
    make_project: Make,
) -> None:
    toolset = TOOLSET + "  - {message: it is gone, tool: gone}\n"
    project = make_project({"lamp": TOOL.format("Makes light.")}, toolset=toolset)
    arguments = ("--export", "promptfoo", "--model", "small", "--output", "out.json")
    result = project.toolcast("select", *arguments)
    assert result.stdout == "wrote out.json without 1 case of other tools\n"


def test_promptfoo_export_has_the_endpoint_and_key_variable(
    export: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the variable's name is written, not the key."""
    monkeypatch.setenv("MODEL_KEY", "sk-hunter2")
    arguments = ("--endpoint", "http://127.0.0.1:9/v1", "--key-variable", "MODEL_KEY")
    value = export("promptfoo", "--model", "small", *arguments)
    config = value["providers"][0]["config"]
    assert config["apiBaseUrl"] == "http://127.0.0.1:9/v1"
    assert config["apiKeyEnvar"] == "MODEL_KEY"
    assert "hunter2" not in json.dumps(value)


def test_promptfoo_export_escapes_templates_and_file_references(export: Make) -> None:
    value = export(
        "promptfoo",
        "--model",
        "small",
        summary="'file://secret {{ env.SECRET }} {% raw %} {# x #} {{{'",
        cases="cases: [{message: 'FILE:///etc/passwd {{env.SECRET}}'}]\n",
    )
    del value["prompts"]  # The export's own template.
    texts = json.dumps(value)
    assert not any(opening in texts for opening in ("{{", "{%", "{#", "#}"))
    [first, *_] = value["tests"]
    assert first["vars"]["message"] == " FILE:///etc/passwd { {env.SECRET}}"
    [_, note] = value["providers"][0]["config"]["tools"]
    assert note["function"]["description"].startswith(" file://secret")


def test_agent_skills_export_has_a_query_per_message_and_whether_it_should_trigger(
    export: Make,
) -> None:
    """`should_trigger` is false for messages that expect no tool."""
    assert export("agent-skills") == [
        {"query": "note that", "should_trigger": True},
        {"query": "tell me a joke", "should_trigger": False},
        {"query": "the light", "should_trigger": True},
    ]


def test_promptfoo_export_requires_a_model(make_project: Make) -> None:
    tools = {"note": TOOL.format("x") + CASES, "lamp": TOOL.format("y")}
    project = make_project(tools, toolset=TOOLSET)
    result = project.toolcast("select", "--export", "promptfoo", "--output", "x.json")
    assert result.returncode == 2
    assert "--export promptfoo requires --model" in result.stderr
    assert not (project.root / "x.json").exists()


def test_selection_export_does_not_write_through_a_symlink(
    make_project: Make, outside: Path
) -> None:
    """A path in a missing folder is an error."""
    tools = {"note": TOOL.format("x") + CASES, "lamp": TOOL.format("y")}
    project = make_project(tools, toolset=TOOLSET)
    (project.root / "link.json").symlink_to(outside / "bashrc")
    arguments = ("select", "--export", "agent-skills", "--output")
    project.toolcast(*arguments, "link.json")
    assert (outside / "bashrc").read_text("utf-8") == "echo mine\n"
    missing = project.toolcast(*arguments, "no/folder/x.json")
    assert missing.returncode == 2
    assert "no/folder/x.json cannot be written" in missing.stderr
