"""`toolcast route`: what is chosen for a message, its scores, and what it saves."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

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


def test_the_choice_its_scores_and_the_tokens(project: Any) -> None:
    done = project.toolcast("route", "Switch the lamp on", "--client", "internal")
    assert done.returncode == 0, done.stderr
    first, best, *rest = done.stdout.splitlines()
    assert first == "1 of 3 routed tools"
    assert best.split() == ["100%", "*", "lamp"]
    assert [line.split() for line in rest[:2]] == [["-", "door"], ["-", "note"]]
    assert rest[2].endswith("tokens saved (an estimate: 4 characters a token)")
    assert rest[3] == "not asked for their tools: the external servers far"


def test_in_doubt_all_are_chosen_and_the_reason_is_told(project: Any) -> None:
    done = project.toolcast("route", "Guten Morgen", "--client", "external")
    assert done.stdout.startswith(
        "2 of 2 routed tools: all of them, as the tools' texts know 0 of the message's"
        " 2 words\n"
    )


def test_scores_are_parts_of_the_best(project: Any) -> None:
    """A word that most tools know scores next to nothing with each of them."""
    words = ("route", "the tools", "--client", "internal", "--format", "json")
    for name in ("note", "lamp", "door"):
        spec = TOOL.format(f"A tool named {name}.")
        project.write(f"specs/toy/{name}.yaml", f"name: {name}\n{spec}")
    value = json.loads(project.toolcast(*words).stdout)
    assert value["scores"] == {"note": 1.0, "lamp": 1.0, "door": 1.0}
    shown = project.toolcast(*words[:-2]).stdout.splitlines()
    assert [line.split()[0] for line in shown[1:4]] == ["100%"] * 3


def test_for_programs(project: Any) -> None:
    words = ("route", "the lamp", "--client", "external", "--format", "json")
    value = json.loads(project.toolcast(*words).stdout)
    assert value["tools"] == ["lamp"] and value["scores"] == {"lamp": 1.0}
    assert value["routed_tools"] == 2 and value["doubt"] is None
    tokens = value["estimated_tokens"]
    assert 0 < tokens["chosen"] < tokens["all"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "which client? the toolset `toy` has internal, external"),
        (("--client", "nobody"), "there is no client `nobody`; the toolset `toy` has"),
        (("--toolset", "tin"), "there is no toolset `tin`; there are toy"),
        (("--client", "internal", "--with-model"), "has no `router:` whose model"),
    ],
)
def test_what_cannot_be_asked(words: tuple[str, ...], said: str, project: Any) -> None:
    done = project.toolcast("route", "the lamp", *words)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("error: ") and said in done.stderr


def test_no_handler_is_imported_and_no_server_is_started(project: Any) -> None:
    project.write("handlers/none.py", "raise SystemExit('a handler was imported')\n")
    project.edit("specs/toy/toolset.yaml", "far-server", "/bin/false")
    done = project.toolcast("route", "the lamp", "--client", "internal")
    assert done.returncode == 0 and done.stderr == ""
