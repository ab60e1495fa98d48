"""Rendered files are refused if they differ from the shapes that their views declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.project_files import write_toolset
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


def test_generate_with_a_defective_string_encoder_writes_no_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The unescaped text changes the keys of the JSON file, which is a finding."""
    toolset = "name: x\ntitle: X\ntargets: {registry: {}}\n"
    write_toolset(tmp_path, "x", {"toolset": toolset, "tool": SPEC})
    assert generate(str(tmp_path)).files
    monkeypatch.setattr(json_text, "_encode_string", lambda text: f'"{text}"')
    result = generate(str(tmp_path))
    assert not result.files
    assert [f.rule for f in result.findings if f.rule == "target/unexpected-output"]


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
def test_python_shape_refuses_rendered_python_with_undeclared_statements(
    text: str,
) -> None:
    """A shape declares the top-level statements that a rendered file may contain."""
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
def test_python_shape_refuses_undeclared_imports_or_calls_in_a_block(body: str) -> None:
    """Blocks may import a single name without `as` and call only declared functions."""
    text = f"if A:\n    {body}\n"
    with pytest.raises(OutputShapeError):
        verify_shape("t", text.encode(), PythonShape(("if A",), frozenset(["y"])))


def test_python_shape_accepts_rendered_python_with_only_declared_statements() -> None:
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
def test_markdown_shape_refuses_undeclared_headings_and_open_code_fences(
    text: str, problem: str
) -> None:
    """A shape declares the headings that a rendered file may contain."""
    with pytest.raises(OutputShapeError, match=problem):
        verify_shape("t", text.encode(), MarkdownShape(("## A",)))


def test_markdown_shape_ignores_headings_inside_a_code_fence() -> None:
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
def test_json_shape_refuses_rendered_json_with_undeclared_keys(
    text: str, problem: str
) -> None:
    """A shape declares the keys that a rendered JSON file may contain."""
    with pytest.raises(OutputShapeError, match=problem):
        verify_shape("t", text.encode(), JsonShape(("a",)))


@pytest.mark.parametrize(
    "text", ["", "a\n", "a\nb\nc\n", "a\nb", "a\x0bb\n", "a\u2028b\n"]
)
def test_text_shape_refuses_rendered_text_with_another_line_count(text: str) -> None:
    """Control characters and Unicode line separators are refused too."""
    with pytest.raises(OutputShapeError):
        verify_shape("t", text.encode(), TextShape(2))


def test_json_shape_and_text_shape_accept_declared_keys_and_line_counts() -> None:
    verify_shape("t", b'{"a": {"b": 1}}', JsonShape(("a",)))
    verify_shape("t", b"a\nb\n", TextShape(2))
    verify_shape("t", b"", TextShape(0))


@pytest.mark.parametrize("shape", [None, (), "docstring", ("docstring",), PythonShape])
def test_verify_shape_refuses_a_view_without_a_shape_object(shape: object) -> None:
    with pytest.raises(OutputShapeError, match="the view has no `shape`"):
        verify_shape("t", b"", shape)


@pytest.mark.parametrize(
    ("path", "shape_type"),
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
def test_rendered_file_shape_type_depends_on_the_file_suffix(
    path: str, shape_type: type[Shape]
) -> None:
    assert get_shape_type(path) is shape_type


def test_shape_check_accepts_project_template_text_in_the_template_output() -> None:
    """The view's shape describes the built-in template; other text is still refused."""
    known = frozenset(["of", "our", "house", "os", "getcwd", "import", "from"])
    markdown = MarkdownShape(("## A",))
    verify_shape("t", b"# A of our house\n", markdown, known)
    with pytest.raises(OutputShapeError, match="Other"):
        verify_shape("t", b"# A of our house\n\n## Other tool\n", markdown, known)
    python = PythonShape(("docstring",))
    verify_shape("t", b"from os import getcwd\ngetcwd()\n", python, known)
    with pytest.raises(OutputShapeError, match="system"):
        verify_shape("t", b"from os import getcwd\nos.system()\n", python, known)
