"""A tool that a server answers: what only that server can write fails nobody's check."""

from __future__ import annotations

from collections.abc import Callable

from tests.conftest import Project

SPEC = """\
description: "TODO: describe"
when_to_use: "TODO: say when."
parameters:
  type: object
  properties:
    api_key: {type: string, default: 7, description: The key.}
"""
TOOLSET = (
    "proxy: other\n"
    "mcp_servers: {other: {command: other-server}}\n"
    "targets: {mcp: {}, registry: {}, prompts: {}}\n"
)


def severities(project: Project) -> dict[str, str]:
    """The severity of each finding, by its rule and line."""
    said = project.toolcast("check").stderr.splitlines()
    rows = [row.split(": ") for row in said if row.startswith("specs/")]
    return {f"{rule}:{place.split(':')[1]}": how for place, how, rule, *_ in rows}


def test_they_are_notes_and_the_teams_own_are_warnings(
    make_project: Callable[..., Project],
) -> None:
    project = make_project(
        {"ask": SPEC}, toolset=TOOLSET, workspace="fail_on: warning\n"
    )
    found = severities(project)
    theirs = {rule: how for rule, how in found.items() if how == "note"}
    assert {"prompt/todo:2", "prompt/secret-parameter:7"} <= theirs.keys()
    assert {rule for rule, how in found.items() if how == "warning"} == {
        "prompt/todo:3"
    }
    assert project.toolcast("check").returncode == 1
    project.edit("specs/toy/ask.yaml", "TODO: say when.", "Use it for open questions.")
    project.generate()
    assert project.toolcast("check").returncode == 0


def test_of_a_tool_with_a_handler_they_are_the_teams(
    make_project: Callable[..., Project],
) -> None:
    project = make_project({"ask": SPEC}, workspace="fail_on: warning\n")
    assert severities(project)["prompt/todo:2"] == "warning"
