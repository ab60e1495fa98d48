"""A spec can change what the tools say, never what the code does.

Every free text of a spec is replaced by `x`; the generated code must be the same but for
its string constants. `test_broken_encoders.py` shows that this can fail.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.repository import TOOLSETS
from toolcast.parsing.characters import find_forbidden

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("mcp", [{}, {"search": True, "search_hints": True}])
def test_hostile_text_changes_constants_only(
    mcp: Any, hostile_toolset: Any, twin_of: Callable[[Any], None]
) -> None:
    hostile_toolset["toolset"]["targets"]["mcp"] = mcp
    twin_of(hostile_toolset)


# What a reader refuses, such as a run of variation selectors, gives no code to compare.
printable = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Cf", "Co", "Cn"])
    | st.sampled_from("\n\t"),
    max_size=120,
).filter(lambda text: find_forbidden(text) is None)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@example(text=" ")  # says nothing
@example(text="\\1")  # like a pattern's back reference
@example(text="ToolArguments")  # the name of a class that is made of the tool
@given(text=printable)
def test_any_text_changes_constants_only(
    text: str,
    twin_of: Callable[[Any], None],
    toolset_with: Callable[[str], Any],
) -> None:
    twin_of(toolset_with(text))


@pytest.mark.rows(1)
@pytest.mark.parametrize("toolset", TOOLSETS)
def test_own_specs_hold(toolset: str, twin_of: Callable[[Any], None]) -> None:
    specs = {
        path.stem: yaml.safe_load(path.read_text("utf-8"))
        for path in sorted((ROOT / "specs" / toolset).glob("*.yaml"))
    }
    specs["toolset"]["name"] = "x"
    specs["toolset"].pop("handlers", None)
    for pool in specs["toolset"].get("pools", {}).values():
        # They are functions of the handlers' package.
        pool.pop("accessors", None)
    for name, tool in specs.items():
        if name != "toolset":
            tool.pop("handler", None)
            # Prose may not say previous names; `x` says none.
            tool.pop("suppress", None)
            # `x` is rarely what a pattern or an enum of an example asks for.
            tool.pop("examples", None)
    twin_of(specs)


LISTS = sorted((ROOT / "tests" / "corpus" / "mcp").glob("*.json"))


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, id=path.stem, marks=pytest.mark.slow if number % 3 else ())
        for number, path in enumerate(LISTS)
    ],
)
def test_lists_of_real_servers_hold(path: Path, twin_of: Callable[[Any], None]) -> None:
    specs: dict[str, Any] = {"toolset": {"name": "x", "title": "X"}}
    for tool in json.loads(path.read_text("utf-8"))["tools"]:
        spec = {"name": tool["name"], "summary": "x"}
        for theirs, ours in (
            ("title", "title"),
            ("description", "description"),
            ("inputSchema", "parameters"),
            ("outputSchema", "returns"),
            ("annotations", "annotations"),
            ("_meta", "meta"),
        ):
            if tool.get(theirs) is not None:
                spec[ours] = tool[theirs]
        spec["cli"] = {"keyword": None, "reason": "a tool of a real server"}
        specs[tool["name"]] = spec
    twin_of(specs)
