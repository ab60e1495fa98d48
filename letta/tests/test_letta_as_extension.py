"""The core's commands in a project that lists the extension."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.commands.run_module import run
from tests.git_command import run_git
from tests.repository import ROOT, copy_project
from toolcast.commands.generate.watch import find_watched_paths
from toolcast.model.loading import load_workspace
from toolcast.targets.exposure import build_exposures

NOTE = "summary: Notes.\nparameters: {type: object}\nhandler: handlers.toy:note\n"


@pytest.mark.parametrize("args", [["--help"], ["explain"], ["schema", "toolset"]])
def test_toolcast_help_explain_and_schema_include_the_letta_extension(
    args: list[str],
) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "toolcast", *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert "letta" in ran.stdout


def test_toolcast_letta_help_command_summaries_are_not_truncated(
    make_project: Callable[..., Any],
) -> None:
    text = make_project({}).toolcast("letta", "--help").stdout
    assert "runbook" in text
    assert "..." not in text.partition("Commands:")[2]


def test_toolcast_new_lists_the_missing_letta_attachment_decision_as_a_step(
    tmp_path: Path,
) -> None:
    """The new spec is not reported as valid, because `check` requires the decision."""
    copy_project(tmp_path, "examples")
    options = ("--toolset", "ren", "--section", "bridge")
    output = run(tmp_path, "toolcast", "new", "brew_tea", *options).stdout
    [step] = [row for row in output.splitlines() if "fix specs" in row]
    assert step.startswith(
        "  3. fix specs/ren/brew_tea.yaml: `brew_tea` is not attached"
    )
    assert "`letta: {attached: true}`" in step
    assert "  4. toolcast generate" in output
    spec = tmp_path / "specs/ren/brew_tea.yaml"
    spec.write_text(spec.read_text() + "letta: {attached: false, reason: R.}\n")
    run(tmp_path, "toolcast", "generate")


def test_toolcast_remove_lists_letta_settings_that_name_the_removed_tool(
    make_project: Callable[..., Any],
) -> None:
    project = make_project(
        {"search": NOTE},
        toolset="letta: {agents: {helper: {id: agent-1, ends_turn: [search]}}}\n",
        handlers="def note(): ...\n",
    )
    for args in (["init", "-q"], ["add", "."]):
        run_git(project.root, *args)
    done = project.toolcast("remove", "search", "--without-notice", "--ignore-mentions")
    assert done.returncode == 0, done.stderr
    assert "`letta.agents.helper.ends_turn[0]` refers to `search`" in done.stdout


def test_build_exposures_has_the_specs_reason_for_a_tool_not_attached_to_letta() -> (
    None
):
    """Describe for each tool which targets have it, or the reason why not."""
    workspace, findings = load_workspace(os.fspath(ROOT))
    assert workspace is not None, findings
    ren = next(candidate for candidate in workspace.toolsets if candidate.name == "ren")
    found = build_exposures(workspace, ren)
    reason = "Ren reads portraits in her core memory."
    assert found["read_all_portraits"].targets["letta"] == reason
    assert (
        found["read_pending_thoughts"]
        .targets["letta"]
        .startswith("The agent that begins")
    )


def test_toolcast_watch_paths_include_the_editable_letta_extension_source() -> None:
    root = os.path.realpath(ROOT)
    looked_at = find_watched_paths(root)
    assert looked_at.is_relevant(os.path.join(root, "letta/toolcast_letta/target.py"))
    assert not [path for path in looked_at.folders if "site-packages" in path]
