"""With `values: python`, handlers' types match the converted arguments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from tests.mcp.projects import generate_project
from tests.project_files import write_toolset
from tests.types.test_schema_types import load_module
from toolcast_runtime.core.validation.compiled import compile_schema
from toolcast_runtime.values.annotated_types import class_name
from toolcast_runtime.values.python_values import PythonValues

CASES = yaml.safe_load("""
listed_days:
  properties: {day: {type: string, format: date, enum: ["2026-01-01", "2026-01-02"]}}
  given: {day: "2026-01-02"}
  types: {day: date}
one_day_or_none:
  properties: {day: {format: date, enum: ["2026-01-01", null]}}
  given: {day: "2026-01-01"}
  types: {day: date | None}
one_constant_day:
  properties: {days: {type: array, items: {const: "2026-01-01", format: date}}}
  given: {days: ["2026-01-01"]}
  types: {days: "Sequence[date]"}
alternative_formats:
  properties: {at: {type: string, anyOf: [{format: date}, {format: date-time}]}}
  given: {at: "2026-01-01"}
  types: {at: date | datetime}
formats_by_another_argument:
  properties: {kind: {enum: [day, text]}, what: {type: string}, kept: {type: string}}
  if: {properties: {kind: {const: day}}, required: [kind]}
  then: {properties: {what: {format: date}}}
  given: {kind: day, what: "2026-01-01", kept: a}
  types: {what: Any, kept: str}
format_in_some_cases:
  properties: {what: {type: string, if: {minLength: 10}, then: {format: date}}}
  given: {what: "2026-01-01"}
  types: {what: Any}
formats_by_a_name:
  properties: {due_day: {type: string}, text: {type: string}}
  patternProperties: {"_day$": {format: date}}
  given: {due_day: "2026-01-01", text: a}
  types: {due_day: Any, text: str}
formats_of_dependents:
  properties: {zone: {type: string}, at: {type: array, items: {type: string}}}
  dependentSchemas: {zone: {properties: {at: {items: {format: date-time}}}}}
  given: {zone: UTC, at: ["2026-01-01T00:00:00Z"]}
  types: {zone: str, at: Any}
formats_in_two_combinations:
  properties: {day: {type: string}}
  anyOf: [{properties: {day: {format: date}}}, {required: [day]}]
  given: {day: "2026-01-01"}
  types: {day: Any}
""")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the generated types of all cases."""
    toolset = "name: toy\ntitle: Toy\nhandlers: handlers\nvalues: python\n"
    specs: dict[str, Any] = {"toolset": f"{toolset}targets: {{registry: {{}}}}\n"}
    for name in CASES:
        spec = {"name": name, "summary": "Try.", "handler": f"handlers.toy:{name}"}
        specs[name] = {**spec, "parameters": _get_schema(name)}
    root = write_toolset(tmp_path_factory.mktemp("values"), "toy", specs)
    generate_project(root)
    return root / "generated/toy/tools"


@pytest.mark.parametrize("name", CASES)
def test_pydantic_accepts_converted_arguments_for_the_generated_handler_types(
    tools: Path, name: str
) -> None:
    module = load_module(tools / f"{name}.py", f"given_{name}")
    class_ = getattr(module, f"{class_name(name)}HandlerArguments")
    annotations = {key: class_.__annotations__[key] for key in CASES[name]["types"]}
    assert {
        key: _format_annotation(value) for key, value in annotations.items()
    } == CASES[name]["types"]

    schema = _get_schema(name)
    assert compile_schema(schema).is_valid(CASES[name]["given"])
    converted = PythonValues(schema).convert(CASES[name]["given"])
    assert converted != CASES[name]["given"]
    adapter: Any = TypeAdapter(class_)
    adapter.validate_python(converted, strict=True)
    if "Any" not in CASES[name]["types"].values():
        with pytest.raises(ValidationError):
            adapter.validate_python(CASES[name]["given"], strict=True)


def _get_schema(name: str) -> dict[str, Any]:
    keywords = {k: v for k, v in CASES[name].items() if k not in ("given", "types")}
    return {"type": "object", **keywords}


def _format_annotation(annotation: Any) -> str:
    text: str = annotation.__forward_arg__
    return text.removeprefix("NotRequired[").removesuffix("]")
