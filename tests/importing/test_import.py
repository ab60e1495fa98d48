"""What a server lists becomes specs that give the same list; again, only what changed."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpus.nasty_lists import NASTY_LISTS
from tests.program import toolcast
from toolcast.analysis.mcp_definitions import build_mcp_definition
from toolcast.encoders.yaml_block import encode_entry
from toolcast.model.loading import load_workspace
from toolcast.parsing.yaml_reader import read_yaml

ROOT = Path(__file__).parents[2]
LISTS = sorted((ROOT / "tests/corpus/mcp").glob("*.json"))
QUICK = {"mcp-server-git", "server-everything"}


def run(root: Path, *words: str, code: int = 0) -> str:
    done = toolcast(root, "import", *words)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def write(path: Path, tools: list[dict[str, Any]], **more: Any) -> str:
    path.write_text(json.dumps({"tools": tools, **more}), "utf-8")
    return path.name


def listed(root: Path, toolset: str = "things") -> list[dict[str, Any]]:
    loaded = load_workspace(str(root))
    assert loaded.workspace is not None
    found = next(one for one in loaded.workspace.toolsets if one.name == toolset)
    return [build_mcp_definition(tool) for tool in found.tools]


def files(root: Path) -> Mapping[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*.yaml")}


TOOL = {
    "name": "find-visits",
    "title": "Find visits",
    "description": "Finds the visits of a day.\n\nDays are in UTC.",
    "inputSchema": {"type": "object", "properties": {"day": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}
LINE = "# yaml-language-server: $schema="
SPEC = f"""\
{LINE}../schemas/toolcast.schema.json#/$defs/tool
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
    "file",
    [
        pytest.param(
            file, id=file.stem, marks=[] if file.stem in QUICK else [pytest.mark.slow]
        )
        for file in LISTS
    ],
)
def test_a_real_server_is_listed_as_it_was(file: Path, tmp_path: Path) -> None:
    told = run(tmp_path, str(file), "--toolset", "things")
    value = json.loads(file.read_text("utf-8"))
    value = value.get("result", value) if isinstance(value, dict) else value
    tools = value["tools"] if isinstance(value, dict) else value
    assert json.dumps(listed(tmp_path)) == json.dumps(tools)
    assert "differs from the listed" not in told and "another order" not in told
    before = files(tmp_path)
    assert f"{len(tools)} unchanged" in run(tmp_path, str(file), "--toolset", "things")
    assert files(tmp_path) == before
    assert toolcast(tmp_path, "generate").returncode == 0


@pytest.mark.parametrize("name", ["nasty_numbers", "nasty_texts"])
def test_odd_numbers_and_texts_come_back(name: str, tmp_path: Path) -> None:
    """Numbers that YAML spells in another way, and characters that it reads as line ends."""
    (tmp_path / "list.json").write_text(NASTY_LISTS[name], "utf-8")
    run(tmp_path, "list.json", "--toolset", "things")
    value = json.loads(NASTY_LISTS[name])
    tools = value["tools"] if isinstance(value, dict) else value
    assert json.dumps(listed(tmp_path)) == json.dumps(tools)
    before = files(tmp_path)
    again = run(tmp_path, "list.json", "--toolset", "things")
    assert f"0 changed, {len(tools)} unchanged" in again
    assert files(tmp_path) == before


def test_specs_read_as_written_by_hand(tmp_path: Path) -> None:
    info = {"name": "clinic", "title": "The clinic", "version": "2.1.0"}
    name = write(tmp_path / "a.json", [TOOL], serverInfo=info, instructions="Be kind.")
    run(tmp_path, name, "--toolset", "things")
    assert files(tmp_path) == {
        "toolcast.yaml": (
            f"{LINE}specs/schemas/toolcast.schema.json#/$defs/workspace\nversion: 1\ntoolsets: [specs/things]\n"
        ).encode(),
        "specs/things/toolset.yaml": (
            f"{LINE}../schemas/toolcast.schema.json#/$defs/toolset\nname: things\ntitle: The clinic\n"
            'version: "2.1.0"\ninstructions: Be kind.\ntargets:\n  mcp: {}\n  registry: {}\n  snapshots: {}\n'
        ).encode(),
        "specs/things/find-visits.yaml": SPEC.encode(),
    }
    assert "unchanged specs/schemas/toolcast.schema.json" in (
        toolcast(tmp_path, "schema", "--write").stdout
    )


def test_a_project_s_own_schemas_are_named(tmp_path: Path) -> None:
    own = tmp_path / "own"
    shutil.copytree(ROOT / "specs/schemas", own)
    (tmp_path / "toolcast.yaml").write_text(
        f"{LINE}own/workspace.schema.json\nversion: 1\ntoolsets:\n  - tools/others\n"
    )
    (tmp_path / "tools/others").mkdir(parents=True)
    (tmp_path / "tools/others/toolset.yaml").write_text(
        f"{LINE}../../own/toolset.schema.json\nname: others\ntitle: Others\ntargets: {{registry: {{}}}}\n"
    )
    (tmp_path / "tools/others/other.yaml").write_text(
        "name: other\nsummary: Does other work.\nparameters: {type: object}\n"
    )
    run(tmp_path, write(tmp_path / "a.json", [TOOL]), "--toolset", "things")
    told = (tmp_path / "toolcast.yaml").read_text()
    assert told.endswith("toolsets:\n  - tools/others\n  - tools/things\n")
    for file, kind in (("toolset.yaml", "toolset"), ("find-visits.yaml", "tool")):
        first = (tmp_path / "tools/things" / file).read_text().splitlines()[0]
        assert first == f"{LINE}../../own/{kind}.schema.json"
    assert not (tmp_path / "specs").exists()


def test_only_what_changed_there_changes(tmp_path: Path) -> None:
    run(tmp_path, write(tmp_path / "a.json", [TOOL]), "--toolset", "things")
    spec = tmp_path / "specs/things/find-visits.yaml"
    mine = "# Ours: ask Ada.\n" + SPEC.replace(
        "order: 1", "order: 1\ntimeout: 5  # slow"
    )
    mine = mine.replace("title: Find", "summary: My own words.\ntitle: Find")
    spec.write_text(mine, "utf-8")
    changed = {**TOOL, "description": "Other words.", "icons": []}
    del changed["title"]
    other = {"name": "new", "inputSchema": {"type": "object"}}
    told = run(
        tmp_path, write(tmp_path / "a.json", [changed, other]), "--toolset", "things"
    )
    assert "changed: `find-visits`: description, icons, title" in told
    assert "1 new tool, 1 changed, 0 unchanged" in told
    text = spec.read_text("utf-8")
    assert text.startswith("# Ours: ask Ada.\n") and "timeout: 5  # slow" in text
    assert "summary: My own words." in text
    assert listed(tmp_path) == [changed, other]


SERVER = """
import os, runpy
os.chdir({root!r})
runpy.run_module("generated.kirishima.mcp_server", run_name="__main__")
"""


@pytest.mark.slow
def test_a_live_server_is_imported(tmp_path: Path) -> None:
    words = [sys.executable, "-c", SERVER.format(root=str(ROOT))]
    told = run(tmp_path, "--mcp-stdio", shlex.join(words), "--toolset", "things")
    assert "note: handlers of resources and prompts are stubs" in told
    [resource] = (tmp_path / "specs/things/mcp_resources").iterdir()
    assert '"skill://kirishima/SKILL.md"' in resource.read_text("utf-8")
    for tool in listed(tmp_path):
        file = ROOT / f"generated/kirishima/tools/{tool['name']}.json"
        assert json.dumps(tool) == json.dumps(
            json.loads(file.read_text("utf-8"))["mcp"]
        )


def test_what_a_server_says_of_itself_is_renewed(tmp_path: Path) -> None:
    info = {"name": "clinic", "version": "1"}
    words = ("a.json", "--toolset", "things")
    write(tmp_path / "a.json", [TOOL], serverInfo=info, instructions="Be kind.")
    run(tmp_path, *words)
    file = tmp_path / "specs/things/toolset.yaml"
    file.write_text(file.read_text().replace("title: clinic", "title: Ours  # by hand"))
    write(
        tmp_path / "a.json",
        [TOOL],
        serverInfo={**info, "version": "2"},
        instructions="Be kind.\nBe short.",
    )
    told = json.loads(run(tmp_path, *words, "--format", "json"))
    assert told == {
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
    before = files(tmp_path)
    run(tmp_path, *words)
    assert files(tmp_path) == before


def test_what_is_no_tool_is_named(tmp_path: Path) -> None:
    prompts = [{"name": "greet\x1b[31m"}]
    name = write(tmp_path / "a.json", [TOOL], prompts=prompts)
    told = run(tmp_path, name, "--toolset", "things")
    assert "note: `prompts` are not imported (1): `greet\\x1b[31m`" in told


@pytest.mark.parametrize(
    ("tools", "says"),
    [
        ([TOOL, TOOL], "is listed 2 times"),
        ([{**TOOL, "name": "../x"}], "is not a valid tool name"),
        ([{**TOOL, "inputSchema": 3}], "find-visits"),
    ],
)
def test_what_no_spec_can_say_is_told_and_nothing_is_written(
    tools: list[dict[str, Any]], says: str, tmp_path: Path
) -> None:
    name = write(tmp_path / "a.json", tools)
    done = toolcast(tmp_path, "import", name, "--toolset", "things")
    assert done.returncode in (1, 2)
    assert says in done.stdout + done.stderr
    assert "nothing was written" in done.stderr
    assert "Traceback" not in done.stderr
    assert not files(tmp_path)


def test_another_file_is_not_replaced(tmp_path: Path) -> None:
    run(tmp_path, write(tmp_path / "a.json", [TOOL]), "--toolset", "things")
    before = files(tmp_path)
    (tmp_path / "specs/others").mkdir()
    (tmp_path / "specs/others/toolset.yaml").write_text("mine", "utf-8")
    told = run(tmp_path, "a.json", "--toolset", "others", code=1)
    assert "cannot create specs/others/toolset.yaml: the file exists" in told
    assert files(tmp_path) == {**before, "specs/others/toolset.yaml": b"mine"}


def test_a_refusal_is_told_line_by_line(tmp_path: Path) -> None:
    name = write(tmp_path / "a.json", [TOOL])
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "specs").symlink_to(tmp_path / "elsewhere")
    done = toolcast(tmp_path, "import", name, "--toolset", "things")
    assert (done.returncode, done.stdout) == (1, "")
    first, *rest = done.stderr.splitlines()
    assert first.startswith("error: a folder of specs/")
    assert rest == ["  help: edit the target of the link", "nothing was written"]
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
def test_texts_of_several_lines_are_read_line_by_line(text: str, written: str) -> None:
    assert str(encode_entry("text", text)) == written


@pytest.mark.parametrize("value", [[], {}, None, "", ["a"], [{}], "a b", "a\nb"])
@pytest.mark.parametrize("key", ["k" * 90, "k" * 1_100, "a key " * 200])
def test_a_long_key_keeps_its_value(key: str, value: Any) -> None:
    inner = {key: value, "more": [{key: value}]}
    document, findings = read_yaml("x.yaml", str(encode_entry("key", inner)).encode())
    assert document is not None and not findings
    assert json.dumps(document.value) == json.dumps({"key": inner})


@given(value=VALUES)
def test_what_is_written_reads_back(value: Any) -> None:
    document, findings = read_yaml("x.yaml", str(encode_entry("key", value)).encode())
    if document is None or findings:
        # Characters that no spec may have are told, wherever they come from.
        assert any("forbidden" in f.rule or "invisible" in f.rule for f in findings)
        return
    assert json.dumps(document.value) == json.dumps({"key": value})
