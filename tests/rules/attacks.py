"""Findings of the rules about hostile texts and names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.project_files import write_files
from toolcast.pipeline import generate
from toolcast.rules.table import list_built_in_rules

ListRules = Callable[..., list[str]]
RuleAndFile = tuple[str, str]
PROMPT_RULES = (
    "markup",
    "other-tools",
    "hides-from-user",
    "asks-for-secrets",
    "secret-parameter",
    "mixed-script",
)
TESTED = {*(f"prompt/{name}" for name in PROMPT_RULES), "name/similar"}
RULES = [rule for rule in list_built_in_rules() if rule.id in TESTED]


def check_tools(
    root: Path, toolsets: dict[str, list[dict[str, Any]]]
) -> list[RuleAndFile]:
    """Write a workspace with these tools; return the tested rules with the files that they report."""
    folders = [f"specs/{name}" for name in toolsets]
    workspace = {"version": 1, "toolsets": folders, "targets": ["registry"]}
    files: dict[str, Any] = {"toolcast.yaml": workspace}
    for name, tools in toolsets.items():
        files[f"specs/{name}/toolset.yaml"] = {"name": name, "title": name}
        for tool in tools:
            spec = {"summary": "Adds.", "parameters": {"type": "object"}, **tool}
            files[f"specs/{name}/{tool['name']}.yaml"] = spec
    write_files(root, files)
    return [
        (finding.rule, finding.location.file.rpartition("/")[2])
        for finding in generate(str(root)).findings
        if finding.rule in TESTED
    ]


@pytest.fixture
def list_rules(tmp_path: Path) -> ListRules:
    """Return a function that lists the rules that report a tool with some fields."""
    return lambda **fields: [
        rule for rule, _ in check_tools(tmp_path, {"x": [{"name": "add", **fields}]})
    ]
