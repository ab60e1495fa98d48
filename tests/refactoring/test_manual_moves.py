"""Moving a tool by hand (docs/life.md): `check` reports each missing step."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Project

SEND = """\
summary: Sends a mail.
when_to_use: When a person asks for it.
section: mail
handler: handlers.toy:send
permission: write
parameters:
  type: object
  properties: {to: {$ref: "#/$defs/shared/address"}}
"""
READ = """\
summary: Reads mails.
when_to_use: When a person asks for it.
section: mail
handler: handlers.toy:read
permission: write
parameters: {type: object, properties: {to: {$ref: "#/$defs/shared/address"}}}
"""
TOOLSET = """\
sections: {mail: {heading: Mail}}
permissions: {write: Changes something.}
clients:
  desk: {allow: [read], permissions: [write]}
  phone:
    allow: [read, send]
    permissions: [write]
targets: {mcp: {client: desk}, registry: {}, prompts: {}}
cases:
  - {message: Write to Ann., tool: send}
exclusions:
  - {tool: send, target: mcp, reason: A person sends.}
"""
OFFICE = """\
name: office
title: Office
handlers: office
sections: {post: {heading: Post}}
clients: {desk: {allow: [stamp]}}
targets: {registry: {}, prompts: {}}
"""
STAMP = """\
name: stamp
summary: Stamps a letter.
when_to_use: When a person asks for it.
section: post
handler: office.post:stamp
parameters: {type: object}
"""
DEFINITIONS = "address: {type: string}\n"


@pytest.fixture
def moved_tool(make_project: Callable[..., Project]) -> Project:
    """Return a project in which only the spec file of a tool was moved."""
    project = make_project(
        {"send": SEND, "read": READ},
        toolset=TOOLSET,
        handlers="def send(to=''): ...\n\n\ndef read(to=''): ...\n",
    )
    project.edit("toolcast.yaml", "[specs/toy]", "[specs/toy, specs/office]")
    with (project.root / "toolcast.yaml").open("a") as stream:
        stream.write("documents: [tools.md]\n")
    project.write("specs/toy/definitions.yaml", DEFINITIONS)
    project.write("specs/office/toolset.yaml", OFFICE)
    project.write("specs/office/stamp.yaml", STAMP)
    project.write("office/__init__.py", "")
    project.write("office/post.py", "def stamp(): ...\n\n\ndef send(to=''): ...\n")
    marker = "<!-- toolcast: parameters toy send -->"
    project.write("tools.md", f"{marker}\n<!-- /toolcast -->\n")
    project.generate()
    assert project.toolcast("check").returncode == 0
    (project.root / "specs/toy/send.yaml").rename(project.root / MOVED)
    return project


MOVED = "specs/office/send.yaml"
STEPS = {
    "access/unknown-tool": ("specs/toy/toolset.yaml", "[read, send]", "[read]"),
    "cases/unknown-tool": (
        "specs/toy/toolset.yaml",
        "cases:\n  - {message: Write to Ann., tool: send}\n",
        "",
    ),
    "access/unknown-exclusion": (
        "specs/toy/toolset.yaml",
        "exclusions:\n  - {tool: send, target: mcp, reason: A person sends.}\n",
        "",
    ),
    "spec/unknown-section": (MOVED, "section: mail", "section: post"),
    "handler/outside-package": (MOVED, "handlers.toy:send", "office.post:send"),
    "spec/unknown-permission": (MOVED, "permission: write\n", ""),
    "schema/invalid-reference": ("specs/office/definitions.yaml", "", DEFINITIONS),
    "access/unreachable": ("specs/office/toolset.yaml", "[stamp]", "[stamp, send]"),
    "output/invalid-marker": ("tools.md", "toy send", "office send"),
}
"""Steps of a move apart from the file, by the rule that reports each as missing."""


def _apply_step(project: Project, step: tuple[str, str, str]) -> None:
    file, old, new = step
    if old:
        project.edit(file, old, new)
    else:
        project.write(file, new)


@pytest.mark.rows(4)
@pytest.mark.parametrize("missing", STEPS)
def test_check_reports_only_the_missing_step_for_a_tool_moved_by_hand(
    moved_tool: Project, missing: str
) -> None:
    """Omit each step of moving a tool by hand: only the rule for this step reports it."""
    for rule, step in STEPS.items():
        if rule != missing:
            _apply_step(moved_tool, step)
    errors = moved_tool.toolcast("check").stderr
    assert f" {missing}: " in errors
    others = STEPS.keys() - {missing}
    assert not [rule for rule in others if f" {rule}: " in errors], errors
    _apply_step(moved_tool, STEPS[missing])
    assert moved_tool.toolcast("generate").returncode == 0
    done = moved_tool.toolcast("check")
    assert (done.returncode, done.stderr) == (0, "")
