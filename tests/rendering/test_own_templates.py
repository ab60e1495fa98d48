"""`toolcast templates`: what there is, what a project has replaced, and copies."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project

SPECS = {
    "ping": "summary: Ping.\nparameters: {type: object}\nhandler: handlers.toy:a\n"
}
TOOLSET = "targets: {prompts: {}, snapshots: {}}\n"
PREAMBLE = "prompts/preamble.md.jinja"


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Project:
    made: Project = make_project(SPECS, toolset=TOOLSET, handlers="def a(): ...\n")
    return made


def said(project: Project, *words: str, code: int = 0) -> str:
    done = project.toolcast("templates", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def test_a_copy_is_drawn_and_listed(project: Project) -> None:
    before = (project.root / "toolcast.yaml").read_text()
    assert said(project, PREAMBLE, "--copy") == (
        f"changed toolcast.yaml\nwrote templates/{PREAMBLE}\n"
    )
    changed = (project.root / "toolcast.yaml").read_text()
    assert changed.replace("templates: templates\n", "") == before
    copy = project.root / "templates" / PREAMBLE
    printed = said(project, PREAMBLE)
    assert copy.read_text() == printed
    assert printed.startswith(f"{{# A copy of {PREAMBLE} (sha256 ")

    # As it is, it draws what the original does.
    assert project.toolcast("generate").returncode == 0
    drawn = project.root / "generated/toy/prompts/preamble.md"
    original = drawn.read_text()
    copy.write_text(printed + "Ask when in doubt.\n")
    assert project.toolcast("generate").returncode == 0
    assert drawn.read_text() == original + "Ask when in doubt.\n"

    rows = said(project).splitlines()
    assert f"{PREAMBLE:<34}  yours" in rows
    assert f"{'skills/skills.py.jinja':<34}  not used" in rows
    count = sum(".jinja" in row for row in rows)
    assert rows[-1] == f"{count} templates, 1 of them replaced here"
    assert "target/" not in project.toolcast("check").stderr

    copy.write_text(copy.read_text().replace("(sha256 ", "(sha256 0")[:-1])
    assert "yours\n" in said(project), "such a line is nobody's"
    copy.write_text(f"{{# A copy of {PREAMBLE} (sha256 {'0' * 16}). #}}\n")
    assert "yours, a copy of another version's\n" in said(project)


def test_a_target_is_copied_whole_or_not_at_all(project: Project) -> None:
    mine = project.root / "templates" / PREAMBLE
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    before = (project.root / "toolcast.yaml").read_bytes()
    refused = said(project, "prompts", "--copy", code=2)
    assert f"templates/{PREAMBLE} is in the way; nothing was written" in refused
    assert os.listdir(mine.parent) == [mine.name]
    assert mine.read_text() == "mine"
    assert (project.root / "toolcast.yaml").read_bytes() == before
    mine.unlink()
    written = said(project, "prompts", "--copy")
    assert written.count("wrote ") == len(os.listdir(mine.parent)) == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--copy"], "--copy needs the NAME of a template or target"),
        (["mcp/mcp-server.py.jinja"], "did you mean `mcp/mcp_server.py.jinja`?"),
        (["promts", "--copy"], "did you mean `prompts`?"),
        (["init/Makefile.jinja", "--copy"], "no target has a template"),
        (["../prompts/preamble.md.jinja", "--copy"], "no target has a template"),
        (["prompts"], "the target `prompts` has several: prompts/"),
        (["\x1b[31m", "--copy"], "\\x1b[31m"),
    ],
)
def test_what_it_refuses(project: Project, words: list[str], told: str) -> None:
    assert told in said(project, *words, code=2)
    assert not (project.root / "templates").exists()


def test_names_and_files_of_others_do_no_harm(project: Project, tmp_path: Path) -> None:
    said(project, PREAMBLE, "--copy")
    folder = project.root / "templates/prompts"
    (folder / "\x1b[31m\nred.jinja").write_text("x")
    os.mkfifo(folder / "prompts.py.jinja")
    os.symlink("/etc/passwd", folder / "section.md.jinja")
    (folder / "round").symlink_to(folder)
    rows = said(project)
    assert "prompts/\\x1b[31m\\nred.jinja" in rows
    assert "\x1b" not in rows
    checked = project.toolcast("check")
    assert checked.returncode == 1
    assert "\x1b" not in checked.stderr
    assert "prompts/section.md.jinja" in checked.stderr
    assert "the template is a link out of its folder" in checked.stderr


def test_a_link_in_the_way_is_not_followed(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project.root / "templates").symlink_to(elsewhere)
    assert "a symbolic link leads to" in said(project, PREAMBLE, "--copy", code=2)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "{% if view.a %}" * 3000 + "{% endif %}" * 3000,
        "{% for a in view.a %}" * 25 + "{% endfor %}" * 25,
        f"{{% include '{PREAMBLE}' %}}",
        "{% if",
    ],
    ids=["deep", "loops", "itself", "torn"],
)
def test_a_template_that_cannot_be_drawn_is_named(project: Project, text: str) -> None:
    said(project, PREAMBLE, "--copy")
    project.write("templates/unknown.jinja", "x")
    project.write(f"templates/{PREAMBLE}", text)
    assert "unknown.jinja" in said(project)
    checked = project.toolcast("check")
    assert checked.returncode == 1
    assert re.search(f"templates/{PREAMBLE}[:0-9]*: error: target/", checked.stderr)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line", ["{{ view.nope }}", "{{ view.header ~ view.heading }}"]
)
def test_what_is_wrong_is_told_at_its_line_also_in_what_is_included(
    project: Project, line: str
) -> None:
    said(project, PREAMBLE, "--copy")
    text = project.root / "templates" / PREAMBLE
    text.write_text(text.read_text() + "{% include 'prompts/more.jinja' %}\n")
    project.write("templates/prompts/more.jinja", f"More.\n{line}\n")
    checked = project.toolcast("check").stderr
    assert "templates/prompts/more.jinja:2:1: error: target/template: " in checked
