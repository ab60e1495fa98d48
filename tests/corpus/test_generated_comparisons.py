"""The comparisons of generated tests pass for the tools of real servers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.corpus.imported import import_lists
from tests.corpus.test_mcp_lists_exact import LISTS
from tests.mcp.projects import generate_project
from toolcast_runtime.testing.generated_package import (
    assert_same,
    parse_exact_json,
    read_text,
)
from toolcast_runtime.testing.specs import Specs
from toolcast_runtime.testing.type_modules import read_types
from toolcast_runtime.values.tool_types import format_tool_types


@pytest.mark.slow
def test_definitions_and_types_generated_from_imported_mcp_lists_match_specs(
    tmp_path: Path,
) -> None:
    import_lists(tmp_path, LISTS, ("mcp", "registry", "prompts"))
    generate_project(tmp_path)
    for toolset in LISTS:
        specs = Specs(tmp_path, f"specs/{toolset}")
        names = set()
        for file in (tmp_path / "generated" / toolset / "tools").glob("*.json"):
            definition = json.loads(read_text(file))
            name = definition["mcp"]["name"]
            names.add(name)
            for comparison in specs.compare_definition(
                name, parse_exact_json(read_text(file)), ["prompts"]
            ):
                assert_same(f"{toolset}: {name}: {comparison[0]}", *comparison[1:])
            types = read_types(read_text(file.with_suffix(".py")), ())
            assert_same(
                f"{toolset}: {file.stem}.py",
                types,
                format_tool_types(definition, False),
            )
        assert names == specs.tools.keys()
