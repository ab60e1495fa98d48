"""Every run holds what it rendered against the shape that the views predicted."""

from __future__ import annotations

from pathlib import Path

import pytest

import toolcast.encoders.python
import toolcast.targets.registry
from toolcast.pipeline import generate
from toolcast.rendering.output_guard import (
    MarkdownShape,
    PythonShape,
    ShapeViolation,
    verify_shape,
)

SPEC = """\
name: tool
summary: 'x", __import__("os").system("true"), "'
parameters: {type: object}
"""


def test_a_hole_in_an_encoder_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "specs" / "x"
    folder.mkdir(parents=True)
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/x]\n")
    targets = "targets: {registry: {}}\n"
    (folder / "toolset.yaml").write_text(f"name: x\ntitle: X\n{targets}")
    (folder / "tool.yaml").write_text(SPEC)
    assert generate(str(tmp_path)).files
    monkeypatch.setattr(toolcast.encoders.python, "string", lambda text: f'"{text}"')
    broken = generate(str(tmp_path))
    assert not broken.files
    assert [f.rule for f in broken.findings if f.rule == "target/shape"]


@pytest.mark.parametrize(
    "text",
    [
        "import os\n",
        '"""d"""\nX = 1\n',
        '"""d"""\nprint("x")\n',
        '"""d"""\ndef f(a, a): ...\n',
        '"""d"""\nreturn\n',
    ],
)
def test_python_that_nobody_predicted(text: str) -> None:
    with pytest.raises(ShapeViolation):
        verify_shape("t", text.encode(), PythonShape(("docstring",)))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("## A\n\n## B\n", "headings .* instead of"),
        ("## A\n\nB\n===\n", "headings .* instead of"),
        ("## A\n```\n", "left open"),
        ("~~~\n## A\n~~~\n## B\n", "headings .* instead of"),
    ],
)
def test_markdown_that_nobody_predicted(text: str, problem: str) -> None:
    with pytest.raises(ShapeViolation, match=problem):
        verify_shape("t", text.encode(), MarkdownShape(("## A",)))


def test_fenced_headings_are_text() -> None:
    text = "## A\n\n~~~\n## not one\n~~~\n"
    verify_shape("t", text.encode(), MarkdownShape(("## A",)))
