"""A target that goes around the gate is caught, whoever wrote it: one of each kind."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import toolcast.targets.table
from toolcast.encoders.code import Code
from toolcast.encoders.json_text import encode_compact_json, encode_json
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

EVIL = 'Stores a note."""; import os; os.system("echo PWNED"); """x'
TEMPLATES = {
    "module.py.jinja": '"""{{ view.text }}"""\n',
    "page.md.jinja": "# One\n\n{{ view.text }}\n",
    "list.txt.jinja": "{{ view.text }}\n",
    "data.json.jinja": '{"a": "{{ view.text }}"}\n',
    "sly.py.jinja": '"""{{ view.text ~ "" }}"""\n',
}
DOCSTRING = PythonShape(("docstring",))
Draw = Callable[[str, Any], dict[str, bytes]]


def forged(text: str) -> Code:
    """Code that no encoder made, past what refuses it at run time."""
    return str.__new__(Code, text)


def one(file: str, template: str, **view: Any) -> Draw:
    """A target that renders one file; a value that can be called is given the text."""

    def draw(text: str, context: Any) -> dict[str, bytes]:
        made = {k: v(text) if callable(v) else v for k, v in view.items()}
        data = context.render(f"planted/{template}", SimpleNamespace(**made))
        return {file: data}

    return draw


def written(file: str, make: Callable[[str], Any], shape: Any) -> Draw:
    """A target that writes one file without a template."""
    return lambda text, context: {file: context.write(file, make(text), shape)}


PLANTED: dict[str, tuple[Draw, str]] = {
    "bytes of its own": (
        lambda text, _: {"x.py": f'"""{text}"""\n'.encode()},
        "were not rendered",
    ),
    "bytes of its own, plain text": (
        lambda text, _: {"x.tsv": text.encode()},
        "were not rendered",
    ),
    "bytes that it changed afterwards": (
        lambda text, context: {
            "x.json": context.write("x.json", encode_json({}), JsonShape(()))
            + text.encode()
        },
        "were not rendered",
    ),
    "raw text": (
        one("x.py", "module.py.jinja", text=str, shape=DOCSTRING),
        "templates can only print Code",
    ),
    "raw text, written": (
        written("x.json", lambda text: json.dumps(text), JsonShape(())),
        "the text is str, not Code",
    ),
    "raw text, joined in the template": (
        one("x.py", "sly.py.jinja", text=str, shape=DOCSTRING),
        "is not allowed in a template",
    ),
    "wrong encoder, Markdown in Python": (
        one("x.py", "module.py.jinja", text=encode_inline, shape=DOCSTRING),
        "x.py|module.py",
    ),
    "wrong encoder, plain text in JSON": (
        one("x.json", "data.json.jinja", text=encode_line, shape=JsonShape(("a",))),
        "not JSON",
    ),
    "wrong encoder, JSON in plain text": (
        written("x.txt", lambda text: encode_json({"a": text}), TextShape(1)),
        "3 lines instead of 1",
    ),
    "forged Code": (
        one("x.py", "module.py.jinja", text=Code, shape=DOCSTRING),
        "only encoders may create it",
    ),
    "forged Code, past the refusal": (
        one("x.py", "module.py.jinja", text=forged, shape=DOCSTRING),
        "unexpected|calls",
    ),
    "forged Markdown": (
        one(
            "x.md",
            "page.md.jinja",
            text=lambda text: forged(f"{text}\n## Two"),
            shape=MarkdownShape(("# One",)),
        ),
        "headings",
    ),
    "forged JSON": (
        written("x.json", lambda _: forged('{"b": 1}'), JsonShape(("a",))),
        "the keys",
    ),
    "no shape": (
        one("x.py", "module.py.jinja", text=lambda _: encode_inline("x")),
        "the view has no `shape`",
    ),
    "no shape, Markdown": (
        one("x.md", "page.md.jinja", text=encode_inline),
        "the view has no `shape`",
    ),
    "no shape, plain text": (
        one("x.txt", "list.txt.jinja", text=encode_line, shape=None),
        "the view has no `shape`",
    ),
    "no shape, written": (
        written("x.json", lambda text: encode_json({"a": text}), None),
        "the view has no `shape`",
    ),
    "something else for a shape": (
        one(
            "x.py",
            "module.py.jinja",
            text=lambda _: encode_inline("x"),
            shape=("docstring",),
        ),
        "the view has no `shape`",
    ),
    "a shape of another kind": (
        one("x.py", "list.txt.jinja", text=encode_line, shape=TextShape(1)),
        "needs PythonShape",
    ),
    "compact JSON, which is no Code": (
        written("x.json", encode_compact_json, JsonShape(())),
        "the text is str, not Code",
    ),
    **{
        f"the path {path!r}": (
            written(path, lambda _: encode_json({}), JsonShape(())),
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
    "one file in two spellings": (
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
def planted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Draw, str], Any]:
    """Generates a project with one tool whose summary is a text, by one more target."""
    folder = tmp_path / "templates" / "planted"
    folder.mkdir(parents=True)
    for name, text in TEMPLATES.items():
        (folder / name).write_text(text, "utf-8")
    specs = tmp_path / "specs" / "x"
    specs.mkdir(parents=True)
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: [specs/x]\n")
    toolset = {"name": "x", "title": "X", "targets": {"planted": {}}}
    (specs / "toolset.yaml").write_text(json.dumps(toolset))

    def run(draw: Draw, text: str) -> Any:
        target = Target(
            "planted",
            "A target of somebody else.",
            lambda found, context: draw(found.tools[0].summary, context),
            frozenset(["name", "summary", "parameters"]),
            templates=str(tmp_path / "templates"),
        )
        monkeypatch.setattr(
            toolcast.targets.table,
            "_load_extension_targets",
            lambda _: {"planted": target},
        )
        spec = {"name": "note", "summary": text, "parameters": {"type": "object"}}
        (specs / "note.yaml").write_text(json.dumps(spec))
        return generate(str(tmp_path))

    return run


@pytest.mark.parametrize("kind", PLANTED)
def test_a_target_around_the_gate_writes_nothing(
    kind: str, planted: Callable[[Draw, str], Any]
) -> None:
    draw, reason = PLANTED[kind]
    given = planted(draw, EVIL)
    assert given.files == {}
    problems = [
        f
        for f in given.findings
        if f.rule in ("target/unexpected-output", "target/template-error")
    ]
    assert len(problems) == 1, given.findings
    assert re.search("target `planted`|planted/|`planted`$", problems[0].message)
    assert re.search(reason, problems[0].message), problems[0].message


@pytest.mark.parametrize(
    "draw",
    [
        one(
            "x.txt",
            "list.txt.jinja",
            text=encode_line,
            shape=TextShape(1),
        ),
        one(
            "x.md", "page.md.jinja", text=encode_inline, shape=MarkdownShape(("# One",))
        ),
        written("x.json", lambda text: encode_json({"a": text}), JsonShape(("a",))),
    ],
)
def test_a_target_that_keeps_to_the_gate_works(
    draw: Draw, planted: Callable[[Draw, str], Any]
) -> None:
    given = planted(draw, EVIL)
    assert not given.findings or given.files, given.findings
    assert any(EVIL.split('"')[0] in data.decode() for data in given.files.values())
