"""A command loads what it needs and nothing else: counted, since time cannot be tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LIBRARIES = {
    *("asyncio", "black", "click", "concurrent.futures", "dataclasses", "hashlib"),
    *(
        "httpx",
        "importlib.metadata",
        "jinja2",
        "jsonschema",
        "jsonschema_rs",
        "logging",
    ),
    *("mcp", "multiprocessing", "pydantic", "referencing", "subprocess", "yaml"),
}
STAGES = {
    *("toolcast.extensions", "toolcast.pipeline", "toolcast.rendering.environment"),
    *("toolcast.rules.table", "toolcast.model.loading", "toolcast.targets.table"),
}
PROGRAM = """
import atexit, json, sys
def tell():
    sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
atexit.register(tell)
sys.argv[0] = "toolcast"
from toolcast.commands.start import main
main()
"""


def loaded(*words: str) -> set[str]:
    """The libraries and stages that a command has loaded at its end."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stderr.splitlines()[-1])) & (LIBRARIES | STAGES)


@pytest.mark.parametrize("words", ["--help", "--version"])
def test_asking_for_help_loads_click_alone(words: str) -> None:
    assert loaded(words) == {"click"}


@pytest.mark.parametrize("command", ["init", "new", "generate", "check", "explain"])
def test_the_help_of_a_command_loads_no_stage(command: str) -> None:
    assert loaded(command, "--help") == {"click", "dataclasses"}


def test_a_schema_is_printed_without_reading_specs() -> None:
    assert loaded("schema", "tool") == {"click"}


def test_explaining_a_rule_renders_and_reads_nothing() -> None:
    found = loaded("explain", "schema/required-unknown")
    assert "toolcast.rules.table" in found
    never = {"jinja2", "black", "jsonschema", "jsonschema_rs", "yaml", "pydantic"}
    assert found & (
        never | {"toolcast.pipeline", "toolcast.rendering.environment"}
    ) == (set())


def test_a_check_loads_no_formatter_and_no_library_of_a_target() -> None:
    assert loaded("check") & {"black", "mcp", "pydantic", "httpx", "asyncio"} == set()


IMPORTS = """
import json, sys
before = set(sys.modules)
import generated.molecule.MODULE
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_a_registry_loads_next_to_nothing() -> None:
    program = IMPORTS.replace("MODULE", "registry")
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=True
    )
    found = set(json.loads(run.stdout))
    heavy = {
        *("asyncio", "concurrent.futures", "dataclasses", "hashlib", "inspect"),
        *("logging", "pathlib", "pkgutil", "threading", "uuid", "zlib"),
        *("click", "jsonschema_rs", "langchain_core", "mcp", "pydantic"),
    }
    assert found & heavy == set()
    own = {name for name in found if name.startswith("generated.")}
    assert own == {
        "generated._runtime",
        "toolcast_runtime.access.clients",
        "toolcast_runtime.registry.local_tools",
        "toolcast_runtime.registry.tool_list",
        "toolcast_runtime.registry.registry",
        "toolcast_runtime.registry.remote_tools",
        "toolcast_runtime.registry.tool_routing",
        "generated.molecule",
        "generated.molecule.prepared",
        "generated.molecule.registry",
    }
