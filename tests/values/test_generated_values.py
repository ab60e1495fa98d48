"""From the spec's words to a call: `values`, `arguments_type` and `result_type`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

PARAMETERS = """
parameters:
  type: object
  properties:
    due: {type: string, format: date, description: When.}
  required: [due]
  additionalProperties: false
"""
TOOLS = {
    "by_toolset": f"summary: Take a date.\nhandler: handlers.toy:plain{PARAMETERS}",
    "by_itself": f"summary: Take a text.\nhandler: handlers.toy:plain\nvalues: json{PARAMETERS}",
    "by_class": (
        "summary: Take a class.\nhandler: handlers.toy:whole\n"
        "arguments_type: handlers.toy:Note\nresult_type: handlers.toy:Note"
        f"{PARAMETERS}returns: {{type: object, properties: {{due: {{type: string}}}}}}\n"
    ),
}
HANDLERS = """
    from dataclasses import dataclass
    from datetime import date, timedelta

    @dataclass
    class Note:
        due: date

    def plain(due): return type(due).__name__
    def whole(note: Note): return Note(note.due + timedelta(days=1))
"""
PROGRAM = """
import json
from generated.toy.registry import call_tool_sync
names = ("by_toolset", "by_itself", "by_class")
answers = [call_tool_sync(name, {"due": "2024-02-28"}) for name in names]
print(json.dumps([answer.error or answer.result for answer in answers]))
"""


def test_the_spec_says_what_handlers_are_given(
    make_project: Callable[..., Any],
) -> None:
    project = make_project(
        TOOLS, toolset="values: python\ntargets: {registry: {}}\n", handlers=HANDLERS
    )
    project.generate()
    ended = project.run("-c", PROGRAM)
    assert not ended.stderr
    assert json.loads(ended.stdout) == ["date", "str", {"due": "2024-02-29"}]
    tools = project.root / "generated/toy/tools"
    said = {
        name: json.loads((tools / f"{name}.json").read_text("utf-8")) for name in TOOLS
    }
    assert said["by_toolset"]["values"] == "python"
    assert "values" not in said["by_itself"]
    assert said["by_class"]["arguments_type"] == "handlers.toy:Note"
    # Callers are shown the spec's schema, whatever the handler takes.
    shown = {json.dumps(one["mcp"]["inputSchema"]) for one in said.values()}
    assert len(shown) == 1
