"""Tools with names that would share a file or a module: each has its own spec."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.importing.imports import import_list
from tests.mcp.servers import ERAS, stdio_server
from tests.program import run_toolcast
from tests.refactoring.conftest import read_files
from toolcast_runtime.core.definitions.tool import distinct_name

NAMES = ["get-user", "get_user", "get.user", "Get_User", "getUser", "x" * 128]
SPECS = {
    "get_user.yaml": "get_user",
    "get_user_5d95c2.yaml": "get-user",
    "get_user_9c0265.yaml": "get.user",
    "get_user_660510.yaml": "Get_User",
    "getUser.yaml": "getUser",
    f"{'x' * 128}.yaml": "x" * 128,
}


def import_names(root: Path, *names: str, code: int = 0) -> str:
    """Import tools with these names and return the output."""
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    return import_list(root, tools, toolset="users", code=code)


def read_tool_names(root: Path) -> dict[str, str]:
    """Return the name of each tool by the name of its spec file."""
    names = {}
    for file in sorted((root / "specs/users").glob("*.yaml")):
        if file.name != "toolset.yaml":
            lines = file.read_text("utf-8").splitlines()
            line = next(line for line in lines if "name:" in line)
            names[file.name] = line.partition(": ")[2].strip('"')
    return names


def test_tools_with_similar_names_have_distinct_spec_files(tmp_path: Path) -> None:
    output = import_names(tmp_path, *NAMES)
    assert output.count("another tool uses the file or the module of that name") == 3
    assert "`get-user` is written to specs/users/get_user_5d95c2.yaml" in output
    assert read_tool_names(tmp_path) == SPECS
    run_toolcast(tmp_path, "generate")
    folder = tmp_path / "generated/users/tools"
    stems = {path.stem for path in folder.glob("*.json")}
    assert stems == {Path(name).stem.lower() for name in SPECS}
    assert "files up to date" in run_toolcast(tmp_path, "check")
    before = read_files(tmp_path)
    assert "0 new tools, 0 changed, 6 unchanged" in import_names(tmp_path, *NAMES)
    assert read_files(tmp_path) == before


def test_spec_file_names_do_not_depend_on_the_list_order(tmp_path: Path) -> None:
    import_names(tmp_path, *reversed(NAMES))
    assert read_tool_names(tmp_path) == SPECS


def test_other_tools_do_not_change_a_spec_file_name(tmp_path: Path) -> None:
    import_names(tmp_path, "get-user")
    assert read_tool_names(tmp_path) == {"get-user.yaml": "get-user"}
    import_names(tmp_path, "get-user", "get_user")
    expected = {
        "get-user.yaml": "get-user",
        f"{distinct_name('get_user')}.yaml": "get_user",
    }
    assert read_tool_names(tmp_path) == expected
    run_toolcast(tmp_path, "generate")
    before = read_files(tmp_path / "generated")
    (tmp_path / "specs/users/get-user.yaml").unlink()
    run_toolcast(tmp_path, "generate")
    after = read_files(tmp_path / "generated")
    assert before.keys() - after.keys() == {
        "users/tools/get_user.json",
        "users/tools/get_user.py",
    }
    assert "0 changed, 1 unchanged" in import_names(tmp_path, "get_user")


def test_import_refuses_a_tool_that_overwrites_a_spec(tmp_path: Path) -> None:
    """A malicious server can list a name that equals the file name of another tool."""
    import_names(tmp_path, "get_user", distinct_name("get-user"))
    before = read_files(tmp_path)
    names = ("get_user", distinct_name("get-user"), "get-user")
    output = import_names(tmp_path, *names, code=1)
    assert "error: `get-user` and another tool would have the same file" in output
    assert read_tool_names(tmp_path).keys() == {"get_user.yaml", "get_user_5d95c2.yaml"}
    assert before.keys() == read_files(tmp_path).keys()


def test_toolcast_rename_gives_the_spec_file_the_tool_name(tmp_path: Path) -> None:
    """A new name that would share a module with another tool is refused."""
    import_names(tmp_path, *NAMES)
    output = run_toolcast(tmp_path, "rename", "getUser", "get__user")
    assert "`getUser` is renamed to `get__user`" in output
    run_toolcast(tmp_path, "rename", "get-user", "fetch")
    assert read_tool_names(tmp_path)["fetch.yaml"] == "fetch"
    output = run_toolcast(tmp_path, "rename", "fetch", "GET-user", code=1)
    assert "would have the same module `get_user`" in output
    run_toolcast(tmp_path, "generate")
    assert "files up to date" in run_toolcast(tmp_path, "check")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate a project with a tool of each name."""
    root = tmp_path_factory.mktemp("names")
    import_names(root, *NAMES)
    run_toolcast(root, "generate")
    return root


@pytest.mark.slow
@pytest.mark.parametrize("version", ERAS)
def test_generated_server_lists_and_calls_tools_with_similar_names(
    project: Path, version: str
) -> None:
    expected: list[Mapping[str, Any]] = json.loads((project / "list.json").read_text())
    with stdio_server(project, "generated.users", era=version) as server:
        assert json.dumps(server.request("tools/list")["result"]["tools"]) == (
            json.dumps(expected)
        )
        for name in NAMES:
            [block] = server.call(name, {})["result"]["content"]
            assert block["text"].startswith(f"the tool `{name}` is not implemented")


@pytest.mark.parametrize("name", ["-rf", "-", "--help", "-x.y", "--"])
def test_spec_file_of_a_name_with_dash_gets_a_prefix(name: str, tmp_path: Path) -> None:
    """Otherwise `rm *` in the folder reads the file's name as an option."""
    import_names(tmp_path, name)
    assert read_tool_names(tmp_path) == {f"tool_{name}.yaml": name}
