"""`toolcast templates` and templates of a project: copies, output, checks and errors."""

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
    project: Project = make_project(SPECS, toolset=TOOLSET, handlers="def a(): ...\n")
    return project


def run_templates(project: Project, *arguments: str, code: int = 0) -> str:
    """Run `toolcast templates`, and return its output, or its errors if it fails."""
    process = project.toolcast("templates", *arguments)
    assert process.returncode == code, process.stdout + process.stderr
    return process.stdout if code == 0 else process.stderr


def test_template_copied_by_toolcast_templates_is_used_and_listed_as_yours(
    project: Project,
) -> None:
    """The copy's first line has a hash, by which a copy of another version is listed."""
    before = (project.root / "toolcast.yaml").read_text()
    assert run_templates(project, PREAMBLE, "--copy") == (
        f"changed toolcast.yaml\nwrote templates/{PREAMBLE}\n"
    )
    changed = (project.root / "toolcast.yaml").read_text()
    assert changed.replace("templates: templates\n", "") == before
    copy = project.root / "templates" / PREAMBLE
    printed = run_templates(project, PREAMBLE)
    assert copy.read_text() == printed
    assert printed.startswith(f"{{# A copy of {PREAMBLE} (sha256 ")

    # An unchanged copy renders the same text as the original.
    assert project.toolcast("generate").returncode == 0
    output = project.root / "generated/toy/prompts/preamble.md"
    original = output.read_text()
    copy.write_text(printed + "Ask when in doubt.\n")
    assert project.toolcast("generate").returncode == 0
    assert output.read_text() == original + "Ask when in doubt.\n"

    rows = run_templates(project).splitlines()
    assert f"{PREAMBLE:<34}  yours" in rows
    assert f"{'skills/skills.py.jinja':<34}  not used" in rows
    count = sum(".jinja" in row for row in rows)
    assert rows[-1] == f"{count} templates, 1 replaced by the project"
    assert "target/" not in project.toolcast("check").stderr

    copy.write_text(copy.read_text().replace("(sha256 ", "(sha256 0")[:-1])
    # A line with an invalid hash is not recognized as the first line of a copy.
    assert "yours\n" in run_templates(project)
    copy.write_text(f"{{# A copy of {PREAMBLE} (sha256 {'0' * 16}). #}}\n")
    assert "yours, copied from another version\n" in run_templates(project)


def test_toolcast_templates_refuses_to_copy_a_target_if_one_template_exists(
    project: Project,
) -> None:
    """Without an existing template, all templates of the target are written."""
    mine = project.root / "templates" / PREAMBLE
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    before = (project.root / "toolcast.yaml").read_bytes()
    error = run_templates(project, "prompts", "--copy", code=2)
    assert f"templates/{PREAMBLE} exists already" in error
    assert "nothing was written" in error
    assert os.listdir(mine.parent) == [mine.name]
    assert mine.read_text() == "mine"
    assert (project.root / "toolcast.yaml").read_bytes() == before
    mine.unlink()
    output = run_templates(project, "prompts", "--copy")
    assert output.count("wrote ") == len(os.listdir(mine.parent)) == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
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
def test_toolcast_templates_with_wrong_name_or_options_exits_with_2_and_writes_nothing(
    project: Project, arguments: list[str], message: str
) -> None:
    assert message in run_templates(project, *arguments, code=2)
    assert not (project.root / "templates").exists()


def test_unsafe_names_and_links_in_the_templates_folder_are_escaped_or_refused(
    project: Project, tmp_path: Path
) -> None:
    """Control characters are escaped, and a link out of the folder is a finding."""
    run_templates(project, PREAMBLE, "--copy")
    folder = project.root / "templates/prompts"
    (folder / "\x1b[31m\nred.jinja").write_text("x")
    os.mkfifo(folder / "prompts.py.jinja")
    os.symlink("/etc/passwd", folder / "section_frame.md.jinja")
    (folder / "round").symlink_to(folder)
    rows = run_templates(project)
    assert "prompts/\\x1b[31m\\nred.jinja" in rows
    assert "\x1b" not in rows
    check = project.toolcast("check")
    assert check.returncode == 1
    assert "\x1b" not in check.stderr
    assert "prompts/section_frame.md.jinja" in check.stderr
    assert "the template is a symbolic link out of its folder" in check.stderr


def test_toolcast_templates_refuses_to_copy_into_a_folder_that_is_a_symbolic_link(
    project: Project, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project.root / "templates").symlink_to(elsewhere)
    assert "is a symbolic link" in run_templates(project, PREAMBLE, "--copy", code=2)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    [
        "{% if view.a %}" * 3000 + "{% endif %}" * 3000,
        "{% for a in view.a %}" * 25 + "{% endfor %}" * 25,
        f"{{% include '{PREAMBLE}' %}}",
        "{% if",
    ],
    ids=["deep nesting", "many loops", "self include", "syntax error"],
)
def test_project_template_that_cannot_be_rendered_is_an_error_at_its_file(
    project: Project, text: str
) -> None:
    run_templates(project, PREAMBLE, "--copy")
    project.write("templates/unknown.jinja", "x")
    project.write(f"templates/{PREAMBLE}", text)
    assert "unknown.jinja" in run_templates(project)
    check = project.toolcast("check")
    assert check.returncode == 1
    assert re.search(f"templates/{PREAMBLE}[:0-9]*: error: target/", check.stderr)


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


def read_blocks(project: Project) -> list[dict[str, str]]:
    """Return the prompt blocks of the generated package for both clients."""
    code = (
        "import json; from generated.toy import prompts as p\n"
        "for c in ('staff', 'guest'):\n"
        "    blocks = [p.preamble(c), p.section('talk', c), p.cli_block(c)]\n"
        "    print(json.dumps([*blocks, p.guidance(['ping', 'pong'], c)]))"
    )
    process = project.run("-c", code)
    assert process.returncode == 0, process.stderr
    names = ("preamble", "section_talk", "cli", "guidance")
    lines = process.stdout.splitlines()
    return [dict(zip(names, json.loads(line), strict=True)) for line in lines]


def run_generated_tests(project: Project, selected: str = "not tools_list") -> str:
    """Run the selected tests of the generated package, and return the output."""
    options = ("-q", "-p", "no:cacheprovider", "-k", selected, "generated")
    env = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return project.run("-m", "pytest", *options, env=env).stdout


@pytest.mark.slow
def test_line_added_to_template_copies_is_in_every_clients_prompts(
    make_project: Callable[..., Any],
) -> None:
    """It is also in the generated files, and the generated tests pass."""
    project = make_project(TOOLS, toolset=BLOCKS, handlers="def a(): ...\n")
    project.generate()
    before = read_blocks(project)
    templates = {
        "preamble": PREAMBLE,
        "section_talk": "prompts/section_frame.md.jinja",
        "cli": "cli/cli_frame.md.jinja",
    }
    for template in templates.values():
        run_templates(project, template, "--copy")
        with (project.root / "templates" / template).open("a") as stream:
            stream.write("Ask when you are not sure which tool is meant.\n")
    project.generate()

    line = "Ask when you are not sure which tool is meant.\n"
    for old, new in zip(before, read_blocks(project), strict=True):
        assert new == {n: t + line * (n in templates) for n, t in old.items()}
    for name in templates:
        file = project.root / f"generated/toy/prompts/{name}.md"
        assert file.read_text() == SIGNATURE + before[0][name] + line
    assert " failed" not in (output := run_generated_tests(project)), output


@pytest.mark.slow
def test_project_templates_replace_bullet_label_section_and_usage(
    make_project: Callable[..., Any],
) -> None:
    """Prompts, files and token counts use them, and a changed file fails a generated test."""
    project = make_project(
        TOOLS, toolset=BLOCKS, workspace="templates: own\n", handlers="def a(): ...\n"
    )
    templates = {
        "prompts/tool_bullet.md.jinja": "* `{{ view.name }}` - {{ view.summary }}\n  !\n",
        "prompts/section_label.md.jinja": "### Tools for {{ view.label }}\n",
        "prompts/section_frame.md.jinja": (
            "# About {{ view.heading }}\n{{ view.tools }}\n> {{ view.footer }}\n"
        ),
        "prompts/tool_usage.md.jinja": (
            "#### How to {{ view.name }}\n{{ view.usage }}\nThat is all.\n"
        ),
    }
    for name, text in templates.items():
        project.write(f"own/{name}", text)
    project.generate()
    pong = "* `pong` - Answer somebody.\n  !\n"
    ping = "* `ping` - Ping somebody.\n  !\n"
    usage = "#### How to ping\nTo find out whether somebody is there.\nThat is all.\n"
    section = f"# About Talk\n{ping}{pong}\n{usage}> Be kind.\n"
    preamble = "## Platform Capabilities\n\n### Tools for Talk\n"
    staff, guest = read_blocks(project)
    assert staff["section_talk"] == section
    assert guest["section_talk"] == f"# About Talk\n{pong}> Be kind.\n"
    assert staff["preamble"] == f"{preamble}{ping}{pong}"
    assert guest["preamble"] == f"{preamble}{pong}"
    assert (staff["guidance"], guest["guidance"]) == (usage, "")
    folder = project.root / "generated/toy/prompts"
    assert (folder / "section_talk.md").read_text() == SIGNATURE + section
    assert (folder / "preamble.md").read_text() == SIGNATURE + staff["preamble"]
    texts = {"preamble": staff["preamble"], "section_talk": section}
    process = project.toolcast("tokens", "--by", "block", "--format", "json")
    assert process.returncode == 0, process.stderr
    [table] = json.loads(process.stdout)["tables"]
    counts = {row["name"]: row["tokens"] for row in table["rows"]}
    assert counts.pop("cli")
    assert counts == {name: estimate_tokens(text) for name, text in texts.items()}
    assert " failed" not in (output := run_generated_tests(project)), output

    project.edit("generated/toy/prompts/section_talk.md", "* `ping`", "* `ping` now")
    output = run_generated_tests(project, "prompt_file_matches_definitions")
    assert "prompts/section_talk.md differs from the definitions" in output


def test_diff_command_counts_the_project_template_prompt_tokens(
    make_project: Callable[..., Any],
) -> None:
    project = make_project(TOOLS, toolset=BLOCKS, handlers="def a(): ...\n")
    shutil.copytree(project.root, project.root.parent / "before")
    project.edit("specs/toy/pong.yaml", "Answer somebody.", "Reply to somebody.")
    with (project.root / "toolcast.yaml").open("a") as stream:
        stream.write("templates: own\n")
    project.write("own/prompts/tool_bullet.md.jinja", "- {{ view.name }}\n" * 90)
    output = project.toolcast("diff", "--against", "../before").stdout
    assert re.search(
        r"estimated\s+tokens\s+for\s+the\s+tools\s+of\s+`guest`: 18 upfront .* 372 in\s+prompt",
        output,
    ), output


@pytest.mark.parametrize(
    "text",
    [
        "Nothing.\n",
        "{{ view.sections }}\n{{ view.sections }}\n",
        "All: {{ view.sections }}\n",
    ],
)
def test_project_template_that_does_not_print_view_sections_once_on_its_line_is_an_error(
    project: Project, text: str
) -> None:
    project.write(
        "specs/toy/toolset.yaml", TOY + "token_budget: {blocks: {preamble: 9}}"
    )
    run_templates(project, PREAMBLE, "--copy")
    project.write(f"templates/{PREAMBLE}", text)
    message = "`{{ view.sections }}` must be printed once, on a line of its own"
    check = project.toolcast("check")
    assert (
        f"templates/{PREAMBLE}: error: target/template-error: {message}" in check.stderr
    )
    tokens = project.toolcast("tokens")
    assert tokens.returncode == 2
    assert f"{PREAMBLE}: {message}" in tokens.stderr


@pytest.mark.slow
@pytest.mark.parametrize("line", ["{{ view.nope }}", "{{ view.heading ~ view.intro }}"])
def test_error_in_an_included_project_template_is_located_in_the_included_file(
    project: Project, line: str
) -> None:
    run_templates(project, PREAMBLE, "--copy")
    text = project.root / "templates" / PREAMBLE
    text.write_text(text.read_text() + "{% include 'prompts/more.jinja' %}\n")
    project.write("templates/prompts/more.jinja", f"More.\n{line}\n")
    output = project.toolcast("check").stderr
    assert "templates/prompts/more.jinja:2:1: error: target/template-error: " in output
