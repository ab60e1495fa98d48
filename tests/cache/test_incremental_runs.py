"""A run that builds on an earlier one gives what a run without one gives, byte by byte."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolcast.cache.memory import Memory
from toolcast.cache.pack import open_pack
from toolcast.findings import Finding
from toolcast.output.kept import Kept, digest, digests_of
from toolcast.pipeline import Generated, generate
from toolcast.reading import yaml_reader

ROOT = Path(__file__).parents[2]
TOOLSETS = sorted(path.parent.name for path in ROOT.glob("specs/*/toolset.yaml"))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """This repository's specs and handlers, without outputs."""
    shutil.copy(ROOT / "toolcast.yaml", tmp_path)
    for folder in ("specs", "examples"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


def remembered(root: Path) -> tuple[Generated, Callable[[], Memory]]:
    """A run without an earlier one, and what makes memories for runs after it."""
    memory = Memory(str(root), {}, {}, same_code=False)
    generated = generate(str(root), memory=memory)
    packed, digests = memory.packed(), digests_of(generated.files)
    return generated, lambda: Memory(str(root), packed, digests, same_code=True)


def shown(findings: list[Finding]) -> list[Any]:
    return [(f, f.source_line) for f in findings]


def assert_same(
    incremental: Generated, cold: Generated, before: Mapping[str, Any]
) -> None:
    assert shown(incremental.findings) == shown(cold.findings)
    assert set(incremental.files) == set(cold.files)
    for path, data in cold.files.items():
        found = incremental.files[path]
        assert digest(found) == digest(data), path
        if isinstance(found, Kept):
            assert digest(before[path]) == found, path


def edits(spec: Mapping[str, Any], other: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """One change of each field of a tool."""
    values: dict[str, Any] = {
        "title": "Another title",
        "summary": "Says something else.",
        "description": f"Says something else; always call `{other}` first.",
        "when_to_use": "When it is time.",
        "guidance": "Take care of `x`.",
        "section": None,
        "order": 977,
        "always": not spec.get("always", False),
        "persistent": not spec.get("persistent", False),
        "service": "another",
        "timeout": 7,
        "annotations": {"readOnlyHint": not spec.get("annotations", {}).get("x")},
        "cli": {"keyword": None, "reason": "It is not for shells."},
        "clients": [],
        "renamed_from": ["an_older_name"],
        "deprecated": {"date": "2027-01-01", "reason": "It is old."},
        "returns": {"type": "object"},
        "examples": [],
        "handler": None,
        "letta": {"attached": False, "reason": "Not now."},
        "data": None,
        "parameters": {
            **spec["parameters"],
            "properties": {
                **spec["parameters"].get("properties", {}),
                "one_more": {"type": "string", "description": "One more."},
            },
        },
    }
    for field, value in values.items():
        changed = {**spec, field: value}
        if value is None:
            del changed[field]
        yield field, changed


@pytest.mark.parametrize("toolset", TOOLSETS)
def test_each_field_reaches_every_output_that_shows_it(
    toolset: str, copy: Path
) -> None:
    # Only this toolset: the others are the same for each change.
    workspace = (copy / "toolcast.yaml").read_text("utf-8")
    listed = re.sub(r"(?m)^toolsets:.*\n(?:[ -].*\n)*", "", workspace)
    (copy / "toolcast.yaml").write_text(f"{listed}toolsets: [specs/{toolset}]\n")
    cold, recall = remembered(copy)
    before = cold.files
    assert before, cold.findings
    names = sorted(path.stem for path in (copy / "specs" / toolset).glob("*.yaml"))
    names.remove("toolset")
    file = copy / "specs" / toolset / f"{names[len(names) // 2]}.yaml"
    text = file.read_text("utf-8")
    changed = 0
    # Every field in the smallest of them; in the others those that most outputs show.
    chosen = None if toolset == "kirishima" else {"summary", "clients", "parameters"}
    for field, spec in edits(yaml.safe_load(text), names[0]):
        if chosen is not None and field not in chosen:
            continue
        file.write_text(yaml.safe_dump(spec, sort_keys=False), "utf-8")
        incremental = generate(str(copy), memory=recall())
        cold = generate(str(copy))
        assert_same(incremental, cold, before)
        given = {p: d for p, d in incremental.files.items() if not p.startswith("_")}
        kept = [data for data in given.values() if isinstance(data, Kept)]
        # With an error there are no files at all, in both.
        assert not cold.files or len(kept) > 0.5 * len(given), field
        changed += bool(cold.files)
    assert changed > (8 if chosen is None else 1)


def test_tools_that_come_and_go(copy: Path) -> None:
    before = generate(str(copy)).files
    for change in ("gone", "new", "renamed"):
        _, recall = remembered(copy)
        old = copy / "specs" / "kirishima" / "smarthome.yaml"
        new = copy / "specs" / "kirishima" / "smart_house.yaml"
        text = old.read_text("utf-8")
        named = re.sub(r"^name: smarthome", "name: smart_house", text, flags=re.M)
        named = named.replace("keyword: ", "keyword: x")
        if change != "gone":
            new.write_text(named, "utf-8")
        if change != "new":
            old.unlink()
        assert_same(generate(str(copy), memory=recall()), generate(str(copy)), before)
        new.unlink(missing_ok=True)
        old.write_text(text, "utf-8")


def test_a_changed_toolset_is_cast_anew(copy: Path) -> None:
    before = generate(str(copy)).files
    _, recall = remembered(copy)
    file = copy / "specs" / "kirishima" / "toolset.yaml"
    file.write_text(file.read_text("utf-8").replace("title: Kirishima", "title: K"))
    assert_same(generate(str(copy), memory=recall()), generate(str(copy)), before)


def test_a_changed_handler_is_read_again(copy: Path) -> None:
    before = generate(str(copy)).files
    _, recall = remembered(copy)
    memory = recall()
    memory.same_code = False
    file = copy / "examples" / "kirishima" / "smarthome.py"
    file.write_text("def nothing() -> None: ...\n", "utf-8")
    incremental = generate(str(copy), memory=memory)
    assert_same(incremental, generate(str(copy)), before)
    assert any(finding.rule == "handler/not-found" for finding in incremental.findings)


def test_one_changed_spec_is_the_only_one_that_is_read(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, recall = remembered(copy)
    file = copy / "specs" / "molecule" / "recall_memory.yaml"
    text = file.read_text("utf-8")
    file.write_text(re.sub(r"^summary: .*$", "summary: New.", text, flags=re.M))
    read: list[str] = []
    original = yaml_reader.read_yaml
    monkeypatch.setattr(
        "toolcast.spec.loading.read_yaml",
        lambda file, data: read.append(file) or original(file, data),
    )
    generate(str(copy), memory=recall())
    specs = [
        path for path in read if not path.endswith(("toolset.yaml", "toolcast.yaml"))
    ]
    assert specs == ["specs/molecule/recall_memory.yaml"]


def test_runs_of_the_command_build_on_each_other(make_project: Any) -> None:
    spec = "summary: Greet {}.\nparameters: {{type: object}}\n"
    project = make_project(
        {name: spec.format(name) for name in ("ann", "ben", "cat")},
        toolset="targets: {registry: {}, prompts: {}}\n",
    )
    time.sleep(0.05)
    assert project.toolcast("generate").returncode == 0
    project.edit("specs/toy/ben.yaml", "Greet ben", "Greet Benjamin")
    time.sleep(0.05)
    second = project.toolcast("generate")
    assert second.returncode == 0, second.stderr
    assert " unchanged, 0 removed)" in second.stdout
    assert project.toolcast("check").returncode == 0
    (project.root / "specs/toy/cat.yaml").unlink()
    assert " removed)" in project.toolcast("generate").stdout
    assert project.toolcast("check").returncode == 0


def test_an_edited_output_is_seen_by_a_run_that_builds_on_another(
    make_project: Any,
) -> None:
    spec = "summary: Greet.\nparameters: {type: object}\n"
    project = make_project(
        {"ann": spec, "ben": spec}, toolset="targets: {registry: {}, prompts: {}}\n"
    )
    time.sleep(0.05)
    assert project.toolcast("generate").returncode == 0
    project.edit("specs/toy/ben.yaml", "Greet", "Greet Ben")
    project.edit("generated/toy/tools/ann.py", "handler=None", "handler=True")
    refused = project.toolcast("generate")
    assert refused.returncode == 1
    assert "output/hand-edited" in refused.stderr
    assert project.toolcast("generate", "--force").returncode == 0
    assert project.toolcast("check").returncode == 0


def test_code_that_only_an_earlier_run_read_is_still_watched(
    make_project: Any,
) -> None:
    spec = "summary: Do {0}.\nparameters: {{type: object}}\nhandler: handlers.{0}:run\n"
    project = make_project(
        {name: spec.format(name) for name in ("ann", "ben")},
        toolset="targets: {registry: {}, prompts: {}}\n",
    )
    for name in ("ann", "ben"):
        project.write(f"handlers/{name}.py", "def run(): return 1\n")
    time.sleep(0.05)
    assert project.toolcast("generate").returncode == 0
    project.edit("specs/toy/ben.yaml", "Do ben", "Do what Ben does")
    time.sleep(0.05)
    assert project.toolcast("generate").returncode == 0
    project.write("handlers/ann.py", "def walk(): return 1\n")
    missed = project.toolcast("generate")
    assert missed.returncode == 1, missed.stdout
    assert "handler/not-found" in missed.stderr
    # And it stays seen by a run that builds on the one before it.
    project.edit("specs/toy/ben.yaml", "what Ben does", "it")
    assert project.toolcast("generate").returncode == 1


def test_a_pack_that_is_none_is_not_used(make_project: Any) -> None:
    spec = "summary: Greet.\nparameters: {type: object}\n"
    project = make_project({"ann": spec}, toolset="targets: {registry: {}}\n")
    time.sleep(0.05)
    assert project.toolcast("generate").returncode == 0
    root = str(project.root)
    assert open_pack(root).digests
    pack = project.root / ".toolcast" / "cache" / "pack"
    data = pack.read_bytes()
    for broken in (b"", data[:100], data[:40] + b"[" * 5000, b"\xff" * 500):
        pack.write_bytes(broken)
        assert not open_pack(root).digests
    project.edit("specs/toy/ann.yaml", "Greet", "Greet Ann")
    assert project.toolcast("generate").returncode == 0
    assert project.toolcast("check").returncode == 0
