"""The style guide."""

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
    path = tmp_path / "guide.toml"
    path.write_text(GUIDE, encoding="utf-8")
    monkeypatch.setenv("KIRISHIMA_STYLE_GUIDE", str(path))
    return path


def test_the_answer_has_what_every_model_needs_to_find_its_style(call: Call) -> None:
    before = Instant.now()
    answer = call("get_personality")
    assert list(answer) == ["version", "generated_at", "style_sections", "instructions"]
    assert before <= Instant.parse_iso(answer["generated_at"]) <= Instant.now()
    assert {"default", "gpt-5", "claude"} <= set(answer["style_sections"])
    assert "`default`" in answer["instructions"]
    assert "Never claim to have done something" in answer["instructions"]


@pytest.mark.usefixtures("guide")
@pytest.mark.parametrize(
    ("style", "section"),
    [
        ("default", "Tone: plain\nFormatting: prose"),
        ("gpt", "Tone: dry\nFormatting: prose"),
        ("gpt-5", "Tone: dry\nFormatting: bullets"),
    ],
)
def test_each_section_is_complete(call: Call, style: str, section: str) -> None:
    answer = call("get_personality")
    whole = f"{section}\nWhen something does not work: say so"
    assert answer["style_sections"][style] == whole
    assert answer["version"] == "1"
    assert answer["instructions"] == "Take yours.\n- Be kind."


@pytest.mark.usefixtures("guide")
@pytest.mark.parametrize(
    ("model", "sections"),
    [
        ("gpt-4o", ["default", "gpt"]),
        ("openai/GPT-5-mini", ["default", "gpt-5"]),
        ("llama3.2", ["default"]),
    ],
)
def test_a_model_that_is_known_gets_its_own_style(
    call: Call, model: str, sections: list[str]
) -> None:
    def called() -> Any:
        CALLING_MODEL.set(model)
        return call("get_personality")

    answer = copy_context().run(called)
    assert list(answer["style_sections"]) == sections
    assert set(call("get_personality")["style_sections"]) == {"default", "gpt", "gpt-5"}


def test_copilot_reads_that_it_comes_first() -> None:
    [tool] = [
        tool
        for tool in get_mcp_tools_sync("copilot")
        if tool["name"] == "get_personality"
    ]
    assert "Copilot must call this before other tools" in tool["description"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("rules = ", "not TOML"),
        ("", "needs a style named `default`"),
        ("[styles.default]\ntone = 'x'", "needs all of"),
        (GUIDE.replace('"1"', "1"), "`version` must be a text"),
        (GUIDE + "mood = 'x'", "may hold only"),
        (GUIDE + "tone = 3", "must hold texts"),
        (GUIDE.replace('["Be kind."]', "3"), "must be a list of texts"),
    ],
)
def test_a_broken_guide_is_told(
    call: Call, guide: Path, content: str, words: str
) -> None:
    guide.write_text(content, encoding="utf-8")
    with pytest.raises(ToolError, match=words):
        call("get_personality")


def test_a_missing_guide_is_told(call: Call, guide: Path) -> None:
    guide.unlink()
    with pytest.raises(ToolError, match="cannot be read"):
        call("get_personality")
