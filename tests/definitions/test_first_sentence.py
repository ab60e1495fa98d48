"""The summary of a tool without `summary`: the first sentence of its description."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.conftest import Project
from toolcast_runtime.core.definitions.tool import command_name, extract_first_sentence


@pytest.mark.parametrize(
    ("description", "summary"),
    [
        ("List the peers.", "List the peers."),
        ("List the peers. Each has a role.", "List the peers."),
        ("List files, e.g. those of\na folder. Then stop.", "List files, e.g. those of a folder."),
        ("Take about approx. 5 of Node.js. It is quick.", "Take about approx. 5 of Node.js."),
        ("Is it there? Yes.", "Is it there?"),
        ("Read `a.` Then go.", "Read `a.`"),
        ("Lists issues\n\nArgs:\n  a: A.", "Lists issues"),
        ("Lists issues:\n- open\n- closed", "Lists issues:"),
        ("\n\n  Lists\tissues  ", "Lists issues"),
        ("一覧を返す。次に進む。", "一覧を返す。"),
        ("version 1.5 of it", "version 1.5 of it"),
        (" \n ", ""),
        ("  \n ", ""),
        ("", ""),
        ("One. Two.", "One."),
        ("One\ntwo. Three", "One two."),
        ("One\n\ntwo", "One"),
        ("One\n- two", "One"),
        ("One\n1. two", "One"),
        ("Reads e.g. files", "Reads e.g. files"),
    ],
)  # fmt: skip
def test_tool_summary_defaults_to_the_descriptions_first_sentence_on_one_line(
    description: str, summary: str
) -> None:
    assert extract_first_sentence(description) == summary


def test_first_sentence_of_900000_characters_is_found_in_time(time_limit: None) -> None:
    for text in ("a. " * 300_000, "." * 900_000, "\n " * 400_000, "-\n" * 400_000):
        extract_first_sentence(f"x{text}")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("list_peers", "list-peers"),
        ("listPeers", "list-peers"),
        ("HTTPGet.all", "httpget-all"),
        ("7zip", "tool-7zip"),
        ("..", "tool"),
    ],
)
def test_cli_command_defaults_to_the_kebab_case_name(name: str, command: str) -> None:
    assert command_name(name) == command


SPEC = """\
description: >-
  Answer with pong. Nothing else
  is done.
parameters: {type: object}
"""


def test_spec_without_summary_and_cli_gets_both_from_description_and_name(
    make_project: Callable[..., Project],
) -> None:
    targets = "targets: {mcp: {}, registry: {}, cli: {}, prompts: {}}\n"
    project = make_project(
        {"say_pong": f"{SPEC}handler: handlers.toy:pong\n"},
        toolset=targets,
        handlers="def pong() -> str:\n    return 'pong'\n",
    )
    project.generate()
    folder = project.root / "generated/toy"
    assert (
        '"summary": "Answer with pong."' in (folder / "tools/say_pong.json").read_text()
    )
    block = (folder / "prompts/cli.md").read_text()
    assert "generated.toy.cli say-pong" in block and "# Answer with pong." in block
    assert (
        "**say_pong**: Answer with pong."
        in (folder / "prompts/preamble.md").read_text()
    )
    assert project.run("-m", "generated.toy.cli", "say-pong").stdout == "pong\n"


@pytest.mark.parametrize("text", ["", "description: ''\n", "description: null\n"])
def test_check_reports_a_spec_without_description_as_missing_key(
    make_project: Callable[..., Project], text: str
) -> None:
    project = make_project({"note": f"{text}parameters: {{type: object}}\n"})
    result = project.toolcast("check")
    assert result.returncode == 1
    assert "error: spec/missing-key: the " in result.stderr
