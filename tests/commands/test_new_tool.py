"""`toolcast new`: a draft tool that generates, with findings for missing texts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import yaml

from tests.commands.run_module import run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    run(tmp_path, "toolcast", "init", "--name", "demo")
    return tmp_path


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.slow
def test_toolcast_new_draft_generates_and_check_reports_only_todo_warnings(
    project: Path, mypy_cache: str
) -> None:
    before = read_files(project)
    command = ("toolcast", "new", "get_weather", "--section", "text")
    output = run(project, *command).stdout
    added = ["specs/demo/get_weather.yaml", "handlers/get_weather.py"]
    assert all(f"wrote {path}\n" in output for path in added)
    assert read_files(project).keys() - before.keys() == set(added)
    assert "Next:" in output and "decide" not in output
    schema = (project / added[0]).read_text().partition("\n")[0].partition("=")[2]
    assert (project / "specs/demo" / schema.partition("#")[0]).is_file()
    run(project, "toolcast", "generate")
    done = run(project, "toolcast", "check", "--fail-on", "error")
    rows = [row for row in done.stderr.splitlines() if row.startswith("specs/")]
    assert rows and all(": warning: prompt/todo: " in row for row in rows)
    run(project, "black", "--check", "--quiet", ".")
    # tests/packaging checks the other generated modules, which takes mypy much longer.
    folders = ("handlers", "generated/demo/tools")
    run(project, "mypy", "--cache-dir", mypy_cache, *folders)
    done_call = run(project, "generated.demo.cli", "get-weather", "x", expect=1)
    assert "not implemented yet" in done_call.stderr


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("get weather!", "did you mean `get_weather`?"),
        ("", "is not a valid tool name"),
        ("../../evil", "is not a valid tool name"),
        ("a" * 129, "is not a valid tool name"),
        ("count_words", "already has a tool `count_words`"),
        ("Count-Words", "would have the same module"),
    ],
)
def test_toolcast_new_with_an_invalid_tool_name_exits_with_2_and_writes_nothing(
    project: Path, name: str, error: str
) -> None:
    before = read_files(project)
    done = run(project, "toolcast", "new", "--", name, expect=2)
    assert error in done.stderr
    assert read_files(project) == before


def test_toolcast_new_accepts_keywords_and_128_characters_as_name(
    project: Path,
) -> None:
    for name in ("no", "1.5", "x.y", "class", "test_it", "a" * 128):
        run(project, "toolcast", "new", name)
    run(project, "toolcast", "generate")
    run(project, "black", "--check", "--quiet", "handlers")


def test_toolcast_new_does_not_overwrite_an_existing_handler(project: Path) -> None:
    (project / "handlers" / "get_weather.py").write_text("mine = True\n")
    before = read_files(project)
    done = run(project, "toolcast", "new", "get_weather", expect=2)
    assert "\n  handlers/get_weather.py\n" in done.stderr
    assert read_files(project) == before


def test_toolcast_new_with_two_toolsets_or_sections_requires_the_option_that_selects_one(
    project: Path,
) -> None:
    shutil.copytree(project / "specs/demo", project / "specs/other")
    toolset = project / "specs/other/toolset.yaml"
    text = toolset.read_text().replace("name: demo", "name: other")
    two_sections = "sections:\n  more:\n    heading: More\n"
    toolset.write_text(text.replace("sections:\n", two_sections))
    workspace = project / "toolcast.yaml"
    toolsets = "  - specs/demo\n  - specs/other"
    workspace.write_text(workspace.read_text().replace("  - specs/demo", toolsets))
    for options, error in (
        ("", "`--toolset` with one of `demo` and `other`"),
        ("--toolset othr", "did you mean `other`?"),
        ("--toolset other", "`--section` with one of `more` and `text`"),
        ("--toolset other --section txt", "did you mean `text`?"),
    ):
        done = run(project, "toolcast", "new", "x", *options.split(), expect=2)
        assert error in done.stderr


def test_new_draft_has_no_handler_cli_or_section_key_if_its_toolset_has_none(
    project: Path,
) -> None:
    shutil.rmtree(project / "specs/demo")
    (project / "specs/demo").mkdir()
    toolset = "name: demo\ntitle: Demo\ntargets:\n  registry: {}\n"
    (project / "specs/demo/toolset.yaml").write_text(toolset)
    output = run(project, "toolcast", "new", "x").stdout
    assert "add a `handlers` package to specs/demo/toolset.yaml" in output
    spec = (project / "specs/demo/x.yaml").read_text()
    assert list(yaml.safe_load(spec)) == [
        "name",
        "description",
        "parameters",
        "examples",
    ]
    assert "yaml-language-server" not in spec
    run(project, "toolcast", "generate")


def test_toolcast_new_creates_a_missing_handlers_package(project: Path) -> None:
    toolset = project / "specs/demo/toolset.yaml"
    text = toolset.read_text().replace(
        "\nhandlers: handlers\n", "\nhandlers: our.tools\n"
    )
    toolset.write_text(text)
    os.unlink(project / "specs/demo/count_words.yaml")
    output = run(project, "toolcast", "new", "x").stdout
    assert "wrote our/__init__.py\nwrote our/tools/__init__.py\n" in output
    run(project, "toolcast", "generate")


def test_new_writes_nothing_if_another_spec_has_an_error(project: Path) -> None:
    spec = project / "specs/demo/count_words.yaml"
    spec.write_text(spec.read_text().replace("title:", "titel:"))
    done = run(project, "toolcast", "new", "x", expect=1)
    assert "did you mean `title`?" in done.stderr
    assert not (project / "specs/demo/x.yaml").exists()
