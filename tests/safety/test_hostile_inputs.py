"""Every hostile input of the corpus, through every target, by the command itself.

A case is a folder of `tests/hostile/`: a project, and in `expected.txt` exactly what the
command says of it. `REGENERATE=1` writes those files anew; read the difference.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import black
import pytest

from toolcast.parsing.yaml_reader import read_yaml

CORPUS = Path(__file__).parents[1] / "hostile"
CASES = sorted(folder.name for folder in CORPUS.iterdir() if folder.is_dir())
MODE = black.Mode()

# A run takes less than a second on a quiet machine; this one may be busy.
MOST_SECONDS = 10


def files_of(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*")}


def is_accepted(case: str) -> bool:
    expected = CORPUS / case / "expected.txt"
    if not expected.exists():
        return False
    said = expected.read_text("utf-8")
    return not re.search(r"^[\d,]+ errors?\b", said, re.MULTILINE)


ACCEPTED = [case for case in CASES if is_accepted(case)]
# The twin is written as JSON, which cannot say these numbers as strict YAML does.
WITH_TEXTS = [case for case in ACCEPTED if not case.startswith("14-")]
# Each row's generated tests take seconds: those whose texts go furthest.
LIVE = ["04-line-ends-in-texts", "12-enum-values", "43-markup"]


@pytest.mark.rows(40)
@pytest.mark.parametrize("case", CASES)
def test_what_is_said_and_done(
    case: str, hostile: Callable[[str], Path], generated_by: Callable[..., Any]
) -> None:
    root = hostile(case)
    before = files_of(root)
    outcome = generated_by(root)
    expected = CORPUS / case / "expected.txt"
    if os.environ.get("REGENERATE"):
        expected.write_text(outcome.said, "utf-8")
    assert outcome.said == expected.read_text("utf-8")
    assert outcome.said.replace("\n", "").isprintable()
    assert outcome.seconds < MOST_SECONDS
    if outcome.code == 0:
        assert (root / "generated" / "__init__.py").is_file()
    else:
        assert outcome.code in (1, 2)
        assert files_of(root) == before
    assert not (root / "trap-was-sprung").exists()
    assert not Path("trap-was-sprung").exists()


def spec_values(root: Path) -> dict[str, dict[str, Any]]:
    """The values of a case's specs, by the stem of their files."""
    values = {}
    for path in sorted((root / "specs" / "x").iterdir()):
        document, _ = read_yaml(path.name, path.read_bytes())
        assert document is not None
        values[path.name.removesuffix(".yaml")] = document.value
    return values


@pytest.mark.rows(8)
@pytest.mark.parametrize("case", WITH_TEXTS)
def test_accepted_code_is_of_the_benign_shape(
    case: str, hostile: Callable[[str], Path], twin_of: Callable[[Any], None]
) -> None:
    specs = spec_values(hostile(case))
    for spec in specs.values():
        for key in ("handler", "handlers"):
            spec.pop(key, None)
    twin_of(specs)


@pytest.mark.rows(8)
@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted_code_compiles_and_black_keeps_it(
    case: str, hostile: Callable[[str], Path], generated_by: Callable[..., Any]
) -> None:
    root = hostile(case)
    generated_by(root)
    modules = list((root / "generated").rglob("*.py"))
    assert modules
    for path in (root / "generated").rglob("*.*"):
        # Git, editors and Windows would each make other bytes of it.
        assert b"\r" not in path.read_bytes(), path
    for path in modules:
        text = path.read_text("utf-8")
        compile(text, str(path), "exec", dont_inherit=True)
        assert black.format_str(text, mode=MODE) == text, path


@pytest.fixture(scope="module")
def everything(
    tmp_path_factory: pytest.TempPathFactory,
    lay_out_one: Callable[[str, Path], Path],
    generated_by: Callable[..., Any],
) -> Path:
    """One workspace with the toolsets of all accepted cases, generated."""
    root = tmp_path_factory.mktemp("everything")
    for case in ACCEPTED:
        lay_out_one(case, root / case)
    folders = [f"{case}/specs/x" for case in ACCEPTED]
    workspace = json.dumps({"version": 1, "toolsets": folders})
    (root / "toolcast.yaml").write_text(workspace, "utf-8")
    (root / "pytest.ini").write_text("[pytest]\n", "utf-8")
    shutil.copytree(root / ACCEPTED[0] / "handlers_of_row", root / "handlers_of_row")
    outcome = generated_by(root)
    assert outcome.code == 0, outcome.said
    return root


READ_BACK = """
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


def test_every_string_comes_back(everything: Path) -> None:
    """Imported in a process of its own, the code says exactly what the specs say."""
    toolsets = sorted(f"row_{case.replace('-', '_')}" for case in ACCEPTED)
    process = subprocess.run(
        [sys.executable, "-B", "-c", READ_BACK, *toolsets],
        cwd=everything,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    found = json.loads(process.stdout)
    for case in ACCEPTED:
        specs = spec_values(everything / case)
        tools = found[f"row_{case.replace('-', '_')}"]
        for spec in specs.values():
            if "summary" in spec:
                assert_says(tools[spec["name"]], spec)
    assert not (everything / "trap-was-sprung").exists()


def assert_says(tool: dict[str, Any], spec: dict[str, Any]) -> None:
    """Compares with the order of keys and the kinds of numbers."""
    assert tool["summary"] == spec["summary"]
    assert tool["description"] == spec.get("description", spec["summary"])
    definition = tool["definition"]
    if "fields" in spec.get("result", {}):
        # A declared exception: the parameter that picks is none of `parameters`.
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
def test_live_surfaces_are_what_was_generated(everything: Path) -> None:
    """The generated tests hold MCP, registry, LangChain, CLI and prompts to the specs."""
    folders = [f"generated/row_{case.replace('-', '_')}" for case in LIVE]
    process = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *folders],
        cwd=everything,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        encoding="utf-8",
    )
    assert process.returncode == 0, process.stdout[-5000:]
