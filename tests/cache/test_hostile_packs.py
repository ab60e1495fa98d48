"""Whatever stands in the files of the cache, a run gives the outputs, and no traceback."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from toolcast.commands.entry import main

SPEC = """\
title: Greeting
summary: Greet {0}.
parameters: {{type: object, properties: {{}}}}
handler: handlers.toy:greet
cli: {{keyword: {0}}}
"""
TOOLSET = "targets: {mcp: {}, langchain: {}, cli: {}, prompts: {}, snapshots: {}}\n"
ANYTHING = [
    b"",
    b"null",
    b"7",
    b"[]",
    b"{}",
    b'"\\ud800"',
    b"\xff\xfe",
    b"[" * 3000,
    b'[["ann"], ["b"]]',
    b'[["ann", "ben"], ["../../x", "/etc/passwd"], ["", "nothing"]]',
    b'[["ann", "ben", "cat"], [-5, 99999999999, 3]]',
    b'{"cli": ["", {"../../precious": []}], "registry": 3, "ann": "", "ben": 5}',
    b'{"toolset": "", "tools": [], "rules": 1}',
]


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    """A project after a run, with one spec changed since."""
    specs = {name: SPEC.format(name) for name in ("ann", "ben", "cat")}
    handlers = "def greet() -> str:\n    return 'hello'\n"
    project = make_project(specs, toolset=TOOLSET, handlers=handlers)
    time.sleep(0.05)
    generate(project.root)
    (project.root.parent / "precious").write_text("mine")
    project.edit("specs/toy/ben.yaml", "Greeting", "A greeting")
    time.sleep(0.05)
    return project


def generate(root: Path) -> str:
    run = CliRunner().invoke(main, ["generate", "--project", str(root)])
    assert run.exit_code == 0, run.output
    return run.output


def assert_is_done(project: Any, what: object) -> None:
    """The outputs are what they should be, and what is nobody's but the user's is there."""
    generate(project.root)
    run = CliRunner().invoke(main, ["check", "--project", str(project.root)])
    assert run.exit_code == 0, (what, run.output)
    assert (project.root.parent / "precious").read_text() == "mine"


def retitle(project: Any, number: int) -> None:
    """A change that is not within the same tick of the clock as the run before it."""
    file = project.root / "specs/toy/ben.yaml"
    lines = file.read_text("utf-8").splitlines()
    title = next(line for line in lines if line.startswith("title: "))
    project.edit("specs/toy/ben.yaml", title, f"title: Title {number}")
    time.sleep(0.05)


def kinds_of(pack: Path) -> list[tuple[str, str]]:
    """A section of each kind that a pack has."""
    head = json.loads(pack.read_bytes().split(b"\n", 2)[1])
    kinds = {"digests": ("", "digests")}
    for folder, names in head["sections"][1].items():
        for name in names:
            kinds.setdefault(name.split(" ")[0], (folder, name))
    return list(kinds.values())


def replace_section(pack: Path, folder: str, name: str, data: bytes) -> None:
    """Puts other bytes in the place of one section."""
    first, line, rest = pack.read_bytes().split(b"\n", 2)
    head = json.loads(line)
    parts = [rest[: head["sections"][0]]]
    start = len(parts[0])
    if name == "digests":
        parts[0], head["sections"][0] = data, len(data)
    for where, names in head["sections"][1].items():
        for what, length in names.items():
            part = rest[start : start + length]
            start += length
            if (where, what) == (folder, name):
                part, names[what] = data, len(data)
            parts.append(part)
    pack.write_bytes(b"\n".join([first, json.dumps(head).encode(), b"".join(parts)]))


@pytest.mark.parametrize("data", ANYTHING, ids=lambda data: repr(data[:12]))
def test_a_section_can_be_anything(project: Any, data: bytes) -> None:
    pack = project.root / ".toolcast" / "cache" / "pack"
    for number, (folder, name) in enumerate(kinds_of(pack)):
        replace_section(pack, folder, name, data)
        assert_is_done(project, name)
        retitle(project, number)


def test_that_a_pack_is_of_no_use_is_said(project: Any) -> None:
    pack = project.root / ".toolcast" / "cache" / "pack"
    replace_section(pack, *next(k for k in kinds_of(pack) if k[1] == "many"), b"{\x1b")
    said = generate(project.root)
    assert (
        "the cache is of no use, and everything is made anew: JSONDecodeError" in said
    )
    assert "\x1b" not in said
    retitle(project, 1)
    assert "of no use" not in generate(project.root)


def test_the_texts_can_be_gone_torn_or_of_another_run(project: Any) -> None:
    texts = project.root / ".toolcast" / "cache" / "texts"
    data = texts.read_bytes()
    for number, change in enumerate(
        (
            texts.unlink,
            lambda: texts.write_bytes(data[:100]),
            lambda: texts.write_bytes(b""),
            lambda: texts.write_bytes(data.replace(b"\n", b"\n0", 1)),
            lambda: texts.write_bytes(texts.read_bytes()[:-20]),
        )
    ):
        change()
        assert_is_done(project, number)
        retitle(project, number)


def test_a_file_that_the_pack_names_elsewhere_is_not_removed(project: Any) -> None:
    pack = project.root / ".toolcast" / "cache" / "pack"
    _, line, rest = pack.read_bytes().split(b"\n", 2)
    digests = json.loads(rest[: json.loads(line)["sections"][0]])
    digests["../../precious"] = digests["MANIFEST.json"]
    replace_section(pack, "", "digests", json.dumps(digests).encode())
    assert_is_done(project, "digests")
