"""Commands of a registry without a process: help texts, usage errors and calls."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from tests.runtime.packages import Package, definition
from toolcast_runtime import Client, OverrideFile, Registry, ToolResponse
from toolcast_runtime.cli.click_commands import command_line
from toolcast_runtime.cli.terminal import closing_registry

TEXT = {"type": "string"}


def _make_definition(
    name: str, properties: dict[str, Any], *required: str, **fields: Any
) -> dict[str, Any]:
    result = definition(name, **fields)
    result["mcp"]["inputSchema"] = {
        "type": "object",
        "properties": properties,
        "required": [*required],
        "additionalProperties": False,
    }
    return result


WHAT = {"parameter": "what", "optional": True, "rest": True}
GIVE = _make_definition(
    "give",
    {
        "to": {**TEXT, "description": "Who."},
        "what": TEXT,
        "count": {"type": "integer", "default": 1},
        "a_b": TEXT,
        "a-b": TEXT,
    },
    "to",
    cli={
        "command": "give",
        "usage": [{"parameter": "to"}, WHAT],
    },
    examples=[
        {"title": "To Ana", "arguments": {"to": "Ana", "count": 2}},
        {"arguments": {"to": "Bo"}, "error": "He has it."},
        {"arguments": {"to": "-x"}},
    ],
)
LATER = _make_definition(
    "give_later",
    {"to": TEXT, "at": TEXT},
    "to",
    cli={"command": "give", "flag": "--later", "usage": [{"parameter": "to"}]},
)
NOTE = _make_definition(
    "note",
    {"action": {"enum": ["add", "drop"]}, "text": TEXT, "id": TEXT, "way": TEXT},
    "action",
    cli={"command": "notes"},
    actions={
        "parameter": "action",
        "values": {
            "add": {"summary": "Keep it.", "requires": ["text"], "accepts": ["way"]},
            "drop": {"requires_any": ["id", "text"], "accepts": []},
        },
    },
    examples=[{"arguments": {"action": "add", "text": "a b"}}],
)
OTHERS = [
    _make_definition("unsaid", {}, cli={"command": None}),
    _make_definition(
        "out", {}, cli={"command": "out"}, exclusions={"cli": "It is not ready."}
    ),
    definition("bare"),
]


def _registry(folder: Path, **more: Any) -> Registry:
    return Registry(Package(folder, GIVE, LATER, NOTE, *OTHERS).load(), **more)


@pytest.fixture
def toys(tmp_path: Path) -> click.Group:
    return command_line(_registry(tmp_path), title="Toys", program="toys")


def _run(group: click.Group, line: str) -> tuple[int, str]:
    done = CliRunner().invoke(group, line.split())
    return done.exit_code, done.output


def test_command_line_help_lists_options_and_commands(toys: click.Group) -> None:
    assert _run(toys, "--help") == (
        0,
        """\
Usage: toys [OPTIONS] COMMAND [ARGS]...

  Toys

Options:
  --log FILE     Append the internal errors of tools to this file.
  --output FILE  Write the first image, audio or file of the result to this new
                 file.
  --help         Show this message and exit.

Commands:
  give   Does give.
  notes  Does note.
""",
    )


def test_command_help_lists_arguments_options_and_examples(toys: click.Group) -> None:
    assert _run(toys, "give --help") == (
        0,
        """\
Usage: toys give [OPTIONS] TO [WHAT...]

  Does give.

Arguments:
  TO    Who.  [required]
  WHAT

Options:
  --later           Does give_later.
  --count INTEGER   [default: 1]
  --a-b TEXT
  --arguments JSON  Arguments as one JSON object, combined with the other
                    arguments. `-` reads JSON from standard input, `@FILE` from
                    a file; so does each option that accepts JSON. The only way
                    to set a-b.
  --help            Show this message and exit.

Examples:
  # To Ana
  give --count 2 Ana
  give -- -x
""",
    )


def test_help_with_a_flag_describes_the_tool_that_it_selects(toys: click.Group) -> None:
    """Two tools share a command; the flag selects the second."""
    code, shown = _run(toys, "give --later --help")
    assert code == 0
    assert "Usage: toys give [OPTIONS] TO\n\n  Does give_later.\n" in shown
    assert "--later           Does give_later.\n  --at TEXT\n" in shown
    assert "The only way" not in shown and "Examples:" not in shown


def test_tool_with_actions_is_a_command_group_with_each_actions_options(
    toys: click.Group,
) -> None:
    code, shown = _run(toys, "notes --help")
    assert code == 0
    assert "Commands:\n  add   Keep it.\n  drop  Does note.\n" in shown
    code, shown = _run(toys, "notes add --help")
    assert code == 0
    assert "  Keep it.\n" in shown and "Examples:\n  notes add --text 'a b'\n" in shown
    options = [line.split()[0] for line in shown.split("\n") if line[:4] == "  --"]
    assert options == ["--text", "--way", "--arguments", "--help"]
    assert "--text TEXT       [required]" in shown
    code, shown = _run(toys, "notes drop --help")
    options = [line.split()[0] for line in shown.split("\n") if line[:4] == "  --"]
    assert options == ["--text", "--id", "--arguments", "--help"]
    assert "Examples:" not in shown


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("give", "`to` is required"),
        ("giv", "No such command 'giv'. Did you mean 'give'?"),
        ("give_later", "No such command 'give_later'. Did you mean 'give'?"),
        ("out", "No such command 'out'."),
        ("--giv", "No such option '--giv'."),
        ("give a --later -- b", "Got unexpected extra argument (b)"),
        ("give a --no-such", "(put `--` before arguments that begin with a dash)"),
        ("notes add --id 1", "No such option '--id'."),
        ('notes add --arguments {"action":"drop"}', "`action` is `add` in this"),
        ("give a --count x", "`count` must be an integer"),
        ("give a --arguments [", "Invalid value for --arguments: not JSON"),
        ("--log . give a", "Invalid value for '--log': File '.' is a directory."),
        ("--log /absent/log give a", "/absent/log: No such file or directory"),
    ],
)
def test_command_line_usage_error_names_the_misspelled_or_missing_argument(
    toys: click.Group, line: str, error: str
) -> None:
    code, shown = _run(toys, line)
    assert code == 2
    assert shown.split("Error: ")[1].startswith(error) or error in shown


def test_command_line_command_passes_its_arguments_to_the_registrys_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = _registry(tmp_path)
    called: list[Any] = []

    def call(name: str, arguments: Any, client: Any, *, ask: Any) -> ToolResponse:
        called.append((name, arguments, client))
        return ToolResponse("Done.")

    monkeypatch.setattr(registry, "call_tool_sync", call)
    group = command_line(registry, title="Toys")
    for line in (
        "give Ana a b --count 0",
        'give Ana --arguments {"count":2,"what":""}',
        "give --later Ana",
        "give -- Ana --later",
        "notes add --text x",
        'notes add --text x --arguments {"action":"add"}',
    ):
        assert _run(group, line) == (0, "Done.\n"), line
    assert called == [
        ("give", {"to": "Ana", "what": "a b", "count": 0}, None),
        ("give", {"to": "Ana", "what": "", "count": 2}, None),
        ("give_later", {"to": "Ana"}, None),
        ("give", {"to": "Ana", "what": "--later"}, None),
        ("note", {"text": "x", "action": "add"}, None),
        ("note", {"text": "x", "action": "add"}, None),
    ]


def test_client_option_limits_commands_to_the_clients_commands(tmp_path: Path) -> None:
    registry = _registry(
        tmp_path,
        clients={"staff": Client(allow="*"), "guest": Client(allow=("note",))},
        override=OverrideFile("NO_SUCH_VARIABLE"),
    )
    toys = command_line(registry, title="Toys", program="toys", client="guest")
    code, shown = _run(toys, "--help")
    assert "--client NAME  Act as this client.  [default: guest]" in shown
    assert shown.endswith("Commands:\n  notes  Does note.\n")
    assert "  give   Does give.\n" in _run(toys, "--client staff --help")[1]
    assert "no client `nobody`" in _run(toys, "--client nobody --help")[1]
    nobody = command_line(registry, title="Toys", program="toys")
    code, shown = _run(nobody, "notes")
    assert (code, "a client is required; help: use --client NAME" in shown) == (2, True)
    assert "[default" not in _run(nobody, "--client staff --help")[1]


def test_command_line_closes_the_registry_on_sigterm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed: list[bool] = []

    async def close() -> None:
        closed.append(True)

    registry = _registry(tmp_path)
    monkeypatch.setattr(registry, "close", close)
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        with pytest.raises(SystemExit) as ended, closing_registry(registry):
            signal.raise_signal(signal.SIGTERM)
        assert (ended.value.code, closed) == (128 + signal.SIGTERM, [True])
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with closing_registry(registry):
            assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
        assert closed == [True, True]
    finally:
        signal.signal(signal.SIGTERM, before)
