"""What goes wrong between the handler and GitHub, and what the model is told of it."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.examples.kirishima.github_server import TOKEN
from toolcast_runtime import ToolError

Call = Callable[..., Any]


FAILURES: list[tuple[int, Any, dict[str, str], str]] = [
    (401, {"message": "Bad credentials"}, {}, "does not accept the token"),
    (403, {"message": "Resource not accessible"}, {}, "Resource not accessible"),
    (403, {"message": "slow down"}, {"Retry-After": "61"}, "Try again in 61 seconds"),
    (
        403,
        {"message": "API rate limit exceeded"},
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772359200"},
        "Try again after 2026-03-01T10:00:00Z",
    ),
    (429, "busy", {}, "rate limit is reached. Try again later"),
    (404, {"message": "Not Found"}, {}, "no such issue or repository"),
    (410, {"message": "Issues are disabled"}, {}, "Issues are disabled"),
    (
        422,
        {
            "message": "Validation Failed",
            "errors": [
                {"resource": "Issue", "field": "assignees", "code": "invalid"},
                "plain words",
            ],
        },
        {},
        "Validation Failed; assignees invalid; plain words",
    ),
    (301, {"message": "Moved"}, {"Location": "http://127.0.0.1:9/"}, "has moved"),
    (400, "<html>", {}, "status 400"),
    (502, "<html>", {}, "a problem of its own"),
    (200, "not json", {}, "something that is not JSON"),
    (200, "", {}, "something that is not JSON"),
    (200, {"message": "?"}, {}, "no issue"),
    (200, [1], {}, "no issue"),
    (400, {"message": f"strange header: Bearer {TOKEN}"}, {}, "Bearer \\*\\*\\*"),
]


@pytest.mark.parametrize(("status", "body", "headers", "words"), FAILURES)
def test_failures_are_told_without_the_token(
    call: Call,
    serve: Any,
    configured: Any,
    reply: Any,
    caplog: pytest.LogCaptureFixture,
    status: int,
    body: Any,
    headers: dict[str, str],
    words: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    server = serve(lambda _: reply(status, body, headers))
    configured(server.url)
    with pytest.raises(ToolError, match=words) as caught:
        call("github_issue", action="view", issue_id="1")
    assert TOKEN not in str(caught.value)
    assert TOKEN not in caplog.text
    assert len(server.requests) == 1, "nothing is tried twice, no redirect followed"


def test_an_unreachable_server_is_told(call: Call, configured: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        configured(f"http://127.0.0.1:{taken.getsockname()[1]}")
        with pytest.raises(ToolError, match=r"unreachable.*GITHUB_API_URL"):
            call("github_issue", action="list")


def test_a_server_that_hangs_up_is_told(call: Call, configured: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        configured(f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread = threading.Thread(target=lambda: listener.accept()[0].close())
        thread.start()
        with pytest.raises(ToolError, match="connection to GitHub broke"):
            call("github_issue", action="list")
        thread.join()


def test_a_silent_server_is_told(
    call: Call,
    serve: Any,
    configured: Any,
    reply: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def slow(_: Any) -> Any:
        time.sleep(0.5)
        return reply(200, [])

    monkeypatch.setattr("examples.kirishima.github_api.RESPONSE_TIMEOUT_S", 0.1)
    configured(serve(slow).url)
    with pytest.raises(ToolError, match="did not answer in time"):
        call("github_issue", action="list")


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("GITHUB_REPOSITORY", "", "GITHUB_REPOSITORY is unset"),
        ("GITHUB_REPOSITORY", "kirishima", "must be owner/name"),
        ("GITHUB_REPOSITORY", "robin/..", "must be owner/name"),
        ("GITHUB_REPOSITORY", "robin/a/b", "must be owner/name"),
        ("GITHUB_REPOSITORY", "robin/a?b", "must be owner/name"),
        ("GITHUB_API_URL", "api.github.com", "must begin with http"),
        ("GITHUB_API_URL", "ftp://api.github.com", "must begin with http"),
        ("GITHUB_API_URL", "http://github:api", "not a web address"),
        ("GITHUB_TOKEN", f"{TOKEN}\nX-Other: 1", "characters no token has"),
        ("GITHUB_TOKEN", f"{TOKEN}é", "characters no token has"),
    ],
)
def test_a_wrong_configuration_is_told(
    call: Call,
    server: Any,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    words: str,
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ToolError, match=words) as caught:
        call("github_issue", action="list")
    assert TOKEN not in str(caught.value)
    assert server.requests == []


@pytest.mark.parametrize("text", [" ", "half \ud800 character"])
def test_texts_that_cannot_be_sent_are_refused(
    call: Call, server: Any, text: str
) -> None:
    with pytest.raises(ToolError, match="`comment_body`"):
        call("github_issue", action="comment", issue_id="1", comment_body=text)
    with pytest.raises(ToolError, match="`body`"):
        call("github_issue", action="create", title="x", body=text)
    assert server.requests == []
