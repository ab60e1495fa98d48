"""Token costs for each kind of client, and limits on tools and descriptions."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.repository import TOOLSETS, own_project
from toolcast.analysis.client_kinds import CLIENT_KINDS, LimitKind, list_tool_limits
from toolcast.analysis.token_costs import Cost, compute_client_costs
from toolcast.model.loading import load_workspace
from toolcast.model.model import Toolset
from toolcast.rules.runner import check_workspace
from toolcast.spec_language.spec_language import get_schema
from toolcast.targets.prompt_blocks import build_prompt_docs

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus" / "mcp"
PING = "summary: Answer.\nparameters: {type: object}\n"
MARKED = 'meta: {"anthropic/alwaysLoad": true}\n'
TOOLSET = """\
instructions: one two
targets: {mcp: {}, registry: {}}
sections: {talk: {heading: Talking}}
"""
MakeProject = Callable[..., Any]


def load_toolset(project: Any) -> Toolset:
    workspace = load_workspace(str(project.root)).workspace
    assert workspace is not None
    return workspace.toolsets[0]


def count_words(text: str) -> int:
    """Count words; a JSON definition counts as one."""
    return 1 if text.startswith("{") else len(text.split())


@pytest.mark.parametrize(
    ("kind", "cost"),
    [
        # The three definitions and the two words in the instructions.
        (None, Cost(upfront=5)),
        ("vscode", Cost(upfront=5)),
        # Only the names of the two deferred tools are in each request.
        ("claude-code", Cost(upfront=3, names=2, on_demand=2)),
        # It defers from 30 tools on.
        ("copilot-cli", Cost(upfront=5)),
        # An API does not read a server's instructions.
        ("openai", Cost(upfront=3)),
        # `NAME: Answer.`
        ("registry", Cost(upfront=1, names=4, on_demand=2)),
        # `talk: Talking` and `tools: Toy`.
        ("openai-tool-search", Cost(upfront=1, names=4, on_demand=2)),
        ("anthropic-tool-search", Cost(upfront=1, on_demand=2)),
    ],
)
def test_client_kind_splits_token_costs_into_upfront_names_and_on_demand(
    kind: str | None, cost: Cost, make_project: MakeProject
) -> None:
    tools = {"always": f"{PING}always: true\n", "plain": PING}
    tools["marked"] = f"{PING}{MARKED}section: talk\n"
    line = f"client_kind: {kind}\n" if kind else ""
    toolset = load_toolset(make_project(tools, toolset=TOOLSET + line))
    assert compute_client_costs(toolset, None, count=count_words).total == cost


def test_client_costs_include_only_its_own_tools(make_project: MakeProject) -> None:
    text = """\
    targets: {mcp: {client: agent}}
    client_kind: vscode
    clients:
      agent: {allow: "*"}
      other: {allow: [pong], kind: anthropic-tool-search}
    """
    toolset = load_toolset(make_project({"ping": PING, "pong": PING}, toolset=text))
    costs = [
        compute_client_costs(toolset, client, count=count_words)
        for client in toolset.clients
    ]
    assert [cost.total for cost in costs] == [Cost(upfront=2), Cost(on_demand=1)]
    names = [[tool.tool.name for tool in cost.tools] for cost in costs]
    assert names == [["ping", "pong"], ["pong"]]


@pytest.mark.parametrize("name", TOOLSETS)
def test_counted_prompt_blocks_equal_the_generated_files(name: str) -> None:
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    [toolset] = [item for item in workspace.toolsets if item.name == name]
    folder = ROOT / "generated" / name / "prompts"
    texts = {file.stem: file.read_text("utf-8") for file in folder.glob("*.md")}
    written = {name: text.partition("\n")[2] for name, text in texts.items()}
    assert build_prompt_docs(workspace, toolset).texts(None).blocks == written


def test_spec_language_accepts_exactly_the_client_kinds() -> None:
    properties = get_schema("toolset")["properties"]
    client_kind = properties["clients"]["additionalProperties"]["properties"]["kind"]
    enums = client_kind["enum"], properties["client_kind"]["enum"]
    assert enums == ([*CLIENT_KINDS], [*CLIENT_KINDS])


def test_docs_table_lists_every_client_kind() -> None:
    page = (ROOT / "docs" / "tokens.md").read_text(encoding="utf-8")
    table = page.partition("| `kind` |")[2].partition("\n\n")[0]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    cells = " ".join(row.split("|")[1] for row in rows)
    assert {*re.findall("`([a-z-]+)`", cells)} == {*CLIENT_KINDS}


def test_description_limits_depend_on_client_kind(make_project: MakeProject) -> None:
    maximums = {}
    for kind in (None, *CLIENT_KINDS):
        line = f"client_kind: {kind}\n" if kind else ""
        toolset = load_toolset(make_project({"ping": PING}, toolset=line, at=f"{kind}"))
        limits = list_tool_limits(toolset, toolset.tools[0], LimitKind.DESCRIPTION)
        maximums[kind] = [limit.maximum for limit in limits]
    assert {name: values for name, values in maximums.items() if values} == {
        None: [2_048],
        "claude-code": [2_048],
        "openai": [1_024],
        "openai-tool-search": [1_024],
    }


def test_tool_count_above_client_limit_is_reported(make_project: MakeProject) -> None:
    tools = {f"ping_{number}": PING for number in range(41)}
    toolset = """\
    targets: {mcp: {client: editor}}
    clients:
      editor: {allow: "*", kind: cursor}
      other: {allow: "*", kind: vscode}
      few: {allow: [ping_1], kind: cursor}
      forty: {allow: "*", deny: [ping_0], kind: cursor}
      plain: {allow: "*"}
    client_kind: cursor
    """
    assert list_findings(make_project(tools, toolset=toolset), "access/tool-count") == [
        "specs/toy/toolset.yaml:6: `editor` has 41 tools; Cursor accepts 40 in a request"
        " (its forum; later versions take more)",
        "specs/toy/toolset.yaml:11: `plain` has 41 tools; Cursor accepts 40 in a request"
        " (its forum; later versions take more)",
    ]


def test_section_above_namespace_limit_is_reported(make_project: MakeProject) -> None:
    tools = {f"ping_{number}": f"{PING}section: talk\n" for number in range(10)}
    tools |= {f"bare_{number}": PING for number in range(10)}
    tools["pong"] = f"{PING}section: talk\nalways: true\n"
    toolset = f"{TOOLSET}client_kind: openai-tool-search\n"
    rule = "access/tool-count"
    findings = [
        f"specs/toy/toolset.yaml:{line}: the section `{name}` is a namespace of 10 tools"
        " for {}; OpenAI recommends at most 9"
        for line, name in ((6, "talk"), (1, "tools"))
    ]
    project = make_project(tools, toolset=toolset)
    assert list_findings(project, rule) == [f.format("the caller") for f in findings]
    toolset += 'clients: {a: {allow: "*", deny: [ping_0, bare_0]}, b: {allow: "*"}}\n'
    project = make_project(tools, toolset=toolset, at="clients")
    assert list_findings(project, rule) == [f.format("`b`") for f in findings]
    other = make_project(tools, toolset=TOOLSET, at="other")
    assert list_findings(other, rule) == []


def list_findings(project: Any, rule: str) -> list[str]:
    workspace = load_workspace(str(project.root)).workspace
    assert workspace is not None
    return [
        f"{finding.location.file}:{finding.location.line}: {finding.message}"
        for finding in check_workspace(workspace)
        if finding.rule == rule
    ]


def test_real_description_count_above_each_limit() -> None:
    """Count the lists in `tests/corpus/mcp`, a part of those in docs/tokens.md."""
    lengths = [
        len(tool.get("description") or "")
        for file in CORPUS.glob("*.json")
        for tool in json.loads(file.read_text("utf-8"))["tools"]
    ]
    all_limits = [limit for kind in CLIENT_KINDS.values() for limit in kind.limits]
    found = [limit for limit in all_limits if limit.kind is LimitKind.DESCRIPTION]
    limits = {limit.maximum for limit in found}
    counts = {limit: sum(length > limit for length in lengths) for limit in limits}
    assert counts == {1_024: 37, 2_048: 12}
