"""Extension targets that bypass templates, encoders or shapes: all are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import toolcast.targets.table
from tests.project_files import write_files, write_toolset
from toolcast.encoders.code import Code
from toolcast.encoders.json_text import encode_json
from toolcast.encoders.markdown import encode_inline
from toolcast.encoders.plain_text import encode_line
from toolcast.pipeline import generate
from toolcast.rendering.output_shape import (
    JsonShape,
    MarkdownShape,
    PythonShape,
    TextShape,
)
from toolcast.targets.target import Target

INJECTION = 'Stores a note."""; import os; os.system("echo PWNED"); """x'
TEMPLATES = {
    "module.py.jinja": '"""{{ view.text }}"""\n',
    "page.md.jinja": "# One\n\n{{ view.text }}\n",
    "list.txt.jinja": "{{ view.text }}\n",
    "sly.py.jinja": '"""{{ view.text ~ "" }}"""\n',
}
DOCSTRING = PythonShape(("docstring",))
RenderFunction = Callable[[str, Any], dict[str, bytes]]


def forge_code(text: str) -> Code:
    """Create Code without an encoder and without the check of its constructor."""
    return str.__new__(Code, text)


def make_template_target(file: str, template: str, **view: Any) -> RenderFunction:
    """Return a target that renders a file; callable view values receive the text."""

    def render_file(text: str, context: Any) -> dict[str, bytes]:
        values = {k: v(text) if callable(v) else v for k, v in view.items()}
        data = context.render(f"planted/{template}", SimpleNamespace(**values))
        return {file: data}

    return render_file


def make_write_target(
    file: str, encode: Callable[[str], Any], shape: Any
) -> RenderFunction:
    """Return a target that writes a file without a template."""
    return lambda text, context: {file: context.write(file, encode(text), shape)}


BYPASSING_TARGETS: dict[str, tuple[RenderFunction, str]] = {
    "unrendered bytes": (
        lambda text, _: {"x.py": f'"""{text}"""\n'.encode()},
        "were not rendered",
    ),
    "rendered bytes with added text": (
        lambda text, context: {
            "x.json": context.write("x.json", encode_json({}), JsonShape(()))
            + text.encode()
        },
        "were not rendered",
    ),
    "raw text": (
        make_template_target("x.py", "module.py.jinja", text=str, shape=DOCSTRING),
        "templates can only print Code",
    ),
    "raw text without a template": (
        make_write_target("x.json", lambda text: json.dumps(text), JsonShape(())),
        "the text is str, not Code",
    ),
    "raw text, joined in the template": (
        make_template_target("x.py", "sly.py.jinja", text=str, shape=DOCSTRING),
        "is not allowed in a template",
    ),
    "wrong encoder, Markdown in Python": (
        make_template_target(
            "x.py", "module.py.jinja", text=encode_inline, shape=DOCSTRING
        ),
        "x.py|module.py",
    ),
    "forged Code": (
        make_template_target("x.py", "module.py.jinja", text=Code, shape=DOCSTRING),
        "only encoders may create it",
    ),
    "forged Code without the constructor": (
        make_template_target(
            "x.py", "module.py.jinja", text=forge_code, shape=DOCSTRING
        ),
        "unexpected|calls",
    ),
    "no shape": (
        make_template_target(
            "x.py", "module.py.jinja", text=lambda _: encode_inline("x")
        ),
        "the view has no `shape`",
    ),
    "no shape without a template": (
        make_write_target("x.json", lambda text: encode_json({"a": text}), None),
        "the view has no `shape`",
    ),
    "shape of another file type": (
        make_template_target(
            "x.py", "list.txt.jinja", text=encode_line, shape=TextShape(1)
        ),
        "needs PythonShape",
    ),
    **{
        f"the path {path!r}": (
            make_write_target(path, lambda _: encode_json({}), JsonShape(())),
            "not a valid path of a file below the toolset's folder",
        )
        for path in (
            "../../x",
            "../y/x",
            "/tmp/x",
            ".git/x",
            "a//x",
            "a/./x",
            "",
            "x\n",
        )
    },
    "same file name in upper and lower case": (
        lambda text, context: {
            name: context.write(name, encode_json({}), JsonShape(()))
            for name in ("x.json", "X.json")
        },
        "two targets generate the file x/X.json; the second one is `planted`",
    ),
    "no files": (
        lambda text, context: cast("dict[str, bytes]", None),
        "returned NoneType, not a mapping",
    ),
}


@pytest.fixture
def generate_with_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[RenderFunction, str], Any]:
    """Return a function that generates with an extension target and a tool summary."""
    write_files(tmp_path / "templates/planted", TEMPLATES)
    toolset = {"name": "x", "title": "X", "targets": {"planted": {}}}

    def run(render: RenderFunction, text: str) -> Any:
        target = Target(
            "planted",
            "A target of an extension.",
            lambda toolset, context: render(toolset.tools[0].summary, context),
            frozenset(["name", "summary", "parameters"]),
            templates=str(tmp_path / "templates"),
        )
        monkeypatch.setattr(
            toolcast.targets.table,
            "_load_extension_targets",
            lambda _: {"planted": target},
        )
        spec = {"name": "note", "summary": text, "parameters": {"type": "object"}}
        specs = {"toolset": toolset, "note": spec}
        return generate(str(write_toolset(tmp_path, "x", specs)))

    return run


@pytest.mark.parametrize("name", BYPASSING_TARGETS)
def test_extension_target_that_bypasses_the_encoders_generates_no_files(
    name: str, generate_with_target: Callable[[RenderFunction, str], Any]
) -> None:
    """There is exactly one finding, which names the target or its template."""
    render, reason = BYPASSING_TARGETS[name]
    result = generate_with_target(render, INJECTION)
    assert result.files == {}
    problems = [
        f
        for f in result.findings
        if f.rule in ("target/unexpected-output", "target/template-error")
    ]
    assert len(problems) == 1, result.findings
    assert re.search("target `planted`|planted/|`planted`$", problems[0].message)
    assert re.search(reason, problems[0].message), problems[0].message


@pytest.mark.parametrize(
    "render",
    [
        make_template_target(
            "x.txt", "list.txt.jinja", text=encode_line, shape=TextShape(1)
        ),
        make_template_target(
            "x.md", "page.md.jinja", text=encode_inline, shape=MarkdownShape(("# One",))
        ),
        make_write_target(
            "x.json", lambda text: encode_json({"a": text}), JsonShape(("a",))
        ),
    ],
)
def test_extension_target_that_uses_encoders_and_shapes_generates_its_file(
    render: RenderFunction, generate_with_target: Callable[[RenderFunction, str], Any]
) -> None:
    result = generate_with_target(render, INJECTION)
    assert not result.findings or result.files, result.findings
    text = INJECTION.split('"')[0]
    assert any(text in data.decode() for data in result.files.values())
