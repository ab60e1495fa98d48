"""What no repository can hold as a file: large, deep, unreadable and linked specs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.rules.layout import findings_of, lay_out
from toolcast.parsing.yaml_reader import MAX_BYTES, MAX_DEPTH, MAX_NODES


def rules_found(root: Path) -> set[str]:
    return {finding.rule for finding in findings_of(root)}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"title: {'x' * MAX_BYTES}\n", "yaml/too-large"),
        (f"icons: [{'1,' * MAX_NODES}]\n", "yaml/too-large"),
        (f"icons: {'[' * (MAX_DEPTH + 1)}\n", "yaml/too-large"),
        (f"icons: {'[' * 100_000}\n", "yaml/too-large"),
    ],
)
def test_reading_is_bounded(text: str, rule: str, tmp_path: Path) -> None:
    lay_out(text, tmp_path)
    assert rules_found(tmp_path) == {rule}


def nested(levels: int) -> str:
    return "[" * levels + '"s"' + "]" * levels


ENDLESS = {"type": "array", "items": {"$ref": "#/$defs/t"}}
HOSTILE_VALUES = {
    "many errors a place": (
        {"allOf": [{"allOf": [5] * 50} for _ in range(400)]},
        "{}",
        "schema/invalid",
    ),
    "many errors in many places": (
        {"properties": {"x": {"items": {"required": [f"k{i}" for i in range(200)]}}}},
        f'{{"x": {[{}] * 10_000}}}',
        "schema/example-mismatch",
    ),
    "members that alternatives leave over, at each level": (
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
    "objects of which two are alike": (
        {"properties": {"x": {"items": {"type": "object"}, "uniqueItems": True}}},
        json.dumps({"x": [{"a": n} for n in range(900)] + [{"a": 899}]}),
        "schema/example-mismatch",
    ),
    "alternatives without end": (
        {
            "properties": {"x": {"$ref": "#/$defs/t"}},
            "$defs": {"t": {"anyOf": [ENDLESS, ENDLESS, {"type": "integer"}]}},
        },
        f'{{"x": {nested(60)}}}',
        "schema/example-mismatch",
    ),
}


@pytest.mark.parametrize("case", HOSTILE_VALUES)
def test_checking_values_is_bounded(case: str, tmp_path: Path) -> None:
    schema, arguments, rule = HOSTILE_VALUES[case]
    text = json.dumps({"type": "object", **schema})
    lay_out(f"parameters: {text}\nexamples: [{{arguments: {arguments}}}]\n", tmp_path)
    start = time.process_time()
    assert rule in rules_found(tmp_path)
    assert time.process_time() - start < 5


def test_a_folder_instead_of_a_spec_is_named(tmp_path: Path) -> None:
    lay_out("title: Notes\n", tmp_path)
    (tmp_path / "specs/example/folder.yaml").mkdir()
    assert rules_found(tmp_path) == {"spec/unreadable"}


def test_a_handler_that_is_no_python_is_named(tmp_path: Path) -> None:
    lay_out("handler: handlers.notes:note\n# handlers/notes.py\ndef note(:\n", tmp_path)
    (finding,) = findings_of(tmp_path)
    assert finding.rule == "handler/not-found"
    assert (
        "handlers/notes.py cannot be read: invalid syntax on line 1" in finding.message
    )


def test_a_handler_with_null_bytes_is_named(tmp_path: Path) -> None:
    lay_out("handler: handlers.notes:note\n# handlers/notes.py\n\0\n", tmp_path)
    assert rules_found(tmp_path) == {"handler/not-found"}


def test_a_handler_of_endless_depth_is_named(tmp_path: Path) -> None:
    code = f"note = {'-' * 200_000}1\n"
    lay_out(f"handler: handlers.notes:note\n# handlers/notes.py\n{code}", tmp_path)
    assert rules_found(tmp_path) == {"handler/not-found"}


def test_a_handler_behind_a_link_out_of_the_project_is_not_there(
    tmp_path: Path,
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "notes.py").write_text("def note(): ...\n")
    project = tmp_path / "project"
    lay_out("handler: handlers.linked.notes:note\n", project)
    (project / "handlers/linked").symlink_to(outside)
    assert rules_found(project) == {"handler/not-found"}


def test_no_handler_is_imported(tmp_path: Path) -> None:
    code = "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\ndef note(): ...\n"
    lay_out(f"handler: handlers.notes:note\n# handlers/notes.py\n{code}", tmp_path)
    assert rules_found(tmp_path) == set()
    assert not (tmp_path / "handlers/ran").exists()
