"""Dataclasses of the three distributions are frozen, except listed ones."""

from __future__ import annotations

import re

from tests.module_graph import DISTRIBUTIONS

_DATACLASS = re.compile(r"^@dataclass(\(.*\))?\n(?:@.*\n)*class (\w+)", re.MULTILINE)
# Their creator fills them in step by step.
MUTABLE = {
    "CallContext",
    "DiskDifferences",
    "ProcessExit",
    "ExpressionScope",
    # Python sets the traceback of a raised exception.
    "RequestRefusedError",
    "GraphNode",
    "McpSpecPlan",
    "LocalScope",
    "ObjectType",
    "Size",
    "_Sequence",
    "_ListReader",
    "_ToolDraft",
}


def test_all_dataclasses_except_the_listed_ones_are_frozen() -> None:
    mutable = {
        name
        for package in DISTRIBUTIONS.values()
        for file in package.rglob("*.py")
        for settings, name in _DATACLASS.findall(file.read_text("utf-8"))
        if "frozen=True" not in settings
    }
    assert mutable - MUTABLE == set()
    assert MUTABLE - mutable == set(), "these are frozen now"
