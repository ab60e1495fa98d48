"""Tools whose names give one file or one module are imported all the same, each into its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.mcp.servers import ERAS, stdio_server
from tests.program import toolcast
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


def run(root: Path, *words: str, code: int = 0) -> str:
    done = toolcast(root, *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def given(root: Path, *names: str) -> list[dict[str, Any]]:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    (root / "list.json").write_text(json.dumps(tools), "utf-8")
    return tools


def imported(root: Path, *names: str) -> str:
    given(root, *names)
    return run(root, "import", "list.json", "--toolset", "users")


def specs(root: Path) -> dict[str, str]:
    """The tools' names by the names of their files."""
    found = {}
    for file in sorted((root / "specs/users").glob("*.yaml")):
        if file.name != "toolset.yaml":
            line = next(x for x in file.read_text("utf-8").splitlines() if "name:" in x)
            found[file.name] = line.partition(": ")[2].strip('"')
    return found


def test_each_tool_has_files_of_its_own(tmp_path: Path) -> None:
    said = imported(tmp_path, *NAMES)
    assert said.count("another tool uses the file or the module of that name") == 3
    assert "`get-user` is written to specs/users/get_user_5d95c2.yaml" in said
    assert specs(tmp_path) == SPECS
    run(tmp_path, "generate")
    folder = tmp_path / "generated/users/tools"
    stems = {path.stem for path in folder.glob("*.json")}
    assert stems == {Path(name).stem.lower() for name in SPECS}
    assert "files up to date" in run(tmp_path, "check")


def test_a_second_import_changes_nothing(tmp_path: Path) -> None:
    imported(tmp_path, *NAMES)
    before = read_files(tmp_path)
    assert "0 new tools, 0 changed, 6 unchanged" in imported(tmp_path, *NAMES)
    assert read_files(tmp_path) == before


def test_files_do_not_depend_on_the_order_of_a_list(tmp_path: Path) -> None:
    imported(tmp_path, *reversed(NAMES))
    assert specs(tmp_path) == SPECS


def test_a_tool_that_comes_or_goes_changes_no_name(tmp_path: Path) -> None:
    imported(tmp_path, "get-user")
    assert specs(tmp_path) == {"get-user.yaml": "get-user"}
    imported(tmp_path, "get-user", "get_user")
    both = {
        "get-user.yaml": "get-user",
        f"{distinct_name('get_user')}.yaml": "get_user",
    }
    assert specs(tmp_path) == both
    run(tmp_path, "generate")
    before = read_files(tmp_path / "generated")
    (tmp_path / "specs/users/get-user.yaml").unlink()
    run(tmp_path, "generate")
    after = read_files(tmp_path / "generated")
    assert before.keys() - after.keys() == {
        "users/tools/get_user.json",
        "users/tools/get_user.py",
    }
    assert "0 changed, 1 unchanged" in imported(tmp_path, "get_user")


def test_names_that_are_chosen_to_have_no_file(tmp_path: Path) -> None:
    """What a hostile server lists after it saw which file a tool has."""
    imported(tmp_path, "get_user", distinct_name("get-user"))
    before = read_files(tmp_path)
    given(tmp_path, "get_user", distinct_name("get-user"), "get-user")
    said = run(tmp_path, "import", "list.json", "--toolset", "users", code=1)
    assert "error: `get-user` and another tool would have the same file" in said
    assert specs(tmp_path).keys() == {"get_user.yaml", "get_user_5d95c2.yaml"}
    assert before.keys() == read_files(tmp_path).keys()


def test_rename_takes_it_to_plain_names(tmp_path: Path) -> None:
    imported(tmp_path, *NAMES)
    said = run(tmp_path, "rename", "getUser", "get__user")
    assert "`getUser` is renamed to `get__user`" in said
    run(tmp_path, "rename", "get-user", "fetch")
    assert specs(tmp_path)["fetch.yaml"] == "fetch"
    said = run(tmp_path, "rename", "fetch", "GET-user", code=1)
    assert "would have the same module `get_user`" in said
    run(tmp_path, "generate")
    assert "files up to date" in run(tmp_path, "check")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("names")
    imported(root, *NAMES)
    run(root, "generate")
    return root


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_server_lists_and_calls_each(project: Path, era: str) -> None:
    wanted: list[Mapping[str, Any]] = json.loads((project / "list.json").read_text())
    with stdio_server(project, "generated.users", era=era) as server:
        assert json.dumps(server.request("tools/list")["result"]["tools"]) == (
            json.dumps(wanted)
        )
        for name in NAMES:
            [block] = server.call(name, {})["result"]["content"]
            assert block["text"].startswith(f"the tool `{name}` is not implemented")


@pytest.mark.parametrize("name", ["-rf", "-", "--help", "-x.y", "--"])
def test_names_that_look_like_options_get_a_prefix(name: str, tmp_path: Path) -> None:
    """Otherwise `rm *` in the folder reads the file's name as an option."""
    imported(tmp_path, name)
    assert specs(tmp_path) == {f"tool_{name}.yaml": name}
