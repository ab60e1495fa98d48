"""Guidance without content, and summaries that contradict `readOnlyHint`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.rules.layout import list_findings, write_example
from toolcast.findings import Severity

EMPTY_WARNING = ("prompt/usage-empty", Severity.WARNING)
SUMMARY = "List the workspaces that can be reached."
EMPTY = [
    "-",
    "...",
    "n/a",
    "None.",
    "TBD",
    "1. 2. 3.",
    "Use it.",
    "Use list_peers.",
    "list_peers: `list_peers`!",
    "Call LIST_PEERS()",
    "Use this tool when needed.",
    "Use it whenever it is appropriate.",
    "See the summary above.",
    "Same as the summary.",
    "When it makes sense.",
    "No special guidance.",
    "It lists the workspaces that can be reached.",
    "Listing the reachable workspaces.",
    "Use list_peers to list peers.",
    "xxx xxx xxx",
    "use use use use",
    SUMMARY,
    "LIST the workspaces, that can be reached!",
    "List the workspaces",
    "Use it to list the workspaces that can be reached.",
    "Use this tool when you want to list the workspaces that can be reached",
    "\u9700\u8981\u65f6\u4f7f\u7528",  # "Use when needed."
    "\u5fc5\u8981\u306a\u3068\u304d",  # "When needed."
]
WITH_CONTENT = [
    "Before the first delegation, to choose whom to ask.",
    "Ask before deleting.",
    "Never in tests.",
    "Do not list the workspaces.",
    "Once peers were added.",
    "Reach for it first.",
    "Nur vor dem L\u00f6schen.",
    "Once, at the start.",
    "List the workspaces before each delegation.",
    # "Before the first delegation, to choose whom to ask."
    "\u5728\u7b2c\u4e00\u6b21\u59d4\u6d3e\u4efb\u52a1\u4e4b\u524d\u9009\u62e9\u5bf9\u8c61",
    # "Ask the user first." in Korean, which separates words by spaces.
    "\uba3c\uc800 \uc0ac\uc6a9\uc790\uc5d0\uac8c \ubb3c\uc5b4\ubcf4\uc138\uc694",
]


def check_tool(
    tmp_path: Path, lines: str, usage: str = "", rules: str = "prompt/usage"
) -> list[tuple[str, Severity]]:
    """Return the rules and severities of the findings of a tool with these lines."""
    option = f"usage: {usage}" if usage else ""
    write_example(
        f"# list_peers.yaml\nsummary: {SUMMARY}\n{lines}\n"
        f"# toolset.yaml\ntargets: {{registry: {{}}, prompts: {{{option}}}}}\n",
        tmp_path,
    )
    findings = list_findings(tmp_path)
    assert not [f for f in findings if f.rule == "spec/wrong-type"], findings
    return [(f.rule, f.severity) for f in findings if f.rule.startswith(rules)]


@pytest.mark.parametrize("text", EMPTY)
@pytest.mark.parametrize("field", ["when_to_use", "guidance"])
def test_prompt_guidance_text_without_content_is_reported(
    tmp_path: Path, field: str, text: str
) -> None:
    line = f"{field}: {json.dumps(text)}"
    assert check_tool(tmp_path / "free", line) == [EMPTY_WARNING]
    assert check_tool(tmp_path / "required", line, "required") == [
        ("prompt/usage-empty", Severity.ERROR)
    ]


@pytest.mark.parametrize("text", WITH_CONTENT)
def test_guidance_text_with_content_is_accepted(tmp_path: Path, text: str) -> None:
    assert check_tool(tmp_path, f"when_to_use: {json.dumps(text)}", "required") == []


@pytest.mark.parametrize(
    ("lines", "rule"),
    [
        ("", "prompt/usage-missing"),
        ("when_to_use: ''", "prompt/usage-missing"),
        ("when_to_use: null", "prompt/usage-missing"),
        ("guidance: '  '", "prompt/usage-missing"),
        ("when_to_use: {text: null, reason: '-'}", "prompt/usage-empty"),
        ("when_to_use: '-'\nguidance: Use it.", "prompt/usage-empty"),
    ],
)
def test_tool_without_the_prompt_guidance_that_its_toolset_requires_is_an_error(
    tmp_path: Path, lines: str, rule: str
) -> None:
    found = check_tool(tmp_path, lines, "required")
    assert {*found} == {(rule, Severity.ERROR)}


def test_empty_when_to_use_next_to_guidance_is_a_warning(tmp_path: Path) -> None:
    lines = "when_to_use: '-'\nguidance: Ask before deleting."
    assert check_tool(tmp_path, lines, "required") == [EMPTY_WARNING]
    reason = "when_to_use: {text: null, reason: Its summary says when to use it.}"
    assert check_tool(tmp_path / "reason", reason, "required") == []


DESTRUCTIVE = [
    "Remove all peer workspaces for good.",
    "Deletes a note.",
    "Permanently erase the archive.",
    "Find and delete old notes.",
    "List notes, then purge the expired ones.",
    "Wipe a disk.",
    "Clear the cache.",
    "Resets every counter.",
    "Get a token. Revoke the previous one.",
    "Drop a table.",
    "Irreversibly destroys a workspace.",
    "Uninstall a plugin.",
    "This tool deletes a file.",
    "A tool that deletes files.",
    "Use this to remove a user.",
    "Allows you to delete a note.",
    "Can be used to delete notes.",
    "Removing all peers.",
    "Bulk delete messages.",
    "List & delete notes.",
    "\u2022 Prune old images.",
    "Empty trash.",
    "Truncate the orders tables.",
    "Create, update and delete users.",
]
READING = [
    "List the deleted notes.",
    "Show which notes can be removed.",
    "Preview what to delete.",
    "Explain how deletion works.",
    "Read the drop-down choices.",
    "Get a clear overview.",
    "Count the kills of a player.",
    "Return notes without removing them.",
    "Return the reset token.",
    "Drop-off locations near an address.",
    "Drops of rain per hour.",
    "Delete-protection status of a table.",
    "Fetch events: delete, update, create.",
    "Return events (delete, create).",
    "Kill ratio of a player.",
    "Check whether a user can delete a note.",
    "List who can delete and remove peers.",
    "Which commands delete and remove files.",
    "Find files that delete or overwrite others.",
    "Reads logs. Deletes nothing.",
    "Dry run: delete a user without effect.",
    "Truncate a text to 80 characters.",
    "Remove duplicates from a list of words.",
    "Strip and remove leading whitespace of a text.",
]


@pytest.mark.parametrize(
    ("summary", "hint", "is_reported"),
    [
        *((summary, "true", True) for summary in DESTRUCTIVE),
        *((summary, "true", False) for summary in READING),
        *((summary, "false", False) for summary in DESTRUCTIVE[:2]),
    ],
)
def test_destructive_action_summary_with_read_only_hint_is_reported(
    tmp_path: Path, summary: str, hint: str, is_reported: bool
) -> None:
    write_example(
        f"summary: {json.dumps(summary)}\nannotations: {{readOnlyHint: {hint}}}\n",
        tmp_path,
    )
    rules = [finding.rule for finding in list_findings(tmp_path)]
    assert ("spec/read-only-destruction" in rules) is is_reported
