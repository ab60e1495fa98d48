"""`toolcast select` that asks a model: a scripted one on loopback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.router.scripted_model import Script, completion, scripted

TOOL = "summary: {}\nparameters: {{type: object}}\nhandler: handlers.none:none\n"
NOTE = TOOL.format("Stores a note.") + (
    "cases: [{message: note that, near: [note the light], never: [lamp]}]\n"
)
TOOLS = {"note": NOTE, "lamp": TOOL.format("Makes light.")}
KEY = "sk-hunter2-hunter2"


@pytest.fixture
def script() -> Iterator[Script]:
    with scripted() as state:
        yield state


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    return make_project(TOOLS, toolset="targets: {registry: {}}\n")


def asked(project: Any, script: Script, *words: str) -> Any:
    return project.toolcast(
        "select", "--endpoint", script.url, "--model", "small", *words
    )


def test_the_model_is_asked_about_every_message(
    project: Any, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", KEY)
    script.body = completion('{"tools": ["note"]}')
    done = asked(project, script, "--key-variable", "MODEL_KEY")
    assert done.returncode == 1, done.stderr
    assert done.stdout == (
        "specs/toy/note.yaml:5:\n"
        '  near miss "note the light"\n'
        "    `note` must not be chosen\n"
        "\n"
        "1 of 2 tools have a case; without a case: lamp\n"
        "toy: 1 of 2 messages pass\n"
    )
    messages = {
        json.loads(request["messages"][1]["content"])["message"]
        for request, _ in script.asked
    }
    assert messages == {"note that", "note the light"}
    assert {headers["authorization"] for _, headers in script.asked} == {
        f"Bearer {KEY}"
    }
    assert KEY not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("answer", "problems"),
    [
        (
            ["lamp"],
            [
                "the case expects `note`, but the model chose lamp",
                "`lamp` must not be chosen",
            ],
        ),
        ([], ["the case expects `note`, but the model chose no tool"]),
    ],
)
def test_every_way_to_fail(
    answer: list[str], problems: list[str], project: Any, script: Script
) -> None:
    script.body = completion(json.dumps({"tools": answer}))
    done = asked(project, script, "--format", "json")
    value = json.loads(done.stdout)
    [toolset] = value["toolsets"]
    assert done.returncode == 1 and not value["passes"]
    assert toolset["messages"][0]["problems"] == problems


def test_a_message_may_be_given(project: Any, script: Script) -> None:
    done = asked(project, script, "make it bright")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("1 of 2 routed tools\n    - * lamp\n")


def test_the_model_of_the_toolset_may_have_no_address(
    project: Any, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_URL", raising=False)
    with (project.root / "specs/toy/toolset.yaml").open("a") as stream:
        stream.write('router: {base_url: "${NO_SUCH_URL:-}", model: small}\n')
    done = project.toolcast("select", "--with-model")
    assert done.returncode == 2
    assert "`router.base_url` of `toy` is empty in this environment" in done.stderr


def test_a_model_that_answers_nothing_right_is_no_verdict_on_the_cases(
    project: Any, script: Script
) -> None:
    script.body = completion(json.dumps({"tools": ["door"]}))
    done = asked(project, script)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no answer: the model selected tools that do not exist" in done.stderr


def test_a_name_counts_once(project: Any, script: Script) -> None:
    script.body = completion(json.dumps({"tools": ["lamp", "lamp"]}))
    done = asked(project, script)
    assert "the case expects `note`, but the model chose lamp\n" in done.stdout


def test_nobody_is_there(project: Any) -> None:
    words = ("select", "--endpoint", "http://127.0.0.1:9/v1", "--model", "small")
    done = project.toolcast(*words)
    assert done.returncode == 2
    assert (
        "the model failed for every message: no answer: the request failed (ConnectError)"
        in done.stderr
    )


def test_a_key_that_is_not_set_is_named(project: Any, script: Script) -> None:
    done = asked(project, script, "--key-variable", "NO_SUCH_KEY")
    assert done.returncode == 2 and not script.asked
    assert "the environment variable NO_SUCH_KEY is not set" in done.stderr
