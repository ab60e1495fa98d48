"""The lists of real MCP servers, imported and generated, come back exactly over both transports.

Two texts of a list are equal here when they have the same values in the same order of keys and
numbers of the same spelling; nothing absent, empty or null may take the place of another.
"""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import black
import pytest

from tests.corpus.imported import import_lists
from tests.corpus.nasty_lists import NASTY_LISTS
from tests.forked import Forks, forks
from tests.mcp.projects import generate_project
from tests.mcp.servers import ERAS, encode_requests, http_server
from toolcast.parsing.exact_json import encode_exact, read_json
from toolcast_runtime.core.definitions.tool import module_name

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODE = black.Mode(target_versions={black.TargetVersion.PY311})


def _lists() -> dict[str, str]:
    """The JSON text of every list by the name of its toolset."""
    more = os.environ.get("TOOLCAST_CORPUS")
    folders = [HERE / "mcp", HERE / "snapshots", *([Path(more)] if more else [])]
    paths = [path for folder in folders for path in sorted(folder.glob("*.json"))]
    texts = {_name(path.stem): path.read_text(encoding="utf-8") for path in paths}
    return {**texts, **NASTY_LISTS}


def _name(stem: str) -> str:
    return re.sub(r"[^a-z0-9_]", "_", stem.lower())


LISTS = _lists()


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a toolset for each list, and what is generated from it."""
    root = tmp_path_factory.mktemp("lists")
    import_lists(root, LISTS)
    generate_project(root)
    return root


# A process each; of the nasty lists one is tried at once.
_LATER = ("server_everything", *[*NASTY_LISTS][1:])
OVER_HTTP = [
    pytest.param(name, marks=[pytest.mark.slow] if name in _LATER else [])
    for name in ("notion_mcp_server", "server_everything", *NASTY_LISTS)
]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    loaded = ("toolcast_runtime.http", "toolcast_runtime.mcp.sdk_server")
    with forks(tmp_path_factory.mktemp("streams"), *loaded) as running:
        yield running


@pytest.mark.rows(8)
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("name", LISTS)
def test_stdio_server_answers_the_list_it_was_generated_from(
    workspace: Path, servers: Forks, name: str, era: str
) -> None:
    asked = encode_requests(era, ("tools/list", {}))
    ran = servers.run(workspace, f"generated.{name}.mcp_server", given=asked)
    assert ran.returncode == 0, ran.stderr
    _assert_same_tools(ran.stdout.splitlines()[-1], LISTS[name], era)


@pytest.mark.parametrize("name", OVER_HTTP)
def test_http_server_answers_the_list_it_was_generated_from(
    workspace: Path, name: str
) -> None:
    with http_server(workspace, f"generated.{name}") as server:
        for era in ERAS:
            answer = server.raw(era, "tools/list").decode()
            _assert_same_tools(answer, LISTS[name], era)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if number % 16 else ())
        for number, name in enumerate(LISTS)
    ],
)
def test_black_has_nothing_to_change_in_generated_python(
    workspace: Path, name: str
) -> None:
    for path in sorted((workspace / "generated" / name).rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        assert black.format_str(source, mode=MODE) == source, path


@pytest.mark.slow
def test_type_checker_and_linter_are_content_with_generated_python(
    workspace: Path, mypy_cache: str
) -> None:
    """Over the tools of three lists; the servers' few lines are checked with the project's."""
    names = ("server_everything", "mcp_server_sqlite", "nasty_keys")
    folders = [f"generated/{name}/tools" for name in names]
    shutil.copy(ROOT / "pyproject.toml", workspace)
    for command in (["ruff", "check"], ["mypy", "--cache-dir", mypy_cache]):
        run = subprocess.run(
            [sys.executable, "-m", *command, *folders],
            cwd=workspace,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.slow
def test_one_server_of_1271_tools(tmp_path: Path, servers: Forks) -> None:
    given = [tool for text in LISTS.values() for tool in _listed(_spelled(text))]
    tools: dict[str, Mapping[str, Any]] = {}
    for copy in itertools.count(1):
        for tool in given:
            name = f"{tool['name'][:120]}_{copy}"
            if len(tools) < 1_271:
                tools.setdefault(module_name(name), {**tool, "name": name})
        if len(tools) == 1_271:
            break
    source = encode_exact({"tools": [*tools.values()]})
    import_lists(tmp_path, {"many": source})
    generate_project(tmp_path)
    for era in ERAS:
        asked = encode_requests(era, ("tools/list", {}))
        ran = servers.run(tmp_path, "generated.many.mcp_server", given=asked)
        live = _tools(read_json(ran.stdout.splitlines()[-1])[0]["result"])
        wanted = _tools(json.loads(source), era)
        assert _by_value(live) == _by_value(wanted)


def _by_value(tools: Iterator[tuple[str, str]]) -> list[str]:
    return [json.dumps(json.loads(text)) for _, text in tools]


def _assert_same_tools(answer: str, source: str, era: str) -> None:
    """Compares tool by tool, so that a difference is shown in few lines."""
    # A number that YAML's versions read differently has one spelling in specs, and keeps its
    # value and its kind: `1E2` is 100.0.
    read = json.loads if source == NASTY_LISTS["nasty_numbers"] else _spelled
    live = list(_tools(read(answer)["result"]))
    wanted = list(_tools(read(source), era))
    assert [name for name, _ in live] == [name for name, _ in wanted], era
    for mine, theirs in zip(live, wanted, strict=True):
        assert mine == theirs, era


def _listed(value: Any) -> list[Mapping[str, Any]]:
    tools: list[Mapping[str, Any]] = (
        value if isinstance(value, list) else value["tools"]
    )
    return tools


def _tools(value: Any, era: str = ERAS[-1]) -> Iterator[tuple[str, str]]:
    """Each tool's name and its canonical text.

    The one difference between the eras: clients of the older one refuse a whole list over an
    `outputSchema` that describes no object, so it is not listed for them.

    The text keeps the order of keys, and every number as it is spelled.
    """
    for tool in _listed(value):
        shown = dict(tool)
        schema = shown.get("outputSchema")
        has_root = isinstance(schema, dict) and schema.get("type") == "object"
        if era != ERAS[-1] and not has_root:
            shown.pop("outputSchema", None)
        yield tool["name"], encode_exact(shown)


def _spelled(text: str) -> Any:
    return read_json(text)[0]
