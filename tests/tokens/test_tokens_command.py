"""Output of `toolcast tokens`: tables in 80 columns, JSON, budgets and errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.program import toolcast

MakeProject = Callable[..., Any]
TOOLS = {
    "ping": "summary: Answer.\nparameters: {type: object}\nsection: talk\n",
    "note": (
        "summary: Store a note.\nparameters: {type: object}\nwhen_to_use: Always.\n"
        "cli: {keyword: note}\n"
    ),
}
TOOLSET = """\
instructions: Be brief.
sections: {talk: {heading: Talking}}
targets: {mcp: {client: agent}, registry: {}, prompts: {}, cli: {client: agent}}
clients:
  agent: {allow: "*", kind: claude-code}
  other: {allow: [ping]}
"""
LEGEND = """
upfront: definitions and instructions in each request. names: the names of
tools loaded on demand, in each request. prompt: the prompt docs.
Tokens are estimated, for nine of ten tools to within 9 % (see --encoding).
"""


@pytest.fixture
def project(make_project: MakeProject) -> Any:
    return make_project(TOOLS, toolset=TOOLSET)


@pytest.mark.parametrize(
    ("options", "table"),
    [
        (
            "",
            """\
toy                                     upfront      names  on demand     prompt
  agent (claude-code)                         3         10         34         46
  other                                      19          0          0         21
""" + LEGEND,
        ),
        (
            "--by tool --client agent",
            """\
toy, agent (claude-code)                upfront      names  on demand     prompt
  note                                        0          5         18         10
  ping                                        0          5         16          6
  (server instructions)                       3          0          0          0
  (headings and preamble)                     0          0          0         30
  all                                         3         10         34         46
""" + LEGEND,
        ),
        (
            "--by section --kind openai-tool-search",
            """\
toy, every tool (openai-tool-search)
                                        upfront      names  on demand     prompt
  talk                                        0          0         16          6
  tools                                       0          0         18         10
  (namespaces)                                0          6          0          0
  (headings and preamble)                     0          0          0         30
  all                                         0          6         34         46
""" + LEGEND,
        ),
        (
            "--by block --toolset toy",
            """\
toy, every tool                          tokens     budget
  preamble                                   24          -
  section_talk                                8          -
  section_tools                              14          -
  cli                                        26          -

Tokens are estimated, for nine of ten tools to within 9 % (see --encoding).
""",
        ),
    ],
)
def test_tokens_tables_have_the_exact_rows_and_at_most_80_columns(
    options: str, table: str, project: Any
) -> None:
    done = toolcast(project.root, "tokens", *options.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == table
    assert max(map(len, done.stdout.splitlines())) <= 80


def build_costs(*counts: int) -> dict[str, int]:
    """Return the token counts of a row in the JSON output."""
    columns = ("upfront", "names", "on_demand", "prompt")
    return dict(zip(columns, counts, strict=True))


def test_budgets_are_printed_next_to_costs(make_project: MakeProject) -> None:
    budget = "token_budget: {upfront: {agent: 1500}, blocks: {preamble: 99}}\n"
    project = make_project(TOOLS, toolset=TOOLSET + budget)
    by_client = toolcast(project.root, "tokens").stdout.splitlines()
    assert by_client[:3] == [
        "toy                          upfront      names  on demand     prompt     budget",
        "  agent (claude-code)              3         10         34         46      1,500",
        "  other                           19          0          0         21          -",
    ]
    done = toolcast(project.root, "tokens", "--format", "json").stdout
    assert json.loads(done)["tables"][0]["rows"][0] == {
        "client": "agent",
        "kind": "claude-code",
        **build_costs(3, 10, 34, 46),
        "budget": 1500,
    }
    by_block = toolcast(project.root, "tokens", "--by", "block").stdout.splitlines()
    assert by_block[1] == "  preamble                                   24         99"


def test_long_name_is_on_a_line_above_its_numbers(make_project: MakeProject) -> None:
    name = "list_code_scanning_alerts_of_an_organization"
    project = make_project({name: TOOLS["ping"]}, toolset=TOOLSET.replace("ping", name))
    lines = toolcast(project.root, "tokens", "--by", "tool").stdout.splitlines()
    line_number = lines.index(f"  {name}")
    assert lines[line_number + 1].split() == ["29", "0", "0", "19"]
    assert len(lines[line_number + 1]) == 80


def test_json_output_has_rows_totals_and_servers(make_project: MakeProject) -> None:
    server = "mcp_servers: {far: {command: far}}\n"
    project = make_project(TOOLS, toolset=TOOLSET + server)
    options = ("--client", "other", "--by", "tool", "--format", "json")
    done = toolcast(project.root, "tokens", *options)
    table = {
        "toolset": "toy",
        "client": "other",
        "kind": None,
        "rows": [
            {"name": "ping", **build_costs(16, 0, 0, 6)},
            {"name": "(server instructions)", **build_costs(3, 0, 0, 0)},
            {"name": "(headings and preamble)", **build_costs(0, 0, 0, 15)},
        ],
        "total": build_costs(19, 0, 0, 21),
    }
    value = {"counted_by": "estimate", "by": "tool", "tables": [table]}
    assert json.loads(done.stdout) == {**value, "servers_skipped": ["far"]}


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("--kind vscod", "there is no kind `vscod`\n  help: did you mean `vscode`?\n"),
        ("--client agnt", "there is no client `agnt`\n  help: did you mean `agent`?\n"),
        ("--toolset x", "there is no toolset `x`\n  help: use `toy`\n"),
        (
            "--encoding gpt2",
            "there is no encoding `gpt2`\n"
            "  help: use one of `o200k_base` and `cl100k_base`\n",
        ),
    ],
)
def test_tokens_option_with_an_unknown_name_exits_2_with_a_suggestion(
    options: str, error: str, project: Any
) -> None:
    done = toolcast(project.root, "tokens", *options.split())
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"error: {error}")


def test_missing_vocabulary_folder_setting_is_an_error(
    project: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tiktoken")
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    done = toolcast(project.root, "tokens", "--encoding", "o200k_base")
    assert done.returncode == 2
    assert done.stderr.startswith(
        "error: cannot count tokens of o200k_base: TIKTOKEN_CACHE_DIR is not set"
    )


def test_empty_toolset_reports_no_tools(make_project: MakeProject) -> None:
    project = make_project({}, toolset="targets: {mcp: {}}\n")
    done = toolcast(project.root, "tokens", "--by", "tool")
    assert done.stdout.startswith("toy, every tool ")
    assert "  no tools\n" in done.stdout
    assert "nothing to count" in done.stdout
