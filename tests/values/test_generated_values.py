"""`values`, `arguments_type` and `result_type` from the spec to the call."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

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


def test_toolset_or_spec_values_key_decides_if_the_handler_receives_date_str_or_class(
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
    definitions = {
        name: json.loads((tools / f"{name}.json").read_text("utf-8")) for name in TOOLS
    }
    assert definitions["by_toolset"]["values"] == "python"
    assert "values" not in definitions["by_itself"]
    assert definitions["by_class"]["arguments_type"] == "handlers.toy:Note"
    # The listed schema does not depend on the values that the handler receives.
    shown = {json.dumps(tool["mcp"]["inputSchema"]) for tool in definitions.values()}
    assert len(shown) == 1


TYPED = {
    "plan": """
        summary: Plan something.
        handler: handlers.toy:plan
        parameters:
          type: object
          properties:
            date: {type: string, format: date}
            at: {type: string, format: date-time}
            id: {anyOf: [{type: string, format: uuid}, {type: "null"}]}
            fee: {type: string, format: decimal}
            steps: {type: array, items: {type: object, properties: {length: {type: string, format: duration}}}}
          required: [date]
          additionalProperties: false
        returns: {type: object, properties: {next: {type: string, format: date}}, required: [next]}
        """,
    "order": """
        summary: Order something.
        handler: handlers.toy:place_order
        arguments_type: handlers.toy:Order
        result_type: handlers.toy:Receipt
        parameters: {type: object, properties: {item: {type: string}}, required: [item]}
        """,
    "days": """
        summary: Give days.
        handler: handlers.toy:days
        parameters: {type: object, properties: {from: {type: string, format: date}}, required: [from]}
        returns: {type: array, items: {type: string, format: date}}
        """,
}
RIGHT = """
    from __future__ import annotations

    from collections.abc import Sequence
    from dataclasses import dataclass
    from datetime import date as Day, datetime
    from decimal import Decimal
    from typing import TYPE_CHECKING
    from uuid import UUID

    if TYPE_CHECKING:
        from generated.toy.tools.days import DaysHandlerArguments
        from generated.toy.tools.plan import PlanHandlerArgumentsStepsItem, PlanHandlerResult

    @dataclass
    class Order:
        item: str

    @dataclass
    class Receipt:
        number: int

    def plan(*, date: Day, at: datetime | None = None, id: UUID | None = None,
             fee: Decimal = Decimal(0), steps: Sequence[PlanHandlerArgumentsStepsItem] = ()) -> PlanHandlerResult:
        return {"next": date}

    async def place_order(order: Order) -> Receipt:
        return Receipt(1)

    def days(arguments: DaysHandlerArguments) -> list[Day]:
        return [arguments["from"]]
"""
WRONG = {
    "at: datetime": ("at: str", 'plan.py: Argument "at" to "plan" has'),
    "fee: Decimal": ("fee: float", 'plan.py: Argument "fee" to "plan" has'),
    "id: UUID | None": ("id: UUID", 'plan.py: Argument "id" to "plan" has'),
    "order: Order": ("order: Receipt", 'order.py: Argument 1 to "place_order" has'),
    "-> Receipt": (
        "-> Order",
        'order.py: Argument 1 to "check_place_order_result" has',
    ),
    "-> list[Day]": ("-> list[str]", 'days.py: Argument 1 to "check_days_result" has'),
}


WITH_RESOURCES = {
    "by_class": (
        "summary: Take a class.\nhandler: handlers.toy:whole\n"
        f"arguments_type: handlers.toy:Note\nuses: [arguments, db]{PARAMETERS}"
    ),
    "by_mapping": (
        "summary: Take a mapping.\nhandler: handlers.toy:mapping\nuses: [arguments]\n"
        "parameters: {type: object, properties: {from: {type: string}}}\n"
    ),
}
RESOURCE_HANDLERS = """
    from contextlib import contextmanager
    from dataclasses import dataclass
    from datetime import date

    @dataclass
    class Note:
        due: date

    @contextmanager
    def lifespan(): yield {"arguments": 1, "db": 2}

    def whole(note: Note, /, *, arguments, db): return [note.due.year, arguments, db]
    def mapping(sent, /, *, arguments): return [sent["from"], arguments]
"""


def test_dependency_named_arguments_and_the_arguments_type_instance_reach_the_handler(
    make_project: Callable[..., Any],
) -> None:
    lifespan = "lifespan: handlers.toy:lifespan\n"
    dependencies = "dependencies: {arguments: builtins:int, db: builtins:int}\n"
    toolset = f"{lifespan}{dependencies}targets: {{registry: {{}}}}\n"
    project = make_project(WITH_RESOURCES, toolset=toolset, handlers=RESOURCE_HANDLERS)
    project.generate()
    program = (
        "from generated.toy.registry import call_tool_sync as call\n"
        "print(call('by_class', {'due': '2024-02-29'}).result,"
        " call('by_mapping', {'from': 'a'}).result)"
    )
    ended = project.run("-c", program)
    assert ended.stdout == "[2024, 1, 2] ['a', 1]\n", ended.stderr


@pytest.mark.slow
def test_mypy_reports_handlers_whose_annotations_differ_from_the_spec_values(
    make_project: Callable[..., Any], mypy_cache: str
) -> None:
    both = "values: python\ntargets: {registry: {}}\n"
    project = make_project(TYPED, toolset=both, handlers=RIGHT)
    project.generate()

    def run_mypy() -> str:
        mypy = ("-m", "mypy", "--strict", "--explicit-package-bases", "generated")
        found = project.run(*mypy, env={"MYPY_CACHE_DIR": mypy_cache}).stdout
        return re.sub(r"generated/toy/tools/(\w+\.py):\d+: error:", r"\1:", found)

    assert run_mypy().startswith("Success"), run_mypy()
    text = RIGHT
    for old, (new, _) in WRONG.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    project.write("handlers/toy.py", text)
    found = run_mypy()
    for _, expected in WRONG.values():
        assert expected in found, found
