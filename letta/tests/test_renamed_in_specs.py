"""`toolcast rename` in fields of the extension that contain tool names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SPEC = """\
summary: Works.
parameters: {type: object}
handler: handlers.toy:work
letta: {attached: false, reason: "%s"}
"""
TOOLSET = """\
targets: {mcp: {}, registry: {}, letta: {}}
letta:
  server: {url: "http://mcp.test/mcp"}
  agents:
    one:
      id: agent-1
      expects: [send_message]
      forbids:
        - {name: old_note, reason: old_note is ours alone.}  # old_note
"""


def test_toolcast_rename_updates_letta_forbids_names_and_reasons(
    make_project: Callable[..., Any],
) -> None:
    tools = {"old_note": SPEC % "It is slow.", "other": SPEC % "As old_note."}
    work = "def work(arguments: dict): ...\n"
    project = make_project(tools, toolset=TOOLSET, handlers=work)
    done = project.toolcast("rename", "old_note", "new_note")
    assert done.returncode == 0, done.stderr
    toolset = (project.root / "specs/toy/toolset.yaml").read_text()
    assert "{name: new_note, reason: new_note is ours alone.}  # old_note" in toolset
    other = (project.root / "specs/toy/other.yaml").read_text()
    assert 'reason: "As new_note."' in other
    project.generate()
