"""Hostile projects: output of `toolcast generate`, and the code of accepted ones.

A case is a folder of `tests/hostile/` with a project and the expected output in
`expected.txt`. `REGENERATE=1` writes these files; review the difference.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import black
import pytest

from tests.project_files import write_files
from tests.safety.benign_twin import check_same_structure
from tests.safety.hostile_cases import CORPUS, copy_hostile_case, run_generate
from toolcast.parsing.yaml_reader import read_yaml

CASES = sorted(folder.name for folder in CORPUS.iterdir() if folder.is_dir())
MODE = black.Mode()

# CPU time, which does not depend on the load of the machine; a run needs less than 1 s.
MAX_CPU_SECONDS = 10


def list_paths(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def is_accepted(case: str) -> bool:
    """Return whether the expected output of a case has no errors."""
    expected = CORPUS / case / "expected.txt"
    if not expected.exists():
        return False
    output = expected.read_text("utf-8")
    return not re.search(r"^[\d,]+ errors?\b", output, re.MULTILINE)


ACCEPTED = [case for case in CASES if is_accepted(case)]
# The twin is written as JSON, which cannot express the numbers of these cases.
TWIN_CASES = [case for case in ACCEPTED if not case.startswith("14-")]
# Generated tests take seconds per case, so only cases with long texts are run.
GENERATED_TEST_CASES = ["04-line-ends-in-texts", "12-enum-values", "43-markup"]


@pytest.mark.rows(40)
@pytest.mark.parametrize("case", CASES)
def test_hostile_projects_have_the_expected_output(case: str, tmp_path: Path) -> None:
    """No handler is imported, and a refused project has no generated files.

    The modules of an accepted project compile and are formatted.
    """
    root = copy_hostile_case(case, tmp_path / "project")
    before = list_paths(root)
    outcome = run_generate(root)
    expected = CORPUS / case / "expected.txt"
    if os.environ.get("REGENERATE"):
        expected.write_text(outcome.output, "utf-8")
    assert outcome.output == expected.read_text("utf-8")
    assert outcome.output.replace("\n", "").isprintable()
    assert outcome.cpu_seconds < MAX_CPU_SECONDS
    if outcome.code == 0:
        assert (root / "generated" / "__init__.py").is_file()
        for path in (root / "generated").rglob("*.*"):
            # Git, editors and Windows convert carriage returns.
            assert b"\r" not in path.read_bytes(), path
        for path in (root / "generated").rglob("*.py"):
            text = path.read_text("utf-8")
            compile(text, str(path), "exec", dont_inherit=True)
            assert black.format_str(text, mode=MODE) == text, path
    else:
        assert outcome.code in (1, 2)
        assert list_paths(root) == before
    assert not (root / "trap-was-sprung").exists()
    assert not Path("trap-was-sprung").exists()


def read_specs(root: Path) -> dict[str, dict[str, Any]]:
    """Return the values of a case's specs by the stem of their files."""
    values = {}
    for path in sorted((root / "specs" / "x").iterdir()):
        document, _ = read_yaml(path.name, path.read_bytes())
        assert document is not None
        values[path.name.removesuffix(".yaml")] = document.value
    return values


@pytest.mark.rows(8)
@pytest.mark.parametrize("case", TWIN_CASES)
def test_accepted_hostile_project_code_has_the_same_structure_as_its_benign_twin(
    case: str, tmp_path: Path
) -> None:
    """The twin is the same project with each free text replaced by `x`."""
    specs = read_specs(copy_hostile_case(case, tmp_path / "project"))
    for spec in specs.values():
        for key in ("handler", "handlers"):
            spec.pop(key, None)
    check_same_structure(tmp_path, specs)


@pytest.fixture(scope="module")
def combined_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generate a workspace with the toolsets of all accepted cases."""
    root = tmp_path_factory.mktemp("everything")
    for case in ACCEPTED:
        copy_hostile_case(case, root / case)
    folders = [f"{case}/specs/x" for case in ACCEPTED]
    workspace = {"version": 1, "toolsets": folders}
    write_files(root, {"toolcast.yaml": workspace, "pytest.ini": "[pytest]\n"})
    shutil.copytree(root / ACCEPTED[0] / "handlers_of_row", root / "handlers_of_row")
    outcome = run_generate(root)
    assert outcome.code == 0, outcome.output
    return root


PRINT_TOOLS = """
import importlib, json, sys
from toolcast_runtime.core.definitions.tool import module_name
found = {}
for name in sys.argv[1:]:
    registry = importlib.import_module(f"generated.{name}.registry")
    found[name] = {}
    for tool in registry.REGISTRY.local_tools:
        importlib.import_module(f"generated.{name}.tools." + module_name(tool.name))
        found[name][tool.name] = {
            "summary": tool.summary,
            "description": tool.description,
            "definition": tool.definition,
            "examples": list(tool.examples),
            "actions": {key: one.summary for key, one in (tool.actions or {}).items()},
        }
json.dump(found, sys.stdout)
"""


def test_tools_of_hostile_projects_equal_their_specs(combined_project: Path) -> None:
    toolsets = sorted(f"row_{case.replace('-', '_')}" for case in ACCEPTED)
    process = subprocess.run(
        [sys.executable, "-B", "-c", PRINT_TOOLS, *toolsets],
        cwd=combined_project,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    toolsets_by_name = json.loads(process.stdout)
    for case in ACCEPTED:
        specs = read_specs(combined_project / case)
        tools = toolsets_by_name[f"row_{case.replace('-', '_')}"]
        for spec in specs.values():
            if "summary" in spec:
                assert_tool_matches_spec(tools[spec["name"]], spec)
    assert not (combined_project / "trap-was-sprung").exists()


def assert_tool_matches_spec(tool: dict[str, Any], spec: dict[str, Any]) -> None:
    """Compare a tool with its spec, including the order of keys and number types."""
    assert tool["summary"] == spec["summary"]
    assert tool["description"] == spec.get("description", spec["summary"])
    definition = tool["definition"]
    if "fields" in spec.get("result", {}):
        # `result.fields` adds a parameter that `parameters` does not have.
        del definition["inputSchema"]["properties"]["fields"]
    for field, key in (
        ("title", "title"),
        ("parameters", "inputSchema"),
        ("returns", "outputSchema"),
        ("annotations", "annotations"),
        ("meta", "_meta"),
    ):
        assert json.dumps(definition.get(key)) == json.dumps(spec.get(field))
    assert json.dumps(tool["examples"]) == json.dumps(spec.get("examples", []))
    values = spec.get("actions", {}).get("values", {})
    assert tool["actions"] == {
        key: value.get("summary", "") for key, value in values.items()
    }


@pytest.mark.slow
def test_generated_tests_of_hostile_projects_pass(combined_project: Path) -> None:
    """They compare MCP, registry, LangChain, CLI and prompts with the specs.

    Only the first case lists the tools in both protocol versions and checks the project.
    """
    arguments = [
        f"generated/row_{case.replace('-', '_')}" for case in GENERATED_TEST_CASES
    ]
    for folder in arguments[1:]:
        tests = f"{folder}/test_snapshots.py::TestSnapshots"
        arguments += ["--deselect", f"{tests}::test_toolcast_check_passes"]
        name = "test_mcp_tools_list_is_exact[2025-11-25-None]"
        arguments += ["--deselect", f"{tests}::{name}"]
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=combined_project,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert process.returncode == 0, process.stdout[-5000:]
