"""The tool smarthome: requests to a fake of Home Assistant's conversation API."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from toolcast_runtime import ToolError

Call = Callable[..., Any]
TOKEN = "eyJhbGciOiJIUzI1NiJ9.secret.secret"


def build_speech(text: str) -> dict[str, Any]:
    return {"plain": {"speech": text, "extra_data": None}}


@dataclass
class FakeHome:
    """A kitchen lamp behind the conversation API."""

    reply: Any
    lamp: str = "off"
    requests: list[str] = field(default_factory=list)

    def __call__(self, request: Any) -> Any:
        if request.path != "/api/conversation/process" or request.method != "POST":
            return self.reply(404, "404: Not Found")
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return self.reply(401, "401: Unauthorized")
        text = request.body["text"].casefold()
        self.requests.append(request.body["text"])
        if text == "turn on the kitchen lamp":
            self.lamp = "on"
            lamp = {"type": "entity", "name": "Kitchen lamp", "id": "light.kitchen"}
            data = {"targets": [], "success": [lamp], "failed": []}
            return self.answer("action_done", data, "Turned on the light")
        if text.startswith("is the kitchen lamp"):
            nothing: dict[str, Any] = {"targets": [], "success": [], "failed": []}
            return self.answer("query_answer", nothing, f"It is {self.lamp}")
        unknown = {"code": "no_intent_match"}
        return self.answer("error", unknown, "Sorry, I couldn't understand that")

    def answer(self, kind: str, data: dict[str, Any], message: str) -> Any:
        speech = build_speech(message)
        response = {"response_type": kind, "data": data, "speech": speech}
        return self.reply(200, {"conversation_id": "01J", "response": response})


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that sets the Home Assistant variables for a server's URL."""

    def configure(url: str) -> None:
        monkeypatch.setenv("HOME_ASSISTANT_URL", url)
        monkeypatch.setenv("HOME_ASSISTANT_TOKEN", TOKEN)

    return configure


@pytest.fixture
def home(reply: Any) -> FakeHome:
    """Return a fake Home Assistant."""
    return FakeHome(reply)


@pytest.fixture
def server(serve: Any, home: FakeHome, connect: Callable[[str], None]) -> Any:
    """Serve a fake Home Assistant and set the Home Assistant variables for it."""
    running = serve(home)
    connect(running.url)
    return running


def test_smarthome_sends_the_request_to_home_assistant_and_returns_its_outcome(
    call: Call, server: Any, home: FakeHome
) -> None:
    done = call("smarthome", user_request=" turn on the kitchen lamp ")
    assert done == {
        "speech": "Turned on the light",
        "kind": "action_done",
        "succeeded": ["Kitchen lamp"],
        "failed": [],
    }
    assert home.lamp == "on"
    sent = server.requests[-1]
    assert (sent.method, sent.path) == ("POST", "/api/conversation/process")
    assert sent.headers["content-type"] == "application/json"
    assert sent.body == {"text": "turn on the kitchen lamp"}
    answered = call("smarthome", user_request="Is the kitchen lamp on?")
    assert (answered["kind"], answered["speech"]) == ("query_answer", "It is on")


@pytest.mark.usefixtures("server")
def test_smarthome_appends_the_device_unless_the_request_contains_it(
    call: Call, home: FakeHome
) -> None:
    call("smarthome", user_request="Turn on the.", device="kitchen lamp")
    call("smarthome", user_request="turn on the Kitchen Lamp", device="kitchen lamp")
    assert home.requests == ["Turn on the kitchen lamp", "turn on the Kitchen Lamp"]


@pytest.mark.usefixtures("server")
def test_smarthome_request_unknown_to_home_assistant_raises_tool_error_with_the_reason(
    call: Call,
) -> None:
    with pytest.raises(
        ToolError, match=r"could not do this \(no_intent_match\): Sorry, I couldn't"
    ):
        call("smarthome", user_request="sing")


def build_response(kind: str, **fields: Any) -> dict[str, Any]:
    return {"response": {"response_type": kind, **fields}}


INVALID_SUCCESS = build_response("action_done", data={"success": [1]})
ERROR_WITH_TOKEN = build_response("error", data={}, speech=build_speech(TOKEN))


def test_smarthome_returns_empty_speech_and_the_failed_device_names(
    call: Call, serve: Any, connect: Callable[[str], None], reply: Any
) -> None:
    data = {"success": [], "failed": [{"name": "Blind", "id": "cover.b"}]}
    silent = build_response("action_done", data=data, speech={})
    connect(serve(lambda _: reply(200, silent)).url)
    assert call("smarthome", user_request="close the blind") == {
        "speech": "",
        "kind": "action_done",
        "succeeded": [],
        "failed": ["Blind"],
    }


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (401, "401: Unauthorized", "HOME_ASSISTANT_TOKEN needs"),
        (404, "404: Not Found", "no conversation API"),
        (500, "oops", "Home Assistant failed"),
        (302, "", "rejected the request"),
        (200, "<html>", "not JSON"),
        (200, [], "an invalid response"),
        (200, {}, "an invalid response"),
        (200, build_response("dance"), "an invalid response"),
        (200, INVALID_SUCCESS, "an invalid response"),
        (200, ERROR_WITH_TOKEN, r": \*\*\*"),
    ],
)
def test_home_assistant_error_response_raises_tool_error_without_the_token(
    call: Call,
    serve: Any,
    connect: Callable[[str], None],
    reply: Any,
    status: int,
    body: Any,
    message: str,
) -> None:
    connect(serve(lambda _: reply(status, body)).url)
    with pytest.raises(ToolError, match=message) as raised:
        call("smarthome", user_request="turn on the kitchen lamp")
    assert TOKEN not in str(raised.value)


@pytest.mark.parametrize("variable", ["HOME_ASSISTANT_URL", "HOME_ASSISTANT_TOKEN"])
def test_smarthome_without_url_or_token_raises_tool_error_before_any_request(
    call: Call, server: Any, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv(variable)
    with pytest.raises(ToolError, match=f"not configured: {variable} is unset"):
        call("smarthome", user_request="turn on the kitchen lamp")
    assert server.requests == []


def test_unreachable_home_assistant_raises_tool_error(
    call: Call, connect: Callable[[str], None]
) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        connect(f"http://127.0.0.1:{bound.getsockname()[1]}")
        with pytest.raises(ToolError, match="Home Assistant is unreachable"):
            call("smarthome", user_request="turn on the kitchen lamp")
