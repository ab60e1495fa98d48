"""Modules that each command imports, counted because import times vary."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.commands.run_module import run

ROOT = Path(__file__).parents[2]
LIBRARIES = set(
    "asyncio black click httpx importlib.metadata jinja2 jsonschema jsonschema_rs mcp"
    " multiprocessing pydantic referencing yaml".split()
)
STAGES = set(
    "toolcast.extensions toolcast.pipeline toolcast.rendering.renderer"
    " toolcast.rules.table toolcast.model.loading toolcast.targets.table".split()
)
PROGRAM = """
import json, sys
from toolcast.commands.main import main
for line in sys.argv[1:]:
    try:
        main(line.split())
    except SystemExit as end:
        assert not end.code
sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
"""


def list_imported_modules(folder: Path, *lines: str) -> set[str]:
    """Return the libraries and stages that commands in one process imported."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *lines],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1])) & (LIBRARIES | STAGES)


def test_toolcast_help_and_version_import_only_click(tmp_path: Path) -> None:
    lines = ["--help", "--version", "init --help", "check --help", "generate --help"]
    imported = list_imported_modules(tmp_path, *lines)
    assert imported - {"toolcast.extensions"} == {"click"}


def test_toolcast_help_and_explain_in_a_project_import_no_generator_libraries() -> None:
    modules = list_imported_modules(ROOT, "--help", "explain schema/required-unknown")
    assert "toolcast.rules.table" in modules
    never = {"black", "jinja2", "jsonschema", "mcp", "pydantic", "toolcast.pipeline"}
    assert modules & never == set()


def test_toolcast_check_imports_no_black_mcp_httpx_or_pydantic(tmp_path: Path) -> None:
    run(tmp_path, "toolcast", "init", "--name", "demo")
    run(tmp_path, "toolcast", "generate")
    never = {"asyncio", "black", "httpx", "jsonschema", "mcp", "pydantic"}
    assert list_imported_modules(tmp_path, "check") & never == set()


IMPORTS = """
import json, sys
before = set(sys.modules)
import generated.molecule.registry
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_generated_registry_imports_no_third_party_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, check=True
    )
    modules = set(json.loads(done.stdout))
    heavy = set(
        "asyncio click concurrent.futures jsonschema_rs langchain_core logging mcp"
        " pydantic sqlite3".split()
    )
    assert modules & heavy == set()
    generated_modules = {name for name in modules if name.startswith("generated.")}
    steps = ("", ".registry", ".tools")
    assert generated_modules == {f"generated.molecule{step}" for step in steps}
