"""Runs that build on runs that built on others: each gives what a run without any gives."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolcast.cache.memory import Memory
from toolcast.output.kept import Kept, digests_of
from toolcast.pipeline import Generated, generate

Spec = dict[str, Any]
TOOLSET = """\
name: {0}
title: {0}
clients:
  desk: {{allow: "*"}}
  phone: {{allow: "*"}}
sections:
  first: {{heading: First}}
  second: {{heading: Second, intro: The others.}}
exclusions:
  - {{tool: tool_2, target: cli, reason: It is not for shells.}}
  - {{tool: tool_3, target: mcp, reason: It is not for models.}}
targets: {{mcp: {{client: desk}}, langchain: {{}}, cli: {{client: phone}}, prompts: {{}}, snapshots: {{}}}}
"""


def spec_of(number: int) -> Spec:
    return {
        "name": f"tool_{number}",
        "title": f"Tool {number}",
        "summary": f"Do number {number}, then Ärger.",
        "parameters": {"type": "object", "properties": {}},
        "section": "first" if number % 2 else "second",
        "order": number,
        "clients": ["desk", "phone"],
        "cli": {"keyword": f"do-{number}"},
    }


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Two toolsets with tools of the same names."""
    (tmp_path / "toolcast.yaml").write_text("version: 1\ntoolsets: [one, two]\n")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "toolset.yaml").write_text(TOOLSET.format(folder))
        for number in range(6):
            write(tmp_path / folder, spec_of(number))
    return tmp_path


def write(folder: Path, spec: Spec) -> None:
    text = yaml.safe_dump(spec, sort_keys=False, allow_unicode=True)
    (folder / f"{spec['name']}.yaml").write_text(text, "utf-8")


EDITS: dict[str, Callable[[Spec, random.Random], object]] = {
    "title": lambda spec, pick: spec.update(title=f"Title {pick.random()}"),
    "summary": lambda spec, pick: spec.update(summary=f"Do “{pick.random()}”."),
    "long": lambda spec, pick: spec.update(guidance=f"So. {pick.random()} " * 300),
    "short": lambda spec, pick: spec.pop("guidance", None),
    "order": lambda spec, pick: spec.update(order=pick.randrange(40)),
    "section": lambda spec, pick: spec.update(section=pick.choice(["first", "second"])),
    "nowhere": lambda spec, pick: spec.pop("section", None),
    "clients": lambda spec, pick: spec.update(
        clients=pick.choice([[], ["desk"], ["phone"], ["desk", "phone"]])
    ),
    "no command": lambda spec, pick: spec.update(
        cli={"keyword": None, "reason": "No."}
    ),
    "former name": lambda spec, pick: spec.update(
        renamed_from=[f"old_{pick.randrange(10**9)}"]
    ),
    "ledger": lambda spec, pick: spec.update(persistent=not spec.get("persistent")),
}


def edit(root: Path, pick: random.Random) -> str:
    """One random change of the specs; says which."""
    folder = root / pick.choice(["one", "two"])
    files = sorted(folder.glob("tool_*.yaml"))
    what = pick.choice([*EDITS, "new", "gone", "touched", "toolset"])
    if what == "new":
        taken = {path.stem for path in files}
        free = [n for n in range(20) if f"tool_{n}" not in taken]
        write(folder, spec_of(pick.choice(free)))
    elif what == "gone" and len(files) > 4:
        # The toolset's file names two of them.
        named = {"tool_2", "tool_3"}
        pick.choice([path for path in files if path.stem not in named]).unlink()
    elif what == "toolset":
        text = TOOLSET.format(folder.name).replace("Second,", f"No {pick.random()},")
        (folder / "toolset.yaml").write_text(text)
    elif what in EDITS:
        file = pick.choice(files)
        spec = yaml.safe_load(file.read_text("utf-8"))
        EDITS[what](spec, pick)
        write(folder, spec)
    else:
        pick.choice(files).touch()
    return what


def assert_same(found: Generated, cold: Generated, what: object) -> None:
    assert [(f, f.source_line) for f in found.findings] == [
        (f, f.source_line) for f in cold.findings
    ], what
    assert digests_of(found.files) == digests_of(cold.files), what


@pytest.mark.parametrize("seed", range(4))
def test_each_run_gives_what_one_without_earlier_ones_gives(
    root: Path, seed: int
) -> None:
    pick = random.Random(seed)
    memory = Memory(str(root), {}, {}, same_code=False)
    run = generate(str(root), memory=memory)
    assert run.files, run.findings
    told: list[str] = []
    kept = 0
    for _ in range(20):
        # What is handed on is what a file of the cache would hold.
        packed = {
            folder: {name: bytes(section) for name, section in sections.items()}
            for folder, sections in memory.packed().items()
        }
        digests = dict(digests_of(run.files))
        told.append(edit(root, pick))
        memory = Memory(str(root), packed, digests, same_code=True)
        run, cold = generate(str(root), memory=memory), generate(str(root))
        assert_same(run, cold, told)
        assert run.files, told
        kept += sum(isinstance(data, Kept) for data in run.files.values())
        assert all(
            digests[path] == data
            for path, data in run.files.items()
            if isinstance(data, Kept)
        )
    assert kept > 500
