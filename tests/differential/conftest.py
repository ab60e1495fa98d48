"""A generated toolset of many schemas, and what each of its surfaces says about arguments."""

from __future__ import annotations

import asyncio
import importlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from toolcast.pipeline import generate
from toolcast.targets.table import BUILT_IN

HERE = Path(__file__).parent
FILE = Path(os.environ.get("TOOLCAST_FUNCTIONS", HERE / "functions.jsonl"))
"""The schemas; the variable names a larger file of the same form."""

HANDLER = '''
def echo(arguments, /):
    """Says that a call went through."""
    return "called"
'''

SUPPRESSED = [
    {"rule": "schema/required-unknown", "reason": "some schemas of the source do that"}
]


@dataclass(frozen=True)
class Case:
    """A schema of arguments with objects to hold against it."""

    name: str
    schema: dict[str, Any]
    instances: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Verdicts:
    """Whether each surface of a generated toolset takes arguments as valid."""

    package: str

    @property
    def registry(self) -> Any:
        """The generated registry module."""
        return importlib.import_module(f"{self.package}.registry")

    def problems(self, tool: str, arguments: Mapping[str, Any]) -> list[str]:
        """What validation says."""
        found: list[str] = self.registry.REGISTRY.check_arguments(tool, arguments)
        return found

    def call(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """`call_tool`."""
        response = self.registry.call_tool_sync(tool, arguments)
        return bool(response.success)

    def langchain(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """The LangChain wrapper."""
        module = importlib.import_module(f"{self.package}.langchain_tools")
        try:
            return bool(module.get_langchain_tool(tool).invoke(arguments) == "called")
        except ValueError:  # pydantic's ValidationError
            return False

    def cli(self, tool: str, arguments: Mapping[str, Any]) -> bool:
        """The command line, with `--arguments`."""
        module = importlib.import_module(f"{self.package}.cli")
        keyword = self.registry.get_tool(tool).cli["command"]
        words = [keyword, "--arguments", json.dumps(arguments)]
        result = CliRunner().invoke(module.main, words)
        assert result.exit_code in (0, 2), result.output or result.exception
        return bool(result.exit_code == 0)

    def mcp(self, calls: Sequence[tuple[str, Mapping[str, Any]]]) -> list[bool]:
        """`tools/call` of each tool, by the SDK's client in memory."""
        from mcp import Client

        server = importlib.import_module(f"{self.package}.mcp_server").SERVER.build()

        async def ask() -> list[bool]:
            async with Client(server) as client:
                answers = [await client.call_tool(n, dict(a)) for n, a in calls]
                return [not answer.is_error for answer in answers]

        return asyncio.run(ask())


Build = Callable[..., Verdicts]

NUMBERS = itertools.count()
"""What tells the packages of one process apart."""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Build]:
    """Generates a toolset of cases and makes it importable."""
    before = list(sys.path)

    def make(cases: Sequence[Case], formats: str = "annotation") -> Verdicts:
        root = tmp_path_factory.mktemp("project")
        # Modules stay imported for as long as the process lives: no name may come twice.
        name = f"differential_{next(NUMBERS)}"
        # A package is what manifests say, not how a call is answered.
        targets = [name for name in BUILT_IN if name != "package"]
        workspace = {"version": 1, "toolsets": ["specs"], "output": name}
        (root / "toolcast.yaml").write_text(
            json.dumps({**workspace, "targets": targets})
        )
        (root / "specs").mkdir()
        toolset = {"name": "x", "title": "X", "handlers": f"{name}_handlers"}
        toolset["formats"] = formats
        (root / "specs" / "toolset.yaml").write_text(json.dumps(toolset))
        (root / f"{name}_handlers.py").write_text(HANDLER)
        for number, case in enumerate(cases):
            spec = {
                "name": case.name,
                "summary": "Takes arguments.",
                "parameters": case.schema,
                "handler": f"{name}_handlers:echo",
                "cli": {"keyword": f"t{number}"},
                "suppress": SUPPRESSED,
            }
            text = json.dumps(spec, ensure_ascii=False)
            (root / "specs" / f"{case.name}.yaml").write_text(text, "utf-8")
        generated = generate(str(root))
        errors = [f for f in generated.findings if f.severity.label == "error"]
        assert generated.files, [f"{f.location}: {f.rule}: {f.message}" for f in errors]
        for path, data in generated.files.items():
            target = root / name / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        sys.path.insert(0, str(root))
        importlib.invalidate_caches()
        return Verdicts(f"{name}.x")

    yield make
    sys.path[:] = before


@pytest.fixture(scope="module")
def functions() -> list[Case]:
    """The cases of the file."""
    rows = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    return [
        Case(
            row["name"],
            row["inputSchema"],
            tuple(t["data"] for t in row["_tests"] if isinstance(t["data"], dict)),
        )
        for row in rows
    ]


@pytest.fixture(scope="module")
def oracle() -> Callable[[dict[str, Any]], Callable[[Any], bool]]:
    """What Python's `jsonschema` says, which shares no code with the runtime's library."""
    import jsonschema

    def judge(schema: dict[str, Any]) -> Callable[[Any], bool]:
        default = jsonschema.Draft202012Validator
        kind = jsonschema.validators.validator_for(schema, default=default)
        validator = kind(schema)
        return lambda value: bool(validator.is_valid(value))

    return judge


@pytest.fixture(scope="module")
def case_of() -> type[Case]:
    """Makes a case: name, schema, instances."""
    return Case
