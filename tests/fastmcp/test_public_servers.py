"""Public servers are imported by one command, and every generated target works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.fastmcp.public_servers_setup import SERVERS, get_python, is_installed
from tests.module_graph import ROOT
from tests.program import run_toolcast

DATA = Path(__file__).parent / "public_servers"
SERVER_PROGRAM = ROOT / "generator/toolcast/importing/server_process.py"
TARGETS = """\
  cli: {}
  langchain: {}
  providers: {openai-chat: {}, openai-responses: {strict: true}}
"""
# Some of the servers load a dictionary or a library for seconds at each start.
pytestmark = [pytest.mark.servers, pytest.mark.timeout(400)]


class ImportedServer(NamedTuple):
    """Project with the specs and generated files of a public server.

    Attributes:
        source: the options of `toolcast` that name the server.
        printed: the output of the import.
        calls: the file with the recorded calls.
        environment: the variables for the server and the generated code.
    """

    name: str
    root: Path
    source: Sequence[str]
    printed: str
    calls: Path
    environment: dict[str, str]

    def run_python(self, *words: str, folder: Path | None = None) -> str:
        """Run Python in the server's environment; return its standard output."""
        path = self.environment["PYTHONPATH"]
        done = subprocess.run(
            [str(get_python(self.name)), *words],
            cwd=folder or self.root,
            env={**self.environment, "PYTHONPATH": f"{path}{os.pathsep}{self.root}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout


@pytest.fixture(scope="module", params=SERVERS)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ImportedServer]:
    """Import a public server and generate its outputs."""
    name = request.param
    if not is_installed(name):
        pytest.skip("not set up: make test-servers")
    folder = tmp_path_factory.mktemp(name)
    root = folder / "project"
    root.mkdir()
    text = (DATA / f"{name}.calls.jsonl").read_text("utf-8")
    calls = folder / "calls.jsonl"
    calls.write_text(text.replace("{data}", (DATA / "data").as_posix()), "utf-8")
    source = ("--python", SERVERS[name][0], "--interpreter", str(get_python(name)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT / "runtime"))
        # Some of the servers write to the user's home.
        patch.setenv("HOME", str(folder / "home"))
        printed = run_toolcast(root, "import", *source, "--toolset", "public")
        settings = root / "specs/public/toolset.yaml"
        text = settings.read_text("utf-8")
        assert text.endswith("targets:\n  mcp: {}\n  registry: {}\n  snapshots: {}\n")
        settings.write_text(text + TARGETS, "utf-8")
        run_toolcast(root, "generate")
        yield ImportedServer(name, root, source, printed, calls, dict(os.environ))


def read_list(server: ImportedServer) -> dict[str, list[Any]]:
    """Return the recorded lists of a server."""
    text = (DATA / f"{server.name}.list.json").read_text("utf-8")
    return dict(json.loads(text))


def read_value(result: Any) -> Any:
    """Return the JSON value of a result; the text of a tool without output schema is JSON."""
    assert not result.is_error
    if result.structured_content is not None:
        return result.structured_content
    [content] = result.content
    return json.loads(content.text)


def test_public_server_import_has_a_handler_for_every_listed_entry(
    server: ImportedServer,
) -> None:
    """Entries are tools, resources and prompts."""
    count = sum(len(entries) for entries in read_list(server).values())
    assert f"{count} new tools, 0 changed" in server.printed
    assert "stub" not in server.printed
    run_toolcast(server.root, "check")


def test_toolcast_verify_finds_equal_lists_and_calls_for_an_imported_public_server(
    server: ImportedServer,
) -> None:
    run_toolcast(server.root, "verify", *server.source)
    printed = run_toolcast(
        server.root, "verify", *server.source, "--calls", str(server.calls)
    )
    assert "5 calls: 5 equal, 0 with permitted differences, 0 different" in printed


def test_imported_public_server_passes_its_generated_tests(
    server: ImportedServer,
) -> None:
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "generated")
    assert " passed" in server.run_python(*words)


def test_imported_public_server_code_and_handlers_pass_mypy_strict(
    server: ImportedServer, mypy_cache: str
) -> None:
    words = ("--strict", "--explicit-package-bases", "--cache-dir", mypy_cache)
    python = ("--python-executable", str(get_python(server.name)))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *words, *python, "generated", "handlers"],
        cwd=server.root,
        env=server.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


async def test_langchain_commands_and_openai_lists_have_every_tool(
    server: ImportedServer, tmp_path: Path
) -> None:
    """Results are those of the original server over MCP."""
    lines = server.calls.read_text("utf-8").splitlines()
    calls = [(c["tool"], c["arguments"]) for c in map(json.loads, lines)]
    # Results contain the path of the folder, and some calls write to it.
    folder = tmp_path / "work"
    folder.mkdir()
    parameters = StdioServerParameters(
        command=str(get_python(server.name)),
        args=[str(SERVER_PROGRAM), "serve", SERVERS[server.name][0]],
        env=server.environment,
        cwd=folder,
    )
    async with Client(stdio_client(parameters)) as client:
        expected = [
            read_value(await client.call_tool(name, arguments))
            for name, arguments in calls
        ]
    shutil.rmtree(folder)
    folder.mkdir()
    program = str(Path(__file__).with_name("call_targets.py"))
    printed = server.run_python("-P", program, str(server.calls), folder=folder)
    answer = json.loads(printed)
    names = [tool["name"] for tool in read_list(server)["tools"]]
    targets = ("langchain", "cli", "openai-chat", "openai-responses")
    assert answer["names"] == dict.fromkeys(targets, names)
    assert answer["langchain"] == expected
    assert answer["openai"] == [list(call) for call in calls]
    shutil.rmtree(folder)
    folder.mkdir()
    words = ("-m", "generated.public.cli", answer["commands"][0])
    arguments = json.dumps(calls[0][1])
    printed = server.run_python(*words, "--arguments", arguments, folder=folder)
    assert json.loads(printed) == expected[0]
