"""The platform's own renames, made again by the command from specs with the old names."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from generated.molecule import cli, langchain_tools, prompts, registry
from tests.conftest import Project

FORMER = {
    "delegate_to_workspace": "delegate_task",
    "check_delegation_status": "check_task_status",
    "search_memory": "recall_memory",
}


def specs(root: Path) -> dict[str, bytes]:
    folder = root / "specs/molecule"
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def as_they_were(root: Path) -> None:
    """Gives the tools their old names back, wherever specs say the present ones."""
    for path in sorted((root / "specs/molecule").iterdir()):
        text = path.read_text("utf-8")
        for old, new in FORMER.items():
            text = text.replace(f"renamed_from: [{old}]\n", "")
            text = re.sub(rf"(?<![\w:]){new}(?!\w)", old, text)
        stem = {new: old for old, new in FORMER.items()}.get(path.stem, path.stem)
        path.unlink()
        path.with_name(f"{stem}.yaml").write_text(text, "utf-8")


@pytest.mark.slow
def test_the_renames_give_the_specs_that_are_there(project_copy: Project) -> None:
    wanted = specs(project_copy.root)
    as_they_were(project_copy.root)
    assert specs(project_copy.root) != wanted
    for old, new in FORMER.items():
        done = project_copy.toolcast("rename", old, new)
        assert done.returncode == 0, done.stderr
        assert (
            "specs/molecule"
            not in done.stdout.partition("Not changed, for you to review")[2]
        )
    assert specs(project_copy.root) == wanted


def said_by(value: Any) -> Iterator[str]:
    text = repr(value)
    return (old for old in FORMER if old in text)


@pytest.mark.parametrize("old", FORMER)
def test_a_call_by_the_old_name_is_answered_everywhere(old: str) -> None:
    new = FORMER[old]
    assert registry.get_tool(old).name == new
    assert registry.get_openai_tools_by_names_sync([old])[0]["function"]["name"] == new
    assert langchain_tools.get_langchain_tool(old).name == new
    # Each answers as it does to the present name.
    answers = [
        registry.call_tool_sync(name, {"workspace_id": 1}).error for name in (old, new)
    ]
    assert answers[0] == answers[1] and "are not valid" in str(answers[0])
    said = CliRunner().invoke(cli.main, [old.replace("_", "-")]).output
    assert "Did you mean" in said
    assert prompts.PROMPTS.guidance([old]) == prompts.PROMPTS.guidance([new])


def test_no_list_and_no_prompt_says_one() -> None:
    chained = langchain_tools.get_langchain_tools()
    tools = asyncio.run(registry.REGISTRY.list_tools())
    listed = [
        [tool.definition for tool in tools],
        registry.get_openai_tools_sync(),
        registry.get_mcp_tools_sync(),
        registry.get_routed_tools_catalog_sync(),
        [(t.name, t.description, t.args_schema) for t in chained],
        CliRunner().invoke(cli.main, ["--help"]).output,
        prompts.PROMPTS.files(),
    ]
    assert not [old for value in listed for old in said_by(value)]
