"""Severity of findings about texts that only an external server can change."""

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


def severities_by_line(project: Project) -> dict[str, str]:
    """Return the severity of each finding by rule and line."""
    lines = project.toolcast("check").stderr.splitlines()
    rows = [row.split(": ") for row in lines if row.startswith("specs/")]
    return {
        f"{rule}:{location.split(':')[1]}": level for location, level, rule, *_ in rows
    }


def test_check_findings_about_external_server_texts_are_notes(
    make_project: Callable[..., Project],
) -> None:
    project = make_project(
        {"ask": SPEC}, toolset=TOOLSET, workspace="fail_on: warning\n"
    )
    severities = severities_by_line(project)
    notes = {rule: level for rule, level in severities.items() if level == "note"}
    assert {"prompt/todo:2", "prompt/secret-parameter:7"} <= notes.keys()
    assert {rule for rule, level in severities.items() if level == "warning"} == {
        "prompt/todo:3"
    }
    assert project.toolcast("check").returncode == 1
    project.edit("specs/toy/ask.yaml", "TODO: say when.", "Use it for open questions.")
    project.generate()
    assert project.toolcast("check").returncode == 0


def test_check_findings_about_tool_texts_are_warnings_if_the_tool_has_a_handler(
    make_project: Callable[..., Project],
) -> None:
    project = make_project({"ask": SPEC}, workspace="fail_on: warning\n")
    assert severities_by_line(project)["prompt/todo:2"] == "warning"
