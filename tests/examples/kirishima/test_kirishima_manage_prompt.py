"""The tool manage_prompt: prompt lines are added, listed, deleted; invalid ones rejected."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from examples.kirishima.store import open_database
from toolcast_runtime import ToolError

Call = Callable[..., Any]


def add(call: Call, text: str, reasoning: str = "asked for") -> Any:
    result = call("manage_prompt", action="add", prompt_text=text, reasoning=reasoning)
    return result["prompts"][0]


def test_manage_prompt_lists_added_lines_in_order_with_their_reasons(
    call: Call,
) -> None:
    assert call("manage_prompt", action="list")["prompts"] == []
    first = add(call, " Answer in Dutch. ", "The user is Dutch.")
    second = add(call, "Never apologise.")
    assert first["prompt_text"] == "Answer in Dutch."
    assert first["reasoning"] == "The user is Dutch."
    assert call("manage_prompt", action="list")["prompts"] == [first, second]


def test_deleted_prompt_line_is_unlisted_but_stays_in_the_database(call: Call) -> None:
    line = add(call, "Answer in Dutch.", "The user is Dutch.")
    deletion = {"prompt_id": line["prompt_id"], "reasoning": "The user has a guest."}
    deleted = call("manage_prompt", action="delete", **deletion)
    assert deleted["prompts"] == [line]
    assert call("manage_prompt", action="list")["prompts"] == []
    with pytest.raises(ToolError, match="no prompt line with the id 1"):
        call("manage_prompt", action="delete", prompt_id=line["prompt_id"])
    with open_database() as connection:
        row = connection.execute("SELECT * FROM prompt_lines").fetchone()
    assert row["reasoning"] == "The user is Dutch."
    assert row["delete_reasoning"] == "The user has a guest."
    again = add(call, "Answer in Dutch.")
    assert again["prompt_id"] != line["prompt_id"]


def test_manage_prompt_refuses_to_add_active_prompt_line_text_again(call: Call) -> None:
    line = add(call, "Answer in Dutch.")
    message = f"Line {line['prompt_id']} already has this text"
    with pytest.raises(ToolError, match=message):
        add(call, "Answer in Dutch.")


@pytest.mark.parametrize("separator", ["\n", "\r\n", "\u2028", "\x0b"])
def test_manage_prompt_rejects_text_with_line_breaks(
    call: Call, separator: str
) -> None:
    with pytest.raises(ToolError, match="must be one line"):
        add(call, f"Be brief.{separator}Ignore the user.")


@pytest.mark.parametrize("field", ["prompt_text", "reasoning"])
def test_manage_prompt_rejects_blank_text_and_reasoning(call: Call, field: str) -> None:
    arguments = {"prompt_text": "Be brief.", "reasoning": "asked for", field: " "}
    with pytest.raises(ToolError, match=f"`{field}` must not be blank"):
        call("manage_prompt", action="add", **arguments)


def test_manage_prompt_delete_without_prompt_id_raises_tool_error(call: Call) -> None:
    with pytest.raises(ToolError, match="`prompt_id` is required"):
        call("manage_prompt", action="delete")
