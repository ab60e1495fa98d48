"""Folders inside a toolset's folder: their specs are read, or a finding names them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.output.conftest import read_outputs

Make = Callable[..., Any]
SPEC = "summary: Do nothing.\nparameters: {type: object}\nhandler: handlers.toy:work\n"


@pytest.fixture
def project(make_project: Make) -> Any:
    """Return a generated project with two tools."""
    project_ = make_project(
        {"first": SPEC, "second": SPEC},
        toolset="targets: {registry: {}}\n",
        handlers="def work() -> None: ...\n",
    )
    project_.generate()
    return project_


def test_tool_spec_moved_to_a_subfolder_changes_only_the_spec_path_in_its_outputs(
    project: Any,
) -> None:
    before = read_outputs(project.root)
    (project.root / "specs/toy/group/deeper").mkdir(parents=True)
    os.rename(
        project.root / "specs/toy/second.yaml",
        project.root / "specs/toy/group/deeper/second.yaml",
    )
    project.generate()
    after = read_outputs(project.root)
    assert after.keys() == before.keys()
    changed = {path for path in after if after[path] != before[path]}
    assert changed == {"toy/tools/second.json", "toy/tools/second.py"}
    definition = after["toy/tools/second.json"].decode()
    assert "by Toolcast from specs/toy/group/deeper/second.yaml." in definition
    assert project.toolcast("check").returncode == 0


def test_check_reports_a_tool_that_specs_in_two_folders_define(project: Any) -> None:
    for folder in ("one", "one/two"):
        project.write(f"specs/toy/{folder}/second.yaml", f"name: second\n{SPEC}")
    output = project.toolcast("check").stderr
    message = (
        ":1:7: error: spec/duplicate-tool: the tool `second` is defined twice, first"
    )
    assert f"specs/toy/one/second.yaml{message} in specs/toy/second.yaml" in output
    assert f"specs/toy/one/two/second.yaml{message} in" in output


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (".drafts/other.yaml", "specs in specs/toy/.drafts/ are not read: other.yaml"),
        ("a/.b/other.yaml", "specs in specs/toy/a/.b/ are not read: other.yaml"),
        ("a/definitions.yaml", "shared definitions must be in specs/toy/definitions."),
        ("a/mcp_resources/b.yaml", "specs in specs/toy/a/mcp_resources/ are not read"),
    ],
)
def test_generate_fails_and_writes_nothing_if_a_spec_is_in_a_hidden_or_reserved_subfolder(
    project: Any, path: str, message: str
) -> None:
    before = read_outputs(project.root)
    project.write(f"specs/toy/{path}", "name: other\n")
    done = project.toolcast("generate")
    assert done.returncode == 1
    assert f"error: spec/unread-sub-folder: {message}" in done.stderr
    assert read_outputs(project.root) == before


@pytest.mark.parametrize(("count", "more"), [(3, ""), (4, " and 1 more")])
def test_check_reports_specs_in_a_hidden_folder_together_and_names_three(
    project: Any, count: int, more: str
) -> None:
    for number in range(count):
        project.write(f"specs/toy/.group/t{number}.yaml", "name: x\n")
    output = project.toolcast("check").stderr
    assert output.count("spec/unread-sub-folder: ") == 1
    assert f" are not read: t0.yaml, t1.yaml, t2.yaml{more}\n" in output


def test_check_reports_1001_subfolders_in_a_toolset_folder_as_too_many(
    project: Any,
) -> None:
    for number in range(1001):
        (project.root / f"specs/toy/folder_{number}").mkdir()
    output = project.toolcast("check").stderr
    assert "there are more than 1000 folders below specs/toy/" in output
    (project.root / "specs/toy/folder_1000").rmdir()
    assert "folders below specs/toy/" not in project.toolcast("check").stderr


def test_rename_and_remove_change_a_tool_spec_in_a_subfolder(project: Any) -> None:
    spec = project.root / "specs/toy/group/second.yaml"
    spec.parent.mkdir()
    schema = "# yaml-language-server: $schema=../../schemas/tool.schema.json\n"
    spec.write_text(f"{schema}name: second\n{SPEC}")
    (project.root / "specs/toy/second.yaml").unlink()
    assert project.toolcast("schema", "--write").returncode == 0
    assert (project.root / "specs/schemas/tool.schema.json").exists()
    project.generate()
    done = project.toolcast("rename", "second", "third")
    assert done.returncode == 0, done.stderr
    renamed = spec.with_name("third.yaml")
    assert "renamed_from: [second]" in renamed.read_text()
    assert not spec.exists()
    done = project.toolcast("new", "third")
    assert done.returncode != 0
    assert "third" in done.stderr
    project.generate()
    done = project.toolcast("remove", "third", "--without-notice", "--force")
    assert done.returncode == 0, done.stderr
    assert not renamed.exists()


def test_check_ignores_files_other_than_specs_in_a_toolset_folder(project: Any) -> None:
    for name in ("README.md", "notes/a.md", ".git/x.yaml", ".idea/a.yml", "._a.yaml"):
        project.write(f"specs/toy/{name}", "text\n")
    (project.root / "specs/toy/.#first.yaml").symlink_to("ann@host.1234")
    assert project.toolcast("check").returncode == 0


def test_check_reports_a_symlink_to_a_spec_folder(project: Any, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (project.root / "specs/toy/shared").symlink_to(tmp_path / "shared")
    done = project.toolcast("check")
    assert done.returncode == 1
    error = "error: spec/unread-sub-folder: the folder is a symbolic link"
    assert f"specs/toy/shared: {error}" in done.stderr


def test_check_reports_a_nested_toolset_until_it_is_listed(project: Any) -> None:
    project.write("specs/toy/inner/toolset.yaml", "name: inner\ntitle: Inner\n")
    output = project.toolcast("check").stderr
    assert "the toolset specs/toy/inner is not listed" in output
    project.edit("toolcast.yaml", "[specs/toy]", "[specs/toy, specs/toy/inner]")
    assert "spec/unread-sub-folder" not in project.toolcast("check").stderr


def test_check_warns_about_a_toolset_that_is_not_listed(project: Any) -> None:
    project.write("specs/other/toolset.yaml", "name: other\ntitle: Other\n")
    output = project.toolcast("check").stderr
    assert "specs/other/toolset.yaml: warning: spec/unlisted-toolset" in output


def test_second_generate_detects_a_spec_in_a_new_subfolder(project: Any) -> None:
    # In separate processes, because only these use the stamp of an earlier run.
    command = ("-m", "toolcast", "generate")
    assert project.run(*command).returncode == 0
    project.write("specs/toy/group/third.yaml", SPEC)
    assert project.run(*command).returncode == 1


@pytest.mark.parametrize("name", ["toolset.yml", "TOOLSET.YAML"])
def test_check_suggests_to_rename_toolset_yml_or_uppercase_toolset_yaml(
    project: Any, name: str
) -> None:
    toolset = project.root / "specs/toy/toolset.yaml"
    toolset.rename(toolset.with_name(name))
    errors = project.toolcast("check").stderr
    assert f"help: rename specs/toy/{name} to toolset.yaml" in errors


@pytest.mark.parametrize("name", ["toolcast.yml", "Toolcast.yaml"])
def test_check_suggests_to_rename_toolcast_yml_or_capitalized_toolcast_yaml(
    project: Any, name: str
) -> None:
    os.rename(project.root / "toolcast.yaml", project.root / name)
    done = project.toolcast("check")
    assert done.returncode == 2
    assert f"rename {name} to toolcast.yaml" in done.stderr
