"""Generated types of the schemas in `cases/`, each with its `expected.py`.

Pydantic accepts the schemas' valid values for these types, and rejects invalid ones
where the type can express the constraint.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from hypothesis import given
from pydantic import TypeAdapter, ValidationError

from tests.conftest import ROOT
from tests.properties import limit_examples
from tests.types.valid_values import valid_values
from toolcast_runtime.values.annotated_types import (
    ANY,
    Choice,
    Member,
    OneOf,
    Table,
    is_literal,
)
from toolcast_runtime.values.schema_types import SchemaTypes

# pydantic warns that it does not enforce `ReadOnly`, which documents results.
pytestmark = pytest.mark.filterwarnings("ignore:.*using the `ReadOnly` qualifier")
CASES = sorted((Path(__file__).parent / "cases").glob("*/"))


def load_module(path: Path, name: str) -> ModuleType:
    spec = spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_generated_tool_module_equals_expected_py(
    folder: Path, make_project: Callable[..., Any]
) -> None:
    spec = (folder / "spec.yaml").read_text("utf-8")
    project = make_project({"try_it": spec}, toolset="targets: {registry: {}}\n")
    project.generate()
    generated = (project.root / "generated/toy/tools/try_it.py").read_text("utf-8")
    expected = folder / "expected.py"
    if os.environ.get("REGENERATE"):
        expected.write_text(generated, "utf-8")
    assert generated == expected.read_text("utf-8")


def test_generated_modules_pass_ruff_with_default_rules() -> None:
    """Users lint generated code with their own settings, often with the default ones."""
    files = [
        *(str(folder / "expected.py") for folder in CASES),
        str(ROOT / "generated"),
    ]
    for rules in ([], ["--select", "F,I,PYI,UP", "--ignore", "UP007"]):
        command = [sys.executable, "-m", "ruff", "check", "--isolated", *rules, *files]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


@pytest.mark.rows(4)
@pytest.mark.parametrize("folder", CASES, ids=lambda path: path.name)
def test_pydantic_accepts_schema_valid_values_for_the_generated_types(
    folder: Path,
) -> None:
    name = f"types_of_{folder.name.replace('-', '_')}"
    module = load_module(folder / "expected.py", name)
    spec = yaml.safe_load((folder / "spec.yaml").read_text("utf-8"))

    for field, class_ in (("parameters", "TryItArguments"), ("returns", "TryItResult")):
        if field not in spec:
            continue
        adapter: Any = TypeAdapter(getattr(module, class_))

        def validate(value: Any) -> None:
            adapter.validate_python(value)  # noqa: B023

        limit_examples(60)(given(valid_values(spec[field]))(validate))()


INVALID = [
    ("nested-objects", {}),
    ("nested-objects", {"filter": {"status": ["lost"]}}),
    ("nested-objects", {"filter": {"status": [], "placed": {"after": 1}}}),
    ("union-by-kind", {"shape": {"kind": "circle", "width": 1}}),
    ("recursion", {"root": {"text": "a", "children": [{"text": 1}]}}),
    ("names-of-all-kinds", {"from": "a", "options": {"str": "b", "class": {"x-y": 9}}}),
    ("names-of-all-kinds", {"from": "a", "options": {"str": "b", "result": {}}}),
    ("maps", {"labels": {"a": 1}}),
    ("maps", {"rows": [{"a": ["b"]}]}),
    ("all-of", {"ticket": {"title": "a", "priority": 4}}),
    ("choices", {"mode": "slow"}),
    ("choices", {"mode": "fast", "many": ["d"]}),
    ("more-than-types", {"pair": [None]}),
]


@pytest.mark.parametrize(("case", "value"), INVALID)
def test_pydantic_rejects_invalid_nested_values_for_the_generated_types(
    case: str, value: Any
) -> None:
    folder = Path(__file__).parent / "cases" / case
    module = load_module(folder / "expected.py", f"wrong_{case.replace('-', '_')}")
    with pytest.raises(ValidationError):
        TypeAdapter(module.TryItArguments).validate_python(value)


def test_union_with_over_50_object_alternatives_is_typed_as_a_mapping() -> None:
    """A type checker would take minutes for it; literals are fast."""

    def members(count: int) -> list[Any]:
        return [{"properties": {"kind": {"const": str(i)}}} for i in range(count)]

    objects = [{"type": "object", **member} for member in members(50)]
    root = {
        "properties": {
            "few": {"type": "object", "oneOf": members(50)},
            "many": {"type": "object", "oneOf": members(51)},
            "nullable": {"oneOf": [*objects, {"type": "null"}]},
            "texts": {"oneOf": [{"const": str(i), "title": "a"} for i in range(51)]},
        }
    }
    types_ = SchemaTypes(root, "Try").build_arguments_class("TryArguments").members
    assert isinstance(types_["few"].type, OneOf)
    assert isinstance(types_["nullable"].type, OneOf)
    assert types_["many"] == Member(Table(ANY), False, ("oneOf",))
    assert isinstance(types_["texts"].type, Choice)


def test_contradictory_types_are_typed_as_any_and_reported() -> None:
    both = {"allOf": [{"type": "string"}, {"type": "integer"}]}
    class_ = SchemaTypes({"properties": {"both": both}}, "Try").build_arguments_class(
        "TryArguments"
    )
    assert class_.members["both"] == Member(ANY, False, ("type",))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, True),
        ("a", True),
        (True, True),
        (2**63 - 1, True),
        (2**63, False),
        (-(2**63) + 1, True),
        (-(2**63), False),
        (1.0, False),
        ([], False),
    ],
)
def test_is_literal_is_true_only_for_null_strings_booleans_and_64_bit_integers(
    value: Any, expected: bool
) -> None:
    assert is_literal(value) is expected
