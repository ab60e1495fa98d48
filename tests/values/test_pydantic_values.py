"""`values: pydantic` in a project: arguments, results, errors, and the generated files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.runtime.packages import Package, definition
from toolcast_runtime import Registry
from toolcast_runtime.core.definitions.definitions import DefinitionError

PARAMETERS = """
parameters:
  type: object
  properties:
    due: {type: string}
    color: {type: string}
    count: {type: integer}
    order: {type: object}
  additionalProperties: false
"""
HANDLERS = """
    from datetime import date
    from enum import Enum
    from typing import Annotated
    from mcp_types import CallToolResult, TextContent
    from pydantic import BaseModel, Field, field_validator
    from toolcast_runtime import ToolError, ToolResponse, text

    class Color(Enum):
        RED = "red"

    class Order(BaseModel):
        item: str
        due: date | None = None

        @field_validator("item")
        @classmethod
        def check(cls, value):
            if value == "secret":
                raise ValueError("the password is swordfish")
            return value

    def use(
        due: date = date(2026, 1, 2),
        color: Color = Color.RED,
        count: int = Field(3, gt=0),
        order: Order | None = None,
    ) -> dict[str, object]:
        kinds = [type(value).__name__ for value in (due, color, count, order)]
        return {"kinds": kinds, "due": due, "order": order}

    async def own_blocks(count: Annotated[int, Field(le=5)]):
        return ToolResponse({"count": count}, content=[text("own")] * count)

    def give_items(count: int):
        for number in range(count):
            yield number

    async def give_later(count: int):
        for number in range(count):
            yield number

    def whole(**arguments: int): return sorted(arguments.items())
    def refuse(): raise ToolError("not today")
    def fail(count: int):
        return CallToolResult(content=[TextContent(text="no")] * count, is_error=True)
"""
COUNT = """
parameters:
  type: object
  properties:
    count: {type: integer}
  required: [count]
  additionalProperties: false
"""
NONE = "parameters: {type: object, additionalProperties: false}"
SPEC = "summary: Use values.\nhandler: handlers.toy:{}\n"
TOOLS = {
    "use": PARAMETERS,
    "own_blocks": COUNT,
    "give_items": COUNT,
    "give_later": COUNT,
    "whole": COUNT,
    "refuse": NONE,
    "fail": COUNT,
}
PROGRAM = """
import json, sys
from generated.toy.registry import call_tool_sync
responses = [call_tool_sync(*call) for call in json.loads(sys.argv[1])]
print(json.dumps([response.error or response.result for response in responses]))
"""


REJECTED: list[tuple[str, dict[str, Any], str]] = [
    ("use", {"count": 0}, "`count`: Input should be greater than 0"),
    ("use", {"due": "soon"}, "`due`: Input should be a valid date"),
    ("use", {"color": "blue"}, "`color`: Input should be 'red'"),
    ("use", {"order": {"due": None}}, "`order.item`: Field required"),
    ("use", {"order": {"item": "secret"}}, "`order.item` matches the schema, but"),
    ("own_blocks", {"count": 6}, "`count`: Input should be less than or equal"),
]


def test_values_pydantic_converts_arguments_by_the_handler_annotations(
    make_project: Callable[..., Any],
) -> None:
    """An error names the rejected argument; the generated module checks no types."""
    project = make_project(
        {name: SPEC.format(name) + schema for name, schema in TOOLS.items()},
        toolset="values: pydantic\ntargets: {registry: {}}\n",
        handlers=HANDLERS,
    )
    project.generate()
    order = {"item": "tea", "due": "2026-03-01"}
    arguments = {"due": "2026-02-28", "color": "red", "count": 1, "order": order}
    kinds = ["date", "Color", "int"]
    calls: list[tuple[str, dict[str, Any], Any]] = [
        (
            "use",
            arguments,
            {"kinds": [*kinds, "Order"], "due": "2026-02-28", "order": order},
        ),
        (
            "use",
            {},
            {"kinds": [*kinds, "NoneType"], "due": "2026-01-02", "order": None},
        ),
        ("own_blocks", {"count": 2}, {"count": 2}),
        ("give_items", {"count": 2}, [0, 1]),
        ("give_later", {"count": 3}, [0, 1, 2]),
        ("whole", {"count": 2}, [["count", 2]]),
        ("refuse", {}, "not today"),
        ("fail", {"count": 2}, "no\nno"),
        ("fail", {"count": 0}, "the tool failed"),
    ]
    sent = json.dumps([call[:2] for call in [*calls, *REJECTED]])
    answers = json.loads(project.run("-c", PROGRAM, sent).stdout)
    assert answers[: len(calls)] == [expected for *_, expected in calls]
    for error, (tool, _, problem) in zip(answers[len(calls) :], REJECTED, strict=True):
        start = f"the arguments of `{tool}` are not valid:\n- {problem}"
        assert error.startswith(start)
        assert "swordfish" not in error
    tools = project.root / "generated/toy/tools"
    assert json.loads((tools / "use.json").read_text("utf-8"))["values"] == "pydantic"
    assert "handlers.toy" not in (tools / "use.py").read_text("utf-8")


@pytest.mark.parametrize("values", ["json", "python", "pydantic"])
def test_registry_creation_fails_only_for_values_pydantic_if_pydantic_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: str
) -> None:
    package = Package(tmp_path, definition("t", handler="toy:t", values=values)).load()
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    if values != "pydantic":
        Registry(package, handlers="toy")
        return
    with pytest.raises(DefinitionError) as raised:
        Registry(package, handlers="toy")
    assert (
        "`t` has `values: pydantic`, but pydantic is not installed; help: pip"
        in str(raised.value)
    )


RESOURCE_HANDLERS = """
    def square(number: int) -> str:
        return str(number**2)

    def table() -> dict[str, list[int]]:
        return {"a": [1]}

    def add(values: list[int], label: str) -> list[str]:
        return [f"{label} {sum(values)}"]
"""
GENERATED_TYPES_PROGRAM = """
import asyncio
from mcp import Client
from generated.toy.mcp_server import SERVER

async def ask():
    async with Client(SERVER.build()) as client:
        for uri in ("squares://7", "table://a"):
            print((await client.read_resource(uri)).contents[0].text.split())
        arguments = {"values": "[1, 2]", "label": "7"}
        prompt = await client.get_prompt("add", arguments)
        print(prompt.messages[0].content.text)

asyncio.run(ask())
"""


@pytest.mark.slow
def test_values_pydantic_converts_uri_template_variables_and_prompt_arguments(
    make_project: Callable[..., Any], mypy_cache: str
) -> None:
    """The toolset's `values` applies to them; the generated tests and mypy pass."""
    project = make_project(
        {"use": SPEC.format("use") + PARAMETERS},
        toolset="values: pydantic\ntargets: {registry: {}, mcp: {}, snapshots: {}}\n",
        handlers=HANDLERS,
    )
    project.write("handlers/offers.py", RESOURCE_HANDLERS)
    folder = "specs/toy/mcp_resources"
    handler = "handler: handlers.offers:"
    project.write(
        f"{folder}/square.yaml",
        f"name: square\ndescription: A.\nuri_template: squares://{{number}}\n{handler}square\n",
    )
    project.write(
        f"{folder}/table.yaml",
        f"name: table\ndescription: A.\nuri: table://a\n{handler}table\n",
    )
    arguments = (
        "arguments: [{name: values, required: true}, {name: label, required: true}]\n"
    )
    project.write(
        "specs/toy/mcp_prompts/add.yaml",
        f"name: add\ndescription: Adds.\n{arguments}{handler}add\n",
    )
    project.generate()
    ended = project.run("-c", GENERATED_TYPES_PROGRAM)
    expected = ["['49']", "['{', '\"a\":', '[', '1', ']', '}']", "7 3"]
    assert ended.stdout.splitlines() == expected, ended.stderr
    tested = project.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "generated")
    assert tested.returncode == 0, tested.stdout
    options = "--strict", f"--cache-dir={mypy_cache}", "--no-error-summary"
    checked = project.run("-m", "mypy", *options, "-p", "generated")
    assert checked.returncode == 0, checked.stdout
