"""A deprecated tool says so: in the prompt docs, its help, the log and, if asked, to models."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.conftest import Project
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.cli import command_line
from toolcast_runtime.core.definitions.tool import format_deprecation

GONE = {"since": "2026-01-01", "removal": "2999-01-01", "replacement": "save_note"}
LINE = "Deprecated, and removed on 2999-01-01: use save_note instead."
SPEC = """\
summary: Stores a *note*.
parameters: {type: object}
handler: handlers.toy:work
cli: {keyword: note}
deprecated: {since: "2026-01-01", replacement: save_note, reason: "Use `_x_`."%s}
"""


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (GONE, LINE),
        ({"since": "1.2"}, "Deprecated."),
        ({"removal": "2999-01-01"}, "Deprecated, and removed on 2999-01-01."),
        ({"reason": "It is\n slow."}, "Deprecated. It is slow."),
    ],
)
def test_the_line(told: dict[str, str], line: str) -> None:
    assert format_deprecation(told) == line


def loaded(tmp_path: Path) -> Registry:
    cli = {"command": "note", "lines": []}
    return Registry(
        Package(
            tmp_path,
            definition("note", deprecated=GONE, cli=cli, former_names=["memo"]),
            definition("save_note", cli={**cli, "command": "save"}),
        ).load()
    )


def test_a_call_of_it_is_logged_once_a_process(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    registry = loaded(tmp_path)
    with caplog.at_level(logging.WARNING, logger="toolcast"):
        for name in ("note", "save_note", "note", "note"):
            registry.call_tool_sync(name)
    assert caplog.messages == [f"note is called. {LINE}"]


def test_the_help_of_its_command_says_so(tmp_path: Path) -> None:
    main = command_line(loaded(tmp_path), title="Notes")
    said = CliRunner().invoke(main, ["note", "--help"]).output
    assert f"\n  Does note.\n\n  {LINE}\n\nOptions:" in said
    assert "Deprecated" not in CliRunner().invoke(main, ["save", "--help"]).output
    assert "Deprecated" not in CliRunner().invoke(main, ["--help"]).output


def generated(project: Project) -> tuple[str, dict[str, object]]:
    project.generate()
    folder = project.root / "generated/toy"
    section = (folder / "prompts/section_tools.md").read_text("utf-8")
    return section, json.loads((folder / "tools/note.json").read_text("utf-8"))


def test_prompt_docs_say_so_and_the_description_where_it_is_asked_to(
    make_project: Callable[..., Project],
) -> None:
    other = SPEC.partition("deprecated")[0].replace("keyword: note", "keyword: save")
    project = make_project(
        {"note": SPEC % "", "save_note": other},
        handlers="def work(arguments: dict): ...\n",
    )
    section, definition = generated(project)
    # The reason is a text: it cannot open anything.
    assert "### note\nDeprecated: use save_note instead. Use `_x_`.\n" in section
    assert definition["mcp"]["description"] == "Stores a *note*."  # type: ignore[index]
    project.edit("specs/toy/note.yaml", '"Use `_x_`."', '"Use `_x_`.", show: true')
    again, definition = generated(project)
    assert again == section
    assert definition["mcp"]["description"] == (  # type: ignore[index]
        "Stores a *note*.\n\nDeprecated: use save_note instead. Use `_x_`."
    )
