"""A union names each type once, and none that another has in it."""

from __future__ import annotations

import pytest

from toolcast.encoders.python_types import Type, annotation, named, union


@pytest.mark.parametrize(
    ("members", "printed"),
    [
        (["int", "float"], "float"),
        (["str", "int", "float", "None"], "str | float | None"),
        (["int", "str"], "int | str"),
        (["str", "str"], "str"),
        (["dict[str, Any]", "int"], "dict[str, Any] | int"),
    ],
)
def test_each_type_stands_once(members: list[str], printed: str) -> None:
    assert str(annotation(union([named(name) for name in members], set()))) == printed


def test_a_union_of_unions_is_one() -> None:
    names: set[str] = set()
    either: Type = union([named("int"), named("None")], names)
    both = union([either, named("float"), named("None")], names)
    assert str(annotation(both)) == "None | float"
