"""Deprecation notices of a tool: prompt docs, CLI help, log and, if shown, description."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.conftest import Project
from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.cli import command_line
from toolcast_runtime.core.definitions.tool import format_deprecation

DEPRECATED = {
    "since": "2026-01-01",
    "removal": "2999-01-01",
    "replacement": "save_note",
}
LINE = "Deprecated, and removed on 2999-01-01: use save_note instead."
SPEC = """\
summary: Stores a *note*.
parameters: {type: object}
handler: handlers.toy:work
cli: {keyword: note}
deprecated: {since: "2026-01-01", replacement: save_note, reason: "Use `_x_`."%s}
"""


@pytest.mark.parametrize(
    ("deprecated", "line"),
    [
        (DEPRECATED, LINE),
        ({"since": "1.2"}, "Deprecated."),
        ({"removal": "2999-01-01"}, "Deprecated, and removed on 2999-01-01."),
        ({"reason": "It is\n slow."}, "Deprecated. It is slow."),
    ],
)
def test_format_deprecation_has_removal_date_replacement_and_reason(
    deprecated: dict[str, str], line: str
) -> None:
    assert format_deprecation(deprecated) == line


def load_registry(tmp_path: Path) -> Registry:
    """Return a registry with the deprecated tool `note` and its replacement."""
    cli = {"command": "note", "lines": []}
    note = definition("note", deprecated=DEPRECATED, cli=cli, former_names=["memo"])
    save_note = definition("save_note", cli={**cli, "command": "save"})
    return Registry(Package(tmp_path, note, save_note).load())


def test_cli_help_for_a_deprecated_tool_has_the_notice(tmp_path: Path) -> None:
    """Help of other commands and of the command group does not mention it."""
    main = command_line(load_registry(tmp_path), title="Notes")
    output = CliRunner().invoke(main, ["note", "--help"]).output
    assert f"\n  Does note.\n\n  {LINE}\n\nOptions:" in output
    assert "Deprecated" not in CliRunner().invoke(main, ["save", "--help"]).output
    assert "Deprecated" not in CliRunner().invoke(main, ["--help"]).output


def generate_section(project: Project) -> tuple[str, dict[str, object]]:
    """Generate, and return the prompt section and the definition of `note`."""
    project.generate()
    folder = project.root / "generated/toy"
    section = (folder / "prompts/section_tools.md").read_text("utf-8")
    return section, json.loads((folder / "tools/note.json").read_text("utf-8"))


def test_deprecation_notice_is_always_in_prompt_docs_and_with_show_in_the_description(
    make_project: Callable[..., Project],
) -> None:
    other = SPEC.partition("deprecated")[0].replace("keyword: note", "keyword: save")
    project = make_project(
        {"note": SPEC % "", "save_note": other},
        handlers="def work(arguments: dict): ...\n",
    )
    section, definition = generate_section(project)
    # Markdown in the reason stays literal because the reason is plain text.
    assert "### note\nDeprecated: use save_note instead. Use `_x_`.\n" in section
    assert definition["mcp"]["description"] == "Stores a *note*."  # type: ignore[index]
    project.edit("specs/toy/note.yaml", '"Use `_x_`."', '"Use `_x_`.", show: true')
    section_with_show, definition = generate_section(project)
    assert section_with_show == section
    assert definition["mcp"]["description"] == (  # type: ignore[index]
        "Stores a *note*.\n\nDeprecated: use save_note instead. Use `_x_`."
    )
