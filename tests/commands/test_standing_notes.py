"""Notes that no spec can suppress: counted as text, and whole wherever they are asked for."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.conftest import Project

SPEC = "description: Ask the mail.\nparameters: {type: object}\nhandler: handlers.toy:ask\n"
TOOLSET = """\
targets: {registry: {}}
mcp_servers: {mail: {url: "https://mail.example/mcp"}}
"""


@pytest.fixture
def project(make_project: Callable[..., Project]) -> Project:
    made = make_project(
        {"ask": SPEC}, toolset=TOOLSET, handlers="def ask() -> str: ...\n"
    )
    made.generate()
    return made


def test_they_are_one_line(project: Project) -> None:
    done = project.toolcast("check")
    assert done.stdout.startswith("1 tool checked, ")
    line = "1 note that cannot be suppressed is hidden; run `toolcast check --all` to print all notes\n"
    assert (done.returncode, done.stderr) == (0, line)


def test_they_are_whole_where_they_are_asked_for(project: Project) -> None:
    said = "note: access/external-systems: external systems used: host `mail.example`"
    for words, code in ((["--all"], 0), (["--fail-on", "note"], 1)):
        done = project.toolcast("check", *words)
        assert done.returncode == code and said in done.stderr
        assert "hidden" not in done.stderr
    found = json.loads(project.toolcast("check", "--format", "json").stdout)["findings"]
    assert [one["rule"] for one in found] == ["access/external-systems"]


def test_other_notes_are_printed_as_ever(project: Project) -> None:
    project.edit("specs/toy/ask.yaml", "{type: object}", "{properties: {a: {}}}")
    said = project.toolcast("check").stderr
    assert (
        "note: prompt/parameter-undescribed: " in said
        and "1 note that cannot be suppressed is hidden" in said
    )


def test_wheel_that_was_not_built_is_not_counted(project: Project) -> None:
    """A new project has this note until `--preflight` builds the wheel."""
    project.edit(
        "specs/toy/toolset.yaml",
        'mcp_servers: {mail: {url: "https://mail.example/mcp"}}\n',
        "",
    )
    project.write(
        "pyproject.toml", '[build-system]\nbuild-backend = "hatchling.build"\n'
    )
    project.generate()
    assert project.toolcast("check").stderr == ""
    assert "note: output/unknown-wheel" in project.toolcast("check", "--all").stderr
