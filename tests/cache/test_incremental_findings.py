"""What rules find in a run that builds on an earlier one is what they find without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from toolcast.cache.memory import Memory
from toolcast.findings import Finding
from toolcast.rules.running import check_workspace
from toolcast.spec.loading import load_workspace


def findings_of(root: Path, memory: Memory | None = None) -> list[Finding]:
    loaded = load_workspace(str(root), memory)
    assert loaded.workspace is not None, loaded.findings
    rules = memory.rules if memory else None
    return loaded.findings + check_workspace(loaded.workspace, rules)


def remembered(root: Path) -> Memory:
    """What a run keeps for the next one."""
    memory = Memory(str(root), {}, {}, same_code=False)
    findings_of(root, memory)
    return Memory(str(root), memory.packed(), {}, same_code=True)


def shown(findings: list[Finding]) -> list[Any]:
    # A report sorts them.
    return sorted(([f, f.source_line] for f in findings), key=repr)


def test_the_order_of_tools_decides_which_of_two_is_told_of(make_project: Any) -> None:
    spec = "summary: Greet.\nparameters: {{type: object}}\norder: {}\n"
    project = make_project(
        {"greet-ann": spec.format(1), "greet_ann": spec.format(3)},
        toolset="targets: {prompts: {}}\n",
    )
    memory = remembered(project.root)
    project.edit("specs/toy/greet-ann.yaml", "order: 1", "order: 4")
    cold = findings_of(project.root)
    told = [f.place.file for f in cold if f.rule == "name/collision"]
    assert told == ["specs/toy/greet-ann.yaml"]
    assert shown(findings_of(project.root, memory)) == shown(cold)
