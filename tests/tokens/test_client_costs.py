"""What clients of each kind load when, and the limits that they have."""

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


def loaded(project: Any) -> Toolset:
    workspace = load_workspace(str(project.root)).workspace
    assert workspace is not None
    return workspace.toolsets[0]


def words(text: str) -> int:
    """Counts one for each word, and one for a whole definition."""
    return 1 if text.startswith("{") else len(text.split())


@pytest.mark.parametrize(
    ("kind", "cost"),
    [
        # Definitions and the two words of the instructions.
        (None, Cost(upfront=5)),
        ("vscode", Cost(upfront=5)),
        # Of both deferred tools the name.
        ("claude-code", Cost(upfront=3, names=2, on_demand=2)),
        # It defers from 30 tools on.
        ("copilot-cli", Cost(upfront=5)),
        # An API knows no instructions of servers.
        ("openai", Cost(upfront=3)),
        # `NAME: Answer.`
        ("registry", Cost(upfront=1, names=4, on_demand=2)),
        # `talk: Talking` and `tools: Toy`.
        ("openai-tool-search", Cost(upfront=1, names=4, on_demand=2)),
        ("anthropic-tool-search", Cost(upfront=1, on_demand=2)),
    ],
)
def test_each_kind_loads_in_its_own_way(
    kind: str | None, cost: Cost, make_project: MakeProject
) -> None:
    tools = {
        "always": f"{PING}always: true\n",
        "marked": f"{PING}{MARKED}section: talk\n",
        "plain": PING,
    }
    line = f"client_kind: {kind}\n" if kind else ""
    toolset = loaded(make_project(tools, toolset=TOOLSET + line))
    assert compute_client_costs(toolset, None, count=words).total == cost


def test_a_client_pays_for_its_own_tools_alone(make_project: MakeProject) -> None:
    toolset = loaded(
        make_project(
            {"ping": PING, "pong": PING},
            toolset="""\
            targets: {mcp: {client: agent}}
            client_kind: vscode
            clients:
              agent: {allow: "*"}
              other: {allow: [pong], kind: anthropic-tool-search}
            """,
        )
    )
    costs = [
        compute_client_costs(toolset, client, count=words) for client in toolset.clients
    ]
    assert [one.total for one in costs] == [Cost(upfront=2), Cost(on_demand=1)]
    assert [[t.tool.name for t in one.tools] for one in costs] == [
        ["ping", "pong"],
        ["pong"],
    ]


@pytest.mark.parametrize("name", TOOLSETS)
def test_blocks_are_counted_as_they_are_generated(name: str) -> None:
    workspace = load_workspace(str(own_project())).workspace
    assert workspace is not None
    [toolset] = [one for one in workspace.toolsets if one.name == name]
    folder = ROOT / "generated" / name / "prompts"
    written = {
        file.stem: file.read_text("utf-8").partition("\n")[2]
        for file in folder.glob("*.md")
    }
    assert build_prompt_docs(workspace, toolset).texts(None).blocks == written


def test_the_spec_language_knows_the_kinds() -> None:
    properties = get_schema("toolset")["properties"]
    of_client = properties["clients"]["additionalProperties"]["properties"]["kind"]
    assert of_client["enum"] == properties["client_kind"]["enum"] == list(CLIENT_KINDS)


def test_the_page_tells_of_each_kind() -> None:
    page = (ROOT / "docs" / "tokens.md").read_text(encoding="utf-8")
    table = page.partition("| `kind` |")[2].partition("\n\n")[0]
    first = [
        line.split("|")[1] for line in table.splitlines() if line.startswith("| `")
    ]
    assert {name for cell in first for name in re.findall("`([a-z-]+)`", cell)} == set(
        CLIENT_KINDS
    )


def test_limits_on_texts_are_those_of_one_kind(make_project: MakeProject) -> None:
    found = {}
    for kind in (None, *CLIENT_KINDS):
        line = f"client_kind: {kind}\n" if kind else ""
        toolset = loaded(make_project({"ping": PING}, toolset=line, at=f"{kind}"))
        limits = list_tool_limits(toolset, toolset.tools[0], LimitKind.DESCRIPTION)
        found[kind] = [limit.maximum for limit in limits]
    assert {name: most for name, most in found.items() if most} == {
        None: [2_048],
        "claude-code": [2_048],
        "openai": [1_024],
        "openai-tool-search": [1_024],
    }


def test_too_many_tools_for_a_client(make_project: MakeProject) -> None:
    tools = {f"ping_{number}": PING for number in range(41)}
    toolset = """\
    targets: {mcp: {client: editor}}
    clients:
      editor: {allow: "*", kind: cursor}
      other: {allow: "*", kind: vscode}
      few: {allow: [ping_1], kind: cursor}
    """
    assert findings(make_project(tools, toolset=toolset), "access/tool-count") == [
        "specs/toy/toolset.yaml:6: `editor` has 41 tools; Cursor accepts 40 in a request"
        " (its forum; later versions take more)"
    ]


def test_a_section_too_large_for_a_namespace(make_project: MakeProject) -> None:
    tools = {f"ping_{number}": f"{PING}section: talk\n" for number in range(10)}
    tools["pong"] = f"{PING}section: talk\nalways: true\n"
    toolset = f"{TOOLSET}client_kind: openai-tool-search\n"
    rule = "access/tool-count"
    assert findings(make_project(tools, toolset=toolset), rule) == [
        "specs/toy/toolset.yaml:6: the section `talk` is a namespace of 10 tools for the"
        " caller; OpenAI recommends at most 9"
    ]
    other = make_project(tools, toolset=TOOLSET, at="other")
    assert findings(other, rule) == []


def findings(project: Any, rule: str) -> list[str]:
    workspace = load_workspace(str(project.root)).workspace
    assert workspace is not None
    return [
        f"{found.location.file}:{found.location.line}: {found.message}"
        for found in check_workspace(workspace)
        if found.rule == rule
    ]


def test_how_many_real_descriptions_each_limit_finds() -> None:
    """Of the lists in `tests/corpus/mcp`; docs/tokens.md tells it of all that were looked at."""
    lengths = [
        len(tool.get("description") or "")
        for file in CORPUS.glob("*.json")
        for tool in json.loads(file.read_text("utf-8"))["tools"]
    ]
    most = {
        limit.maximum
        for kind in CLIENT_KINDS.values()
        for limit in kind.limits
        if limit.kind is LimitKind.DESCRIPTION
    }
    found = {limit: sum(length > limit for length in lengths) for limit in most}
    assert found == {1_024: 37, 2_048: 12}
