"""Every run holds what it rendered against the shape that the views declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolcast.encoders import json_text
from toolcast.pipeline import generate
from toolcast.rendering.output_shape import (
    JsonShape,
    MarkdownShape,
    OutputShapeError,
    PythonShape,
    Shape,
    TextShape,
    get_shape_type,
    verify_shape,
)

SPEC = """\
name: tool
summary: 'x", "handler": "os:system", "'
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
    monkeypatch.setattr(json_text, "_encode_string", lambda text: f'"{text}"')
    broken = generate(str(tmp_path))
    assert not broken.files
    assert [f.rule for f in broken.findings if f.rule == "target/unexpected-output"]


@pytest.mark.parametrize(
    "text",
    [
        "import os\n",
        '"""d"""\nX = 1\n',
        '"""d"""\nprint("x")\n',
        '"""d"""\ndef f(a, a): ...\n',
        '"""d"""\nreturn\n',
        '"""d"""; f"{x}"\n',
        '"""d""" if x() else 1\n',
        '"""d"""\nassert x\n',
        '"""d"""\ntry:\n    import os\nfinally:\n    pass\n',
    ],
)
def test_python_that_nobody_predicted(text: str) -> None:
    with pytest.raises(OutputShapeError):
        verify_shape("t", text.encode(), PythonShape(("docstring",)))


@pytest.mark.parametrize(
    "body",
    [
        "import os, sys",
        "import os as o",
        "from os import *, x",
        "from os import a as b",
        "x()",
    ],
)
def test_a_block_imports_one_name_and_calls_what_is_known(body: str) -> None:
    text = f"if A:\n    {body}\n"
    with pytest.raises(OutputShapeError):
        verify_shape("t", text.encode(), PythonShape(("if A",), frozenset(["y"])))


def test_python_of_its_shape() -> None:
    text = '"""d"""\nfrom .a import b\n\nX = f(1)\nif TYPE_CHECKING:\n    from a import c\n'
    shape = PythonShape(
        ("docstring", "from .a", "X =", "if TYPE_CHECKING"), frozenset(["f"])
    )
    verify_shape("t", text.encode(), shape)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("## A\n\n## B\n", "headings "),
        ("## A\n\nB\n===\n", "headings "),
        ("## A\n\n## A\n", "headings "),
        ("## A\n```\n", "not closed"),
        ("~~~\n## A\n~~~\n## B\n", "headings "),
        ("text\n", "missing"),
    ],
)
def test_markdown_that_nobody_predicted(text: str, problem: str) -> None:
    with pytest.raises(OutputShapeError, match=problem):
        verify_shape("t", text.encode(), MarkdownShape(("## A",)))


def test_fenced_headings_are_text() -> None:
    text = "## A\n\n~~~\n## not one\n~~~\n"
    verify_shape("t", text.encode(), MarkdownShape(("## A",)))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"b": 1}', "the keys"),
        ('{"a": 1, "b": 1}', "the keys"),
        ("[1]", "the keys"),
        ('{"a": }', "not JSON"),
        ('{"a": 1} {"a": 2}', "not JSON"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_json_that_nobody_predicted(text: str, problem: str) -> None:
    with pytest.raises(OutputShapeError, match=problem):
        verify_shape("t", text.encode(), JsonShape(("a",)))


@pytest.mark.parametrize(
    "text", ["", "a\n", "a\nb\nc\n", "a\nb", "a\x0bb\n", "a\u2028b\n"]
)
def test_plain_text_that_nobody_predicted(text: str) -> None:
    with pytest.raises(OutputShapeError):
        verify_shape("t", text.encode(), TextShape(2))


def test_json_and_plain_text_of_their_shapes() -> None:
    verify_shape("t", b'{"a": {"b": 1}}', JsonShape(("a",)))
    verify_shape("t", b"a\nb\n", TextShape(2))
    verify_shape("t", b"", TextShape(0))


@pytest.mark.parametrize("shape", [None, (), "docstring", ("docstring",), PythonShape])
def test_what_is_no_shape_is_none(shape: object) -> None:
    with pytest.raises(OutputShapeError, match="the view has no `shape`"):
        verify_shape("t", b"", shape)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.py", PythonShape),
        ("b.pyi", PythonShape),
        ("a.b/README.md", MarkdownShape),
        ("a.json", JsonShape),
        ("a.py/names.tsv", TextShape),
        ("py", TextShape),
        ("Makefile", TextShape),
    ],
)
def test_a_file_has_a_shape_of_its_kind(path: str, kind: type[Shape]) -> None:
    assert get_shape_type(path) is kind


def test_a_projects_own_template_may_hold_what_stands_in_it() -> None:
    """It replaces one of ours, so that the view's shape does not know it."""
    known = frozenset(["of", "our", "house", "os", "getcwd", "import", "from"])
    markdown = MarkdownShape(("## A",))
    verify_shape("t", b"# A of our house\n", markdown, known)
    with pytest.raises(OutputShapeError, match="Other"):
        verify_shape("t", b"# A of our house\n\n## Other tool\n", markdown, known)
    python = PythonShape(("docstring",))
    verify_shape("t", b"from os import getcwd\ngetcwd()\n", python, known)
    with pytest.raises(OutputShapeError, match="system"):
        verify_shape("t", b"from os import getcwd\nos.system()\n", python, known)
