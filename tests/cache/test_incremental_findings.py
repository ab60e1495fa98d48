"""What rules find in a run that builds on an earlier one is what they find without it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from toolcast.cache.memory import Memory
from toolcast.findings import Finding, has_errors
from toolcast.rules.running import check_workspace
from toolcast.spec.loading import load_workspace

CASES = [
    file.parent
    for file in sorted((Path(__file__).parents[1] / "rules").glob("*/*/toolcast.yaml"))
    # The first are not read at all, and the other one takes a second to be too slow.
    if file.parts[-3] != "yaml" and file.parts[-2] != "explosive-refs"
]


def findings_of(root: Path, memory: Memory | None = None) -> list[Finding] | None:
    """Everything that is found; None when the specs cannot be read."""
    loaded = load_workspace(str(root), memory)
    if loaded.workspace is None or has_errors(loaded.findings):
        return None
    rules = memory.rules if memory else None
    return loaded.findings + check_workspace(loaded.workspace, rules)


def remembered(root: Path) -> tuple[list[Finding] | None, Callable[[], Memory]]:
    """What a run without an earlier one finds, and what makes memories for those after it."""
    memory = Memory(str(root), {}, {}, same_code=False)
    findings = findings_of(root, memory)
    packed = memory.packed()
    return findings, lambda: Memory(str(root), packed, {}, same_code=True)


def shown(findings: list[Finding] | None) -> list[Any]:
    assert findings is not None
    # A report sorts them.
    return sorted(([f, f.source_line] for f in findings), key=repr)


def edits(text: str) -> Iterator[str]:
    """A spec with its lines moved, its first line and its order changed, and changed or
    without a value in each field."""
    yield f"# A comment that moves what stands below it.\n{text}"
    yield text.replace("\n", "  # Another end of a line.\n", 1)
    spec = yaml.safe_load(text)
    yield dumped(dict(reversed(spec.items())))
    for field, value in spec.items():
        if field not in ("name", "summary", "parameters"):
            yield dumped({key: spec[key] for key in spec if key != field})
        if isinstance(value, str) and field != "name":
            yield dumped({**spec, field: f"{value} more"})
        elif isinstance(value, dict):
            yield dumped({**spec, field: dict(reversed(value.items()))})
            for gone in value:
                fewer = {key: value[key] for key in value if key != gone}
                yield dumped({**spec, field: fewer})
        elif isinstance(value, list) and value:
            yield dumped({**spec, field: value[1:]})


def dumped(spec: dict[str, Any]) -> str:
    return yaml.safe_dump(spec, sort_keys=False)


@pytest.mark.parametrize("case", CASES, ids=lambda case: "/".join(case.parts[-2:]))
def test_an_edit_and_its_undoing_find_what_they_would_find_anew(
    case: Path, tmp_path: Path
) -> None:
    root = tmp_path / "case"
    shutil.copytree(case, root)
    for file in sorted(root.glob("**/*.yaml")):
        if file.name in ("toolcast.yaml", "toolset.yaml"):
            continue
        before = file.read_text("utf-8")
        found_before, recall_before = remembered(root)
        for after in edits(before) if found_before is not None else ():
            file.write_text(after, "utf-8")
            found_after, recall_after = remembered(root)
            if found_after is None:
                continue
            assert shown(findings_of(root, recall_before())) == shown(found_after)
            file.write_text(before, "utf-8")
            assert shown(findings_of(root, recall_after())) == shown(found_before)
        file.write_text(before, "utf-8")


def test_the_order_of_tools_decides_which_of_two_is_told_of(make_project: Any) -> None:
    spec = "summary: Greet.\nparameters: {{type: object}}\norder: {}\n"
    project = make_project(
        {"greet-ann": spec.format(1), "greet_ann": spec.format(3)},
        toolset="targets: {prompts: {}}\n",
    )
    _, recall = remembered(project.root)
    project.edit("specs/toy/greet-ann.yaml", "order: 1", "order: 4")
    cold = findings_of(project.root)
    told = [f.place.file for f in cold or () if f.rule == "name/collision"]
    assert told == ["specs/toy/greet-ann.yaml"]
    assert shown(findings_of(project.root, recall())) == shown(cold)
