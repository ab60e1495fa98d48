"""What is data cannot be changed by whoever is given it."""

from __future__ import annotations

import re

from tests.module_graph import DISTRIBUTIONS

_DATACLASS = re.compile(r"^@dataclass(\(.*\))?\n(?:@.*\n)*class (\w+)", re.MULTILINE)
# They are filled in step by step, by the one who makes them.
GROWING = {
    "CallContext",
    "DiskDifferences",
    "ProcessExit",
    "ExpressionScope",
    # Python sets the traceback of an exception.
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


def test_dataclasses_are_frozen() -> None:
    growing = {
        name
        for package in DISTRIBUTIONS.values()
        for file in package.rglob("*.py")
        for settings, name in _DATACLASS.findall(file.read_text("utf-8"))
        if "frozen=True" not in settings
    }
    assert growing - GROWING == set()
    assert GROWING - growing == set(), "these are frozen now"
