"""Requests to the house, against a server that speaks Home Assistant's API."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from toolcast_runtime import ToolError

Call = Callable[..., Any]
TOKEN = "eyJhbGciOiJIUzI1NiJ9.secret.secret"


def speech(text: str) -> dict[str, Any]:
    return {"plain": {"speech": text, "extra_data": None}}


@dataclass
class FakeHouse:
    """One kitchen lamp behind the conversation API."""

    reply: Any
    lamp: str = "off"
    heard: list[str] = field(default_factory=list)

    def __call__(self, request: Any) -> Any:
        if request.path != "/api/conversation/process" or request.method != "POST":
            return self.reply(404, "404: Not Found")
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return self.reply(401, "401: Unauthorized")
        text = request.body["text"].casefold()
        self.heard.append(request.body["text"])
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

    def answer(self, kind: str, data: dict[str, Any], words: str) -> Any:
        response = {
            "response_type": kind,
            "language": "en",
            "data": data,
            "card": {},
            "speech": speech(words),
        }
        return self.reply(
            200,
            {
                "continue_conversation": False,
                "conversation_id": "01J",
                "response": response,
            },
        )


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def configure(url: str) -> None:
        monkeypatch.setenv("HOME_ASSISTANT_URL", url)
        monkeypatch.setenv("HOME_ASSISTANT_TOKEN", TOKEN)

    return configure


@pytest.fixture
def house(reply: Any) -> FakeHouse:
    return FakeHouse(reply)


@pytest.fixture
def server(serve: Any, house: FakeHouse, connect: Callable[[str], None]) -> Any:
    running = serve(house)
    connect(running.url)
    return running


def test_the_house_does_what_is_asked(
    call: Call, server: Any, house: FakeHouse
) -> None:
    done = call("smarthome", user_request=" turn on the kitchen lamp ")
    assert done == {
        "speech": "Turned on the light",
        "kind": "action_done",
        "succeeded": ["Kitchen lamp"],
        "failed": [],
    }
    assert house.lamp == "on"
    sent = server.requests[-1]
    assert (sent.method, sent.path) == ("POST", "/api/conversation/process")
    assert sent.headers["content-type"] == "application/json"
    assert sent.body == {"text": "turn on the kitchen lamp"}
    told = call("smarthome", user_request="Is the kitchen lamp on?")
    assert (told["kind"], told["speech"]) == ("query_answer", "It is on")


@pytest.mark.usefixtures("server")
def test_the_device_is_named_once(call: Call, house: FakeHouse) -> None:
    call("smarthome", user_request="Turn on the.", device="kitchen lamp")
    call("smarthome", user_request="turn on the Kitchen Lamp", device="kitchen lamp")
    assert house.heard == ["Turn on the kitchen lamp", "turn on the Kitchen Lamp"]


@pytest.mark.usefixtures("server")
def test_the_house_says_what_it_cannot_do(call: Call) -> None:
    with pytest.raises(
        ToolError, match=r"could not do it \(no_intent_match\): Sorry, I couldn't"
    ):
        call("smarthome", user_request="sing")


def answer_of(kind: str, **more: Any) -> dict[str, Any]:
    return {"response": {"response_type": kind, **more}}


def test_silence_and_partial_failure_are_told(
    call: Call, serve: Any, connect: Callable[[str], None], reply: Any
) -> None:
    data = {"success": [], "failed": [{"name": "Blind", "id": "cover.b"}]}
    quiet = answer_of("action_done", data=data, speech={})
    connect(serve(lambda _: reply(200, quiet)).url)
    assert call("smarthome", user_request="close the blind") == {
        "speech": "",
        "kind": "action_done",
        "succeeded": [],
        "failed": ["Blind"],
    }


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, "401: Unauthorized", "HOME_ASSISTANT_TOKEN needs"),
        (404, "404: Not Found", "no conversation API"),
        (500, "oops", "a problem of its own"),
        (400, {"message": "bad"}, "refuses the request"),
        (302, "", "refuses the request"),
        (200, "<html>", "not JSON"),
        (200, [], "something unknown"),
        (200, {}, "something unknown"),
        (200, answer_of("dance"), "something unknown"),
        (200, answer_of("action_done", data={"success": [1]}), "something unknown"),
        (200, answer_of("error", data={}, speech=speech(TOKEN)), r": \*\*\*"),
    ],
)
def test_failures_are_told_without_the_token(
    call: Call,
    serve: Any,
    connect: Callable[[str], None],
    reply: Any,
    status: int,
    body: Any,
    words: str,
) -> None:
    connect(serve(lambda _: reply(status, body)).url)
    with pytest.raises(ToolError, match=words) as caught:
        call("smarthome", user_request="turn on the kitchen lamp")
    assert TOKEN not in str(caught.value)


@pytest.mark.parametrize("variable", ["HOME_ASSISTANT_URL", "HOME_ASSISTANT_TOKEN"])
def test_a_house_that_is_not_connected_is_told(
    call: Call, server: Any, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.delenv(variable)
    with pytest.raises(ToolError, match=f"not connected: {variable} is unset"):
        call("smarthome", user_request="turn on the kitchen lamp")
    assert server.requests == []


def test_an_unreachable_house_is_told(
    call: Call, connect: Callable[[str], None]
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        connect(f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(ToolError, match="Home Assistant is unreachable"):
            call("smarthome", user_request="turn on the kitchen lamp")
