"""Error messages of github_issue for failed requests and wrong configuration."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from tests.examples.kirishima.github_server import TOKEN
from toolcast_runtime import ToolError

Call = Callable[..., Any]
RATE_LIMIT = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1772359200"}
INVALID_FIELD = {"resource": "Issue", "field": "assignees", "code": "invalid"}
INVALID = {"message": "Validation Failed", "errors": [INVALID_FIELD, "plain words"]}
FAILURES: list[tuple[int, Any, dict[str, str], str]] = [
    (401, {"message": "Bad credentials"}, {}, "does not accept the token"),
    (403, {"message": "Resource not accessible"}, {}, "Resource not accessible"),
    (403, {"message": "slow down"}, {"Retry-After": "61"}, "Try again in 61 seconds"),
    (403, {"message": "slow"}, RATE_LIMIT, "Try again after 2026-03-01T10:00:00Z"),
    (429, "busy", {}, "rate limit is reached. Try again later"),
    (404, {"message": "Not Found"}, {}, "issue or repository does not exist"),
    (410, {"message": "Issues are disabled"}, {}, "Issues are disabled"),
    (422, INVALID, {}, "Validation Failed; assignees invalid; plain words"),
    (301, {"message": "Moved"}, {"Location": "http://127.0.0.1:9/"}, "has moved"),
    (400, "<html>", {}, "status 400"),
    (502, "<html>", {}, "GitHub failed"),
    (200, "not json", {}, "a body that is not JSON"),
    (200, {"message": "?"}, {}, "not an issue"),
    (200, [1], {}, "not an issue"),
    (400, {"message": f"strange header: Bearer {TOKEN}"}, {}, "Bearer \\*\\*\\*"),
]


@pytest.mark.parametrize(("status", "body", "headers", "message"), FAILURES)
def test_github_error_response_raises_tool_error_without_the_github_token(
    call: Call,
    serve: Any,
    configure_github: Any,
    reply: Any,
    caplog: pytest.LogCaptureFixture,
    status: int,
    body: Any,
    headers: dict[str, str],
    message: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    server = serve(lambda _: reply(status, body, headers))
    configure_github(server.url)
    with pytest.raises(ToolError, match=message) as raised:
        call("github_issue", action="view", issue_id="1")
    assert TOKEN not in str(raised.value)
    assert TOKEN not in caplog.text
    # No retry, and no redirect followed.
    assert len(server.requests) == 1


def test_unreachable_github_api_raises_tool_error_that_names_github_api_url(
    call: Call, configure_github: Any
) -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        configure_github(f"http://127.0.0.1:{bound.getsockname()[1]}")
        with pytest.raises(ToolError, match=r"unreachable.*GITHUB_API_URL"):
            call("github_issue", action="list")


def test_github_connection_closed_without_a_response_raises_tool_error(
    call: Call, configure_github: Any
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        configure_github(f"http://127.0.0.1:{listener.getsockname()[1]}")
        thread = threading.Thread(target=lambda: listener.accept()[0].close())
        thread.start()
        with pytest.raises(ToolError, match="connection to GitHub failed"):
            call("github_issue", action="list")
        thread.join()


def test_github_response_after_the_timeout_raises_tool_error(
    call: Call,
    serve: Any,
    configure_github: Any,
    reply: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timed_out = threading.Event()

    def respond_after_the_timeout(_: Any) -> Any:
        timed_out.wait(60)
        return reply(200, [])

    monkeypatch.setattr("examples.kirishima.github_api.RESPONSE_TIMEOUT_S", 0.1)
    configure_github(serve(respond_after_the_timeout).url)
    with pytest.raises(ToolError, match="did not respond in time"):
        call("github_issue", action="list")
    timed_out.set()


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("GITHUB_REPOSITORY", "", "GITHUB_REPOSITORY is unset"),
        ("GITHUB_REPOSITORY", "kirishima", "must be owner/name"),
        ("GITHUB_REPOSITORY", "robin/..", "must be owner/name"),
        ("GITHUB_REPOSITORY", "robin/a/b", "must be owner/name"),
        ("GITHUB_REPOSITORY", "robin/a?b", "must be owner/name"),
        ("GITHUB_API_URL", "api.github.com", "must begin with http"),
        ("GITHUB_API_URL", "http://github:api", "not a URL"),
        ("GITHUB_TOKEN", f"{TOKEN}\nX-Other: 1", "invalid characters"),
    ],
)
def test_invalid_github_environment_variable_raises_tool_error_before_any_request(
    call: Call,
    server: Any,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
    message: str,
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(ToolError, match=message) as raised:
        call("github_issue", action="list")
    assert TOKEN not in str(raised.value)
    assert server.requests == []


@pytest.mark.parametrize("text", [" ", "half \ud800 character"])
def test_github_issue_rejects_blank_or_unencodable_text_before_any_request(
    call: Call, server: Any, text: str
) -> None:
    with pytest.raises(ToolError, match="`comment_body`"):
        call("github_issue", action="comment", issue_id="1", comment_body=text)
    with pytest.raises(ToolError, match="`body`"):
        call("github_issue", action="create", title="x", body=text)
    assert server.requests == []
