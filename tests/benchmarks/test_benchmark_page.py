"""Benchmark scripts: statistics, pages and test data, without time limits."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema_rs
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"
SCRIPTS = tuple(
    "page picture results paired clients real_lists workspaces openapi generation generators"
    " importing loops servers loop_rounds other_pythons selection sessions turns watching".split()
)


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """Import the modules of `benchmarks/`, a plain folder; yield them by name."""
    monkeypatch.syspath_prepend(str(FOLDER))
    saved = {name: sys.modules.pop(name) for name in SCRIPTS if name in sys.modules}
    yield {name: importlib.import_module(name) for name in SCRIPTS}
    for name in SCRIPTS:
        sys.modules.pop(name, None)
    sys.modules.update(saved)


def test_committed_benchmark_page_and_chart_match_the_stored_results(
    modules: dict[str, Any],
) -> None:
    page, results = modules["page"], modules["results"]
    parts = results.load_parts(results.MEASURED_FILE)
    assert page.PAGE.read_text("utf-8") == page.render_page(parts)
    assert page.DIAGRAM.read_text("utf-8") == page.render_page_diagram(parts)


def test_benchmark_compare_returns_per_round_ratio_medians(
    modules: dict[str, Any],
) -> None:
    paired = modules["paired"]
    samples = {
        "a": [paired.Sample(seconds, 1.0, 1.0) for seconds in (1.0, 8.0, 3.0)],
        "b": [paired.Sample(seconds, 2.0, 1.0) for seconds in (1.0, 2.0, 1.0)],
    }
    result = paired.compare("work", samples, "a", "b")
    assert (result.processor, result.clock, result.rounds) == (3.0, 0.5, 3)
    assert result.subject_seconds == (3.0, 1.0)


def make_row(modules: dict[str, Any], clock: float) -> Any:
    """Return a result row with a wall-clock ratio."""
    return modules["paired"].Row(
        "work", "a <b>", "c", 4.0, clock, (3.0, 3.0), (2.0, 2.0), 50.0, 7
    )


def test_benchmark_command_peak_memory_excludes_the_parent_process(
    modules: dict[str, Any], tmp_path: Path
) -> None:
    paired = modules["paired"]
    allocated = bytearray(200_000_000)
    nothing = paired.Command("nothing", [sys.executable, "-c", "pass"], str(tmp_path))
    sample = paired.run_in_turn([nothing], 1)["nothing"][0]
    assert 0 < sample.processor < sample.clock + 1
    assert sample.peak < len(allocated) / 2**21


def test_benchmark_page_shows_seconds_per_megabyte_if_the_spec_size_is_known(
    modules: dict[str, Any],
) -> None:
    part = modules["results"].Part([make_row(modules, 1.0)], specs={"work": 2_000_000})
    text = modules["page"].render_results({"generation": part})
    assert "| work | a <b> | 3.0 | 3.0 | 1.5 | 4.0 x c | 50 MiB |" in text


def test_benchmark_results_are_equal_after_saving_and_loading_the_json_file(
    modules: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    results = modules["results"]
    monkeypatch.setattr(results, "MEASURED_FILE", tmp_path / "measured.json")
    part = results.Part(
        [make_row(modules, 1.5)],
        tables=[],
        outputs={"a": [1, 2]},
        measured="2026-01-01",
    )
    results.save_part("servers", part)
    assert results.load_parts(results.MEASURED_FILE) == {"servers": part}


def test_benchmark_page_shows_ratio_4_as_4_x_faster_and_one_half_as_2_x_slower(
    modules: dict[str, Any],
) -> None:
    part = modules["results"].Part([make_row(modules, 4.0), make_row(modules, 0.5)])
    text = modules["page"].render_page({"generators": part})
    assert "| **4.0 x faster** |" in text
    assert "| 2.0 x slower |" in text


def test_benchmark_chart_bar_below_ratio_1_has_class_slower_and_names_are_escaped(
    modules: dict[str, Any],
) -> None:
    picture = modules["picture"]
    faster, slower = make_row(modules, 4.0), make_row(modules, 0.5)
    assert 'class="faster"' in picture.render_diagram([faster])
    assert 'class="slower"' not in picture.render_diagram([faster])
    assert 'class="slower"' in picture.render_diagram([slower])
    assert "a &lt;b&gt;" in picture.render_diagram([replace(faster, work="x")])


def test_load_real_tools_returns_1271_tools_with_distinct_module_names(
    modules: dict[str, Any],
) -> None:
    """The benchmarks use copies of the tools of public MCP servers as input."""
    lists = modules["real_lists"]
    tools = lists.load_real_tools(1_271)
    assert len({lists.module_name(tool["name"]) for tool in tools}) == 1_271
    assert tools == lists.load_real_tools(1_271)


def test_load_real_tools_rewords_copies_and_preserves_their_schemas_validity(
    modules: dict[str, Any],
) -> None:
    """Benchmarks multiply the tools of public MCP servers by rewording them."""
    tools = modules["real_lists"].load_real_tools(1_271)
    assert len({tool["description"] for tool in tools}) > 800
    for tool in tools:
        schema = tool["inputSchema"]
        assert jsonschema_rs.meta.is_valid(schema)
        assert {*schema.get("required", ())} <= {*schema["properties"]}
    # Rewording must not merge properties: each variant has as many as the original.
    properties = [len(tool["inputSchema"]["properties"]) for tool in tools]
    size = next(n for n in range(50, 200) if properties[:n] == properties[n : 2 * n])
    assert 2 * size < len(tools)


def test_benchmark_openapi_documents_contain_every_referenced_schema(
    modules: dict[str, Any], tmp_path: Path
) -> None:
    """These documents are the input of the other code generators in the comparison."""
    tools = modules["real_lists"].load_real_tools(400)
    document, definitions = modules["openapi"].write_documents(tmp_path, tools)
    openapi = json.loads(Path(document).read_text("utf-8"))
    assert len(openapi["paths"]) == 400
    references = collect_references(openapi) | {
        name.replace("#/$defs/", "#/components/schemas/")
        for name in collect_references(json.loads(Path(definitions).read_text("utf-8")))
    }
    known = {
        f"#/components/schemas/{name}" for name in openapi["components"]["schemas"]
    }
    assert references <= known
    assert len(known) >= 400


def collect_references(node: Any) -> set[str]:
    """Return the targets of all `$ref` keys in a JSON value."""
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*map(collect_references, node.values()))
    if isinstance(node, list):
        return set().union(*map(collect_references, node))
    return set()
