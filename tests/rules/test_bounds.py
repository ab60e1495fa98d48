"""Large, deeply nested, unreadable and linked specs, which are not stored as case folders."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.rules.layout import list_findings, write_example
from toolcast.parsing.yaml_reader import MAX_BYTES, MAX_DEPTH, MAX_NODES


def list_rules(root: Path) -> set[str]:
    return {finding.rule for finding in list_findings(root)}


@pytest.mark.parametrize(
    "text",
    [
        f"title: {'x' * MAX_BYTES}\n",
        f"icons: [{'1,' * MAX_NODES}]\n",
        f"icons: {'[' * (MAX_DEPTH + 1)}\n",
        f"icons: {'[' * 100_000}\n",
    ],
    ids=["bytes", "nodes", "depth", "far deeper"],
)
def test_spec_above_a_size_or_depth_limit_is_refused(text: str, tmp_path: Path) -> None:
    write_example(text, tmp_path)
    assert list_rules(tmp_path) == {"yaml/too-large"}


def nest_arrays(levels: int) -> str:
    return "[" * levels + '"s"' + "]" * levels


ENDLESS = {"type": "array", "items": {"$ref": "#/$defs/t"}}
HOSTILE_VALUES = {
    "many errors in one location": (
        {"allOf": [{"allOf": [5] * 50} for _ in range(400)]},
        "{}",
        "schema/invalid",
    ),
    "many errors in many locations": (
        {"properties": {"x": {"items": {"required": [f"k{i}" for i in range(200)]}}}},
        f'{{"x": {[{}] * 10_000}}}',
        "schema/example-mismatch",
    ),
    "unevaluated members at each level": (
        {
            "properties": {"x": {"$ref": "#/$defs/t"}},
            "$defs": {
                "t": {
                    "anyOf": [{"properties": {"x": {"$ref": "#/$defs/t"}}}],
                    "unevaluatedProperties": False,
                }
            },
        },
        '{"x": ' * 60 + '{"y": 1}' + "}" * 60,
        "schema/example-mismatch",
    ),
    "many objects with two equal ones": (
        {"properties": {"x": {"items": {"type": "object"}, "uniqueItems": True}}},
        json.dumps({"x": [{"a": n} for n in range(900)] + [{"a": 899}]}),
        "schema/example-mismatch",
    ),
    "recursive alternatives": (
        {
            "properties": {"x": {"$ref": "#/$defs/t"}},
            "$defs": {"t": {"anyOf": [ENDLESS, ENDLESS, {"type": "integer"}]}},
        },
        f'{{"x": {nest_arrays(60)}}}',
        "schema/example-mismatch",
    ),
}


@pytest.mark.parametrize("case", HOSTILE_VALUES)
def test_hostile_schema_is_reported_in_bounded_time(case: str, tmp_path: Path) -> None:
    schema, arguments, rule = HOSTILE_VALUES[case]
    text = json.dumps({"type": "object", **schema})
    write_example(
        f"parameters: {text}\nexamples: [{{arguments: {arguments}}}]\n", tmp_path
    )
    start = time.process_time()
    assert rule in list_rules(tmp_path)
    assert time.process_time() - start < 5


def test_folder_named_like_a_spec_is_reported_as_unreadable(tmp_path: Path) -> None:
    write_example("title: Notes\n", tmp_path)
    (tmp_path / "specs/example/folder.yaml").mkdir()
    assert list_rules(tmp_path) == {"spec/unreadable"}


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("def note(:", "handlers/notes.py cannot be read: invalid syntax on line 1"),
        ("\0", "handlers/notes.py cannot be read: "),
        (f"note = {'-' * 200_000}1", "handlers/notes.py cannot be read: "),
    ],
    ids=["syntax error", "null byte", "nesting"],
)
def test_handler_that_cannot_be_parsed_is_reported(
    code: str, problem: str, tmp_path: Path
) -> None:
    example = f"handler: handlers.notes:note\n# handlers/notes.py\n{code}\n"
    write_example(example, tmp_path)
    (finding,) = list_findings(tmp_path)
    assert finding.rule == "handler/not-found"
    assert problem in finding.message


def test_handler_module_in_a_symbolically_linked_folder_is_reported_as_not_found(
    tmp_path: Path,
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "notes.py").write_text("def note(): ...\n")
    project = tmp_path / "project"
    write_example("handler: handlers.linked.notes:note\n", project)
    (project / "handlers/linked").symlink_to(outside)
    assert list_rules(project) == {"handler/not-found"}
