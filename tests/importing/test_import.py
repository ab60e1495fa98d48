"""`toolcast import` writes specs that produce the imported list and keep manual edits."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.nasty_lists import NASTY_LISTS
from tests.importing.imports import load_tools, run_import
from tests.program import toolcast
from toolcast.encoders.yaml_block import encode_entry
from toolcast.parsing.yaml_reader import read_yaml

ROOT = Path(__file__).parents[2]
LISTS = sorted((ROOT / "tests/corpus/mcp").glob("*.json"))
FAST_LISTS = {"mcp-server-git", "server-everything"}


def write_list(path: Path, tools: list[dict[str, Any]], **members: Any) -> str:
    """Write a list with further members of the response, and return the file's name."""
    path.write_text(json.dumps({"tools": tools, **members}), "utf-8")
    return path.name


def list_tools(root: Path) -> list[dict[str, Any]]:
    """Return the MCP definitions in the order of the specs."""
    return [*load_tools(root).values()]


def read_yaml_files(root: Path) -> Mapping[str, bytes]:
    """Return the content of each YAML file by its path."""
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*.yaml")}


TOOL = {
    "name": "find-visits",
    "title": "Find visits",
    "description": "Finds the visits of a day.\n\nDays are in UTC.",
    "inputSchema": {"type": "object", "properties": {"day": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}
SCHEMA_COMMENT = "# yaml-language-server: $schema="
SPEC = f"""\
{SCHEMA_COMMENT}../schemas/toolcast.schema.json#/$defs/tool
name: find-visits
title: Find visits
description: |-
  Finds the visits of a day.

  Days are in UTC.
parameters:
  type: object
  properties:
    day:
      type: string
annotations:
  readOnlyHint: true
order: 1
"""


@pytest.mark.parametrize(
    "text",
    [
        *(
            pytest.param(
                file.read_text("utf-8"),
                id=file.stem,
                marks=[] if file.stem in FAST_LISTS else [pytest.mark.slow],
            )
            for file in LISTS
        ),
        pytest.param(NASTY_LISTS["nasty_numbers"], id="numbers"),
        pytest.param(NASTY_LISTS["nasty_texts"], id="texts"),
    ],
)
def test_imported_list_is_reproduced_exactly(text: str, tmp_path: Path) -> None:
    """A second import changes no file.

    YAML writes some numbers differently, and reads some characters as line ends.
    """
    (tmp_path / "list.json").write_text(text, "utf-8")
    arguments = ("list.json", "--toolset", "things")
    output = run_import(tmp_path, *arguments)
    value = json.loads(text)
    value = value.get("result", value) if isinstance(value, dict) else value
    tools = value["tools"] if isinstance(value, dict) else value
    assert json.dumps(list_tools(tmp_path)) == json.dumps(tools)
    assert "differs from the listed" not in output and "another order" not in output
    before = read_yaml_files(tmp_path)
    output = run_import(tmp_path, *arguments)
    assert f"0 changed, {len(tools)} unchanged" in output
    assert read_yaml_files(tmp_path) == before


def test_import_writes_readable_specs_and_settings(tmp_path: Path) -> None:
    """All written YAML files have exactly the expected content."""
    info = {"name": "clinic", "title": "The clinic", "version": "2.1.0"}
    name = write_list(tmp_path / "a.json", [TOOL], serverInfo=info, instructions="Ask.")
    run_import(tmp_path, name, "--toolset", "things")
    assert read_yaml_files(tmp_path) == {
        "toolcast.yaml": (
            f"{SCHEMA_COMMENT}specs/schemas/toolcast.schema.json#/$defs/workspace\nversion: 1\ntoolsets: [specs/things]\n"
        ).encode(),
        "specs/things/toolset.yaml": (
            f"{SCHEMA_COMMENT}../schemas/toolcast.schema.json#/$defs/toolset\nname: things\ntitle: The clinic\n"
            'version: "2.1.0"\ninstructions: Ask.\ntargets:\n  mcp: {}\n  registry: {}\n  snapshots: {}\n'
        ).encode(),
        "specs/things/find-visits.yaml": SPEC.encode(),
    }
    assert "unchanged specs/schemas/toolcast.schema.json" in (
        toolcast(tmp_path, "schema", "--write").stdout
    )


def test_import_uses_the_workspaces_schema_and_toolset_folders(tmp_path: Path) -> None:
    schemas = tmp_path / "own"
    shutil.copytree(ROOT / "specs/schemas", schemas)
    (tmp_path / "toolcast.yaml").write_text(
        f"{SCHEMA_COMMENT}own/workspace.schema.json\nversion: 1\ntoolsets:\n  - tools/others\n"
    )
    (tmp_path / "tools/others").mkdir(parents=True)
    (tmp_path / "tools/others/toolset.yaml").write_text(
        f"{SCHEMA_COMMENT}../../own/toolset.schema.json\nname: others\ntitle: Others\ntargets: {{registry: {{}}}}\n"
    )
    (tmp_path / "tools/others/other.yaml").write_text(
        "name: other\nsummary: Does other work.\nparameters: {type: object}\n"
    )
    run_import(tmp_path, write_list(tmp_path / "a.json", [TOOL]), "--toolset", "things")
    workspace_text = (tmp_path / "toolcast.yaml").read_text()
    assert workspace_text.endswith("toolsets:\n  - tools/others\n  - tools/things\n")
    for file, kind in (("toolset.yaml", "toolset"), ("find-visits.yaml", "tool")):
        first_line = (tmp_path / "tools/things" / file).read_text().splitlines()[0]
        assert first_line == f"{SCHEMA_COMMENT}../../own/{kind}.schema.json"
    assert not (tmp_path / "specs").exists()


def test_second_import_changes_only_imported_fields(tmp_path: Path) -> None:
    """Comments, the order of fields and fields that no server lists stay."""
    run_import(tmp_path, write_list(tmp_path / "a.json", [TOOL]), "--toolset", "things")
    spec = tmp_path / "specs/things/find-visits.yaml"
    edited = "# Ours.\n" + SPEC.replace("order: 1", "order: 1\ntimeout: 5  # slow")
    edited = edited.replace("title: Find", "summary: My own words.\ntitle: Find")
    spec.write_text(edited, "utf-8")
    changed = {**TOOL, "description": "Other words.", "icons": []}
    del changed["title"]
    other = {"name": "new", "inputSchema": {"type": "object"}}
    output = run_import(
        tmp_path,
        write_list(tmp_path / "a.json", [changed, other]),
        "--toolset",
        "things",
    )
    assert "changed: `find-visits`: description, icons, title" in output
    assert "1 new tool, 1 changed, 0 unchanged" in output
    text = spec.read_text("utf-8")
    assert text.startswith("# Ours.\n") and "timeout: 5  # slow" in text
    assert "summary: My own words." in text
    assert list_tools(tmp_path) == [changed, other]


def test_second_import_updates_server_instructions_but_no_edited_title(
    tmp_path: Path,
) -> None:
    info = {"name": "clinic", "version": "1"}
    arguments = ("a.json", "--toolset", "things")
    write_list(tmp_path / "a.json", [TOOL], serverInfo=info, instructions="Be kind.")
    run_import(tmp_path, *arguments)
    file = tmp_path / "specs/things/toolset.yaml"
    file.write_text(file.read_text().replace("title: clinic", "title: Ours  # by hand"))
    write_list(
        tmp_path / "a.json",
        [TOOL],
        serverInfo={**info, "version": "2"},
        instructions="Be kind.\nBe short.",
    )
    report = json.loads(run_import(tmp_path, *arguments, "--format", "json"))
    assert report == {
        "toolset": "things",
        "toolset_fields": ["version", "instructions"],
        "new": [],
        "changed": {},
        "unchanged": 1,
        "removed": [],
        "kept": {},
        "refused": {},
        "rejected": [],
        "notes": [],
    }
    assert file.read_text().splitlines()[1:7] == [
        "name: things",
        "title: Ours  # by hand",
        'version: "2"',
        "instructions: |-",
        "  Be kind.",
        "  Be short.",
    ]
    before = read_yaml_files(tmp_path)
    run_import(tmp_path, *arguments)
    assert read_yaml_files(tmp_path) == before


def test_import_notes_that_prompts_in_a_file_are_not_imported(tmp_path: Path) -> None:
    prompts = [{"name": name} for name in ("greet\x1b[31m", *"bcdefghi")]
    name = write_list(tmp_path / "a.json", [TOOL], prompts=prompts)
    output = run_import(tmp_path, name, "--toolset", "things")
    names = ", ".join(f"`{name}`" for name in ("greet\\x1b[31m", *"bcdefgh"))
    assert f"note: `prompts` are not imported (9): {names} and 1 more\n" in output


def test_import_does_not_replace_an_existing_file(tmp_path: Path) -> None:
    run_import(tmp_path, write_list(tmp_path / "a.json", [TOOL]), "--toolset", "things")
    before = read_yaml_files(tmp_path)
    (tmp_path / "specs/others").mkdir()
    (tmp_path / "specs/others/toolset.yaml").write_text("mine", "utf-8")
    output = run_import(tmp_path, "a.json", "--toolset", "others", code=1)
    assert "cannot create specs/others/toolset.yaml: the file exists" in output
    assert read_yaml_files(tmp_path) == {**before, "specs/others/toolset.yaml": b"mine"}


def test_import_through_a_linked_folder_is_refused_with_help(tmp_path: Path) -> None:
    name = write_list(tmp_path / "a.json", [TOOL])
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "specs").symlink_to(tmp_path / "elsewhere")
    result = toolcast(tmp_path, "import", name, "--toolset", "things")
    assert (result.returncode, result.stdout) == (1, "")
    first_line, *other_lines = result.stderr.splitlines()
    assert first_line.startswith("error: a folder of specs/")
    assert other_lines == ["  help: edit the target of the link", "nothing was written"]
    assert list((tmp_path / "elsewhere").iterdir()) == []


TEXTS = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Cf", "Co", "Cn"])
    | st.sampled_from("\n \t#:-|>'\"{}[]"),
    max_size=200,
)
VALUES = st.recursive(
    TEXTS
    | st.integers(-(10**18), 10**18)
    | st.booleans()
    | st.none()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(st.text("abc$-: #", min_size=1, max_size=8), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\nMap a website.\n", "text: |\n\n  Map a website.\n"),
        ("\n  Map\na website.", "text: |2-\n\n    Map\n  a website.\n"),
        ("Map\n   \na website.\n ", "text: |-\n  Map\n     \n  a website.\n   \n"),
    ],
)
def test_multiline_strings_become_yaml_block_scalars(text: str, written: str) -> None:
    assert str(encode_entry("text", text)) == written


@pytest.mark.parametrize("value", [[], {}, None, "", ["a"], [{}], "a b", "a\nb"])
@pytest.mark.parametrize("key", ["k" * 90, "k" * 1_100, "a key " * 200])
def test_yaml_with_keys_up_to_1200_characters_is_read_back_unchanged(
    key: str, value: Any
) -> None:
    content = {key: value, "more": [{key: value}]}
    document, findings = read_yaml("x.yaml", str(encode_entry("key", content)).encode())
    assert document is not None and not findings
    assert json.dumps(document.value) == json.dumps({"key": content})


@given(value=VALUES)
def test_values_in_imported_yaml_specs_are_read_back_unchanged(value: Any) -> None:
    document, findings = read_yaml("x.yaml", str(encode_entry("key", value)).encode())
    if document is None or findings:
        # Values with characters that specs may not contain are findings.
        assert any("forbidden" in f.rule or "invisible" in f.rule for f in findings)
        return
    assert json.dumps(document.value) == json.dumps({"key": value})
