"""Round trip of arbitrary MCP tools: the definitions equal the imported JSON exactly."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import ascii_letters, digits
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.corpus.imported import import_tools
from toolcast.model.loading import load_workspace
from toolcast.targets.render_workspace import render_workspace
from toolcast_runtime.core.definitions.definitions import parse_definition

# Specs with these characters are refused, because no output can show them safely.
_REFUSED = "".join(map(chr, [*range(9), *range(11, 32), *range(0x7F, 0xA0)])).replace(
    "\x85", ""
)
_HIDDEN = ["Cs", "Co", "Cf", "Mn", "Me", "Cn"]
LETTERS = st.characters(exclude_characters=_REFUSED, exclude_categories=_HIDDEN)
SPECIAL_WORDS = (
    "yes No on null ~ true 012 0x1f 1e5 1.0 -0 12:30 2026-01-01 << = +1 1_000 .inf - ? : |"
    " > ! & * % @ ` { } [ ] , # ' \" \\ --- ..."
).split()
SPECIAL_TEXTS = [
    "",
    " ",
    "a: b",
    "a #b",
    "- a",
    "  a\n b",
    "a\n\n",
    "\n",
    "\t",
    "a \nb",
]
TEXTS = st.one_of(
    st.sampled_from([*SPECIAL_WORDS, *SPECIAL_TEXTS, "\x85"]),
    st.text(LETTERS, max_size=30),
    st.lists(st.sampled_from([*SPECIAL_WORDS, "word", "\n"]), max_size=40).map(
        " ".join
    ),
)
NUMBERS = st.one_of(
    st.integers(-(10**30), 10**30), st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)
    ),
    max_leaves=12,
)
SCHEMAS: st.SearchStrategy[Any] = st.deferred(
    lambda: st.one_of(
        st.booleans(),
        st.fixed_dictionaries(
            {},
            optional={
                "type": st.sampled_from(["string", "integer", ["null", "number"]]),
                "title": TEXTS,
                "description": TEXTS,
                "default": VALUES,
                "enum": st.lists(VALUES, min_size=1, max_size=3),
                "const": VALUES,
                "examples": st.lists(VALUES, max_size=2),
                "minimum": NUMBERS,
                "items": SCHEMAS,
                "anyOf": st.lists(SCHEMAS, min_size=1, max_size=2),
                "x-own": VALUES,
            },
        ),
    )
)
ROOTS = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "$schema": st.just("http://json-schema.org/draft-07/schema#"),
        "properties": st.dictionaries(TEXTS, SCHEMAS, max_size=4),
        "required": st.just([]),
        "additionalProperties": SCHEMAS,
        "$defs": st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=2),
    },
)
MEMBERS = st.fixed_dictionaries(
    {"inputSchema": ROOTS},
    optional={
        "title": TEXTS,
        "description": TEXTS,
        "outputSchema": ROOTS,
        "annotations": st.dictionaries(TEXTS, VALUES, max_size=3),
        "icons": st.lists(st.just({"src": "https://example.org/i.png"}), max_size=2),
        "_meta": st.dictionaries(TEXTS, VALUES, max_size=3),
        "execution": st.just({"taskSupport": "optional"}),
        "x-own": VALUES,
    },
)
NAMES = st.one_of(
    st.sampled_from("con NUL.x .a -x toolset definitions class 1e5 yes null".split()),
    st.text("aA_.-", min_size=1, max_size=3),
    st.text(f"{ascii_letters}{digits}_.-", min_size=1, max_size=20),
)


@st.composite
def draw_tools(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw a list of tools with shuffled members."""
    names = st.lists(NAMES, min_size=1, max_size=3, unique=True)
    return [
        dict(draw(st.permutations(list({"name": name, **draw(MEMBERS)}.items()))))
        for name in draw(names)
    ]


def list_after_import(tools: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Import tools and return the JSON of each definition by name."""
    with TemporaryDirectory() as root:
        import_tools(Path(root), "things", tools)
        workspace = load_workspace(root).workspace
    assert workspace is not None
    texts = {}
    for path, data in render_workspace(workspace).items():
        if path.startswith("things/tools/") and path.endswith(".json"):
            tool = parse_definition(data.decode(), Path(path).stem)
            texts[tool.name] = tool.to_mcp_json(omit=None).decode()
    return texts


@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(draw_tools())
def test_imported_mcp_tools_are_listed_unchanged_by_the_generated_server(
    tool_list: list[dict[str, Any]],
) -> None:
    texts = list_after_import(tool_list)
    definitions = {name: json.dumps(json.loads(text)) for name, text in texts.items()}
    assert definitions == {tool["name"]: json.dumps(tool) for tool in tool_list}
