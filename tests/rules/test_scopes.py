"""What a rule says it depends on is all that it depends on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from toolcast.rules.rule import Rule
from toolcast.rules.table import BUILT_IN
from toolcast.spec.loading import load_workspace
from toolcast.spec.model import Workspace

ROOT = Path(__file__).parents[2]
CASES = sorted(file.parent for file in Path(__file__).parent.glob("*/*/toolcast.yaml"))
EACH_TOOL = [rule for rule in BUILT_IN if rule.each_tool]


@pytest.fixture(scope="module")
def workspaces() -> list[Workspace]:
    loaded = [load_workspace(str(folder)).workspace for folder in [ROOT, *CASES]]
    return [workspace for workspace in loaded if workspace is not None]


@pytest.mark.parametrize("rule", EACH_TOOL, ids=lambda rule: rule.id)
def test_a_rule_finds_the_same_in_one_tool_alone(
    rule: Rule, workspaces: list[Workspace]
) -> None:
    assert rule.check is not None
    for workspace in workspaces:
        for toolset in workspace.toolsets:
            header = f"{toolset.folder}/toolset.yaml"
            together = list(rule.check(toolset, workspace))
            alone = [
                finding
                for tool in toolset.tools
                for finding in rule.check(replace(toolset, tools=(tool,)), workspace)
                if finding.place.file != header
            ]
            at_tools = [f for f in together if f.place.file != header]
            assert sorted(alone, key=repr) == sorted(at_tools, key=repr)
