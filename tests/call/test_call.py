"""`toolcast call` with a generated toolset and with MCP servers."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path

import pytest

from tests.call.conftest import run_module, start_module
from tests.conftest import Project
from tests.consent.terminals import run_in_terminal
from tests.external.servers.http_servers import run_personal_server

ODD = Path(__file__).parents[1] / "external" / "servers" / "odd.py"


URL = "http://127.0.0.1:9/"
SERVER = f"the server {sys.executable}"


def format_odd_command(mode: str) -> str:
    return shlex.join([sys.executable, str(ODD), mode])


MISSPELLED = "error: the toolset toy has no tool `peeple`; did you mean `people`?\n"
INVALID_ARGUMENTS = """\
error: `a` is required
error: `b` must be an integer
  help: `add` accepts:
    a=... (integer, required)
    b=... (integer)
  the tool was not called
"""


@pytest.mark.rows(2)
@pytest.mark.parametrize(
    ("arguments", "code", "output", "error"),
    [
        (["plus", "a=2", "b:=40"], 0, "sum: 42\n", ""),
        (["people"], 0, "name  age\n----  ---\nAda   36\nBob   7\n", ""),
        (["draw"], 0, "saved draw-1.png (image/png, 4 bytes)\n", ""),
        (["fail"], 1, "", "error: there is no such thing\\x1b[31m\n"),
        (["add", "b=x"], 2, "", INVALID_ARGUMENTS),
        (["peeple"], 2, "", MISSPELLED),
    ],
)
def test_toolcast_call_prints_the_tools_result_or_its_error(
    project: Project, arguments: list[str], code: int, output: str, error: str
) -> None:
    done = run_module(project.root, "toolcast", "call", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (code, output, error)
    if arguments == ["draw"]:
        assert (project.root / "draw-1.png").read_bytes() == b"\x89PNG"


@pytest.mark.slow
def test_toolcast_call_names_the_module_that_is_missing(project: Project) -> None:
    done = run_module(project.root, "toolcast", "call", "missing")
    assert done.returncode == 1
    assert "not_installed_anywhere" in done.stderr


def test_toolcast_call_imports_handlers_from_toolcast_yaml_sources_folders(
    project: Project,
) -> None:
    source = project.root / "src"
    source.mkdir()
    (project.root / "handlers").rename(source / "handlers")
    with (project.root / "toolcast.yaml").open("a") as file:
        file.write("sources: [src]\n")
    project.generate()
    done = run_module(project.root, "toolcast", "call", "plus", "a=2", "b:=40")
    assert (done.returncode, done.stdout, done.stderr) == (0, "sum: 42\n", "")


@pytest.mark.slow
def test_toolcast_call_with_closed_stdout_exits_with_1(project: Project) -> None:
    process = start_module(project.root, "toolcast", "call", "people")
    assert process.stdout is not None
    process.stdout.close()
    assert process.communicate(timeout=60)[1] == b""
    assert process.wait() == 1


@pytest.mark.slow
def test_toolcast_call_with_project_and_json_options_prints_the_mcp_result(
    project: Project, tmp_path: Path
) -> None:
    arguments = ("call", "add", "--arguments", "-", "--json", "--project")
    options = (*arguments, str(project.root))
    done = run_module(tmp_path, "toolcast", *options, input='{"a": 1}')
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "content": [{"type": "text", "text": '{"sum": 2}'}],
        "structuredContent": {"sum": 2},
    }


@pytest.mark.slow
def test_toolcast_call_without_registry_suggests_generate(project: Project) -> None:
    (project.root / "generated/toy/registry.py").unlink()
    done = run_module(project.root, "toolcast", "call", "add", "a=1")
    assert done.returncode == 2
    assert done.stderr == (
        "error: there is no generated.toy.registry\n"
        "  help: add the target `registry`, and run `toolcast generate`\n"
    )


def test_toolcast_call_reads_the_users_confirmation_from_the_terminal_not_stdin(
    project: Project,
) -> None:
    command = ("toolcast", "call", "wipe")
    with run_in_terminal(project.root, {}, *command, stdin="yes\n") as person:
        person.read_until("decline: ")
        assert "Wipe everything?" in person.output
        person.type("yes\n")
        person.read_to_end()
    assert person.output.endswith("wiped\n")


def test_toolcast_call_mcp_stdio_prints_the_tool_result(project: Project) -> None:
    done = project.toolcast(
        "call", "echo", "text=hi", "--mcp-stdio", format_odd_command("well")
    )
    assert (done.returncode, done.stdout) == (0, "hi\n")


@pytest.mark.slow
def test_toolcast_call_mcp_url_prints_the_server_tool_result(project: Project) -> None:
    with run_personal_server() as server:
        without_tool = project.toolcast("call", "--mcp-url", server.url)
        assert without_tool.returncode == 2
        error = f"missing TOOL; the server {server.url} has these tools:"
        assert error in without_tool.stderr
        arguments = ("call", "lists", "action=create_list", "title=Food")
        created = project.toolcast(*arguments, "--mcp-url", server.url)
        assert created.returncode == 0, created.stderr
        assert created.stdout.startswith("created:\n  id: ")
        assert created.stdout.endswith("  title: Food\n")


def test_toolcast_call_server_option_selects_an_mcp_server(project: Project) -> None:
    script = json.dumps([str(ODD), "well"])
    with (project.root / "specs/toy/toolset.yaml").open("a") as stream:
        stream.write(
            f"mcp_servers:\n  odd: {{command: {json.dumps(sys.executable)},"
            f" args: {script}, prefix: odd_}}\n"
        )
    done = project.toolcast("call", "odd_echo", "text=hi", "--server", "odd")
    assert (done.returncode, done.stdout) == (0, "hi\n"), done.stderr
    done = project.toolcast("call", "odd_echo", "--server", "even")
    assert done.returncode == 2
    assert done.stderr.startswith("error: there is no server `even`")


@pytest.mark.parametrize(
    ("mode", "arguments", "code", "error"),
    [
        ("well", ["ecko"], 2, f"{SERVER} has no tool `ecko`; did you mean `echo`?"),
        (
            "well",
            ["echo", "text:=5", "txt=a"],
            2,
            "`text` must be a string\nerror: `txt` is not a parameter; did you mean `text`?\n  help",
        ),
        (
            "ending",
            ["echo"],
            2,
            f"{SERVER}: the server's process ended; its stderr: cannot \\x1b[31mstart: no",
        ),
        ("garbage", ["echo"], 2, f"{SERVER}: the server sent 1000 lines that are not"),
        ("lying", ["deep"], 0, ""),
    ],
)
def test_toolcast_call_prints_a_misbehaving_mcp_servers_error_escaped(
    mode: str, arguments: list[str], code: int, error: str, project: Project
) -> None:
    done = project.toolcast("call", *arguments, "--mcp-stdio", format_odd_command(mode))
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith(f"error: {error}" if error else "")
    assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--mcp-stdio", "'"], "--mcp-stdio: the command is not valid"),
        (["--mcp-stdio", ""], "--mcp-stdio: the command is empty"),
        (
            ["--mcp-stdio", "a", "--mcp-url", "http://b"],
            "--server, --mcp-stdio and --mcp-url cannot be combined",
        ),
        (["--header", "a: b"], "--header requires --mcp-url"),
        (["--mcp-url", URL, "--header", "a"], "`--header` is not in the form NAME:"),
        (["--mcp-url", "ftp://a/"], "--mcp-url: the URL does not begin with https://"),
        (
            ["--mcp-stdio", "a", "--client", "b"],
            "--client and --toolset cannot be combined",
        ),
        (["--mcp-stdio", "no-such-program"], "the server no-such-program: `no-such-"),
        (
            ["--mcp-url", URL, "--header", "a:${NOT_SET}"],
            f"the server {URL}: the environment variable NOT_SET is not set",
        ),
    ],
)
def test_toolcast_call_with_invalid_options_exits_with_2_and_names_the_option(
    arguments: list[str], error: str, project: Project
) -> None:
    done = project.toolcast("call", "echo", *arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {error}"), done.stderr
