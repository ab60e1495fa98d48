"""What a handler is given is held to its annotations, where their text is certain."""

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
# Of each kind, values that one text, number or list may be taken for, and some that not.
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
def test_what_is_told_of_a_field_is_true(annotation: str, tmp_path: Path) -> None:
    type_ = eval(annotation, {**NAMES})  # the table above
    adapter = TypeAdapter(eval(type_) if isinstance(type_, str) else type_)
    told = 0
    for kind, values in VALUES.items():
        write_example(HEAD.format(kind=kind, annotation=annotation), tmp_path / kind)
        found = [f.rule for f in list_findings(tmp_path / kind)]
        if "handler/type-mismatch" in found:
            told += 1
            assert not all(map(adapter_takes(adapter), values)), kind
    assert bool(told) is (annotation != "Optional[str]")  # nobody compares unions


def adapter_takes(adapter: TypeAdapter[Any]) -> Any:
    """Whether pydantic makes the type of a value."""

    def takes(value: Any) -> bool:
        try:
            adapter.validate_python(value)
        except ValidationError:
            return False
        return True

    return takes


@pytest.mark.parametrize(
    "annotation", [*ANNOTATIONS, "Iterable", "Iterable[int]", "Optional[Iterable[str]]"]
)
def test_what_is_told_of_a_parameter_is_true(annotation: str, tmp_path: Path) -> None:
    type_ = eval(annotation, {**NAMES})  # the table above
    adapter = TypeAdapter(eval(type_) if isinstance(type_, str) else type_)
    told = set()
    for kind, values in VALUES.items():
        write_example(
            FUNCTION.format(kind=kind, annotation=annotation), tmp_path / kind
        )
        found = [f.rule for f in list_findings(tmp_path / kind)]
        if "handler/annotation-mismatch" in found:
            told.add(kind)
            assert not all(taken_whole(adapter, value) for value in values), kind
    assert told >= {"integer", "number"} or annotation in ("int", "float")
    assert "string" in told or annotation != "Iterable[int]"


def taken_whole(adapter: TypeAdapter[Any], value: Any) -> bool:
    """Whether a value is of the type, with every item of what is iterated."""
    try:
        made = adapter.validate_python(value, strict=True)
        list(made) if hasattr(made, "__next__") else None
    except ValidationError:
        return False
    return True
