"""Renames and removals in a toolset with shared definitions, resources and MCP prompts."""

from __future__ import annotations

import pytest

from tests.conftest import Project

from .conftest import read_files, run_command, run_rejected

MONEY = """\
# find_note is not about money.
money:
  type: object
  description: What find_note costs, or `store_note`.
  properties: {amount: {$ref: "#/$defs/shared/amount"}}
amount: {type: number}
"""
PROMPT = """\
name: tidy
description: Tidies up.
arguments:
  - {name: topic, description: The words for find_note.}
messages:
  - text: "Call `find_note` with {{topic}}."
"""
PAGE = b"\xef\xbb\xbfUse find_note.\r\nSee /notes/find_note.\r\n"


@pytest.fixture
def shop(notes: Project) -> Project:
    notes.write("specs/toy/definitions.yaml", MONEY)
    money = '$ref: "#/$defs/shared/money"'
    notes.edit("specs/toy/store_note.yaml", "{type: object}", f"{{{money}}}")
    notes.edit("specs/toy/find_note.yaml", "  type: object\n", f"  {money}\n")
    notes.write("specs/toy/mcp_prompts/tidy.yaml", PROMPT)
    notes.write(
        "specs/toy/mcp_resources/page.yaml",
        "name: page\nuri: toy://page\nmime_type: text/markdown\nfile: pages/page.md\n",
    )
    notes.write("specs/toy/pages/page.md", "").write_bytes(PAGE)
    notes.write(
        "specs/toy/mcp_resources/found.yaml",
        "name: found\nuri: toy://found\nhandler: handlers.toy:find_note\n",
    )
    return notes


def test_rename_edits_definitions_resources_and_mcp_prompts(shop: Project) -> None:
    output = run_command(shop, "rename", "find_note", "search_notes", "--handler")
    after = read_files(shop.root)
    money = MONEY.replace("What find_note", "What search_notes")
    assert after["specs/toy/definitions.yaml"].decode() == money
    prompt = after["specs/toy/mcp_prompts/tidy.yaml"].decode()
    assert "The words for search_notes." in prompt
    assert "Call `search_notes` with {{topic}}." in prompt
    # A name inside a URL can belong to something else, so it is only listed.
    page = PAGE.replace(b"Use find_note", b"Use search_notes")
    assert after["specs/toy/pages/page.md"] == page
    found = after["specs/toy/mcp_resources/found.yaml"].decode()
    assert "handler: handlers.toy:search_notes" in found
    assert "specs/toy/definitions.yaml:1:3: # find_note is not about money." in output
    assert "specs/toy/pages/page.md:2:12: See /notes/find_note." in output


def test_rename_does_not_edit_an_mcp_prompt_placeholder(shop: Project) -> None:
    text = PROMPT.replace("topic", "find_note")
    shop.write("specs/toy/mcp_prompts/tidy.yaml", text)
    run_command(shop, "rename", "find_note", "search_notes")
    assert (shop.root / "specs/toy/mcp_prompts/tidy.yaml").read_text() == text


def test_rename_does_not_edit_a_binary_resource_file(shop: Project) -> None:
    data = b"\xff find_note \x00"
    (shop.root / "specs/toy/pages/page.md").write_bytes(data)
    shop.edit("specs/toy/mcp_resources/page.yaml", "text/markdown", "image/png")
    run_command(shop, "rename", "find_note", "search_notes")
    assert (shop.root / "specs/toy/pages/page.md").read_bytes() == data


def test_remove_lists_mentions_in_definitions_and_resources(shop: Project) -> None:
    shop.edit("specs/toy/store_note.yaml", ", replacement: find_note", "")
    command = ("remove", "find_note", "--without-notice", "--toolset", "toy")
    output = run_rejected(shop, 1, *command)
    assert output.count("specs/toy/definitions.yaml:4:16") == 1
    assert "specs/toy/mcp_prompts/tidy.yaml:6:11" in output
    assert "specs/toy/mcp_resources/page.yaml:4:7" in output


@pytest.mark.parametrize("arguments", [["rename", "tidy", "x"], ["remove", "tidy"]])
def test_rename_and_remove_commands_reject_an_mcp_prompt(
    shop: Project, arguments: list[str]
) -> None:
    """The message tells the user to edit the prompt by hand."""
    output = run_rejected(shop, 2, *arguments)
    assert "edit the prompt by hand: specs/toy/mcp_prompts/tidy" in output
