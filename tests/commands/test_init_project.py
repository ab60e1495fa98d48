"""`toolcast init` in an empty folder: the new project generates, checks and runs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.commands.run_module import run
from tests.git_command import run_git
from tests.mcp.servers import stdio_server
from tests.output.conftest import read_outputs


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a new, generated project."""
    folder = tmp_path_factory.mktemp("somewhere") / "Text tools"
    run(folder.parent, "toolcast", "init", "Text tools")
    run(folder, "toolcast", "generate")
    return folder


@pytest.mark.parametrize(
    ("folder", "typed"), [("deep/tools", "deep/tools"), ("my $tools", "'my $tools'")]
)
def test_init_prints_cd_generate_and_new_as_next_steps(
    tmp_path: Path, folder: str, typed: str
) -> None:
    output = run(tmp_path, "toolcast", "init", folder).stdout
    assert f"cd {typed}\n" in output
    assert "make generate" in output
    assert "toolcast new" in output


@pytest.mark.parametrize(
    ("direct_url", "is_named"),
    [
        ('{"url": "file://FOLDER/a%20b.whl"}', True),
        ('{"url": "file://FOLDER/", "dir_info": {"editable": true}}', True),
        ('{"url": "file://FOLDER/gone.whl"}', False),
        ('{"url": "https://example.org/a.whl"}', False),
        (None, False),
    ],
)
def test_find_install_source_returns_a_locally_installed_wheels_folder(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    direct_url: str | None,
    is_named: bool,
) -> None:
    """A new project cannot install Toolcast from an index if it came from a local file."""
    import importlib.metadata

    from toolcast.commands.init.init import find_install_source

    wheel = tmp_path / "a b.whl"
    wheel.touch()

    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return direct_url and direct_url.replace("FOLDER", str(tmp_path))

    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Installed())
    found = find_install_source()
    assert (found and Path(found)) == (tmp_path if is_named else None)


def test_check_in_a_new_project_reports_only_the_unbuilt_wheel(project: Path) -> None:
    done = run(project, "toolcast", "check", "--format", "json")
    rules = [finding["rule"] for finding in json.loads(done.stdout)["findings"]]
    # Only `check --preflight` builds the wheel.
    assert rules == ["output/unknown-wheel"]


def test_project_code_created_by_init_is_formatted_by_black(project: Path) -> None:
    run(project, "black", "--check", "--quiet", ".")


def test_project_code_created_by_init_passes_ruffs_defaults(project: Path) -> None:
    run(project, "ruff", "check", "--isolated", "--no-cache", ".")


def test_new_project_has_at_most_14_generated_files_with_700_lines(
    project: Path,
) -> None:
    files = read_outputs(project)
    assert len(files) <= 14
    assert sum(text.count(b"\n") for text in files.values()) <= 700


def test_second_tool_adds_two_files_and_changes_cli_and_prompts(tmp_path: Path) -> None:
    run(tmp_path, "toolcast", "init", "--name", "text_tools")
    run(tmp_path, "toolcast", "generate")
    before = read_outputs(tmp_path)
    run(tmp_path, "toolcast", "new", "get_weather")
    run(tmp_path, "toolcast", "generate")
    after = read_outputs(tmp_path)
    folder = "text_tools/tools"
    names = ("get_weather.json", "get_weather.py")
    assert after.keys() - before.keys() == {f"{folder}/{name}" for name in names}
    changed = {path for path in before if before[path] != after[path]}
    prompts = {f"prompts/{name}.md" for name in ("cli", "preamble", "section_text")}
    assert changed == {f"text_tools/{path}" for path in {"cli.py"} | prompts}


def test_new_project_mcp_server_lists_and_runs_its_tool(project: Path) -> None:
    with stdio_server(project, "generated.text_tools") as server:
        [tool] = server.request("tools/list")["result"]["tools"]
        result = server.call("count_words", {"text": "a bc"})["result"]
    assert tool["name"] == "count_words"
    counts = {"words": 2, "lines": 1, "characters": 4, "longest": "bc"}
    assert result["structuredContent"] == counts


@pytest.mark.slow
def test_new_project_spec_example_tests_fail_for_a_wrong_handler(
    project: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(project, broken)
    handler = broken / "handlers" / "count_words.py"
    handler.write_text(handler.read_text().replace("words=len(words)", "words=0"))
    done = run(broken, "pytest", "-q", "-p", "no:cacheprovider", "tests", expect=1)
    assert "2 failed" in done.stdout and "skipped" not in done.stdout


def test_init_workflow_runs_make_check_diff_test_and_types_in_this_order(
    project: Path,
) -> None:
    text = (project / ".github/workflows/toolcast.yml").read_text()
    steps = yaml.safe_load(text)["jobs"]["check"]["steps"]
    commands = "\n".join(step["run"] for step in steps if "run" in step)
    targets = re.findall(r"^make (\w+)", commands, re.MULTILINE)
    makefile = (project / "Makefile").read_text()
    assert targets == ["check", "diff", "diff", "test", "types"]
    assert all(f"\n{target}: $(STAMP)" in makefile for target in targets)


@pytest.mark.parametrize("repository", ["a new project", "this repository"])
def test_gitattributes_hide_generated_files_that_models_do_not_read_in_diffs(
    repository: str, project: Path, tmp_path: Path
) -> None:
    source = project if repository == "a new project" else Path(__file__).parents[2]
    run_git(tmp_path, "init", "-q")
    shutil.copy(source / ".gitattributes", tmp_path)
    folder = "generated/text_tools"
    paths = {
        f"{folder}/mcp_server.py": "set",
        f"{folder}/tools/count_words.py": "set",
        f"{folder}/tools/count_words.json": "unspecified",
        f"{folder}/prompts/cli.md": "unspecified",
    }
    done = subprocess.run(
        ["git", "check-attr", "linguist-generated", "eol", "--", *paths],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    attributes = dict(line.rsplit(": ", 1) for line in done.stdout.splitlines())
    for path, hidden in paths.items():
        assert attributes[f"{path}: linguist-generated"] == hidden
        assert attributes[f"{path}: eol"] == "lf"


def test_init_yaml_schema_comments_refer_to_existing_schemas(project: Path) -> None:
    files = [project / "toolcast.yaml", *project.glob("specs/*/*.yaml")]
    assert len(files) == 3
    for file in files:
        first = file.read_text().split("\n", 1)[0]
        reference = first.removeprefix("# yaml-language-server: $schema=")
        relative, _, kind = reference.partition("#/$defs/")
        schema = json.loads((file.parent / relative).read_text())
        assert schema["$id"] == "https://toolcast.dev/schema/v1/project.json"
        expected = f"https://toolcast.dev/schema/v1/{kind}.json"
        assert schema["$defs"][kind]["$id"] == expected


def test_init_with_files_at_the_same_path_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("mine\n")
    (tmp_path / "specs").write_text("a file where a folder is needed\n")
    done = run(tmp_path, "toolcast", "init", "--name", "demo", expect=2)
    assert "\n  Makefile\n" in done.stderr
    assert "\n  specs\n" in done.stderr
    help_ = "\n  help: use `toolcast init FOLDER` to create the project in a folder"
    assert help_ in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["Makefile", "specs"]
    assert (tmp_path / "Makefile").read_text() == "mine\n"


@pytest.mark.parametrize(
    ("folder", "name"),
    [("My-Tools", "my_tools"), ("2fast", "tools_2fast"), ("Ünïcode", "n_code")],
)
def test_init_derives_the_toolset_name_from_the_folder(
    tmp_path: Path, folder: str, name: str
) -> None:
    run(tmp_path, "toolcast", "init", folder)
    assert (tmp_path / folder / "specs" / name / "toolset.yaml").is_file()


@pytest.mark.parametrize("name", ["no", "on", "null", "class"])
def test_init_accepts_toolset_names_that_yaml_reads_as_booleans_or_null(
    tmp_path: Path, name: str
) -> None:
    """Python keywords are rejected."""
    expect = 2 if name == "class" else 0
    run(tmp_path, "toolcast", "init", "--name", name, expect=expect)
    if not expect:
        run(tmp_path, "toolcast", "generate")


@pytest.mark.parametrize("name", ["", "Tools", "my-tools", "handlers", "a" * 65])
def test_init_with_an_invalid_toolset_name_exits_with_2_and_writes_nothing(
    tmp_path: Path, name: str
) -> None:
    done = run(tmp_path, "toolcast", "init", "--name", name, expect=2)
    assert "--name" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_init_vscode_settings_refer_to_existing_json_schemas(project: Path) -> None:
    settings = json.loads((project / ".vscode" / "settings.json").read_text())
    schemas = settings["yaml.schemas"]
    assert all((project / name.partition("#")[0]).is_file() for name in schemas)


def test_init_does_not_change_existing_vscode_settings(tmp_path: Path) -> None:
    existing = tmp_path / ".vscode" / "settings.json"
    existing.parent.mkdir()
    existing.write_text("{}")
    run(tmp_path, "toolcast", "init", "--name", "demo")
    assert existing.read_text() == "{}"
    assert (tmp_path / "toolcast.yaml").is_file()
