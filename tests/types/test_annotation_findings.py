"""Findings about handlers' annotations, compared with pydantic's validation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import pytest
from pydantic import TypeAdapter, ValidationError

from tests.rules.layout import list_findings, write_example

HEAD = """\
arguments_type: handlers.notes:Note
handler: handlers.notes:note
parameters: {{type: object, properties: {{x: {{type: {kind}}}}}, required: [x]}}
# handlers/notes.py
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Optional
Texts = Iterable[str]
@dataclass
class Note:
    x: {annotation}
def note(arguments: Note): ...
"""
FUNCTION = """\
handler: handlers.notes:note
parameters: {{type: object, properties: {{x: {{type: {kind}}}}}, required: [x]}}
# handlers/notes.py
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, Optional
Texts = Iterable[str]
def note(*, x: {annotation}): ...
"""
NAMES = {
    "Annotated": Annotated,
    "Iterable": Iterable,
    "Literal": Literal,
    "Mapping": Mapping,
    "Optional": Optional,
    "Sequence": Sequence,
    "Texts": Iterable[str],
}
# Values of each JSON type; some can also be read as another type.
VALUES: dict[str, list[Any]] = {
    "string": ["", "abc", "1", "true"],
    "integer": [0, 1, 7],
    "number": [0, 1.5],
    "array": [[], ["a"], [1]],
    "object": [{}, {"a": "b"}],
}
ANNOTATIONS = """
    str int float None list[str] dict[str,str] Literal['a'] Literal[1] Sequence[str]
    Iterable[str] Texts Annotated[Iterable[str],'texts'] Mapping[str,str] Optional[str] 'str'
    """.split()


@pytest.mark.parametrize("annotation", ANNOTATIONS)
def test_class_field_type_mismatch_is_reported_only_if_pydantic_rejects_a_value(
    annotation: str, tmp_path: Path
) -> None:
    type_ = eval(annotation, {**NAMES})  # the table above
    adapter = TypeAdapter(eval(type_) if isinstance(type_, str) else type_)
    reported = 0
    for kind, values in VALUES.items():
        write_example(HEAD.format(kind=kind, annotation=annotation), tmp_path / kind)
        rule_ids = [f.rule for f in list_findings(tmp_path / kind)]
        if "handler/type-mismatch" in rule_ids:
            reported += 1
            assert not all(map(build_acceptance_test(adapter), values)), kind
    assert bool(reported) is (annotation != "Optional[str]")  # Unions are not compared.


def build_acceptance_test(adapter: TypeAdapter[Any]) -> Any:
    """Return a function that returns whether pydantic accepts a value."""

    def is_accepted(value: Any) -> bool:
        try:
            adapter.validate_python(value)
        except ValidationError:
            return False
        return True

    return is_accepted


@pytest.mark.parametrize(
    "annotation", [*ANNOTATIONS, "Iterable", "Iterable[int]", "Optional[Iterable[str]]"]
)
def test_annotation_mismatch_is_reported_only_for_types_that_pydantic_rejects(
    annotation: str, tmp_path: Path
) -> None:
    type_ = eval(annotation, {**NAMES})  # the table above
    adapter = TypeAdapter(eval(type_) if isinstance(type_, str) else type_)
    reported = set()
    for kind, values in VALUES.items():
        write_example(
            FUNCTION.format(kind=kind, annotation=annotation), tmp_path / kind
        )
        rule_ids = [f.rule for f in list_findings(tmp_path / kind)]
        if "handler/annotation-mismatch" in rule_ids:
            reported.add(kind)
            assert not all(accepts_all(adapter, value) for value in values), kind
    assert reported >= {"integer", "number"} or annotation in ("int", "float")
    assert "string" in reported or annotation != "Iterable[int]"


def test_recursive_iterable_accepts_a_string(tmp_path: Path) -> None:
    """Items of a string are strings, at every level."""
    code = FUNCTION.replace("Texts = Iterable[str]", "Texts = Iterable['Texts']")
    write_example(code.format(kind="string", annotation="Texts"), tmp_path)
    assert not [f for f in list_findings(tmp_path) if f.rule.startswith("handler/")]


@pytest.mark.parametrize(("members", "is_reported"), [(1_998, True), (1_999, False)])
def test_annotation_with_up_to_1998_union_members_is_compared(
    members: int, is_reported: bool, tmp_path: Path
) -> None:
    annotation = f"Union[{'int, ' * members}]"
    code = FUNCTION.replace("Optional", "Union").format(
        kind="string", annotation=annotation
    )
    write_example(code, tmp_path)
    rules = {finding.rule for finding in list_findings(tmp_path)}
    assert ("handler/annotation-mismatch" in rules) is is_reported


def accepts_all(adapter: TypeAdapter[Any], value: Any) -> bool:
    """Return whether pydantic accepts a value and every item that it iterates lazily."""
    try:
        made = adapter.validate_python(value, strict=True)
        list(made) if hasattr(made, "__next__") else None
    except ValidationError:
        return False
    return True
