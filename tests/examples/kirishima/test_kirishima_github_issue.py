"""Issues, against a server that speaks GitHub's REST API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.examples.kirishima.github_server import REPOSITORY, TOKEN, FakeGitHub
from toolcast_runtime import ToolError

Call = Callable[..., Any]


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
