"""`toolcast select`: what the words of a message, and of all cases, lead to."""

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


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    return make_project(TOOLS, toolset=CLIENTS)


@pytest.fixture
def pages(make_project: Callable[..., Any]) -> Callable[..., Any]:
    """A project with three tools about pages; what is given stands in their specs."""

    def make(toolset: str = "", **cases: str) -> Any:
        tools = {
            "delete_page": TOOL.format("Deletes a page of the wiki for good."),
            "archive_page": TOOL.format("Archives a page of the wiki."),
            "find_user": TOOL.format("Finds a user."),
        }
        specs = {name: text + cases.get(name, "") for name, text in tools.items()}
        return make_project(specs, toolset=f"targets: {{registry: {{}}}}\n{toolset}")

    return make


def test_the_order_for_a_message_its_words_and_the_tokens(project: Any) -> None:
    done = project.toolcast("select", "Switch the lamp on", "--client", "internal")
    assert done.returncode == 0, done.stderr
    first, best, silent, *rest = done.stdout.splitlines()
    assert first == "1 of 3 routed tools"
    assert best.split() == ["100%", "*", "lamp", "lamp", "68%,", "switch", "32%"]
    assert silent.split(maxsplit=1) == ["-", "3 tools without a matching word"]
    assert rest[1].endswith("tokens saved (estimated as in `toolcast tokens`)")
    assert rest[2] == "not included: tools of the external servers far"


def test_a_tool_of_every_turn_stands_in_the_order_and_is_not_routed(
    project: Any,
) -> None:
    done = project.toolcast("select", "Ring the bell", "--client", "external")
    assert "100% + bell  " in done.stdout


def test_in_doubt_all_are_chosen_and_the_reason_is_told(project: Any) -> None:
    done = project.toolcast("select", "Guten Morgen", "--client", "external")
    assert " ".join(done.stdout.split()).startswith(
        "2 of 2 routed tools: all of them, as the tools' text contains 0 of the message's"
        " 2 words"
    )


def test_a_message_for_programs(project: Any) -> None:
    words = ("select", "the lamp", "--client", "external", "--format", "json")
    value = json.loads(project.toolcast(*words).stdout)
    assert value["tools"] == ["lamp"] and value["scores"] == {"lamp": 1.0}
    assert value["words"] == {"lamp": {"lamp": 1.0}}
    assert value["routed_tools"] == 2 and value["doubt"] is None
    tokens = value["estimated_tokens"]
    assert 0 < tokens["chosen"] < tokens["all"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("the lamp",), "add `--client` with one of internal, external"),
        (
            ("the lamp", "--client", "nobody"),
            "there is no client `nobody`\n  help: use one of",
        ),
        (("--toolset", "tin"), "there is no toolset `tin`\n  help: use `toy`"),
        (
            ("x", "--client", "internal", "--with-model"),
            "has no `router`, which --with-model requires",
        ),
        (("--with-model",), "has no `router`, which --with-model requires"),
        (("--export", "promptfoo"), "--export requires --output"),
        (("--output", "x.json"), "--output requires --export"),
        (("--endpoint", "http://127.0.0.1:9"), "--endpoint requires --model"),
        (("--model", "small"), "--model requires --endpoint or --export"),
        (
            ("--endpoint", "u", "--model", "m", "--with-model"),
            "--with-model and --endpoint cannot be combined",
        ),
        (("--endpoint", "", "--model", "m"), "must begin with http:// or https://"),
        (("--endpoint", "x:1", "--model", "m"), "must begin with http:// or https://"),
        (("--key-variable", "KEY"), "--key-variable requires --endpoint or --export"),
        (
            ("--endpoint", "http://h", "--model", "m", "--key-variable", "sk-hunter2"),
            "--key-variable is not the name of a variable",
        ),
        (("--history", "before"), "--history requires MESSAGE"),
        (("the lamp", "--top", "2"), "--top has no effect with MESSAGE"),
        (("--with-model", "--margin", "0"), "--margin has no effect with a model"),
        (
            ("x", "--export", "agent-skills", "--output", "f", "--format", "json"),
            "MESSAGE, --format have no effect with --export",
        ),
        (
            ("--export", "agent-skills", "--output", "f"),
            "there are no selection cases to export",
        ),
    ],
)
def test_what_cannot_be_asked(words: tuple[str, ...], said: str, project: Any) -> None:
    done = project.toolcast("select", *words)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and said in done.stderr
    assert "hunter2" not in done.stderr


@pytest.mark.parametrize("gate", ["--margin", "--coverage"])
def test_a_gate_is_a_number(gate: str, project: Any) -> None:
    done = project.toolcast("select", gate, "nan")
    assert done.returncode == 2 and "nan is not a number" in done.stderr


def test_no_handler_is_imported_and_no_server_is_started(project: Any) -> None:
    project.write("handlers/none.py", "raise SystemExit('a handler was imported')\n")
    project.edit("specs/toy/toolset.yaml", "far-server", "/bin/false")
    done = project.toolcast("select", "the lamp", "--client", "internal")
    assert done.returncode == 0 and done.stderr == ""


def test_without_cases_it_says_what_a_case_is(project: Any) -> None:
    done = project.toolcast("select")
    assert done.returncode == 0
    assert done.stdout.startswith("no selection cases\n") and "cases:" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80


def test_cases_that_pass_are_counted(pages: Callable[..., Any]) -> None:
    done = pages(
        delete_page="cases: [{message: Delete the page., near: [Archive the page.]}]\n",
    ).toolcast("select")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "1 of 3 tools have a case; without a case: archive_page, find_user\n"
        "toy: 2 of 2 messages pass\n"
    )


def test_a_case_that_fails_says_what_is_first_and_by_which_words(
    pages: Callable[..., Any],
) -> None:
    done = pages(
        archive_page="cases: [{message: Remove that page from the wiki for good.}]\n"
    ).toolcast("select")
    assert done.returncode == 1
    assert done.stdout == """\
specs/toy/archive_page.yaml:5:
  "Remove that page from the wiki for good."
    `archive_page` has rank 2; `delete_page` ranks first
    word              archive_page  delete_page
    good                         -          37%
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
        (
            "{message: ring the bell}",
            "no word matches `archive_page` or another",
        ),
        (
            "{message: find the user}",
            "no word matches `archive_page`; `find_user`",
        ),
        (
            "{message: archive a page, near: [archive it]}",
            "`archive_page` must not be chosen",
        ),
        (
            "{message: archive a page, never: [delete_page], top: 2}",
            "`delete_page` must not be chosen",
        ),
    ],
)
def test_every_way_to_fail(case: str, problem: str, pages: Callable[..., Any]) -> None:
    done = pages(archive_page=f"cases: [{case}]\n").toolcast("select")
    assert done.returncode == 1 and problem in done.stdout


def test_a_message_that_means_no_tool_must_choose_none(
    pages: Callable[..., Any],
) -> None:
    cases = "cases: [{message: thank you, tool: null}, {message: the page, tool: null}]"
    done = pages(cases).toolcast("select")
    assert done.returncode == 1
    assert "the case expects no tool, but `archive_page` is chosen" in done.stdout
    assert "toy: 1 of 2 messages pass" in done.stdout


def test_gates_come_from_the_toolset_and_from_options(
    pages: Callable[..., Any],
) -> None:
    project = pages(
        "selection: {top: 2, coverage: 0.3}\n",
        archive_page="cases: [{message: Remove that page for good.}]\n",
    )
    assert project.toolcast("select").returncode == 0
    strict = project.toolcast("select", "--top", "1")
    assert strict.returncode == 1 and "has rank 2" in strict.stdout
    ahead = project.toolcast("select", "--margin", "0.9", "--top", "3")
    assert ahead.returncode == 0, "nothing follows behind the third tool"
    wide = project.toolcast("select", "--coverage", "0.5")
    assert wide.returncode == 1 and "have a case, but 50% must" in wide.stdout


def test_a_message_of_a_case_names_the_case(pages: Callable[..., Any]) -> None:
    project = pages(archive_page="cases: [{message: archive a page}]\n")
    done = project.toolcast("select", "archive a page")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\nthe case at " in done.stdout
    assert done.stdout.endswith("expects `archive_page`\n")


def test_a_margin_is_a_part_of_the_score(pages: Callable[..., Any]) -> None:
    project = pages(archive_page="cases: [{message: archive a page}]\n")
    value = json.loads(project.toolcast("select", "--format", "json").stdout)
    [message] = value["toolsets"][0]["messages"]
    assert value["passes"] and message["passes"] and message["rank"] == 1
    words = ("select", "archive a page", "--format", "json")
    scores = json.loads(project.toolcast(*words).stdout)["scores"]
    assert message["margin"] == pytest.approx(1 - scores["delete_page"], abs=1e-3)
    tight = project.toolcast("select", "--margin", str(message["margin"] + 0.01))
    assert tight.returncode == 1
    assert "ahead of `delete_page`" in tight.stdout


def test_each_client_is_tried_with_what_it_is_offered(
    make_project: Callable[..., Any],
) -> None:
    tools = {
        "open_door": TOOL.format("Opens the door."),
        "open_gate": TOOL.format("Opens the gate behind the door.")
        + "clients: [guard]\ncases: [{message: open}]\n",
        "open_case": TOOL.format("Opens the glass case.") + "clients: [nobody]\n",
    }
    clients = 'clients: {guard: {allow: "*"}, guest: {allow: "*"}, nobody: {}}\n'
    project = make_project(tools, toolset=clients + "targets: {registry: {}}\n")
    project.write(
        "specs/toy/open_case.yaml",
        "name: open_case\n" + tools["open_case"] + "cases: [{message: the case}]\n",
    )
    done = project.toolcast("select")
    assert done.returncode == 1
    assert "    for guard\n" in done.stdout
    assert "open_case.yaml:6: not run: no client is offered `open_case`" in done.stdout
    assert project.toolcast("select", "--client", "guest").returncode == 0


def test_a_tie_is_no_choice(make_project: Callable[..., Any]) -> None:
    bell = TOOL.format("Rings a bell.")
    tools = {"ring_a": bell + "cases: [{message: the bell}]\n", "ring_b": bell}
    project = make_project(tools, toolset="targets: {registry: {}}\n")
    done = project.toolcast("select")
    assert done.returncode == 1
    assert "    `ring_a` and `ring_b` have the same score\n" in done.stdout
    assert project.toolcast("select", "--top", "2").returncode == 0


def test_a_case_that_is_not_tried_says_why_and_one_of_no_tool_fails(
    pages: Callable[..., Any],
) -> None:
    far = "mcp_servers: {far: {command: far, prefix: far_}}\n"
    cases = "cases:\n  - {message: fetch it, tool: far_fetch}\n"
    done = pages(far + cases).toolcast("select")
    assert done.returncode == 0
    assert "not run: `far_fetch` is a tool of an external server\n" in done.stdout
    wrong = pages(far + cases + "  - {message: print it, tool: print_page}\n")
    for words in ((), ("--format", "json")):
        done = wrong.toolcast("select", *words)
        assert done.returncode == 1
        assert "there is no tool `print_page`" in done.stdout


def test_many_tools_and_long_names_fit_a_terminal(
    make_project: Callable[..., Any],
) -> None:
    names = [f"open_{'a' * 90}{number}" for number in range(60)]
    tools = {name: TOOL.format("Opens a door.") for name in names}
    project = make_project(tools, toolset="targets: {registry: {}}\n")
    done = project.toolcast("select", "open the door")
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80 and len(lines) < 50
    assert "open_aaa" in lines[1]
    assert any("20 more tools" in line for line in lines)
    done = project.toolcast("select", "--coverage", "1")
    assert done.returncode == 1
    assert " and 30 more\n" in done.stdout


def test_what_a_message_says_cannot_steer_the_terminal(
    pages: Callable[..., Any],
) -> None:
    hostile = r"::error file=x::\n::warning::\u00a0 page %0A <b>"
    done = pages(
        archive_page=f"cases: [{{message: a page {'x' * 300}}}]\n",
        delete_page=f'cases: [{{message: "{hostile}"}}]\n',
    ).toolcast("select")
    assert done.returncode == 1, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.startswith("::") for line in lines)
    assert "\xa0" not in done.stdout


def test_the_cases_of_this_repository_pass_and_every_tool_has_one() -> None:
    done = toolcast(own_project(), "select", "--coverage", "1", "--format", "json")
    value = json.loads(done.stdout)
    assert done.returncode == 0, [
        (one["message"], one["problems"])
        for toolset in value["toolsets"]
        for one in toolset["messages"]
        if one["problems"]
    ]
    messages = sum(len(toolset["messages"]) for toolset in value["toolsets"])
    assert messages >= (70 if MISSING else 100)
