"""The tool get_personality: merged sections, the calling model's style, invalid guides."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from typing import Any

import pytest
from whenever import Instant

from examples.kirishima.get_personality import CALLING_MODEL
from generated.kirishima.registry import get_mcp_tools_sync
from toolcast_runtime import ToolError

Call = Callable[..., Any]

GUIDE = """
version = "1"
instructions = "Take yours."
rules = ["Be kind."]
[styles.default]
tone = "plain"
formatting = "prose"
on_failure = "say so"
[styles.gpt]
tone = "dry"
[styles."gpt-5"]
formatting = "bullets"
"""


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a style guide and set the environment variable for it."""
    path = tmp_path / "guide.toml"
    path.write_text(GUIDE, encoding="utf-8")
    monkeypatch.setenv("KIRISHIMA_STYLE_GUIDE", str(path))
    return path


def test_get_personality_returns_version_time_styles_and_rules(call: Call) -> None:
    before = Instant.now()
    result = call("get_personality")
    assert list(result) == ["version", "generated_at", "style_sections", "instructions"]
    assert before <= Instant.parse_iso(result["generated_at"]) <= Instant.now()
    assert {"default", "gpt-5", "claude"} <= set(result["style_sections"])
    assert "`default`" in result["instructions"]
    assert "Never claim to have done something" in result["instructions"]


@pytest.mark.usefixtures("guide")
def test_get_personality_merges_all_matching_styles_into_a_section(call: Call) -> None:
    result = call("get_personality")
    assert result["style_sections"] == {
        style: f"{section}\nWhen something does not work: say so"
        for style, section in (
            ("default", "Tone: plain\nFormatting: prose"),
            ("gpt", "Tone: dry\nFormatting: prose"),
            ("gpt-5", "Tone: dry\nFormatting: bullets"),
        )
    }
    assert result["version"] == "1"
    assert result["instructions"] == "Take yours.\n- Be kind."


@pytest.mark.usefixtures("guide")
@pytest.mark.parametrize(
    ("model", "sections"),
    [
        ("gpt-4o", ["default", "gpt"]),
        ("openai/GPT-5-mini", ["default", "gpt-5"]),
        ("llama3.2", ["default"]),
    ],
)
def test_get_personality_returns_only_default_and_own_section_to_a_known_model(
    call: Call, model: str, sections: list[str]
) -> None:
    def call_as_model() -> Any:
        CALLING_MODEL.set(model)
        return call("get_personality")

    result = copy_context().run(call_as_model)
    assert list(result["style_sections"]) == sections
    assert set(call("get_personality")["style_sections"]) == {"default", "gpt", "gpt-5"}


def test_get_personality_description_for_copilot_requires_its_call_first() -> None:
    tools = {tool["name"]: tool for tool in get_mcp_tools_sync("copilot")}
    description = tools["get_personality"]["description"]
    assert "Copilot must call this before other tools" in description


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("rules = ", "not TOML"),
        ("", "needs a style named `default`"),
        ("[styles.default]\ntone = 'x'", "must contain"),
        (GUIDE.replace('"1"', "1"), "`version` must be a string"),
        (GUIDE + "mood = 'x'", "can contain only"),
        (GUIDE + "tone = 3", "must contain strings"),
        (GUIDE.replace('["Be kind."]', "3"), "must be an array of strings"),
    ],
)
def test_get_personality_raises_tool_error_for_an_invalid_style_guide(
    call: Call, guide: Path, content: str, message: str
) -> None:
    guide.write_text(content, encoding="utf-8")
    with pytest.raises(ToolError, match=message):
        call("get_personality")


def test_get_personality_raises_tool_error_for_a_missing_style_guide(
    call: Call, guide: Path
) -> None:
    guide.unlink()
    with pytest.raises(ToolError, match="cannot be read"):
        call("get_personality")
