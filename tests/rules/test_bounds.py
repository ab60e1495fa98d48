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
    ("text", "rule"),
    [
        (f"title: {'x' * MAX_BYTES}\n", "yaml/too-large"),
        (f"icons: [{'1,' * MAX_NODES}]\n", "yaml/too-large"),
        (f"icons: {'[' * (MAX_DEPTH + 1)}\n", "yaml/too-large"),
        (f"icons: {'[' * 100_000}\n", "yaml/too-large"),
    ],
)
def test_spec_above_a_size_or_depth_limit_is_reported_as_too_large(
    text: str, rule: str, tmp_path: Path
) -> None:
    write_example(text, tmp_path)
    assert list_rules(tmp_path) == {rule}


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
def test_spec_example_with_hostile_schema_is_reported_in_bounded_time(
    case: str, tmp_path: Path
) -> None:
    schema, arguments, rule = HOSTILE_VALUES[case]
    text = json.dumps({"type": "object", **schema})
    write_example(
        f"parameters: {text}\nexamples: [{{arguments: {arguments}}}]\n", tmp_path
    )
    start = time.process_time()
    assert rule in list_rules(tmp_path)
    assert time.process_time() - start < 5


def test_folder_named_like_a_spec_file_is_reported_as_unreadable(
    tmp_path: Path,
) -> None:
    write_example("title: Notes\n", tmp_path)
    (tmp_path / "specs/example/folder.yaml").mkdir()
    assert list_rules(tmp_path) == {"spec/unreadable"}


def test_handler_with_a_syntax_error_is_reported(tmp_path: Path) -> None:
    write_example(
        "handler: handlers.notes:note\n# handlers/notes.py\ndef note(:\n", tmp_path
    )
    (finding,) = list_findings(tmp_path)
    assert finding.rule == "handler/not-found"
    assert (
        "handlers/notes.py cannot be read: invalid syntax on line 1" in finding.message
    )


def test_handler_with_null_bytes_is_reported(tmp_path: Path) -> None:
    write_example("handler: handlers.notes:note\n# handlers/notes.py\n\0\n", tmp_path)
    assert list_rules(tmp_path) == {"handler/not-found"}


def test_handler_with_extreme_nesting_is_reported(tmp_path: Path) -> None:
    code = f"note = {'-' * 200_000}1\n"
    write_example(
        f"handler: handlers.notes:note\n# handlers/notes.py\n{code}", tmp_path
    )
    assert list_rules(tmp_path) == {"handler/not-found"}


def test_handler_module_behind_a_symbolic_link_is_reported_as_not_found(
    tmp_path: Path,
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "notes.py").write_text("def note(): ...\n")
    project = tmp_path / "project"
    write_example("handler: handlers.linked.notes:note\n", project)
    (project / "handlers/linked").symlink_to(outside)
    assert list_rules(project) == {"handler/not-found"}


def test_check_does_not_import_handlers(tmp_path: Path) -> None:
    code = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\ndef note(): ...\n"
    write_example(
        f"handler: handlers.notes:note\n# handlers/notes.py\n{code}", tmp_path
    )
    assert list_rules(tmp_path) == set()
    assert not (tmp_path / "handlers/ran").exists()
