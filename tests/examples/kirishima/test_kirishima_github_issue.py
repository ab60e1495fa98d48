"""Issues, against a server that speaks GitHub's REST API."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from generated._runtime.tool_response import ToolError

Call = Callable[..., Any]
TOKEN = "ghp_secretSecretSecret0123456789"
REPOSITORY = "/repos/robin/kirishima"


def person(login: str) -> dict[str, Any]:
    return {"login": login, "id": len(login), "type": "User"}


@dataclass
class FakeGitHub:
    """Issues in memory, behind the paths and the shapes of the real API."""

    reply: Any
    url: str = ""
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    def add(self, title: str, **more: Any) -> int:
        number = len(self.issues) + 1
        stamp = f"2026-03-01T10:{number // 60:02}:{number % 60:02}Z"
        self.issues[number] = {
            "id": 9000 + number,
            "number": number,
            "title": title,
            "state": "open",
            "state_reason": None,
            "body": None,
            "html_url": f"https://github.com/robin/kirishima/issues/{number}",
            "user": person("robin"),
            "labels": [],
            "assignees": [],
            "comments": 0,
            "created_at": stamp,
            "updated_at": stamp,
            **more,
        }
        return number

    def __call__(self, request: Any) -> Any:
        path = request.path.removeprefix(REPOSITORY)
        if path == request.path:
            return self.missing()
        if path == "/issues":
            return self.create(request) if request.body else self.listing(request)
        _, _, number, *tail = path.split("/")
        issue = self.issues.get(int(number))
        if issue is None:
            return self.missing()
        if tail == ["comments"]:
            return self.comment(request, issue)
        if request.method == "PATCH":
            issue.update(request.body)
        return self.reply(200, issue)

    def missing(self) -> Any:
        return self.reply(404, {"message": "Not Found", "status": "404"})

    def create(self, request: Any) -> Any:
        labels = [{"id": 1, "name": name} for name in request.body.get("labels", [])]
        people = [person(login) for login in request.body.get("assignees", [])]
        made = {"body": request.body.get("body"), "labels": labels, "assignees": people}
        number = self.add(request.body["title"], **made)
        return self.reply(201, self.issues[number])

    def listing(self, request: Any) -> Any:
        state = request.query.get("state", "open")
        wanted = set(filter(None, request.query.get("labels", "").split(",")))
        found = [
            issue
            for issue in reversed(self.issues.values())
            if state in ("all", issue["state"])
            and wanted <= {label["name"] for label in issue["labels"]}
        ]
        return self.page(request, found)

    def comment(self, request: Any, issue: dict[str, Any]) -> Any:
        written = self.comments.setdefault(issue["number"], [])
        if request.method == "GET":
            return self.page(request, written)
        written.append(
            {
                "id": 500 + len(written),
                "user": person("robin"),
                "body": request.body["body"],
                "created_at": "2026-03-02T10:00:00Z",
                "updated_at": "2026-03-02T10:00:00Z",
                "html_url": f"{issue['html_url']}#issuecomment-{500 + len(written)}",
            }
        )
        issue["comments"] += 1
        return self.reply(201, written[-1])

    def page(self, request: Any, items: list[Any]) -> Any:
        size, number = int(request.query["per_page"]), int(request.query["page"])
        assert 1 <= size <= 100
        rest = items[(number - 1) * size :]
        link = f'<{self.url}{request.path}?page={number + 1}>; rel="next"'
        headers = {"Link": link} if len(rest) > size else {}
        return self.reply(200, rest[:size], headers)


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def configure(url: str) -> None:
        monkeypatch.setenv("GITHUB_API_URL", url)
        monkeypatch.setenv("GITHUB_TOKEN", TOKEN)
        monkeypatch.setenv("GITHUB_REPOSITORY", "robin/kirishima")

    return configure


@pytest.fixture
def github(reply: Any) -> FakeGitHub:
    return FakeGitHub(reply)


@pytest.fixture
def server(serve: Any, github: FakeGitHub, configured: Any) -> Any:
    running = serve(github)
    github.url = running.url
    configured(running.url)
    return running


def test_an_issue_is_created_seen_discussed_and_closed(call: Call, server: Any) -> None:
    made = call(
        "github_issue",
        action="create",
        title=" It breaks ",
        body="How to *reproduce*",
        labels=["bug"],
        assignees=["noor"],
        options={"milestone": 3},
    )["issues"][0]
    sent = server.requests[-1]
    assert (sent.method, sent.path) == ("POST", f"{REPOSITORY}/issues")
    assert sent.body == {
        "title": "It breaks",
        "body": "How to *reproduce*",
        "labels": ["bug"],
        "assignees": ["noor"],
        "milestone": 3,
    }
    assert sent.headers["authorization"] == f"Bearer {TOKEN}"
    assert sent.headers["accept"] == "application/vnd.github+json"
    assert sent.headers["x-github-api-version"] == "2022-11-28"
    assert sent.headers["user-agent"]
    assert made["number"] == 1
    assert made["url"] == "https://github.com/robin/kirishima/issues/1"
    assert (made["author"], made["labels"]) == ("robin", ["bug"])

    seen = call("github_issue", action="view", issue_id="#1")["issues"][0]
    assert server.requests[-1].path == f"{REPOSITORY}/issues/1"
    assert seen["body"] == "How to *reproduce*"

    written = call(
        "github_issue", action="comment", issue_id="1", comment_body="On it."
    )
    sent = server.requests[-1]
    assert (sent.method, sent.path) == ("POST", f"{REPOSITORY}/issues/1/comments")
    assert sent.body == {"body": "On it."}
    assert written["comments"][0]["body"] == "On it."
    again = call("github_issue", action="list_comments", issue_id="1")
    assert again["comments"] == written["comments"]
    assert again["more"] is False

    closed = call("github_issue", action="close", issue_id="1")["issues"][0]
    sent = server.requests[-1]
    assert (sent.method, sent.path) == ("PATCH", f"{REPOSITORY}/issues/1")
    assert sent.body == {"state": "closed", "state_reason": "completed"}
    assert closed["state"] == "closed"
    assert call("github_issue", action="list")["issues"] == []


def test_what_the_caller_leaves_out_is_not_sent(call: Call, server: Any) -> None:
    call("github_issue", action="create", title="Short")
    assert server.requests[-1].body == {"title": "Short"}
    call(
        "github_issue",
        action="close",
        issue_id="1",
        options={"state_reason": "not_planned"},
    )
    assert server.requests[-1].body["state_reason"] == "not_planned"


def test_lists_have_filters_and_no_texts(
    call: Call, server: Any, github: FakeGitHub
) -> None:
    github.add("old", state="closed", labels=["bug"], body="long")
    github.issues[1]["labels"] = [{"name": "bug"}, {"name": "help wanted"}]
    github.add("other")
    answer = call(
        "github_issue",
        action="list",
        labels=["bug", "help wanted"],
        options={
            "state": "all",
            "since": "2026-03-01T12:00+02:00",
            "sort": "updated",
            "direction": "asc",
            "assignee": "none",
            "creator": "robin",
        },
    )
    assert server.requests[-1].query == {
        "labels": "bug,help wanted",
        "state": "all",
        "since": "2026-03-01T10:00:00Z",
        "sort": "updated",
        "direction": "asc",
        "assignee": "none",
        "creator": "robin",
        "per_page": "30",
        "page": "1",
    }
    assert [issue["title"] for issue in answer["issues"]] == ["old"]
    assert "body" not in answer["issues"][0]


def test_lists_leave_pull_requests_out_and_read_on(
    call: Call, server: Any, github: FakeGitHub
) -> None:
    for number in range(70):
        more = {"pull_request": {"url": "x"}} if number % 7 else {}
        github.add(f"item {number}", **more)
    answer = call("github_issue", action="list", options={"limit": 10})
    assert len(answer["issues"]) == 10
    assert answer["more"] is False
    assert [request.query["page"] for request in server.requests] == ["1", "2", "3"]
    fewer = call("github_issue", action="list", options={"limit": 3})
    assert [issue["number"] for issue in fewer["issues"]] == [64, 57, 50]
    assert fewer["more"] is True


def test_reading_on_is_bounded(call: Call, server: Any, github: FakeGitHub) -> None:
    for number in range(200):
        github.add(f"change {number}", pull_request={"url": "x"})
    answer = call("github_issue", action="list")
    assert (answer["issues"], answer["more"]) == ([], True)
    assert len(server.requests) == 5


def test_comments_are_limited_too(call: Call, server: Any, github: FakeGitHub) -> None:
    github.add("talk")
    for number in range(3):
        call("github_issue", action="comment", issue_id="1", comment_body=f"{number}")
    some = call(
        "github_issue",
        action="list_comments",
        issue_id="1",
        options={"limit": 2, "since": "2026-01-01"},
    )
    assert [comment["body"] for comment in some["comments"]] == ["0", "1"]
    assert some["more"] is True
    assert server.requests[-1].query["since"] == "2026-01-01T00:00:00Z"


def test_ghosts_and_bare_labels_are_shown(
    call: Call, server: Any, github: FakeGitHub
) -> None:
    github.add("orphan", user=None, labels=["bare"])
    issue = call("github_issue", action="view", issue_id="1")["issues"][0]
    assert (issue["author"], issue["labels"]) == (None, ["bare"])
    assert server.requests


@pytest.mark.parametrize(
    ("action", "options", "words"),
    [
        ("list", {"milestone": 1}, "`options` of `list` has no milestone"),
        ("close", {"limit": 1}, "it reads: state_reason"),
    ],
)
def test_options_of_other_actions_are_refused(
    call: Call, server: Any, action: str, options: Any, words: str
) -> None:
    issue = {"issue_id": "1"} if action == "close" else {}
    with pytest.raises(ToolError, match=words):
        call("github_issue", action=action, options=options, **issue)
    assert server.requests == []


def test_reading_works_without_a_token(
    call: Call, server: Any, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    github.add("public")
    assert len(call("github_issue", action="list")["issues"]) == 1
    assert "authorization" not in server.requests[-1].headers
    with pytest.raises(ToolError, match="GITHUB_TOKEN is unset"):
        call("github_issue", action="create", title="x")
    assert len(server.requests) == 1


def test_the_api_may_live_below_a_path(
    call: Call, serve: Any, configured: Any, reply: Any
) -> None:
    server = serve(lambda _: reply(200, []))
    configured(f"{server.url}/api/v3/")
    call("github_issue", action="list")
    assert server.requests[-1].path == f"/api/v3{REPOSITORY}/issues"


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

    monkeypatch.setattr("examples.kirishima.github_api.ANSWER_SECONDS", 0.1)
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
