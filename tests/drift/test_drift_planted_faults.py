"""Each way in which outputs drifted from their specs is planted, and found or impossible.

Once `toolcast check` names the file; once the generated tests alone fail, in plain pytest. They
run `check` themselves, and besides that hold the definitions to the specs and each live consumer
to the definitions: `test_hand_edits.py` has what is found so, without the generator.

Of the drifts that real projects had, these cannot be written any more:

* server-lacks-a-tool, server-has-a-tool-of-its-own, wrapper-dropped, keyword-dropped,
  keyword-of-no-tool, command-dropped: no module lists the tools. The server, the wrappers and
  the commands are made from the registry, whose list is the folder `tools/`; to drop a tool or
  to add one is to delete or to add files, which is planted below.
* registered-tool-without-dispatch: there is no table of handlers. A definition names its own.
* lists-show-another-schema, lists-are-torn: what is listed, what calls are checked by and what
  is committed is one file. Torn, it does not load, which is planted below.
* fixture-changed: there is no fixture besides the definition.
* server-lists-in-another-order: the order comes from the definitions. What a client may have
  is said in `registry.py` alone; edited there, `check` finds it, as below.

The others are found: description-changed, argument-renamed, schema-loosened, enum-shortened,
the four deleted lines of the CLI block, old-name-in-a-block, paragraph-removed, bullet-removed,
bullet-missing-in-the-preamble and block-edited.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import toolcast
from tests.conftest import CACHES, Project
from tests.forked import Forks, forks, modules_of
from toolcast_runtime import RUNTIME_LEVEL

ROOT = Path(__file__).parents[2]
K = "generated/kirishima"
M = "generated/molecule"
SPECS = ("specs/kirishima", "specs/molecule")
QUICK = "not tools_list and not langchain and not check"
CHECK = "toolcast_check_passes"


@dataclass(frozen=True)
class Fault:
    """An edit, and what the generated tests say of it."""

    id: str
    file: str
    old: str
    new: str
    says: tuple[str, ...]
    tests: str = QUICK


def edited(id: str, file: str, old: str, new: str) -> Fault:
    """A fault that `check`, run by the tests, finds, whatever else does."""
    return Fault(id, file, old, new, (file, "output/"), CHECK)


FAULTS = [
    # -- a tool is not what its spec says
    edited(
        "description-changed",
        f"{K}/tools/smarthome.json",
        '"description": "Ask the house for something in plain words: switch',
        '"description": "Ask the home for something in plain words: switch',
    ),
    edited(
        "argument-renamed", f"{K}/tools/smarthome.json", '"device": {', '"gadget": {'
    ),
    edited(
        "schema-loosened",
        f"{K}/tools/smarthome.json",
        '      "required": ["user_request"],\n',
        "",
    ),
    edited(
        "enum-shortened",
        f"{M}/tools/recall_memory.json",
        '["LOCAL", "TEAM", "GLOBAL", ""]',
        '["LOCAL", "TEAM", ""]',
    ),
    Fault(
        "example-that-does-not-fit",
        f"{K}/tools/smarthome.json",
        '      "required": ["user_request"],\n',
        '      "required": ["user_request", "device", "room"],\n',
        ("smarthome: example 1: `device` is required",),
    ),
    edited(
        "client-may-have-less",
        f"{K}/registry.py",
        'allow=("github_issue", "get_personality")',
        'allow=("get_personality",)',
    ),
    edited(
        "handler-of-another-tool",
        f"{K}/tools/smarthome.json",
        "examples.kirishima.smarthome:smarthome",
        "examples.kirishima.memory:memory",
    ),
    # -- what does not load
    Fault(
        "handler-from-anywhere",
        f"{K}/tools/smarthome.json",
        "examples.kirishima.smarthome:smarthome",
        "os:system",
        ("the handler `os:system` of `smarthome` is refused",),
    ),
    Fault(
        "definition-is-torn",
        f"{K}/tools/smarthome.json",
        '  "summary": "Ask the house',
        '<<<<<<< HEAD\n  "summary": "Ask the house',
        ("smarthome.json has the marks of a merge conflict",),
    ),
    Fault(
        "definition-of-another-name",
        f"{K}/tools/smarthome.json",
        '    "name": "smarthome",',
        '    "name": "memory",',
        ("generated from the spec `smarthome` and defines `memory`",),
    ),
    Fault(
        "runtime-of-another-level",
        f"{K}/__init__.py",
        f"require_level({RUNTIME_LEVEL}, ",
        "require_level(99, ",
        ("is generated for runtime level 99",),
    ),
    # -- a consumer shows something else than the definitions
    Fault(
        "server-shows-less",
        f"{K}/mcp_server.py",
        "\nif __name__",
        '\nREGISTRY.local_tools[0].exclusions["mcp"] = "x"\n\nif __name__',
        ("MCP for internal differs", '-  "get_personality"'),
    ),
    Fault(
        "wrappers-show-less",
        f"{K}/langchain_tools.py",
        "\nget_langchain_tools = ",
        "\nLANGCHAIN_TOOLS.all = lambda client: []\nget_langchain_tools = ",
        ("LangChain for internal differs", '-  "memory"'),
        "langchain_wraps",
    ),
    Fault(
        "wire-shows-something-else",
        f"{K}/mcp_server.py",
        "if __name__ ==",
        'REGISTRY.get_tool("memory", "internal").definition["title"] = "x"\n'
        'object.__setattr__(REGISTRY.get_tool("memory", "internal"), "source", None)\n'
        "if __name__ ==",
        ("tools/list for internal: memory differs", '+  "title": "x"'),
        "tools_list and internal and 2026",
    ),
    Fault(
        "commands-show-less",
        f"{M}/cli.py",
        "\nif __name__",
        '\nmain._commands = [c for c in main._commands if c.keyword != "peers"]\n\nif __name__',
        ("the commands for None differs", '-  "peers"', "peers: "),
    ),
    # -- the command line's block
    *(
        Fault(
            f"line-of-{keyword.replace(' ', '')}-deleted",
            f"{M}/prompts/cli.md",
            f"  python -m generated.molecule.cli {keyword}{after}",
            f"  (gone: delegate status peers info){after}",
            (
                f"-  python -m generated.molecule.cli {keyword}",
                "prompts/cli.md differs",
            ),
        )
        for keyword, after in (
            ("peers", "   "),
            ("delegate", " <workspace_id> <task...>"),
            ("delegate --async", " <"),
            ("status", " <"),
        )
    ),
    # -- the prompt
    Fault(
        "old-name-in-a-block",
        f"{M}/prompts/section_a2a.md",
        "Access control:",
        "Never call delegate_to_workspace. Access control:",
        ("prompts/section_a2a.md differs", "+Never call delegate_to_workspace."),
    ),
    Fault(
        "paragraph-removed",
        f"{K}/prompts/section_home.md",
        "Send one request at a time, short and complete",
        "Send requests",
        ("prompts/section_home.md differs", "-Send one request at a time"),
    ),
    Fault(
        "bullet-removed",
        f"{K}/prompts/section_home.md",
        "- **smarthome**: Ask the house for something, in plain words.\n",
        "",
        ("prompts/section_home.md differs", "-- **smarthome**: Ask the house"),
    ),
    Fault(
        "bullet-missing-in-the-preamble",
        f"{K}/prompts/preamble.md",
        "- **smarthome**: Ask the house for something, in plain words.\n",
        "",
        ("prompts/preamble.md differs", "-- **smarthome**: Ask the house"),
    ),
    Fault(
        "block-edited",
        f"{K}/prompts/section_home.md",
        "The house that the user lives in.",
        "The house.",
        ("prompts/section_home.md differs", "+The house."),
    ),
    Fault(
        "module-says-something-else",
        f"{K}/prompts/__init__.py",
        "The house that the user lives in.",
        "The house.",
        ("prompts/section_home.md differs", "+The house that the user lives in."),
    ),
    Fault(
        "definition-says-something-else",
        f"{K}/tools/smarthome.json",
        '"Send one request at a time, short and complete',
        '"Send requests',
        ("prompts/section_home.md differs", "+Send one request at a time"),
    ),
]


@pytest.fixture(scope="module")
def plain_pytest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    runtime = ("cli", "langchain", "mcp.sdk_server", "testing")
    loaded = ["pytest", *(f"toolcast_runtime.{name}" for name in runtime)]
    loaded += modules_of(toolcast)
    with forks(tmp_path_factory.mktemp("streams"), *loaded) as running:
        yield running


def generated_tests(runs: Forks, project: Project, folder: str, tests: str) -> Any:
    """Runs the generated tests as anybody would, without plugins."""
    words = ["pytest", "-q", f"{folder}/test_snapshots.py", "-k", tests]
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return runs.run(project.root, *words, "-p", "no:cacheprovider", env=plain)


def differing(project: Project) -> list[str]:
    """The outputs that `check` names."""
    return [finding["file"] for finding in findings(project)]


def findings(project: Project) -> list[dict[str, Any]]:
    checked = project.toolcast("check", "--format", "json")
    assert checked.returncode == 1
    found = json.loads(checked.stdout)["findings"]
    return [one for one in found if one["rule"].startswith("output/")]


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The two toolsets that need no extension, outputs in git's index."""
    workspace = f"version: 1\ntoolsets: [{', '.join(SPECS)}]\n"
    project = Project(tmp_path_factory.mktemp("drift") / "copy")
    project.write("toolcast.yaml", workspace)
    for folder in (*SPECS, K, M, "examples"):
        shutil.copytree(ROOT / folder, project.root / folder, ignore=CACHES)
    shutil.copy(ROOT / "generated/__init__.py", project.root / "generated")
    git(project, "init", "--quiet")
    git(project, "add", "--force", "generated")
    return project


def git(project: Project, *words: str) -> None:
    subprocess.run(["git", *words], cwd=project.root, check=True)


@pytest.fixture
def copy(clone: Project) -> Iterator[Project]:
    """The same for each test, whatever it does to the outputs."""
    yield clone
    git(clone, "clean", "-dfxq", "generated")
    git(clone, "checkout", "--quiet", "generated")


# Of those that are told alike, one is tried at once.
_LIKE_OTHERS = {
    "line-of-delegate-deleted",
    "line-of-delegate--async-deleted",
    "line-of-status-deleted",
    "paragraph-removed",
    "bullet-removed",
    "block-edited",
    "schema-loosened",
    "enum-shortened",
    "line-of-peers-deleted",
    "bullet-missing-in-the-preamble",
    "definition-of-another-name",
    "module-says-something-else",
    "commands-show-less",
    "wrappers-show-less",
}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            fault,
            id=fault.id,
            # Those that only the generated tests see are found by running them.
            marks=(
                [pytest.mark.slow]
                if fault.id in _LIKE_OTHERS or fault.tests != CHECK
                else []
            ),
        )
        for fault in FAULTS
    ],
)
def test_a_planted_fault_is_found(
    copy: Project, plain_pytest: Forks, fault: Fault
) -> None:
    copy.edit(fault.file, fault.old, fault.new)
    assert differing(copy) == [fault.file]
    if fault.tests != CHECK:
        assert_that_tests_find(fault, copy, plain_pytest)


# Where the tests run `check`, a fault that is found so is found as all of them are.
@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.id, marks=pytest.mark.slow if number else ())
        for number, fault in enumerate(f for f in FAULTS if f.tests == CHECK)
    ],
)
def test_the_tests_run_check(copy: Project, plain_pytest: Forks, fault: Fault) -> None:
    copy.edit(fault.file, fault.old, fault.new)
    assert_that_tests_find(fault, copy, plain_pytest)


def assert_that_tests_find(fault: Fault, project: Project, runs: Forks) -> None:
    folder = "/".join(fault.file.split("/")[:2])
    tested = generated_tests(runs, project, folder, fault.tests)
    assert tested.returncode in (1, 2), tested.stdout + tested.stderr
    for text in fault.says:
        assert text in tested.stdout, tested.stdout


def types_deleted(project: Project) -> str:
    (project.root / K / "tools/memory.py").unlink()
    return "memory.json exists without memory.py"


def definition_deleted(project: Project) -> str:
    (project.root / K / "tools/memory.json").unlink()
    return "memory.py exists without memory.json"


def tool_deleted(project: Project) -> str:
    types_deleted(project), definition_deleted(project)
    return "prompts/section_memory.md differs"


def foreign_tool_added(project: Project) -> str:
    (project.root / K / "tools/ghost.py").touch()
    project.write(f"{K}/tools/ghost.json", '{"name": "ghost"}\n')
    return "ghost.json does not have Toolcast's signature"


def every_tool_deleted(project: Project) -> str:
    for path in (project.root / K / "tools").iterdir():
        if path.name != "__init__.py":
            path.unlink()
    return "test_registry_contains_all_tools"


@pytest.mark.parametrize(
    "plant",
    [
        types_deleted,
        pytest.param(definition_deleted, marks=pytest.mark.slow),
        pytest.param(tool_deleted, marks=pytest.mark.slow),
        pytest.param(foreign_tool_added, marks=pytest.mark.slow),
        pytest.param(every_tool_deleted, marks=pytest.mark.slow),
    ],
)
def test_a_tool_that_is_not_whole_is_found(
    copy: Project, plain_pytest: Forks, plant: Callable[[Any], str]
) -> None:
    says = plant(copy)
    assert differing(copy)
    tested = generated_tests(plain_pytest, copy, K, QUICK)
    assert tested.returncode in (1, 2), tested.stdout + tested.stderr
    assert says in tested.stdout


def test_without_a_fault_both_are_content(copy: Project, plain_pytest: Forks) -> None:
    checked = copy.toolcast("check")
    assert checked.returncode == 0, checked.stderr
    for folder in (K, M):
        tested = generated_tests(plain_pytest, copy, folder, f"({QUICK}) or {CHECK}")
        assert tested.returncode == 0, tested.stdout


def test_check_names_the_file_and_the_way_out(copy: Project) -> None:
    copy.edit(f"{K}/mcp_server.py", 'name="kirishima"', 'name="k"')
    [finding] = findings(copy)
    assert finding["file"] == f"{K}/mcp_server.py"
    assert "toolcast generate" in finding["help"]
