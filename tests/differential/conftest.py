"""Generated toolset for a list of schemas, and verdicts of its interfaces about arguments."""

from __future__ import annotations

import asyncio
import importlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from tests.project_files import write_files, write_toolset
from toolcast.pipeline import generate
from toolcast.targets.table import BUILT_IN

DEFAULT_FILE = Path(__file__).with_name("functions.jsonl")
FILE = Path(os.environ.get("TOOLCAST_FUNCTIONS", DEFAULT_FILE))
"""The file of schemas; the variable can name a larger file of the same format."""

HANDLER = '''
def echo(arguments, /):
    """Says that a call went through."""
    return "called"
'''

SUPPRESSED = [{"rule": "schema/required-unknown", "reason": "some schemas do that"}]


@dataclass(frozen=True)
class Case:
    """A schema of arguments, with objects to validate."""

    name: str
    schema: dict[str, Any]
    instances: tuple[dict[str, Any], ...] = ()

    @cached_property
    def oracle(self) -> Any:
        """The independent validator of Python's `jsonschema`."""
        default = jsonschema.Draft202012Validator
        kind = jsonschema.validators.validator_for(self.schema, default=default)
        return kind(self.schema)


@dataclass(frozen=True)
class Verdicts:
    """Verdicts of each interface of a generated toolset about arguments."""

    package: str

    @property
    def registry(self) -> Any:
        """The generated registry module."""
        return importlib.import_module(f"{self.package}.registry")

    def problems(self, tool: str, arguments: Mapping[str, Any]) -> list[str]:
        """Return the problems that validation reports."""
        found: list[str] = self.registry.REGISTRY.check_arguments(tool, arguments)
        return found

    def call(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether `call_tool` accepts arguments."""
        response = self.registry.call_tool_sync(tool, arguments)
        return bool(response.success)

    def langchain(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the LangChain tool accepts arguments."""
        module = importlib.import_module(f"{self.package}.langchain_tools")
        try:
            return bool(module.get_langchain_tool(tool).invoke(arguments) == "called")
        except ValueError:  # pydantic's ValidationError
            return False

    def cli(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """Return whether the command line accepts arguments in `--arguments`."""
        module = importlib.import_module(f"{self.package}.cli")
        keyword = self.registry.get_tool(tool).cli["command"]
        command = [keyword, "--arguments", json.dumps(arguments)]
        result = CliRunner().invoke(module.main, command)
        assert result.exit_code in (0, 2), result.output or result.exception
        return bool(result.exit_code == 0)

    def mcp(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[bool]:
        """Return for each call whether `tools/call` accepts it, with the SDK's in-memory client."""
        from mcp import Client

        server = importlib.import_module(f"{self.package}.mcp_server").SERVER.build()

        async def call_all() -> list[bool]:
            async with Client(server) as client:
                results = [await client.call_tool(n, dict(a)) for n, a in calls]
                return [not result.is_error for result in results]

        return asyncio.run(call_all())


BuildToolset = Callable[..., Verdicts]

NUMBERS = itertools.count()
"""Numbers in the names of generated packages."""


@pytest.fixture(scope="module")
def build_toolset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuildToolset]:
    """Return a function that generates an importable toolset with a tool for each case."""
    before = list(sys.path)

    def make(cases: Sequence[Case], formats: str = "annotation") -> Verdicts:
        root = tmp_path_factory.mktemp("project")
        # Modules stay imported until the process ends, so each package has a unique name.
        name = f"differential_{next(NUMBERS)}"
        # The target `package` writes metadata only and does not answer calls.
        targets = [name for name in BUILT_IN if name != "package"]
        toolset = {"name": "x", "title": "X", "handlers": f"{name}_handlers"}
        specs: dict[str, Any] = {"toolset": {**toolset, "formats": formats}}
        for number, case in enumerate(cases):
            specs[case.name] = {
                "name": case.name,
                "summary": "Takes arguments.",
                "parameters": case.schema,
                "handler": f"{name}_handlers:echo",
                "cli": {"keyword": f"t{number}"},
                "suppress": SUPPRESSED,
            }
        write_toolset(root, "x", specs, output=name, targets=targets)
        write_files(root, {f"{name}_handlers.py": HANDLER})
        generated = generate(str(root))
        errors = [f for f in generated.findings if f.severity.label == "error"]
        assert generated.files, [f"{f.location}: {f.rule}: {f.message}" for f in errors]
        write_files(root / name, generated.files)
        sys.path.insert(0, str(root))
        importlib.invalidate_caches()
        return Verdicts(f"{name}.x")

    yield make
    sys.path[:] = before


def read_function_cases() -> list[Case]:
    """Return the cases in the file of schemas."""
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    return [
        Case(
            row["name"],
            row["inputSchema"],
            tuple(t["data"] for t in row["_tests"] if isinstance(t["data"], dict)),
        )
        for row in rows
    ]
