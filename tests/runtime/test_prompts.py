"""Prompt docs: sections, guidance and CLI block for each client."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import Client, OverrideFile, Registry, UnknownClientError
from toolcast_runtime.prompts import CliBlock, Prompts, Section

SECTIONS = (
    Section("text", "## Texts\n\nAbout texts.\n\n", "\nBe brief.\n", "**Text**\n"),
    Section("empty", before="## Nothing here\n\n"),
    Section("tools", before="## Tools\n\n", label="**Tools**\n"),
)


def make_documented(name: str, *usage: str, **fields: Any) -> dict[str, Any]:
    """Return a definition with prompt docs and a command."""
    line = {"words": name, "line": f"{name} <text...>"}
    return definition(
        name,
        prompt={
            "bullet": [f"- **{name}**: Does {name}."],
            "before": [f"### {name}"],
            "usage": list(usage),
        },
        cli={"command": name, "lines": [line]},
        **fields,
    )


@pytest.fixture
def prompts(tmp_path: Path) -> Prompts:
    exclusions = {"prompts": "x", "cli": "x"}
    package = Package(
        tmp_path,
        make_documented(
            "count", "To count.", "", "With care.", section="text", order=1
        ),
        make_documented("cut", section="text", order=2, clients=["writer"]),
        make_documented("loose", "Alone."),
        make_documented("hidden", section="text", exclusions=exclusions),
        definition("bare", section="text"),
    )
    registry = Registry(
        package.load(),
        sections=("text", "empty"),
        clients={"writer": Client(allow="*"), "reader": Client(allow=("count", "cut"))},
        override=OverrideFile("NO_SUCH_VARIABLE"),
    )
    cli = CliBlock("notes", "## Commands\n\n", "\nEnd.\n", client="reader")
    start = "## Tools\n\nUse them.\n"
    return Prompts(registry, before=start, sections=SECTIONS, cli=cli)


def test_prompt_section_has_bullets_then_usage_then_footer(prompts: Prompts) -> None:
    assert prompts.section("text", "writer") == (
        "## Texts\n\nAbout texts.\n\n- **count**: Does count.\n- **cut**: Does cut.\n\n"
        "### count\nTo count.\n\nWith care.\n\nBe brief.\n"
    )


def test_guidance_for_named_tools_omits_denied_tools(prompts: Prompts) -> None:
    """Tools that are unknown, undocumented or excluded from prompts are skipped."""
    names = ["loose", "calendar", "bare", "cut", "count"]
    count = "### count\nTo count.\n\nWith care.\n"
    assert prompts.guidance(names, "writer") == f"{count}\n### loose\nAlone.\n"
    assert prompts.guidance(names, "reader") == count
    assert prompts.guidance(["hidden", "cut"], "writer") == ""
    with pytest.raises(UnknownClientError):
        prompts.guidance(["count"], "unknown")


def test_prompt_docs_describe_only_tools_allowed_to_client(prompts: Prompts) -> None:
    assert "cut" not in prompts.section("text", "reader")
    assert prompts.section("tools", "reader") == ""
    assert prompts.preamble("reader") == (
        "## Tools\n\nUse them.\n\n**Text**\n- **count**: Does count.\n"
    )


def test_tools_without_section_are_in_the_section_named_tools(prompts: Prompts) -> None:
    """Sections without tools are not listed and their text is empty."""
    assert prompts.sections == ("text", "tools")
    assert prompts.section("tools", "writer").startswith("## Tools\n\n- **loose**")
    assert prompts.section("empty", "writer") == ""


def test_prompt_docs_cli_block_has_the_clients_commands(prompts: Prompts) -> None:
    row = "  notes {0} <text...>".format
    reader = f"## Commands\n\n{row('count').ljust(50)}# Does count.\n\nEnd.\n"
    assert prompts.cli_block() == prompts.cli_block("reader") == reader
    writer = prompts.cli_block("writer")
    assert all(row(name) in writer for name in ("count", "cut", "loose"))
    assert "hidden" not in writer


def test_prompt_files_describe_every_tool_but_cli_md_only_its_clients_commands(
    prompts: Prompts,
) -> None:
    """The client of `cli.md` is the one that the CLI uses."""
    files = prompts.files()
    assert [*files] == "preamble.md section_text.md section_tools.md cli.md".split()
    assert files["section_text.md"] == prompts.section("text", "writer")
    assert files["preamble.md"] == prompts.preamble("writer")
    assert files["cli.md"] == prompts.cli_block("reader")


def test_prompt_docs_for_unknown_client_or_section_raise(prompts: Prompts) -> None:
    for render in (prompts.preamble, lambda client: prompts.section("text", client)):
        for client in (None, "unknown"):
            with pytest.raises(UnknownClientError):
                render(client)
    message = "unknown section `unheard of`; help: use one of `text`"
    with pytest.raises(KeyError, match=message):
        prompts.section("unheard of", "writer")


def test_prompt_docs_cli_block_raises_lookup_error_without_a_cli(
    tmp_path: Path,
) -> None:
    registry = Registry(Package(tmp_path, definition("count")).load())
    with pytest.raises(LookupError, match="has no command line"):
        Prompts(registry).cli_block()
