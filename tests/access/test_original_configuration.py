"""Findings about contradictory client lists, as in kirishima's original configuration."""

from __future__ import annotations

import json

from tests.conftest import Project

# The lists of kirishima's mcp_clients.json for the present tools. `get_personality` is always on
# for the client `internal`, but not in its list.
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


def test_check_reports_tools_that_are_unknown_or_both_allowed_and_denied(
    project_copy: Project,
) -> None:
    path = project_copy.root / "specs/kirishima/toolset.yaml"
    text = path.read_text()
    start, end = text.index("clients:\n"), text.index("mcp_servers:\n")
    path.write_text(text[:start] + CLIENTS + "\n" + text[end:])
    result = project_copy.toolcast("check", "--format", "json")
    assert result.returncode == 1, result.stdout + result.stderr
    items = json.loads(result.stdout)["findings"]
    findings = {(item["rule"], item["message"]) for item in items}
    assert (
        "access/client-contradiction",
        "`clients` of `get_personality` includes `internal`, which does not allow it",
    ) in findings
    assert (
        "access/client-contradiction",
        "`external` both allows and denies `github_issue`",
    ) in findings
    assert any(
        rule == "access/unknown-tool" and "`add_memory`" in message
        for rule, message in findings
    )
