"""The configuration that kirishima came with: what was wrong with it is found."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import Project

# What its mcp_clients.json said of the present tools; `get_personality` is always on for
# the assistant itself, and the assistant's own list lacked it.
CLIENTS = """\
clients:
  internal:
    allow: [github_issue, manage_prompt, memory, stickynotes, smarthome, add_memory]
  copilot:
    allow: [github_issue, get_personality]
  external:
    allow: [memory, calendar, contacts, github_issue]
    deny: [github_issue, manage_prompt, stickynotes, lists, email]
"""


def findings(project: Project) -> list[Any]:
    ran = project.toolcast("check", "--format", "json")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    shown: Any = json.loads(ran.stdout)
    return shown["findings"] if isinstance(shown, dict) else shown


def test_each_contradiction_is_found(project_copy: Project) -> None:
    path = project_copy.root / "specs/kirishima/toolset.yaml"
    text = path.read_text()
    start, end = text.index("clients:\n"), text.index("mcp_servers:\n")
    path.write_text(text[:start] + CLIENTS + "\n" + text[end:])
    found = {(one["rule"], one["message"]) for one in findings(project_copy)}
    assert (
        "access/client-contradiction",
        "`clients` of `get_personality` includes `internal`, which does not allow it",
    ) in found
    assert (
        "access/client-contradiction",
        "`external` both allows and denies `github_issue`",
    ) in found
    assert any(
        rule == "access/unknown-tool" and "`add_memory`" in message
        for rule, message in found
    )
