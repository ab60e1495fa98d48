"""The benchmarks' page shows what was measured; nothing here looks at a clock."""

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
NAMES = tuple(
    "page picture results paired clients real_lists workspaces openapi generation generators"
    " importing loops servers loop_rounds other_pythons selection sessions turns watching".split()
)


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The modules of the folder, which are scripts and no package."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = {name: sys.modules.pop(name) for name in NAMES if name in sys.modules}
    yield {name: importlib.import_module(name) for name in NAMES}
    for name in NAMES:
        sys.modules.pop(name, None)
    sys.modules.update(before)


def test_the_committed_page_and_picture_show_what_was_measured(
    modules: dict[str, Any],
) -> None:
    page, results = modules["page"], modules["results"]
    parts = results.kept(results.KEPT)
    assert page.PAGE.read_text("utf-8") == page.page(parts)
    assert page.PICTURE.read_text("utf-8") == page.page_picture(parts)


def test_a_ratio_is_the_median_of_the_ratios_within_rounds(
    modules: dict[str, Any],
) -> None:
    paired = modules["paired"]
    samples = {
        "a": [paired.Sample(seconds, 1.0, 1.0) for seconds in (1.0, 8.0, 3.0)],
        "b": [paired.Sample(seconds, 2.0, 1.0) for seconds in (1.0, 2.0, 1.0)],
    }
    row = paired.compare("work", samples, "a", "b")
    assert (row.processor, row.clock, row.rounds) == (3.0, 0.5, 3)
    assert row.one_seconds == (3.0, 1.0)


def row(modules: dict[str, Any], clock: float) -> Any:
    return modules["paired"].Row(
        "work", "a <b>", "c", 4.0, clock, (3.0, 3.0), (2.0, 2.0), 50.0, 7
    )


def test_a_command_has_its_own_memory_and_not_that_of_its_caller(
    modules: dict[str, Any], tmp_path: Path
) -> None:
    paired = modules["paired"]
    held = bytearray(200_000_000)
    nothing = paired.Command("nothing", [sys.executable, "-c", "pass"], str(tmp_path))
    sample = paired.run_in_turn([nothing], 1)["nothing"][0]
    assert 0 < sample.processor < sample.clock + 1
    assert sample.peak < len(held) / 2**21


def test_seconds_stand_by_the_size_of_specs_where_it_is_known(
    modules: dict[str, Any],
) -> None:
    part = modules["results"].Part([row(modules, 1.0)], specs={"work": 2_000_000})
    text = modules["page"].results({"generation": part})
    assert "| work | a <b> | 3.0 | 3.0 | 1.5 | 4.0 x c | 50 MiB |" in text


def test_a_part_comes_back_from_json_as_it_was(
    modules: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    results = modules["results"]
    monkeypatch.setattr(results, "KEPT", tmp_path / "measured.json")
    part = results.Part(
        [row(modules, 1.5)], tables=[], wrote={"a": [1, 2]}, measured="2026-01-01"
    )
    results.keep("servers", part)
    assert results.kept(results.KEPT) == {"servers": part}


def test_the_page_says_faster_and_slower_the_right_way_round(
    modules: dict[str, Any],
) -> None:
    part = modules["results"].Part([row(modules, 4.0), row(modules, 0.5)])
    text = modules["page"].page({"generators": part})
    assert "| **4.0 x faster** |" in text
    assert "| 2.0 x slower |" in text


def test_a_bar_goes_left_where_toolcast_is_slower(modules: dict[str, Any]) -> None:
    picture = modules["picture"]
    faster, slower = row(modules, 4.0), row(modules, 0.5)
    assert 'class="faster"' in picture.picture([faster])
    assert 'class="slower"' not in picture.picture([faster])
    assert 'class="slower"' in picture.picture([slower])
    assert "a &lt;b&gt;" in picture.picture([replace(faster, work="x")])


def test_real_tools_are_as_many_as_are_asked_for_and_share_no_name(
    modules: dict[str, Any],
) -> None:
    lists = modules["real_lists"]
    tools = lists.real_tools(1_271)
    assert len({lists.module_name(tool["name"]) for tool in tools}) == 1_271
    assert tools == lists.real_tools(1_271)


def test_tools_that_are_said_anew_keep_their_schemas_whole(
    modules: dict[str, Any],
) -> None:
    tools = modules["real_lists"].real_tools(1_271)
    assert len({tool["description"] for tool in tools}) > 800
    for tool in tools:
        schema = tool["inputSchema"]
        assert jsonschema_rs.meta.is_valid(schema)
        assert {*schema.get("required", ())} <= {*schema["properties"]}
    # Names that were two stay two: a turn has as many properties as the tools themselves.
    properties = [len(tool["inputSchema"]["properties"]) for tool in tools]
    turn = next(n for n in range(50, 200) if properties[:n] == properties[n : 2 * n])
    assert 2 * turn < len(tools)


def test_the_documents_for_other_generators_refer_to_what_they_hold(
    modules: dict[str, Any], tmp_path: Path
) -> None:
    tools = modules["real_lists"].real_tools(400)
    document, definitions = modules["openapi"].write_documents(tmp_path, tools)
    whole = json.loads(Path(document).read_text("utf-8"))
    assert len(whole["paths"]) == 400
    found = references(whole) | {
        name.replace("#/$defs/", "#/components/schemas/")
        for name in references(json.loads(Path(definitions).read_text("utf-8")))
    }
    known = {f"#/components/schemas/{name}" for name in whole["components"]["schemas"]}
    assert found <= known
    assert len(known) >= 400


def references(node: Any) -> set[str]:
    """The targets of every `$ref` below a node."""
    if isinstance(node, dict):
        own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
        return own.union(*map(references, node.values()))
    if isinstance(node, list):
        return set().union(*map(references, node))
    return set()
