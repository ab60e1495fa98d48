"""Outputs that differ from their specs are reported by `check` and by generated tests.

`toolcast check` reports the file. The generated tests run `check` themselves, and also compare the
definitions with the specs and each consumer with the definitions; `test_hand_edits.py` tests
that part without the generator.

Some differences that real projects had cannot occur:

* A server, wrapper or command without a tool, or for an unknown tool: no module lists the tools.
  The registry's list is the folder `tools/`, so a tool is dropped or added by deleting or
  adding files, as tested here.
* A registered tool without a handler: each definition names its handler.
* A listed schema that differs from the validated one: both are in the same file. An invalid file
  does not load, as tested here.
* A changed fixture: the definition is the only fixture.
* Another order of tools: definitions contain the order. Client lists are only in `registry.py`,
  and an edit of them is tested below.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import toolcast
from tests.conftest import CACHES, Project
from tests.forked import ForkServer, list_modules, start_fork_server
from tests.git_command import run_git
from toolcast_runtime import RUNTIME_LEVEL

ROOT = Path(__file__).parents[2]
K = "generated/kirishima"
M = "generated/molecule"
SPECS = ("specs/kirishima", "specs/molecule")
QUICK = "not tools_list and not langchain and not check"
CHECK = "toolcast_check_passes"


@dataclass(frozen=True)
class Fault:
    """An edit, with the messages of the generated tests about it."""

    id: str
    file: str
    old: str
    new: str
    messages: tuple[str, ...]
    tests: str = QUICK


def make_checked_fault(id: str, file: str, old: str, new: str) -> Fault:
    """Return a fault that `check` reports, so the generated test that runs it fails."""
    return Fault(id, file, old, new, (file, "output/"), CHECK)


FAULTS = [
    # -- a tool differs from its spec
    make_checked_fault(
        "description-changed",
        f"{K}/tools/smarthome.json",
        '"description": "Control the smart home with a request in natural language',
        '"description": "Control the house with a request in natural language',
    ),
    make_checked_fault(
        "argument-renamed", f"{K}/tools/smarthome.json", '"device": {', '"gadget": {'
    ),
    make_checked_fault(
        "schema-loosened",
        f"{K}/tools/smarthome.json",
        '      "required": ["user_request"],\n',
        "",
    ),
    make_checked_fault(
        "enum-shortened",
        f"{M}/tools/recall_memory.json",
        '["LOCAL", "TEAM", "GLOBAL", ""]',
        '["LOCAL", "TEAM", ""]',
    ),
    Fault(
        "invalid-example",
        f"{K}/tools/smarthome.json",
        '      "required": ["user_request"],\n',
        '      "required": ["user_request", "device", "room"],\n',
        ("smarthome: example 1: `device` is required",),
    ),
    make_checked_fault(
        "client-list-shortened",
        f"{K}/registry.py",
        'allow=("github_issue", "get_personality")',
        'allow=("get_personality",)',
    ),
    make_checked_fault(
        "handler-of-another-tool",
        f"{K}/tools/smarthome.json",
        "examples.kirishima.smarthome:smarthome",
        "examples.kirishima.memory:memory",
    ),
    # -- definitions that do not load
    Fault(
        "handler-outside-the-package",
        f"{K}/tools/smarthome.json",
        "examples.kirishima.smarthome:smarthome",
        "os:system",
        ("the handler `os:system` of `smarthome` is refused",),
    ),
    Fault(
        "definition-with-merge-conflict",
        f"{K}/tools/smarthome.json",
        '  "summary": "Send a request',
        '<<<<<<< HEAD\n  "summary": "Send a request',
        ("smarthome.json has the marks of a merge conflict",),
    ),
    Fault(
        "definition-with-another-name",
        f"{K}/tools/smarthome.json",
        '    "name": "smarthome",',
        '    "name": "memory",',
        ("generated from the spec `smarthome` and defines `memory`",),
    ),
    Fault(
        "other-runtime-level",
        f"{K}/__init__.py",
        f"require_level({RUNTIME_LEVEL}, ",
        "require_level(99, ",
        ("is generated for runtime level 99",),
    ),
    # -- a consumer differs from the definitions
    Fault(
        "tool-missing-in-server",
        f"{K}/mcp_server.py",
        "\nif __name__",
        '\nREGISTRY.local_tools[0].exclusions["mcp"] = "x"\n\nif __name__',
        ("MCP for internal differs", '-  "get_personality"'),
    ),
    Fault(
        "tools-missing-in-langchain",
        f"{K}/langchain_tools.py",
        "\nget_langchain_tools = ",
        "\nLANGCHAIN_TOOLS.all = lambda client: []\nget_langchain_tools = ",
        ("LangChain for internal differs", '-  "memory"'),
        "langchain_wraps",
    ),
    Fault(
        "tools-list-differs",
        f"{K}/mcp_server.py",
        "if __name__ ==",
        'REGISTRY.get_tool("memory", "internal").definition["title"] = "x"\n'
        'object.__setattr__(REGISTRY.get_tool("memory", "internal"), "source", None)\n'
        "if __name__ ==",
        ("tools/list for internal: memory differs", '+  "title": "x"'),
        "tools_list and internal and 2026",
    ),
    Fault(
        "command-missing",
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
        "Send one short, complete request per call",
        "Send requests",
        ("prompts/section_home.md differs", "-Send one short, complete request"),
    ),
    Fault(
        "bullet-removed",
        f"{K}/prompts/section_home.md",
        "- **smarthome**: Send a request in natural language to the smart home.\n",
        "",
        ("prompts/section_home.md differs", "-- **smarthome**: Send a request"),
    ),
    Fault(
        "bullet-missing-in-the-preamble",
        f"{K}/prompts/preamble.md",
        "- **smarthome**: Send a request in natural language to the smart home.\n",
        "",
        ("prompts/preamble.md differs", "-- **smarthome**: Send a request"),
    ),
    Fault(
        "block-edited",
        f"{K}/prompts/section_home.md",
        "The user's smart home.",
        "The house.",
        ("prompts/section_home.md differs", "+The house."),
    ),
    Fault(
        "prompts-module-edited",
        f"{K}/prompts/__init__.py",
        "The user's smart home.",
        "The house.",
        ("prompts/section_home.md differs", "+The user's smart home."),
    ),
    Fault(
        "usage-edited-in-definition",
        f"{K}/tools/smarthome.json",
        '"Send one short, complete request per call',
        '"Send requests',
        ("prompts/section_home.md differs", "+Send one short, complete request"),
    ),
]


@pytest.fixture(scope="module")
def pytest_runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ForkServer]:
    """Start a process that has imported pytest and the runtime, for forks."""
    runtime = ("cli", "langchain", "mcp.sdk_server", "testing")
    modules = ["pytest", *(f"toolcast_runtime.{name}" for name in runtime)]
    modules += list_modules(toolcast)
    with start_fork_server(tmp_path_factory.mktemp("streams"), *modules) as runner:
        yield runner


def run_tests(runner: ForkServer, project: Project, folder: str, tests: str) -> Any:
    """Run the generated tests without plugins."""
    args = ["pytest", "-q", f"{folder}/test_snapshots.py", "-k", tests]
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return runner.run(project.root, *args, "-p", "no:cacheprovider", env=environment)


def list_reported_files(project: Project) -> list[str]:
    """Return the outputs that `check` reports."""
    return [finding["file"] for finding in list_output_findings(project)]


def list_output_findings(project: Project) -> list[dict[str, Any]]:
    result = project.toolcast("check", "--format", "json")
    assert result.returncode == 1
    findings = json.loads(result.stdout)["findings"]
    return [finding for finding in findings if finding["rule"].startswith("output/")]


@pytest.fixture(scope="module")
def cloned_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Copy the two toolsets without extensions; their outputs are in git's index."""
    workspace = f"version: 1\ntoolsets: [{', '.join(SPECS)}]\n"
    project = Project(tmp_path_factory.mktemp("drift") / "copy")
    project.write("toolcast.yaml", workspace)
    for folder in (*SPECS, K, M, "examples"):
        shutil.copytree(ROOT / folder, project.root / folder, ignore=CACHES)
    shutil.copy(ROOT / "generated/__init__.py", project.root / "generated")
    run_git(project.root, "init", "--quiet")
    run_git(project.root, "add", "--force", "generated")
    return project


@pytest.fixture
def copy(cloned_project: Project) -> Iterator[Project]:
    """Return the cloned project, and restore its outputs after each test."""
    yield cloned_project
    run_git(cloned_project.root, "clean", "-dfxq", "generated")
    run_git(cloned_project.root, "checkout", "--quiet", "generated")


# Faults with similar messages: `make test` runs only one of them.
_SIMILAR_FAULTS = {
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
    "definition-with-another-name",
    "prompts-module-edited",
    "command-missing",
    "tools-missing-in-langchain",
}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(
            fault,
            id=fault.id,
            # Running the generated tests for a fault is slow.
            marks=(
                [pytest.mark.slow]
                if fault.id in _SIMILAR_FAULTS or fault.tests != CHECK
                else []
            ),
        )
        for fault in FAULTS
    ],
)
def test_generated_file_hand_edit_fails_toolcast_check_and_generated_tests(
    copy: Project, pytest_runner: ForkServer, fault: Fault
) -> None:
    copy.edit(fault.file, fault.old, fault.new)
    assert list_reported_files(copy) == [fault.file]
    if fault.tests != CHECK:
        assert_generated_tests_fail(fault, copy, pytest_runner)


# The generated test that runs `check` works the same for every fault.
@pytest.mark.slow
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, id=fault.id, marks=pytest.mark.slow if number else ())
        for number, fault in enumerate(f for f in FAULTS if f.tests == CHECK)
    ],
)
def test_generated_file_hand_edit_fails_the_generated_test_that_runs_check(
    copy: Project, pytest_runner: ForkServer, fault: Fault
) -> None:
    copy.edit(fault.file, fault.old, fault.new)
    assert_generated_tests_fail(fault, copy, pytest_runner)


def assert_generated_tests_fail(
    fault: Fault, project: Project, runner: ForkServer
) -> None:
    folder = "/".join(fault.file.split("/")[:2])
    result = run_tests(runner, project, folder, fault.tests)
    assert result.returncode in (1, 2), result.stdout + result.stderr
    for text in fault.messages:
        assert text in result.stdout, result.stdout


def delete_types(project: Project) -> str:
    (project.root / K / "tools/memory.py").unlink()
    return "memory.json exists without memory.py"


def delete_definition(project: Project) -> str:
    (project.root / K / "tools/memory.json").unlink()
    return "memory.py exists without memory.json"


def delete_tool(project: Project) -> str:
    delete_types(project), delete_definition(project)
    return "prompts/section_memory.md differs"


def add_foreign_tool(project: Project) -> str:
    (project.root / K / "tools/ghost.py").touch()
    project.write(f"{K}/tools/ghost.json", '{"name": "ghost"}\n')
    return "ghost.json does not have Toolcast's signature"


def delete_every_tool(project: Project) -> str:
    for path in (project.root / K / "tools").iterdir():
        if path.name != "__init__.py":
            path.unlink()
    return "test_registry_contains_all_tools"


@pytest.mark.parametrize(
    "change_files",
    [
        delete_types,
        pytest.param(delete_definition, marks=pytest.mark.slow),
        pytest.param(delete_tool, marks=pytest.mark.slow),
        pytest.param(add_foreign_tool, marks=pytest.mark.slow),
        pytest.param(delete_every_tool, marks=pytest.mark.slow),
    ],
)
def test_generated_tests_and_check_report_a_deleted_or_added_tool_file(
    copy: Project, pytest_runner: ForkServer, change_files: Callable[[Any], str]
) -> None:
    message = change_files(copy)
    assert list_reported_files(copy)
    result = run_tests(pytest_runner, copy, K, QUICK)
    assert result.returncode in (1, 2), result.stdout + result.stderr
    assert message in result.stdout


def test_unchanged_generated_files_pass_toolcast_check_and_generated_tests(
    copy: Project, pytest_runner: ForkServer
) -> None:
    checked = copy.toolcast("check")
    assert checked.returncode == 0, checked.stderr
    for folder in (K, M):
        result = run_tests(pytest_runner, copy, folder, f"({QUICK}) or {CHECK}")
        assert result.returncode == 0, result.stdout


def test_toolcast_check_reports_an_edited_generated_file_and_suggests_generate(
    copy: Project,
) -> None:
    copy.edit(f"{K}/mcp_server.py", 'name="kirishima"', 'name="k"')
    [finding] = list_output_findings(copy)
    assert finding["file"] == f"{K}/mcp_server.py"
    assert "toolcast generate" in finding["help"]
