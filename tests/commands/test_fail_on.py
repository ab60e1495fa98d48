"""`fail_on` of toolcast.yaml: what fails a check, and what a new project decides."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.ci.test_action import DIFF, Runner, git, needs_jq
from tests.commands.running import run
from tests.conftest import Project

TODO = "description: 'TODO: say it.'\nparameters: {type: object}\n"


@pytest.mark.parametrize(
    ("said", "words", "code"),
    [
        ("", [], 0),
        ("fail_on: error\n", [], 0),
        ("fail_on: warning\n", [], 1),
        ("fail_on: warning\n", ["--fail-on", "error"], 0),
        ("", ["--fail-on", "warning"], 1),
    ],
)
def test_the_option_counts_before_the_project(
    make_project: Callable[..., Project], said: str, words: list[str], code: int
) -> None:
    project = make_project({"note": TODO}, workspace=said)
    project.generate()
    assert project.toolcast("check", *words).returncode == code


def test_a_new_project_lets_warnings_fail_and_is_scanned(tmp_path: Path) -> None:
    run(tmp_path, "toolcast", "init", "--name", "demo")
    run(tmp_path, "toolcast", "generate")
    run(tmp_path, "toolcast", "check")
    handler = tmp_path / "handlers/count_words.py"
    run(tmp_path, "toolcast", "rename", "count_words", "count")
    run(tmp_path, "toolcast", "generate")
    said = run(tmp_path, "toolcast", "check", expect=1).stderr
    assert said.startswith(
        "handlers/count_words.py:1:25: warning: name/retired-name-used: the file still mentions"
        " `count_words`"
    )
    assert "\n1 warning\n" in said
    # The function keeps its name, which `__all__` says.
    text = handler.read_text().replace("tool `count_words`", "tool `count`")
    assert '__all__ = ["count_words"' in text
    handler.write_text(text)
    run(tmp_path, "toolcast", "check")


def test_a_part_of_a_package_is_scanned(tmp_path: Path) -> None:
    (tmp_path / "src/shop").mkdir(parents=True)
    (tmp_path / "src/shop/__init__.py").touch()
    run(tmp_path, "toolcast", "init", "--into", ".", "--name", "store")
    text = (tmp_path / "toolcast.yaml").read_text()
    assert "scan:\n  - src/shop/agent\n" in text and "fail_on: warning\n" in text


@pytest.mark.slow
def test_a_former_name_in_a_text_of_this_repository_is_found(
    project_copy: Project,
) -> None:
    said = project_copy.toolcast("rename", "list_peers", "find_peers").stdout
    assert "examples/molecule/registry.py" in said
    project_copy.generate()
    checked = project_copy.toolcast("check")
    assert checked.returncode == 1
    assert "examples/molecule/registry.py:" in checked.stderr
    assert checked.stderr.count("name/retired-name-used: the file still mentions") == 1


@pytest.mark.slow
@needs_jq
def test_the_action_follows_it(tmp_path: Path) -> None:
    project = tmp_path / "work"
    project.mkdir()
    git(project, "init", "--quiet", "-b", "main")
    run(project, "toolcast", "init", "--name", "demo")
    run(project, "toolcast", "generate")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "base")
    spec = project / "specs/demo/count_words.yaml"
    spec.write_text(spec.read_text().replace("section: text", "section: text  #"))
    spec.write_text(spec.read_text().replace("  Pass the text itself", "  TODO: Pass"))
    run(project, "toolcast", "generate")
    runner = Runner(tmp_path, project)
    against = {**DIFF, "AGAINST": "main", "FAIL_ON": "none"}
    assert runner.run("Check and diff", against)[0] == 0
    assert runner.outputs["code"] == "1"
    config = project / "toolcast.yaml"
    config.write_text(config.read_text().replace("fail_on: warning", "fail_on: error"))
    assert runner.run("Check and diff", against)[0] == 0
    assert runner.outputs["code"] == "0"
