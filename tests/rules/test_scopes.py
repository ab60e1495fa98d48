"""What a rule says it depends on is all that it depends on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.rules.layout import lay_out
from tests.rules.watched import WatchedTool
from toolcast.findings import Finding, has_errors
from toolcast.model.loading import load_workspace
from toolcast.model.model import Toolset, Workspace
from toolcast.rules.rule import Rule
from toolcast.rules.table import built_in

ROOT = Path(__file__).parents[2]
CASES = sorted(file.parent for file in Path(__file__).parent.glob("*/*/toolcast.yaml"))
CHECKS = [rule for rule in built_in() if rule.check is not None]
EACH_TOOL = [rule for rule in CHECKS if rule.each_tool]

each_check = pytest.mark.parametrize("rule", CHECKS, ids=lambda rule: rule.id)
each_tool_rule = pytest.mark.parametrize("rule", EACH_TOOL, ids=lambda rule: rule.id)


@pytest.fixture(scope="module")
def workspaces(tmp_path_factory: pytest.TempPathFactory) -> list[Workspace]:
    """The project's own specs, those of the cases, and every rule's examples."""
    folders = [ROOT, *CASES]
    for rule in built_in():
        for example in filter(None, (rule.bad, rule.good)):
            folders.append(tmp_path_factory.mktemp("example"))
            lay_out(example, folders[-1])
    loaded = [load_workspace(str(folder)) for folder in folders]
    return [
        one.workspace
        for one in loaded
        if one.workspace is not None and not has_errors(one.findings)
    ]


@each_check
def test_a_rule_looks_at_the_fields_that_it_names_and_at_no_others(
    rule: Rule, workspaces: list[Workspace]
) -> None:
    across, own = rule.scope.across, rule.scope.looks_at
    assert across is not None, "it would run again for every change"
    assert own is not None or not rule.each_tool
    seen_across, seen_own = looked_at(rule, workspaces)
    # Nobody's name changes: the tool of another name is another tool.
    assert seen_across - {"name"} == across - {"name"}
    assert seen_own - {"name"} == (own or set())


def looked_at(rule: Rule, workspaces: list[Workspace]) -> tuple[set[str], set[str]]:
    """The fields of all tools that a rule looks at, and of those that it is given alone."""
    seen: set[str] = set()
    own: set[str] = set()
    for workspace in workspaces:
        watched = replace(
            workspace,
            toolsets=tuple(
                replace(toolset, tools=watched_tools(toolset, seen))
                for toolset in workspace.toolsets
            ),
        )
        for toolset in watched.toolsets:
            if not rule.each_tool:
                list(found(rule, toolset, watched))
                continue
            # Other objects than those of the workspace, as in a run for some of the tools.
            for tool in watched_tools(toolset, own):
                list(found(rule, replace(toolset, tools=(tool,)), watched))
    return seen, own


def watched_tools(toolset: Toolset, seen: set[str]) -> tuple[WatchedTool, ...]:
    tools = (t.origin if isinstance(t, WatchedTool) else t for t in toolset.tools)
    return tuple(WatchedTool(tool, seen.add) for tool in tools)


def found(rule: Rule, toolset: Toolset, workspace: Workspace) -> Iterator[Finding]:
    assert rule.check is not None
    return rule.check(toolset, workspace)


@each_check
def test_a_rule_finds_nothing_outside_of_the_toolset_that_it_is_given(
    rule: Rule, workspaces: list[Workspace]
) -> None:
    for workspace in workspaces:
        for toolset in workspace.toolsets:
            files = {f"{toolset.folder}/{tool.name}.yaml" for tool in toolset.tools}
            files |= {f"{toolset.folder}/toolset.yaml", "toolcast.yaml"}
            findings = found(rule, toolset, workspace)
            assert {finding.place.file for finding in findings} <= files


@pytest.mark.parametrize(
    "rule",
    [rule for rule in CHECKS if rule.scope.across == frozenset()],
    ids=lambda rule: rule.id,
)
def test_a_rule_that_names_no_field_of_other_tools_looks_at_no_other_toolset(
    rule: Rule, workspaces: list[Workspace]
) -> None:
    several = [workspace for workspace in workspaces if len(workspace.toolsets) > 1]
    assert several
    for workspace in several:
        for toolset in workspace.toolsets:
            alone = replace(workspace, toolsets=(toolset,))
            beside_others = list(found(rule, toolset, workspace))
            assert list(found(rule, toolset, alone)) == beside_others


@each_tool_rule
def test_what_a_rule_finds_in_a_toolsets_own_file_is_not_about_the_tools_it_is_given(
    rule: Rule, workspaces: list[Workspace]
) -> None:
    for workspace in workspaces:
        for toolset in workspace.toolsets:
            header = f"{toolset.folder}/toolset.yaml"
            with_all, with_none = (
                {f for f in found(rule, one, workspace) if f.place.file == header}
                for one in (toolset, replace(toolset, tools=()))
            )
            assert with_all == with_none


@each_tool_rule
def test_a_rule_finds_the_same_in_one_tool_alone(
    rule: Rule, workspaces: list[Workspace]
) -> None:
    for workspace in workspaces:
        for toolset in workspace.toolsets:
            header = f"{toolset.folder}/toolset.yaml"
            together = list(found(rule, toolset, workspace))
            alone = [
                finding
                for tool in toolset.tools
                for finding in found(rule, replace(toolset, tools=(tool,)), workspace)
                if finding.place.file != header
            ]
            at_tools = [f for f in together if f.place.file != header]
            assert sorted(alone, key=repr) == sorted(at_tools, key=repr)
