"""`toolcast select` with a model: requests, reported problems and failures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.router.scripted_model import (
    ScriptedModel,
    encode_completion,
    run_scripted_model,
)

TOOL = "summary: {}\nparameters: {{type: object}}\nhandler: handlers.none:none\n"
NOTE = TOOL.format("Stores a note.") + (
    "cases: [{message: note that, near: [note the light], never: [lamp]}]\n"
)
TOOLS = {"note": NOTE, "lamp": TOOL.format("Makes light.")}
KEY = "sk-hunter2-hunter2"


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    """Run a scripted model."""
    with run_scripted_model() as state:
        yield state


@pytest.fixture
def project(make_project: Callable[..., Any]) -> Any:
    """Return a project with two tools and a selection case."""
    return make_project(TOOLS, toolset="targets: {registry: {}}\n")


def run_select(project: Any, model: ScriptedModel, *options: str) -> Any:
    """Run `toolcast select` with the scripted model."""
    return project.toolcast(
        "select", "--endpoint", model.url, "--model", "small", *options
    )


def test_select_command_sends_each_case_message_to_the_model_and_prints_failures(
    project: Any, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key is sent and not printed."""
    monkeypatch.setenv("MODEL_KEY", KEY)
    model.body = encode_completion('{"tools": ["note"]}')
    result = run_select(project, model, "--key-variable", "MODEL_KEY")
    assert result.returncode == 1, result.stderr
    assert result.stdout == (
        "specs/toy/note.yaml:5:\n"
        '  near miss "note the light"\n'
        "    `note` must not be chosen\n"
        "\n"
        "1 of 2 tools have a case; without a case: lamp\n"
        "toy: 1 of 2 messages pass\n"
    )
    contents = [request["messages"][1]["content"] for request, _ in model.requests]
    messages = {json.loads(content)["message"] for content in contents}
    assert messages == {"note that", "note the light"}
    keys = {headers["authorization"] for _, headers in model.requests}
    assert keys == {f"Bearer {KEY}"}
    assert KEY not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("answer", "problems"),
    [
        (["lamp", "lamp"], ["but the model chose lamp", "`lamp` must not be chosen"]),
        ([], ["but the model chose no tool"]),
    ],
)
def test_select_command_reports_wrong_forbidden_and_missing_tools_in_the_model_choice(
    answer: list[str], problems: list[str], project: Any, model: ScriptedModel
) -> None:
    """A tool that the model repeats counts once."""
    model.body = encode_completion(json.dumps({"tools": answer}))
    result = run_select(project, model, "--format", "json")
    value = json.loads(result.stdout)
    [toolset] = value["toolsets"]
    assert result.returncode == 1 and not value["passes"]
    problems[0] = f"the case expects `note`, {problems[0]}"
    assert toolset["messages"][0]["problems"] == problems


def test_select_command_prints_the_models_choice_for_a_given_message(
    project: Any, model: ScriptedModel
) -> None:
    result = run_select(project, model, "make it bright")
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("1 of 2 routed tools\n    - * lamp\n")


def test_select_command_with_model_option_fails_if_the_routers_url_is_empty(
    project: Any, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_URL", raising=False)
    with (project.root / "specs/toy/toolset.yaml").open("a") as stream:
        stream.write('router: {base_url: "${NO_SUCH_URL:-}", model: small}\n')
    result = project.toolcast("select", "--with-model")
    assert result.returncode == 2
    assert "`router.base_url` of `toy` is empty in this environment" in result.stderr


def test_select_command_reports_invalid_model_responses_as_error_not_as_failed_cases(
    project: Any, model: ScriptedModel
) -> None:
    model.body = encode_completion(json.dumps({"tools": ["door"]}))
    result = run_select(project, model)
    assert (result.returncode, result.stdout) == (2, "")
    assert "no answer: the model selected tools that do not exist" in result.stderr


def test_select_command_reports_an_unreachable_model_as_error(project: Any) -> None:
    arguments = ("select", "--endpoint", "http://127.0.0.1:9/v1", "--model", "small")
    result = project.toolcast(*arguments)
    assert result.returncode == 2
    reason = "no answer: the request failed (ConnectError)"
    assert f"the model failed for every message: {reason}" in result.stderr


def test_select_command_without_the_key_variable_fails_before_any_model_request(
    project: Any, model: ScriptedModel
) -> None:
    result = run_select(project, model, "--key-variable", "NO_SUCH_KEY")
    assert result.returncode == 2 and not model.requests
    assert "the environment variable NO_SUCH_KEY is not set" in result.stderr
