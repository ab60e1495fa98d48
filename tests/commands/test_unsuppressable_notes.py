"""Notes that cannot be suppressed: hidden with a count, and printed on request."""

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
    project_ = make_project(
        {"ask": SPEC}, toolset=TOOLSET, handlers="def ask() -> str: ...\n"
    )
    project_.generate()
    return project_


def test_check_hides_unsuppressable_notes_and_prints_their_count(
    project: Project,
) -> None:
    done = project.toolcast("check")
    assert done.stdout.startswith("1 tool checked, ")
    line = "1 note that cannot be suppressed is hidden; run `toolcast check --all` to print all notes\n"
    assert (done.returncode, done.stderr) == (0, line)


def test_check_all_and_fail_on_note_print_unsuppressable_notes(
    project: Project,
) -> None:
    message = (
        "note: access/external-systems: external systems used: host `mail.example`"
    )
    for options, code in ((["--all"], 0), (["--fail-on", "note"], 1)):
        done = project.toolcast("check", *options)
        assert done.returncode == code and message in done.stderr
        assert "hidden" not in done.stderr
    done = project.toolcast("check", "--format", "json")
    rules = [finding["rule"] for finding in json.loads(done.stdout)["findings"]]
    assert rules == ["access/external-systems"]


def test_check_prints_suppressible_notes_and_counts_hidden_unsuppressable_notes(
    project: Project,
) -> None:
    project.edit("specs/toy/ask.yaml", "{type: object}", "{properties: {a: {}}}")
    output = project.toolcast("check").stderr
    assert "note: prompt/parameter-undescribed: " in output
    assert "1 note that cannot be suppressed is hidden" in output


def test_check_does_not_count_the_unbuilt_wheel_as_hidden(project: Project) -> None:
    """A new project has this note until `--preflight` builds the wheel."""
    project.edit("specs/toy/toolset.yaml", TOOLSET.split("\n")[1], "")
    backend = '[build-system]\nbuild-backend = "hatchling.build"\n'
    project.write("pyproject.toml", backend)
    project.generate()
    assert project.toolcast("check").stderr == ""
    assert "note: output/unknown-wheel" in project.toolcast("check", "--all").stderr
