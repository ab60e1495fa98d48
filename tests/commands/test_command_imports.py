"""A command loads what it needs and nothing else: counted, since time cannot be tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.running import run

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
import atexit, json, sys
def tell():
    sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
atexit.register(tell)
sys.argv[0] = "toolcast"
from toolcast.commands.main import main
main()
"""


def loaded(folder: Path, *words: str) -> set[str]:
    """The libraries and stages that a command has loaded at its end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1])) & (LIBRARIES | STAGES)


@pytest.mark.parametrize(
    "words",
    ["--help", "--version", "init --help", "check --help", "generate --help"],
)
def test_asking_for_help_loads_click_alone(words: str, tmp_path: Path) -> None:
    assert loaded(tmp_path, *words.split()) - {"toolcast.extensions"} == {"click"}


def test_help_in_a_project_reads_which_extensions_it_lists() -> None:
    never = {"black", "jinja2", "jsonschema", "mcp", "pydantic", "toolcast.pipeline"}
    assert loaded(ROOT, "--help") & never == set()


def test_explaining_a_rule_renders_nothing(tmp_path: Path) -> None:
    found = loaded(tmp_path, "explain", "schema/required-unknown")
    assert "toolcast.rules.table" in found
    never = {"black", "jinja2", "jsonschema", "pydantic", "toolcast.pipeline"}
    assert found & never == set()


def test_a_check_loads_no_formatter_and_no_library_of_a_target(tmp_path: Path) -> None:
    run(tmp_path, "toolcast", "init", "--name", "demo")
    run(tmp_path, "toolcast", "generate")
    never = {"asyncio", "black", "httpx", "jsonschema", "mcp", "pydantic"}
    assert loaded(tmp_path, "check") & never == set()


IMPORTS = """
import json, sys
before = set(sys.modules)
import generated.molecule.registry
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_a_registry_loads_no_library_and_no_other_module_of_its_package() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, check=True
    )
    found = set(json.loads(done.stdout))
    heavy = set(
        "asyncio click concurrent.futures jsonschema_rs langchain_core logging mcp"
        " pydantic sqlite3".split()
    )
    assert found & heavy == set()
    own = {name for name in found if name.startswith("generated.")}
    steps = ("", ".registry", ".tools")
    assert own == {f"generated.molecule{step}" for step in steps}
