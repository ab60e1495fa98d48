"""`fail_on` of toolcast.yaml and `--fail-on`: the severity that fails a check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ci.test_action import DIFF, Runner, needs_jq
from tests.commands.run_module import run
from tests.conftest import Project
from tests.git_command import run_git

TODO = "description: 'TODO: say it.'\nparameters: {type: object}\n"


@pytest.mark.parametrize(
    ("setting", "options", "code"),
    [
        ("", [], 0),
        ("fail_on: error\n", [], 0),
        ("fail_on: warning\n", [], 1),
        ("fail_on: warning\n", ["--fail-on", "error"], 0),
        ("", ["--fail-on", "warning"], 1),
    ],
)
def test_check_fail_on_option_overrides_toolcast_yaml_fail_on(
    make_project: Callable[..., Project], setting: str, options: list[str], code: int
) -> None:
    project = make_project({"note": TODO}, workspace=setting)
    project.generate()
    assert project.toolcast("check", *options).returncode == code


def test_check_in_a_new_project_exits_with_1_if_a_handler_mentions_a_previous_tool_name(
    tmp_path: Path,
) -> None:
    """It is a warning; `toolcast init` sets `fail_on: warning`."""
    run(tmp_path, "toolcast", "init", "--name", "demo")
    run(tmp_path, "toolcast", "generate")
    run(tmp_path, "toolcast", "check")
    handler = tmp_path / "handlers/count_words.py"
    run(tmp_path, "toolcast", "rename", "count_words", "count")
    run(tmp_path, "toolcast", "generate")
    output = run(tmp_path, "toolcast", "check", expect=1).stderr
    assert output.startswith(
        "handlers/count_words.py:1:25: warning: name/retired-name-used: the file still"
        " mentions `count_words`"
    )
    assert "\n1 warning\n" in output
    # The function keeps its name, which is also in `__all__`.
    text = handler.read_text().replace("tool `count_words`", "tool `count`")
    assert '__all__ = ["count_words"' in text
    handler.write_text(text)
    run(tmp_path, "toolcast", "check")


@pytest.mark.slow
@needs_jq
def test_github_action_applies_the_fail_on_setting_in_toolcast_yaml_to_check(
    tmp_path: Path,
) -> None:
    """A warning sets the output `code` to 1, although the action's input is `none`."""
    project = tmp_path / "work"
    project.mkdir()
    run_git(project, "init", "--quiet", "-b", "main")
    run(project, "toolcast", "init", "--name", "demo")
    run(project, "toolcast", "generate")
    run_git(project, "add", ".")
    run_git(project, "commit", "--quiet", "-m", "base")
    spec = project / "specs/demo/count_words.yaml"
    spec.write_text(spec.read_text().replace("section: text", "section: text  #"))
    spec.write_text(spec.read_text().replace("  Pass the text itself", "  TODO: Pass"))
    run(project, "toolcast", "generate")
    runner = Runner(tmp_path, project)
    against = {**DIFF, "AGAINST": "main", "FAIL_ON": "none"}
    assert runner.run("Check and diff", against)[0] == 0
    assert runner.outputs["code"] == "1"
