"""Round trip: generated outputs have each text, number, order and type of the specs.

Another process imports the generated package and prints it. JSON text distinguishes `1`
from `1.0` and `True` from `1`, and keeps the order of keys.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.forked import ForkServer
from tests.repository import TOOLSETS, own_project
from tests.safety.payloads import PAYLOADS, make_text_toolset
from tests.safety.round_trip import assert_round_trip, encode_json
from toolcast.parsing.characters import find_forbidden
from toolcast.pipeline import generate


@pytest.mark.rows(1)
@pytest.mark.parametrize("toolset", TOOLSETS)
def test_repository_specs_equal_the_tools_imported_from_their_generated_packages(
    toolset: str, tmp_path: Path, programs: ForkServer
) -> None:
    workspace = generate(str(own_project())).workspace
    assert workspace is not None
    toolset_model = next(t for t in workspace.toolsets if t.name == toolset)
    settings = {k: v for k, v in toolset_model.source.tree.items() if k != "handlers"}
    if "pools" in settings:
        # Accessors are functions of the handlers' package.
        settings["pools"] = {
            name: {k: v for k, v in pool.items() if k != "accessors"}
            for name, pool in settings["pools"].items()
        }
    specs: dict[str, Any] = {"toolset": {**settings, "name": "x"}}
    for tool in toolset_model.tools:
        value = tool.source.tree
        specs[tool.name] = {k: v for k, v in value.items() if k != "handler"}
    assert_round_trip(tmp_path, specs, programs)


def test_hostile_strings_in_specs_are_unchanged_in_the_imported_generated_package(
    tmp_path: Path, programs: ForkServer
) -> None:
    # Text that could open an HTML tag, an instruction or a comment.
    tags = ["<?", "<!--", "<!x\n## b", "# a <script>\n```"]
    assert_round_trip(tmp_path, make_text_toolset(*PAYLOADS, *tags), programs)


texts = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Cf", "Co", "Cn"])
    | st.sampled_from("\n\t\\\"'{}%#`"),
    max_size=40,
).filter(lambda text: find_forbidden(text) is None)
numbers = (
    st.integers(-(10**20), 10**20)
    | st.integers(-3, 3).map(float)
    | st.integers(-999, 999).map(lambda n: n / 8)
)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text("abz$-é", min_size=1, max_size=3), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(
    ["a", "from", "class", "x-y", "$ref_", "self", "Größe", "_", "id"]
)


@st.composite
def draw_tool(draw: Any) -> dict[str, Any]:
    """Draw a tool spec without its name."""
    properties: dict[str, Any] = {}
    for name in draw(st.lists(names, unique=True, max_size=5)):
        listed = draw(st.lists(values, min_size=1, max_size=3, unique_by=encode_json))
        properties[name] = {
            "description": draw(texts),
            "enum": listed,
            "default": draw(st.sampled_from(listed)),
            "examples": [draw(values)],
        }
    return {
        "summary": " ".join(draw(texts).split()) or "x",
        "description": draw(texts),
        "when_to_use": draw(texts),
        "parameters": {
            "type": "object",
            "properties": properties,
            "title": draw(texts),
        },
        "annotations": {"title": draw(texts), "readOnlyHint": draw(st.booleans())},
        "meta": {"a.b/c": draw(values)},
        "examples": [{"title": "E", "arguments": {}, "result": draw(values)}],
    }


@settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(tool_specs=st.lists(draw_tool(), min_size=6, max_size=12))
def test_random_specs_are_unchanged_in_the_imported_generated_package(
    tool_specs: list[Any],
    tmp_path_factory: pytest.TempPathFactory,
    programs: ForkServer,
) -> None:
    specs: dict[str, Any] = {"toolset": {"name": "x", "title": "X"}}
    for number, tool in enumerate(tool_specs):
        name = f"tool{number}"
        cli = {"keyword": None, "reason": tool["summary"]}
        specs[name] = {"name": name, **tool, "cli": cli}
    assert_round_trip(tmp_path_factory.mktemp("any"), specs, programs)
