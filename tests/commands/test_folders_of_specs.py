"""What lies in a toolset's folder is read, or somebody is told."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Make = Callable[..., Any]
SPEC = "summary: Do nothing.\nparameters: {type: object}\nhandler: handlers.toy:work\n"


@pytest.fixture
def project(make_project: Make) -> Any:
    """One tool in its place, generated."""
    made = make_project(
        {"first": SPEC, "second": SPEC},
        toolset="targets: {registry: {}}\n",
        handlers="def work() -> None: ...\n",
    )
    made.generate()
    return made


def contents(root: Path) -> dict[str, bytes]:
    folder = root / "generated"
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_spec_that_was_moved_into_a_sub_folder_loses_no_output(project: Any) -> None:
    before = contents(project.root)
    (project.root / "specs/toy/group").mkdir()
    os.rename(
        project.root / "specs/toy/second.yaml",
        project.root / "specs/toy/group/second.yaml",
    )
    done = project.toolcast("generate")
    assert done.returncode == 1
    assert (
        "specs/toy/group/second.yaml: error: spec/sub-folder: specs in specs/toy/group/"
        " are not read: second.yaml" in done.stderr
    )
    assert "help: move them into specs/toy/" in done.stderr
    assert contents(project.root) == before


def test_a_thousand_specs_in_a_sub_folder_are_one_finding(project: Any) -> None:
    for number in range(1000):
        project.write(f"specs/toy/group/tool_{number}.yaml", "name: x\n")
    said = project.toolcast("check").stderr
    assert said.count("spec/sub-folder: ") == 1
    assert "and 997 more" in said


def test_other_files_and_what_editors_leave_are_nobodys_concern(project: Any) -> None:
    for name in (
        "README.md",
        "notes/plan.md",
        ".git/x.yaml",
        ".idea/a.yml",
        "._a.yaml",
    ):
        project.write(f"specs/toy/{name}", "text\n")
    (project.root / "specs/toy/.#first.yaml").symlink_to("ann@host.1234")
    assert project.toolcast("check").returncode == 0


def test_a_folder_that_is_a_link_is_named(project: Any, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (project.root / "specs/toy/shared").symlink_to(tmp_path / "shared")
    done = project.toolcast("check")
    assert done.returncode == 1
    assert (
        "specs/toy/shared: error: spec/sub-folder: the folder is a link" in done.stderr
    )


def test_a_toolset_within_another_is_read_when_it_is_listed(project: Any) -> None:
    project.write("specs/toy/inner/toolset.yaml", "name: inner\ntitle: Inner\n")
    assert (
        "the toolset specs/toy/inner is not listed" in project.toolcast("check").stderr
    )
    project.edit("toolcast.yaml", "[specs/toy]", "[specs/toy, specs/toy/inner]")
    assert "spec/sub-folder" not in project.toolcast("check").stderr


def test_a_toolset_that_is_taken_from_the_list_is_told(project: Any) -> None:
    project.write("specs/other/toolset.yaml", "name: other\ntitle: Other\n")
    said = project.toolcast("check").stderr
    assert "specs/other/toolset.yaml: warning: spec/unlisted-toolset" in said


def test_a_run_that_is_repeated_sees_a_new_sub_folder(project: Any) -> None:
    # In processes of their own: only these remember an earlier run.
    words = ("-m", "toolcast", "generate")
    assert project.run(*words).returncode == 0
    project.write("specs/toy/group/third.yaml", SPEC)
    assert project.run(*words).returncode == 1


@pytest.mark.parametrize("name", ["toolset.yml", "Toolset.yaml", "TOOLSET.YAML"])
def test_a_misnamed_toolset_file(project: Any, name: str) -> None:
    os.rename(
        project.root / "specs/toy/toolset.yaml", project.root / f"specs/toy/{name}"
    )
    said = project.toolcast("check").stderr
    assert f"help: rename specs/toy/{name} to toolset.yaml" in said


@pytest.mark.parametrize("name", ["toolcast.yml", "Toolcast.yaml"])
def test_a_misnamed_file_of_the_project(project: Any, name: str) -> None:
    os.rename(project.root / "toolcast.yaml", project.root / name)
    done = project.toolcast("check")
    assert done.returncode == 2
    assert f"rename {name} to toolcast.yaml" in done.stderr
