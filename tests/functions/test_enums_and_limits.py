"""Enumeration classes, and limits of the signatures that `--from-function` reads."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

import pytest

from toolcast.static_analysis.function_tool import (
    FunctionTool,
    FunctionToolError,
    read_function,
)
from toolcast.static_analysis.modules import PythonModule


def read(signature: str, classes: str = "", docstring: str = "") -> FunctionTool:
    """Return the tool read from a function of a module with these classes."""
    code = f"{classes}\ndef function({signature}):\n{docstring}    ...\n"
    tree = ast.parse(f"import enum\nfrom datetime import date\n{code}")
    module = PythonModule("shop", "shop.py", tree=tree)
    return read_function({"shop": module}.get, "shop", "function")


@pytest.mark.parametrize(
    ("class_", "values"),
    [
        ("Kind(enum.Enum): A = enum.auto(); B = enum.auto()", [1, 2]),
        ("Kind(int, enum.Enum): A = 1; B = enum.auto()", [1, 2]),
        ("Kind(enum.Enum): A = 2; B = enum.auto()", "`Kind.B` is only known at run time"),
        ("Kind(enum.Enum): A = 'a'; B = enum.auto()", "`Kind.B` is only known at run time"),
        ("Kind(enum.StrEnum): A = enum.auto(); B = 'x'; C = enum.auto()", ["a", "x", "c"]),
        ("Kind(str, enum.Enum): A = B = 'a'", ["a"]),
        ("Kind(enum.Enum): A = 1.5", "`Kind.A` is not a string or an integer"),
        ("Kind(enum.Enum): A = compute()", "`compute()` is not a literal"),
        ("Kind(enum.Enum): _a = 1; B = 2", "the values of `Kind` are only known at run time"),
        ("Kind(enum.Enum): A, B = 1, 2", "the values of `Kind` are only known at run time"),
        ("Kind(enum.Enum): ...", "`Kind` has no members"),
        ("Kind(date, enum.Enum): A = (1, 1, 1)", "`Kind` has base classes that are not supported"),
        ("Kind(enum.Enum, metaclass=Meta): A = 1", "`Kind` has base classes that are not supported"),
    ],
)  # fmt: skip
def test_enum_class_has_its_member_values_or_is_rejected(
    class_: str, values: list[Any] | str
) -> None:
    if isinstance(values, list):
        tool = read("a: Kind", classes=f"class {class_}")
        assert tool.parameters["properties"]["a"]["enum"] == values
    else:
        with pytest.raises(FunctionToolError, match=re.escape(values)):
            read("a: Kind", classes=f"class {class_}")


@pytest.mark.parametrize(
    ("annotation", "size"),
    [
        (lambda size: "list[" * size + "int" + "]" * size, 12),
        (lambda size: f"tuple[{'int, ' * size}]", 499),
    ],
    ids=["levels", "types"],
)
def test_annotation_is_accepted_up_to_the_limit_and_rejected_above_it(
    annotation: Callable[[int], str], size: int
) -> None:
    """At most 12 nested levels and 500 types are read."""
    assert read(f"a: {annotation(size)}").parameters["properties"]["a"]
    with pytest.raises(FunctionToolError, match="the type has too many parts"):
        read(f"a: {annotation(size + 1)}")


@pytest.mark.parametrize(("length", "is_read"), [(16_000, True), (16_001, False)])
def test_docstring_with_up_to_16000_characters_is_the_description(
    length: int, is_read: bool
) -> None:
    tool = read("a: int", docstring=f"    '''{'x' * length}'''\n")
    assert tool.docstring.text == "x" * (length if is_read else 0)
    problem = "the docstring is not used: it has 16,001 characters"
    assert any(problem in note for note in tool.notes) is not is_read
