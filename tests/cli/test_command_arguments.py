"""Arguments of generated commands: exact values in the handler, or a usage error."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.forked import ForkServer
from tests.program import toolcast
from tests.project_files import write_files, write_toolset
from tests.repository import own_project
from toolcast.model.loading import load_workspace

TOOL = """
summary: Give the arguments back.
parameters:
  type: object
  additionalProperties: false
  required: [place]
  properties:
    place: {type: string}
    rest: {type: string}
    count: {type: integer, default: 3}
    ratio: {type: number}
    flag: {type: boolean}
    words: {type: array, items: {type: string}}
    numbers: {type: array, items: {type: integer}}
    options: {type: object}
    level: {enum: [low, high]}
    step: {enum: [1, 2]}
    either: {anyOf: [{type: string}, {type: object}]}
    maybe: {type: [string, "null"]}
    from: {type: string}
    a-b: {type: string}
    a_b: {type: string}
    order_id: {type: integer}
    isUrgent: {type: boolean}
    is_open: {type: boolean}
handler: handlers.toy:echo
cli: {keyword: KEYWORD, usage: "<place> [<rest...>]"}
"""
HANDLER = """
def echo(arguments, /):
    return {"got": arguments}

def other(arguments, /):
    if arguments["place"] == "nowhere":
        raise ValueError("password=hunter2")
    return {"other": arguments}
"""
OTHER = """
summary: Do it later.
parameters:
  type: object
  additionalProperties: false
  required: [place]
  properties: {place: {type: string}, later: {type: string}}
handler: handlers.toy:other
cli: {keyword: give --async, usage: "<place>"}
"""

ADD = """
name: add
summary: Add numbers.
parameters: {type: object, properties: {numbers: {type: array, items: {type: integer}}}}
handler: handlers.toy:echo
cli: {keyword: add, usage: "<numbers>"}
examples:
  - arguments: {numbers: [1, 2]}
"""
TAG = """
name: tag
summary: Put marks.
parameters: {type: object, properties: {words: {type: array, items: {type: string}}}}
handler: handlers.toy:echo
cli: {keyword: tag, usage: "[<words...>]"}
examples:
  - arguments: {words: [a b, c]}
"""

Run = Callable[..., Any]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the root of a toolset with parameters of every type."""
    toolset = "name: toy\ntitle: Toy\nhandlers: handlers\ntargets: {cli: {}}\n"
    give = "name: give\n" + TOOL.replace("KEYWORD", "give")
    specs = {"toolset": toolset, "give": give, "add": ADD, "tag": TAG}
    specs["later"] = "name: later\n" + OTHER
    root = write_toolset(tmp_path_factory.mktemp("values"), "toy", specs)
    write_files(root, {"handlers/toy.py": HANDLER})
    return root


@pytest.fixture(scope="module")
def call(project: Path, programs: ForkServer) -> Run:
    """Return a function that runs the generated command, and returns its output.

    The result is the handler's, or stderr if the command failed.
    """
    assert toolcast(project, "generate").returncode == 0

    def run(*args: str, tool: str = "give", stdin: str = "") -> Any:
        done = programs.run(project, "generated.toy.cli", tool, *args, input=stdin)
        assert "Traceback" not in done.stderr, done.stderr
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    return run


def test_generated_cli_writes_a_handlers_exception_only_to_the_log_file(
    project: Path, call: Run, programs: ForkServer
) -> None:
    for log in ([], ["--log", "toy.log"]):
        arguments = (*log, "give", "--async", "nowhere")
        done = programs.run(project, "generated.toy.cli", *arguments)
        assert done.returncode == 1
        assert "the tool failed" in done.stderr
        assert "hunter2" not in done.stdout + done.stderr
        assert ("--log FILE" in done.stderr) is not bool(log)
    assert "hunter2" in (project / "toy.log").read_text(encoding="utf-8")


def test_generated_cli_parses_each_option_by_its_parameters_type(call: Run) -> None:
    args = "here --count 5 --ratio -0.5 --flag --words a --words [1] --numbers 1"
    args += " --numbers -2 --level low --step 2 --maybe null --from x --a-b y"
    output = call(*args.split(), "--options", '{"k": [null]}', "--either", '{"e": 1}')
    assert output["got"] == {
        "place": "here",
        "count": 5,
        "ratio": -0.5,
        "flag": True,
        "words": ["a", "[1]"],
        "numbers": [1, -2],
        "options": {"k": [None]},
        "level": "low",
        "step": 2,
        "either": {"e": 1},
        "maybe": None,
        "from": "x",
        "a-b": "y",
    }
    assert call("here") == {"got": {"place": "here"}}
    assert call("here", "--no-flag") == {"got": {"place": "here", "flag": False}}


def test_generated_cli_accepts_options_spelled_like_properties(call: Run) -> None:
    """`--order_id` and `--order-id` are the same option."""
    output = call("here", "--order_id", "7", "--isUrgent", "--no-is_open")
    expected = {"place": "here", "order_id": 7, "isUrgent": True, "is_open": False}
    assert output["got"] == expected
    assert call("here", "--order-id", "7")["got"] == {"place": "here", "order_id": 7}
    assert call("here", "--from", "--order_id")["got"]["from"] == "--order_id"
    # The option `--a-b` is another parameter's.
    assert "No such option" in call("here", "--a_b", "x")


@pytest.mark.parametrize(
    ("arguments", "expected_error"),
    [
        (["--options", "{"], "for --options: not JSON: Expecting property name"),
        (["--options", "[1,\n2 3]"], "(line 2, column 3)"),
        (["--options", '{"a": NaN}'], "not JSON: NaN is not a JSON number"),
        (["--options", "@absent.json"], "absent.json cannot be read: No such file"),
        (["--options", "@."], ". cannot be read: this is a folder, not a regular file"),
        (["--options", "@pipe"], "pipe cannot be read: this is a pipe"),
        (["--options", "@latin.json"], "latin.json is not UTF-8"),
        (["--numbers", "[1, 2"], "for --numbers: not JSON: Expecting ',' delimiter"),
        (["--arguments", "{'a': 1}"], "for --arguments: not JSON: Expecting property"),
        (["--arguments", ""], "not JSON: Expecting value (line 1, column 1)"),
        (["--arguments", "-"], "not JSON: Expecting value (line 1, column 1)"),
    ],
)
def test_generated_cli_reports_an_option_whose_json_or_file_cannot_be_parsed(
    project: Path, call: Run, arguments: list[str], expected_error: str
) -> None:
    (project / "latin.json").write_bytes(b'{"a": "\xe9"}')
    if not (project / "pipe").exists():
        os.mkfifo(project / "pipe")
    assert expected_error in call("here", *arguments)


def test_generated_cli_reads_json_from_stdin_and_files(
    project: Path, call: Run
) -> None:
    (project / "some.json").write_text('\ufeff{"place": "p", "count": 2}', "utf-8")
    (project / "list.json").write_text("[1, 2]", "utf-8")
    assert call("--arguments", "@some.json")["got"] == {"place": "p", "count": 2}
    assert call("here", "--numbers", "@list.json")["got"]["numbers"] == [1, 2]
    read = call("here", "--options", "-", stdin='{"k": 1}')
    assert read["got"]["options"] == {"k": 1}
    assert call("--arguments", "-", stdin='{"place": "p"}')["got"] == {"place": "p"}
    # Parameters of type string are not read from files.
    unread = {"place": "@here", "from": "-", "words": ["@x"]}
    assert call("@here", "--from", "-", "--words", "@x")["got"] == unread


def test_generated_cli_positional_array_accepts_several_arguments(call: Run) -> None:
    assert call("--", "1", "2", "-3", tool="add")["got"] == {"numbers": [1, 2, -3]}
    assert call("[4, 5]", tool="add")["got"] == {"numbers": [4, 5]}
    assert call("a b", "[1]", "c", tool="tag")["got"] == {"words": ["a b", "[1]", "c"]}
    assert "`numbers[1]` must be an integer" in call("1", "x", tool="add")


def test_generated_cli_joins_the_remaining_arguments_to_one_text(call: Run) -> None:
    assert call("here", "all", "of  it", "too")["got"]["rest"] == "all of  it too"
    hostile = ["--help", "-x", "'", '"', "a\nb", "", "$HOME", "é🦊"]
    joined = {"place": "-p", "rest": " ".join(hostile)}
    assert call("--", "-p", *hostile)["got"] == joined


def test_generated_cli_options_override_the_arguments_option(call: Run) -> None:
    arguments = {"place": "p", "a_b": "only here", "maybe": None, "words": []}
    assert call("--arguments", json.dumps(arguments))["got"] == arguments
    both = call("--count", "1", "--arguments", '{"place": "p", "count": 9}')
    assert both["got"] == {"place": "p", "count": 1}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--count", "x"),
        ("--count", "1.5"),
        ("--ratio", "NaN"),
        ("--numbers", "1,2"),
        ("--step", "3"),
        ("--later", "x"),
        ("--arguments", "[" * 100_000),
    ],
)
def test_generated_cli_option_value_that_violates_its_schema_is_a_usage_error(
    call: Run, option: str, value: str
) -> None:
    assert "Error: " in call("here", option, value)


def test_generated_cli_flag_selects_between_a_commands_two_tools(call: Run) -> None:
    later = call("--async", "here", "--later", "x")
    assert later == {"other": {"place": "here", "later": "x"}}
    assert call("here", "--", "--async")["got"]["rest"] == "--async"
    # Options of the other tool are rejected instead of ignored.
    assert "No such option" in call("--async", "here", "--count", "1")
    assert "unexpected extra" in call("--async", "here", "more")
    assert "No such option" in call("here", "--from", "--async")
    assert call("here", "--from=--async")["got"]["from"] == "--async"


def list_examples() -> Iterator[Any]:
    """Yield every example of a tool with a command in this repository's toolsets."""
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    for toolset in workspace.toolsets:
        if "cli" not in toolset.targets:
            continue
        for tool in toolset.list_target_tools("cli"):
            if tool.cli is None or tool.cli.keyword is None:
                continue
            for number, example in enumerate(tool.examples):
                name = f"{tool.name}-{number}"
                yield pytest.param(toolset.name, tool, example, id=name)


@pytest.mark.parametrize(("toolset", "tool", "example"), list(list_examples()))
def test_cli_help_example_calls_the_tool_with_the_examples_arguments(
    toolset: str, tool: Any, example: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    if example.error is not None:
        return  # The help has only examples that succeed.
    module = importlib.import_module(f"generated.{toolset}.cli")
    keyword = tool.cli.keyword.split()
    if tool.actions:
        keyword.append(example.arguments[tool.actions.parameter])
    shown = CliRunner().invoke(module.main, [*keyword, "--help"]).output
    lines = [line[2:] for line in shown.split("Examples:\n")[1].split("\n")]
    got: list[Any] = []

    def call(name: str, arguments: Any, client: Any, *, ask: Any) -> Any:
        from toolcast_runtime import ToolResponse

        got.append((name, arguments))
        return ToolResponse("")

    monkeypatch.setattr(module.REGISTRY, "call_tool_sync", call)
    for line in lines:
        if line and not line.startswith("#"):
            done = CliRunner().invoke(module.main, shlex.split(line))
            assert done.exit_code == 0, done.output
    assert (tool.name, dict(example.arguments)) in got


ARGUMENTS = [
    {},
    {"action": "create"},
    {"action": "create", "memory": ""},
    {"action": "create", "memory": "x" * 10_001},
    {"action": "create", "memory": "fine"},
    {"action": "create", "memory": "fine", "limit": 3},
    {"action": "list", "limit": 1.0},
    {"action": "list", "limit": True},
    {"action": "list", "limit": "1"},
    {"action": "list", "unknown": 1},
    {"action": "search"},
    {"action": "search", "keywords": []},
    {"action": "search", "keywords": ["x"]},
    {"action": "search", "keywords": "x"},
    {"action": "search", "category": None},
    {"action": 3},
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=json.dumps)
def test_generated_cli_accepts_exactly_the_arguments_that_call_tool_accepts(
    arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from generated.kirishima.cli import main
    from generated.kirishima.registry import call_tool

    monkeypatch.setenv("KIRISHIMA_DATA", str(tmp_path))
    response = asyncio.run(call_tool("memory", arguments, "internal"))
    valid = response.error is None
    action = arguments.get("action")
    keyword = action if isinstance(action, str) else "list"
    command = ["memory", keyword, "--arguments", json.dumps(arguments)]
    monkeypatch.setenv("KIRISHIMA_DATA", str(tmp_path / "other"))
    done = CliRunner().invoke(main, command)
    if action == keyword or valid:
        assert (done.exit_code == 0) == valid, done.output
        assert done.exit_code in (0, 2)
