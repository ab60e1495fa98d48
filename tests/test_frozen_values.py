"""What is data cannot be changed by whoever is given it."""

from __future__ import annotations

import ast

from tests.house import modules, tree

# They are filled in step by step, by the one who makes them.
GROWING = {
    "CallContext",
    "DiskDifferences",
    "Ending",
    "Locals",
    "Node",
    "ObjectType",
    "Place",
    "Size",
    "_Reading",
    "_Sequence",
    "_Taken",
}


def _settings(decorator: ast.expr) -> dict[str, object] | None:
    """The arguments of `@dataclass`; None of any other decorator."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    if ast.unparse(called) != "dataclass":
        return None
    given = decorator.keywords if isinstance(decorator, ast.Call) else []
    return {str(one.arg): ast.literal_eval(one.value) for one in given}


def test_dataclasses_are_frozen() -> None:
    growing = {
        node.name
        for module in modules().values()
        for node in ast.walk(tree(module.file))
        if isinstance(node, ast.ClassDef)
        for settings in map(_settings, node.decorator_list)
        if settings is not None and settings.get("frozen") is not True
    }
    assert growing - GROWING == set()
    assert growing == GROWING, "take out what is frozen now"
