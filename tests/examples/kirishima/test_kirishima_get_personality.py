"""The style guide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolcast_runtime import ToolError

Call = Callable[..., Any]

GUIDE = """
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


def test_the_embedded_default_is_the_same_every_time(call: Call) -> None:
    answer = call("get_personality")
    assert answer == call("get_personality")
    assert (answer["model"], answer["style"]) == (None, "default")
    assert answer["rules"]


@pytest.mark.usefixtures("guide")
@pytest.mark.parametrize(
    ("model", "style", "tone", "formatting"),
    [
        ("gpt-4.1", "gpt", "dry", "prose"),
        ("openai/GPT-5-mini", "gpt-5", "dry", "bullets"),
        ("mistral-large", "default", "plain", "prose"),
        ("", "default", "plain", "prose"),
    ],
)
def test_the_most_specific_style_wins(
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
    model: str,
    style: str,
    tone: str,
    formatting: str,
) -> None:
    monkeypatch.setenv("KIRISHIMA_MODEL", model)
    answer = call("get_personality")
    assert answer == {
        "model": model or None,
        "style": style,
        "tone": tone,
        "formatting": formatting,
        "on_failure": "say so",
        "rules": ["Be kind."],
    }


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("rules = ", "not TOML"),
        ("", "needs a style named `default`"),
        ("[styles.default]\ntone = 'x'", "needs all of"),
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
