"""`toolcast templates`: what there is, what a project has replaced, and copies."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Project
from toolcast.analysis.token_costs import estimate_tokens

SPECS = {
    "ping": "summary: Ping.\nparameters: {type: object}\nhandler: handlers.toy:a\n"
}
TOY = "name: toy\ntitle: Toy\nhandlers: handlers\n"
TOOLSET = "targets: {prompts: {}, snapshots: {}}\n"
PREAMBLE = "prompts/preamble_frame.md.jinja"


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
    assert rows[-1] == f"{count} templates, 1 replaced by the project"
    assert "target/" not in project.toolcast("check").stderr

    copy.write_text(copy.read_text().replace("(sha256 ", "(sha256 0")[:-1])
    assert "yours\n" in said(project), "such a line is nobody's"
    copy.write_text(f"{{# A copy of {PREAMBLE} (sha256 {'0' * 16}). #}}\n")
    assert "yours, copied from another version\n" in said(project)


def test_a_target_is_copied_whole_or_not_at_all(project: Project) -> None:
    mine = project.root / "templates" / PREAMBLE
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    before = (project.root / "toolcast.yaml").read_bytes()
    refused = said(project, "prompts", "--copy", code=2)
    assert f"templates/{PREAMBLE} exists already" in refused
    assert "nothing was written" in refused
    assert os.listdir(mine.parent) == [mine.name]
    assert mine.read_text() == "mine"
    assert (project.root / "toolcast.yaml").read_bytes() == before
    mine.unlink()
    written = said(project, "prompts", "--copy")
    assert written.count("wrote ") == len(os.listdir(mine.parent)) == 6


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--copy"], "--copy requires NAME, the name of a template or target"),
        (["mcp/mcp-server.py.jinja"], "did you mean `mcp/mcp_server.py.jinja`?"),
        (["promts", "--copy"], "did you mean `prompts`?"),
        (["init/Makefile.jinja", "--copy"], "no target has a template"),
        (["../prompts/preamble_frame.md.jinja", "--copy"], "no target has a template"),
        (
            ["prompts"],
            "the target `prompts` has several templates\n  help: pass the name of one: prompts/",
        ),
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
    os.symlink("/etc/passwd", folder / "section_frame.md.jinja")
    (folder / "round").symlink_to(folder)
    rows = said(project)
    assert "prompts/\\x1b[31m\\nred.jinja" in rows
    assert "\x1b" not in rows
    checked = project.toolcast("check")
    assert checked.returncode == 1
    assert "\x1b" not in checked.stderr
    assert "prompts/section_frame.md.jinja" in checked.stderr
    assert "the template is a symbolic link out of its folder" in checked.stderr


def test_a_link_in_the_way_is_not_followed(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project.root / "templates").symlink_to(elsewhere)
    assert "is a symbolic link" in said(project, PREAMBLE, "--copy", code=2)
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


TOOLS = {
    "ping": """\
    summary: Ping somebody.
    when_to_use: To find out whether somebody is there.
    section: talk
    parameters: {type: object}
    handler: handlers.toy:a
    """,
    "pong": """\
    summary: Answer somebody.
    section: talk
    parameters: {type: object}
    handler: handlers.toy:a
    """,
}
BLOCKS = """\
targets: {prompts: {}, cli: {client: staff}, snapshots: {}}
sections: {talk: {heading: Talk, footer: Be kind.}}
clients: {staff: {allow: "*"}, guest: {allow: [pong]}}
"""
SIGNATURE = "<!-- Generated by Toolcast from specs/toy/. DO NOT EDIT. -->\n"


def blocks_of(project: Project, client: str) -> dict[str, str]:
    """What the generated package prompts a client with."""
    code = (
        "import json; from generated.toy import prompts as p; who = {!r}\n"
        "blocks = [p.preamble(who), p.section('talk', who), p.cli_block(who)]\n"
        "print(json.dumps([*blocks, p.guidance(['ping', 'pong'], who)]))"
    )
    done = project.run("-c", code.format(client))
    assert done.returncode == 0, done.stderr
    names = ("preamble", "section_talk", "cli", "guidance")
    return dict(zip(names, json.loads(done.stdout), strict=True))


def generated_tests(project: Project) -> str:
    """What plain pytest says of the generated package."""
    words = ("-q", "-p", "no:cacheprovider", "-k", "not tools_list", "generated")
    return project.run("-m", "pytest", *words).stdout


def test_an_added_line_is_in_every_prompt(make_project: Callable[..., Any]) -> None:
    project = make_project(TOOLS, toolset=BLOCKS, handlers="def a(): ...\n")
    project.generate()
    before = {client: blocks_of(project, client) for client in ("staff", "guest")}
    templates = {
        "preamble": PREAMBLE,
        "section_talk": "prompts/section_frame.md.jinja",
        "cli": "cli/cli_frame.md.jinja",
    }
    for template in templates.values():
        said(project, template, "--copy")
        with (project.root / "templates" / template).open("a") as stream:
            stream.write("Ask when you are not sure which tool is meant.\n")
    project.generate()

    line = "Ask when you are not sure which tool is meant.\n"
    for client, was in before.items():
        now = blocks_of(project, client)
        assert now == {n: t + line * (n in templates) for n, t in was.items()}
    for name in templates:
        file = project.root / f"generated/toy/prompts/{name}.md"
        assert file.read_text() == SIGNATURE + before["staff"][name] + line
    assert " failed" not in (tested := generated_tests(project)), tested


def test_bullet_heading_and_footer_of_the_project(
    make_project: Callable[..., Any],
) -> None:
    project = make_project(
        TOOLS, toolset=BLOCKS, workspace="templates: own\n", handlers="def a(): ...\n"
    )
    counts = [tokens(project)]
    own = {
        "prompts/tool_bullet.md.jinja": "* `{{ view.name }}` - {{ view.summary }}\n  !\n",
        "prompts/section_label.md.jinja": "### Tools for {{ view.label }}\n",
        "prompts/section_frame.md.jinja": (
            "# About {{ view.heading }}\n{{ view.tools }}\n> {{ view.footer }}\n"
        ),
        "prompts/tool_usage.md.jinja": (
            "#### How to {{ view.name }}\n{{ view.usage }}\nThat is all.\n"
        ),
    }
    for name, text in own.items():
        project.write(f"own/{name}", text)
    counts.append(tokens(project))
    project.generate()
    pong = "* `pong` - Answer somebody.\n  !\n"
    ping = "* `ping` - Ping somebody.\n  !\n"
    how = "#### How to ping\nTo find out whether somebody is there.\nThat is all.\n"
    section = f"# About Talk\n{ping}{pong}\n{how}> Be kind.\n"
    preamble = "## Platform Capabilities\n\n### Tools for Talk\n"
    staff, guest = (blocks_of(project, client) for client in ("staff", "guest"))
    assert staff["section_talk"] == section
    assert guest["section_talk"] == f"# About Talk\n{pong}> Be kind.\n"
    assert staff["preamble"] == f"{preamble}{ping}{pong}"
    assert guest["preamble"] == f"{preamble}{pong}"
    assert (staff["guidance"], guest["guidance"]) == (how, "")
    folder = project.root / "generated/toy/prompts"
    assert (folder / "section_talk.md").read_text() == SIGNATURE + section
    assert (folder / "preamble.md").read_text() == SIGNATURE + staff["preamble"]
    texts = {"preamble": staff["preamble"], "section_talk": section}
    assert counts[1] == {name: estimate_tokens(text) for name, text in texts.items()}
    assert counts[0] != counts[1]
    assert " failed" not in (tested := generated_tests(project)), tested

    # What a hand edits is found all the same, in the file or in the piece.
    for file, old in (
        ("prompts/section_talk.md", "* `ping`"),
        ("tools/ping.json", "* `ping`"),
        ("prompts/__init__.py", "# About Talk"),
    ):
        project.edit(f"generated/toy/{file}", old, f"{old} now")
        told = generated_tests(project)
        assert "prompts/section_talk.md differs from the definitions" in told
        project.edit(f"generated/toy/{file}", f"{old} now", old)


def tokens(project: Project) -> dict[str, int]:
    """What `toolcast tokens` counts of the blocks but that of commands."""
    words = ("tokens", "--by", "block", "--format", "json")
    done = project.toolcast(*words, env={})  # a process: loaded templates are kept
    assert done.returncode == 0, done.stderr
    [table] = json.loads(done.stdout)["tables"]
    return {one["name"]: one["tokens"] for one in table["rows"] if one["name"] != "cli"}


def test_diff_counts_what_templates_render(make_project: Callable[..., Any]) -> None:
    project = make_project(TOOLS, toolset=BLOCKS, handlers="def a(): ...\n")
    shutil.copytree(project.root, project.root.parent / "before")
    project.edit("specs/toy/pong.yaml", "Answer somebody.", "Reply to somebody.")
    with (project.root / "toolcast.yaml").open("a") as stream:
        stream.write("templates: own\n")
    project.write("own/prompts/tool_bullet.md.jinja", "- {{ view.name }}\n" * 90)
    told = project.toolcast("diff", "--against", "../before").stdout
    assert re.search(
        r"estimated\s+tokens\s+for\s+the\s+tools\s+of\s+`guest`: 18 upfront .* 372 in\s+prompt",
        told,
    ), told


@pytest.mark.parametrize(
    "text",
    [
        "Nothing.\n",
        "{{ view.sections }}\n{{ view.sections }}\n",
        "All: {{ view.sections }}\n",
        "{{ view.sections }}{{ view.sections }}\n",
    ],
)
def test_a_frame_prints_its_slot_once_on_a_line_of_its_own(
    project: Project, text: str
) -> None:
    project.write(
        "specs/toy/toolset.yaml", TOY + "token_budget: {blocks: {preamble: 9}}"
    )
    said(project, PREAMBLE, "--copy")
    project.write(f"templates/{PREAMBLE}", text)
    message = "`{{ view.sections }}` must be printed once, on a line of its own"
    checked = project.toolcast("check")
    assert (
        f"templates/{PREAMBLE}: error: target/template-error: {message}"
        in checked.stderr
    )
    counted = project.toolcast("tokens")
    assert counted.returncode == 2
    assert f"{PREAMBLE}: {message}" in counted.stderr


@pytest.mark.slow
@pytest.mark.parametrize("line", ["{{ view.nope }}", "{{ view.heading ~ view.intro }}"])
def test_what_is_wrong_is_told_at_its_line_also_in_what_is_included(
    project: Project, line: str
) -> None:
    said(project, PREAMBLE, "--copy")
    text = project.root / "templates" / PREAMBLE
    text.write_text(text.read_text() + "{% include 'prompts/more.jinja' %}\n")
    project.write("templates/prompts/more.jinja", f"More.\n{line}\n")
    checked = project.toolcast("check").stderr
    assert "templates/prompts/more.jinja:2:1: error: target/template-error: " in checked
