"""`toolcast select`: the tools that are selected for a message and for selection cases."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.program import toolcast
from tests.repository import MISSING, own_project

TOOL = "summary: {}\nparameters: {{type: object}}\nhandler: handlers.none:none\n"
TOOLS = {
    "note": TOOL.format("Stores a note."),
    "lamp": TOOL.format("Switches a lamp."),
    "bell": TOOL.format("Rings the bell.") + "always: true\n",
    "door": TOOL.format("Opens the door.") + "clients: [internal]\n",
}
CLIENTS = """\
clients: {internal: {allow: "*"}, external: {allow: [note, lamp, bell]}}
mcp_servers: {far: {command: far-server}}
targets: {registry: {}}
"""


Make = Callable[..., Any]


@pytest.fixture
def project(make_project: Make) -> Any:
    """Return a project with two clients and an external server."""
    return make_project(TOOLS, toolset=CLIENTS)


@pytest.fixture
def make_wiki(make_project: Make) -> Make:
    """Return a function that creates a project with three tools and extra spec fields."""

    def make(toolset: str = "", **cases: str) -> Any:
        tools = {
            "delete_page": TOOL.format("Deletes a page of the wiki for good."),
            "archive_page": TOOL.format("Archives a page of the wiki."),
            "find_user": TOOL.format("Finds a user."),
        }
        specs = {name: text + cases.get(name, "") for name, text in tools.items()}
        return make_project(specs, toolset=f"targets: {{registry: {{}}}}\n{toolset}")

    return make


def test_select_command_with_a_message_prints_ranked_tools_terms_and_saved_tokens(
    project: Any,
) -> None:
    result = project.toolcast("select", "Switch the lamp on", "--client", "internal")
    assert result.returncode == 0, result.stderr
    summary, ranked_tool, unranked, *other_lines = result.stdout.splitlines()
    assert summary == "1 of 3 routed tools"
    assert ranked_tool.split() == ["100%", "*", "lamp", "lamp", "68%,", "switch", "32%"]
    assert unranked.split(maxsplit=1) == ["-", "3 tools without a matching word"]
    assert other_lines[1].endswith("tokens saved (estimated as in `toolcast tokens`)")
    assert other_lines[2] == "not included: tools of the external servers far"


def test_select_command_marks_a_ranked_tool_that_is_always_listed_with_a_plus(
    project: Any,
) -> None:
    result = project.toolcast("select", "Ring the bell", "--client", "external")
    assert "100% + bell  " in result.stdout


def test_select_command_selects_all_tools_for_a_message_without_known_terms(
    project: Any,
) -> None:
    result = project.toolcast("select", "Guten Morgen", "--client", "external")
    assert " ".join(result.stdout.split()).startswith(
        "2 of 2 routed tools: all of them, as the tools' text contains 0 of the message's"
        " 2 words"
    )


def test_select_command_json_for_a_message_has_scores_terms_and_token_estimates(
    project: Any,
) -> None:
    arguments = ("select", "the lamp", "--client", "external", "--format", "json")
    value = json.loads(project.toolcast(*arguments).stdout)
    assert value["tools"] == ["lamp"] and value["scores"] == {"lamp": 1.0}
    assert value["words"] == {"lamp": {"lamp": 1.0}}
    assert value["routed_tools"] == 2 and value["doubt"] is None
    tokens = value["estimated_tokens"]
    assert 0 < tokens["chosen"] < tokens["all"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("lamp", "add `--client` with one of internal, external"),
        ("x --client nobody", "there is no client `nobody`\n  help: use one of"),
        ("--toolset tin", "there is no toolset `tin`\n  help: use `toy`"),
        (
            "x --client internal --with-model",
            "no `router`, which --with-model requires",
        ),
        ("--with-model", "has no `router`, which --with-model requires"),
        ("--export promptfoo", "--export requires --output"),
        ("--output x.json", "--output requires --export"),
        ("--endpoint http://127.0.0.1:9", "--endpoint requires --model"),
        ("--model small", "--model requires --endpoint or --export"),
        (
            "--endpoint u --model m --with-model",
            "--with-model and --endpoint cannot be combined",
        ),
        ("--endpoint= --model m", "must begin with http:// or https://"),
        ("--endpoint x:1 --model m", "must begin with http:// or https://"),
        ("--key-variable KEY", "--key-variable requires --endpoint or --export"),
        (
            "--endpoint http://h --model m --key-variable sk-hunter2",
            "--key-variable is not the name of a variable",
        ),
        ("--history before", "--history requires MESSAGE"),
        ("lamp --top 2", "--top has no effect with MESSAGE"),
        ("--with-model --margin 0", "--margin has no effect with a model"),
        (
            "x --export agent-skills --output f --format json",
            "MESSAGE, --format have no effect with --export",
        ),
        ("--export agent-skills --output f", "there are no selection cases to export"),
    ],
)
def test_select_command_reports_invalid_options_and_exits_with_2(
    arguments: str, message: str, project: Any
) -> None:
    """Secrets that were passed by mistake are not printed."""
    result = project.toolcast("select", *arguments.split())
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith("error: ") and message in result.stderr
    assert "hunter2" not in result.stderr


@pytest.mark.parametrize("option", ["--margin", "--coverage"])
def test_select_command_rejects_nan_as_margin_or_coverage(
    option: str, project: Any
) -> None:
    result = project.toolcast("select", option, "nan")
    assert result.returncode == 2 and "nan is not a number" in result.stderr


def test_select_command_imports_no_handler_and_starts_no_external_server(
    project: Any,
) -> None:
    project.write("handlers/none.py", "raise SystemExit('a handler was imported')\n")
    project.edit("specs/toy/toolset.yaml", "far-server", "/bin/false")
    result = project.toolcast("select", "the lamp", "--client", "internal")
    assert result.returncode == 0 and result.stderr == ""


def test_select_command_prints_example_cases_if_the_project_has_no_cases(
    project: Any,
) -> None:
    result = project.toolcast("select")
    assert result.returncode == 0
    assert result.stdout.startswith("no selection cases\n")
    assert "cases:" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_select_command_counts_passing_messages_and_tools_that_have_a_case(
    make_wiki: Make,
) -> None:
    case = "{message: Delete the page., near: [Archive the page.]}"
    result = make_wiki(delete_page=f"cases: [{case}]\n").toolcast("select")
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (
        "1 of 3 tools have a case; without a case: archive_page, find_user\n"
        "toy: 2 of 2 messages pass\n"
    )


def test_select_command_shows_the_first_tool_and_term_weights_for_a_failed_case(
    make_wiki: Make,
) -> None:
    message = "Remove that archived page from the wiki for good."
    project = make_wiki(archive_page=f"cases: [{{message: {message}}}]\n")
    result = project.toolcast("select")
    assert result.returncode == 1
    assert result.stdout == """\
specs/toy/archive_page.yaml:5:
  "Remove that archived page from the wiki for good."
    `archive_page` has rank 2; `delete_page` ranks first
    word              archive_page  delete_page
    good                         -          37%
    archived                   27%            -
    wiki                       29%          27%
    page                       38%          36%

Confused tools, the expected one first:
  archive_page with delete_page, 1 message: good, page, wiki

1 of 3 tools have a case; without a case: delete_page, find_user
toy: 0 of 1 message pass
"""


@pytest.mark.parametrize(
    ("case", "problem"),
    [
        ("{message: ring the bell}", "no word matches `archive_page` or another"),
        ("{message: find the user}", "no word matches `archive_page`; `find_user`"),
        ("{message: a page, near: [archive it]}", "`archive_page` must not be chosen"),
        (
            "{message: archive a page, never: [delete_page], top: 2}",
            "`delete_page` must not be chosen",
        ),
    ],
)
def test_select_command_prints_the_reason_if_a_case_fails(
    case: str, problem: str, make_wiki: Make
) -> None:
    """Problems: no matching term, another tool first, or a forbidden tool selected."""
    result = make_wiki(archive_page=f"cases: [{case}]\n").toolcast("select")
    assert result.returncode == 1 and problem in result.stdout


def test_selection_case_that_expects_no_tool_fails_if_a_tool_is_selected(
    make_wiki: Make,
) -> None:
    cases = "cases: [{message: thank you, tool: null}, {message: the page, tool: null}]"
    result = make_wiki(cases).toolcast("select")
    assert result.returncode == 1
    assert "the case expects no tool, but `archive_page` is chosen" in result.stdout
    assert "toy: 1 of 2 messages pass" in result.stdout


def test_select_command_options_override_the_toolsets_top_margin_and_coverage(
    make_wiki: Make,
) -> None:
    project = make_wiki(
        "selection: {top: 2, coverage: 0.3}\n",
        archive_page="cases: [{message: Remove that page for good.}]\n",
    )
    assert project.toolcast("select").returncode == 0
    one_tool = project.toolcast("select", "--top", "1")
    assert one_tool.returncode == 1 and "has rank 2" in one_tool.stdout
    three_tools = project.toolcast("select", "--margin", "0.9", "--top", "3")
    assert three_tools.returncode == 0, "no tool ranks below the third"
    covered = project.toolcast("select", "--coverage", "0.5")
    assert covered.returncode == 1 and "have a case, but 50% must" in covered.stdout


def test_select_command_prints_the_expected_tool_if_the_message_equals_a_case(
    make_wiki: Make,
) -> None:
    project = make_wiki(archive_page="cases: [{message: archive a page}]\n")
    result = project.toolcast("select", "archive a page")
    assert (result.returncode, result.stderr) == (0, "")
    assert "\nthe case at " in result.stdout
    assert result.stdout.endswith("expects `archive_page`\n")


def test_select_command_margin_is_the_score_difference_to_the_next_tool(
    make_wiki: Make,
) -> None:
    project = make_wiki(archive_page="cases: [{message: archive a page}]\n")
    value = json.loads(project.toolcast("select", "--format", "json").stdout)
    [message] = value["toolsets"][0]["messages"]
    assert value["passes"] and message["passes"] and message["rank"] == 1
    arguments = ("select", "archive a page", "--format", "json")
    scores = json.loads(project.toolcast(*arguments).stdout)["scores"]
    assert message["margin"] == pytest.approx(1 - scores["delete_page"], abs=1e-3)
    margin = str(message["margin"] + 0.01)
    higher_margin = project.toolcast("select", "--margin", margin)
    assert higher_margin.returncode == 1
    assert "ahead of `delete_page`" in higher_margin.stdout


def test_selection_cases_run_for_each_client_that_can_call_the_expected_tool(
    make_project: Make,
) -> None:
    """A case is listed as not run if no client can call its tool."""
    gate = TOOL.format("Opens the gate behind the door.") + "clients: [guard]\n"
    case = TOOL.format("Opens the glass case.") + "clients: [nobody]\n"
    tools = {
        "open_door": TOOL.format("Opens the door."),
        "open_gate": f"{gate}cases: [{{message: open}}]\n",
        "open_case": f"{case}cases: [{{message: the case}}]\n",
    }
    clients = 'clients: {guard: {allow: "*"}, guest: {allow: "*"}, nobody: {}}\n'
    project = make_project(tools, toolset=clients + "targets: {registry: {}}\n")
    result = project.toolcast("select")
    assert result.returncode == 1
    assert "    for guard\n" in result.stdout
    line = "open_case.yaml:6: not run: no client is offered `open_case`"
    assert line in result.stdout
    assert project.toolcast("select", "--client", "guest").returncode == 0


def test_selection_case_fails_if_two_tools_have_equal_scores_unless_top_includes_both(
    make_project: Make,
) -> None:
    bell = TOOL.format("Rings a bell.")
    tools = {"ring_a": bell + "cases: [{message: the bell}]\n", "ring_b": bell}
    project = make_project(tools, toolset="targets: {registry: {}}\n")
    result = project.toolcast("select")
    assert result.returncode == 1
    assert "    `ring_a` and `ring_b` have the same score\n" in result.stdout
    assert project.toolcast("select", "--top", "2").returncode == 0


def test_selection_case_is_skipped_for_an_external_tool_and_fails_for_an_unknown_tool(
    make_wiki: Make,
) -> None:
    server = "mcp_servers: {far: {command: far, prefix: far_}}\n"
    cases = "cases:\n  - {message: fetch it, tool: far_fetch}\n"
    result = make_wiki(server + cases).toolcast("select")
    assert result.returncode == 0
    assert "not run: `far_fetch` is a tool of an external server\n" in result.stdout
    cases += "  - {message: print it, tool: print_page}\n"
    unknown_tool = make_wiki(server + cases)
    for arguments in ((), ("--format", "json")):
        result = unknown_tool.toolcast("select", *arguments)
        assert result.returncode == 1
        assert "there is no tool `print_page`" in result.stdout


def test_failed_case_lists_six_words_and_confused_tools_list_four(
    make_project: Make,
) -> None:
    message = "see the old green boat on a quiet cold lake at dawn"
    jar = TOOL.format("Shuts the old jar.")
    tools = {
        "boat": TOOL.format(f"{message.capitalize()}."),
        "jar": f"{jar}cases: [{{message: {message}}}]\n",
    }
    project = make_project(tools, toolset="targets: {registry: {}}\n")
    lines = project.toolcast("select").stdout.splitlines()[3:]
    words = [line.split()[0] for line in lines[: lines.index("")]]
    assert words == ["word", "boat", "green", "quiet", "cold", "lake", "dawn"]
    assert (
        lines[len(words) + 2] == "  jar with boat, 1 message: boat, cold, dawn, green"
    )


MANY_WORDS = "fog of an old sea in a quiet street"


def test_select_command_output_for_sixty_long_tool_names_fits_80_columns(
    make_project: Make,
) -> None:
    names = [f"open_{'a' * 90}{number}" for number in range(60)]
    tools = {name: TOOL.format(f"{MANY_WORDS.capitalize()}.") for name in names}
    project = make_project(tools, toolset="targets: {registry: {}}\n")
    result = project.toolcast("select", MANY_WORDS)
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) < 50
    # Words that do not fit into the line are cut.
    assert lines[1] == f" 100% * open_{'a' * 40}...  fog 20%, old 20%, ..."
    assert any("20 more tools" in line for line in lines)
    result = project.toolcast("select", "--coverage", "1")
    assert result.returncode == 1
    assert " and 30 more\n" in result.stdout


def test_select_command_escapes_and_wraps_messages_in_the_output(
    make_wiki: Make,
) -> None:
    """A message cannot become a workflow command of GitHub."""
    malicious_message = r"::error file=x::\n::warning::\u00a0 page %0A <b>"
    result = make_wiki(
        archive_page=f"cases: [{{message: a page {'x' * 300}}}]\n",
        delete_page=f'cases: [{{message: "{malicious_message}"}}]\n',
    ).toolcast("select")
    assert result.returncode == 1, result.stderr
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.startswith("::") for line in lines)
    assert "\xa0" not in result.stdout


def test_this_repositorys_selection_cases_pass_and_cover_every_tool() -> None:
    result = toolcast(own_project(), "select", "--coverage", "1", "--format", "json")
    value = json.loads(result.stdout)
    messages = [m for toolset in value["toolsets"] for m in toolset["messages"]]
    failed = [(m["message"], m["problems"]) for m in messages if m["problems"]]
    assert result.returncode == 0, failed
    assert len(messages) >= (70 if MISSING else 100)
