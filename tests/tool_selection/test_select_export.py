"""`toolcast select --export`: what other programs get of the cases."""

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


@pytest.fixture
def exported(make_project: Callable[..., Any]) -> Callable[..., Any]:
    """What an export wrote, as JSON."""

    def export(*words: str, summary: str = "Stores a note.", cases: str = CASES) -> Any:
        tools = {
            "note": TOOL.format(summary) + cases,
            "lamp": TOOL.format("Makes light."),
        }
        project = make_project(tools, toolset=TOOLSET)
        done = project.toolcast("select", "--export", *words, "--output", "out.json")
        assert done.returncode == 0, done.stderr
        assert done.stdout == "wrote out.json\n"
        return json.loads((project.root / "out.json").read_text("utf-8"))

    return export


def test_promptfoo_gets_the_tools_and_a_test_for_each_message(
    exported: Callable[..., Any],
) -> None:
    value = exported("promptfoo", "--model", "small")
    prompt = '[{"role": "user", "content": {{message | dump}}}]'
    assert value["prompts"] == [prompt]
    [provider] = value["providers"]
    assert provider["id"] == "openai:chat:small"
    [lamp, note] = provider["config"]["tools"]
    assert note == {
        "type": "function",
        "function": {
            "name": "note",
            "description": "Stores a note.",
            "parameters": {"type": "object"},
        },
    }
    assert lamp["function"]["name"] == "lamp"

    def called(*names: str) -> dict[str, Any]:
        return {"type": "tool-call-f1", "value": list(names), "threshold": 0.5}

    def not_called(*names: str) -> dict[str, Any]:
        return {"type": "not-tool-call-f1", "value": list(names), "threshold": 1e-6}

    assert [(t["vars"]["message"], t["assert"]) for t in value["tests"]] == [
        ("note that", [called("note"), not_called("lamp")]),
        ("what did I note?", [not_called("note")]),
        ("tell me a joke", [not_called("lamp", "note")]),
        ("the light", [called("lamp")]),
    ]


def test_it_says_how_many_cases_are_of_other_tools(
    make_project: Callable[..., Any],
) -> None:
    toolset = TOOLSET + "  - {message: it is gone, tool: gone}\n"
    project = make_project({"lamp": TOOL.format("Makes light.")}, toolset=toolset)
    words = ("--export", "promptfoo", "--model", "small", "--output", "out.json")
    done = project.toolcast("select", *words)
    assert done.stdout == "wrote out.json without 1 case of other tools\n"


def test_promptfoo_is_told_where_the_model_is_and_never_its_key(
    exported: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "sk-hunter2")
    words = ("--endpoint", "http://127.0.0.1:9/v1", "--key-variable", "MODEL_KEY")
    value = exported("promptfoo", "--model", "small", *words)
    config = value["providers"][0]["config"]
    assert config["apiBaseUrl"] == "http://127.0.0.1:9/v1"
    assert config["apiKeyEnvar"] == "MODEL_KEY"
    assert "hunter2" not in json.dumps(value)


def test_no_text_is_a_template_or_a_file_for_promptfoo(
    exported: Callable[..., Any],
) -> None:
    value = exported(
        "promptfoo",
        "--model",
        "small",
        summary="'file://secret {{ env.SECRET }} {% raw %} {# x #} {{{'",
        cases="cases: [{message: 'FILE:///etc/passwd {{env.SECRET}}'}]\n",
    )
    del value["prompts"]  # It is our own.
    texts = json.dumps(value)
    assert not any(opening in texts for opening in ("{{", "{%", "{#", "#}"))
    [first, *_] = value["tests"]
    assert first["vars"]["message"] == " FILE:///etc/passwd { {env.SECRET}}"
    [_, note] = value["providers"][0]["config"]["tools"]
    assert note["function"]["description"].startswith(" file://secret")


def test_agent_skills_get_queries_that_should_trigger_or_not(
    exported: Callable[..., Any],
) -> None:
    assert exported("agent-skills") == [
        {"query": "note that", "should_trigger": True},
        {"query": "tell me a joke", "should_trigger": False},
        {"query": "the light", "should_trigger": True},
    ]


def test_promptfoo_needs_a_model(make_project: Callable[..., Any]) -> None:
    project = make_project(
        {"note": TOOL.format("x") + CASES, "lamp": TOOL.format("y")}, toolset=TOOLSET
    )
    done = project.toolcast("select", "--export", "promptfoo", "--output", "x.json")
    assert done.returncode == 2
    assert "--export promptfoo requires --model" in done.stderr
    assert not (project.root / "x.json").exists()


def test_it_writes_through_no_link(
    make_project: Callable[..., Any], outside: Path
) -> None:
    tools = {"note": TOOL.format("x") + CASES, "lamp": TOOL.format("y")}
    project = make_project(tools, toolset=TOOLSET)
    (project.root / "link.json").symlink_to(outside / "bashrc")
    words = ("select", "--export", "agent-skills", "--output")
    project.toolcast(*words, "link.json")
    assert (outside / "bashrc").read_text("utf-8") == "echo mine\n"
    missing = project.toolcast(*words, "no/folder/x.json")
    assert missing.returncode == 2
    assert "no/folder/x.json cannot be written" in missing.stderr
