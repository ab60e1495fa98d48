"""Actions of github_issue against a fake of GitHub's REST API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.examples.kirishima.github_server import REPOSITORY, TOKEN, FakeGitHub
from toolcast_runtime import ToolError

Call = Callable[..., Any]


def test_github_issue_creates_views_comments_on_and_closes_an_issue(
    call: Call, server: Any
) -> None:
    created = call(
        "github_issue",
        action="create",
        title=" It breaks ",
        body="How to *reproduce*",
        labels=["bug"],
        assignees=["noor"],
        options={"milestone": 3},
    )["issues"][0]
    request = server.requests[-1]
    assert (request.method, request.path) == ("POST", f"{REPOSITORY}/issues")
    assert request.body == {
        "title": "It breaks",
        "body": "How to *reproduce*",
        "labels": ["bug"],
        "assignees": ["noor"],
        "milestone": 3,
    }
    assert request.headers["authorization"] == f"Bearer {TOKEN}"
    assert request.headers["accept"] == "application/vnd.github+json"
    assert request.headers["x-github-api-version"] == "2022-11-28"
    assert request.headers["user-agent"]
    assert created["number"] == 1
    assert created["url"] == "https://github.com/robin/kirishima/issues/1"
    assert (created["author"], created["labels"]) == ("robin", ["bug"])

    viewed = call("github_issue", action="view", issue_id="#1")["issues"][0]
    assert server.requests[-1].path == f"{REPOSITORY}/issues/1"
    assert viewed["body"] == "How to *reproduce*"

    commented = call(
        "github_issue", action="comment", issue_id="1", comment_body="On it."
    )
    request = server.requests[-1]
    assert (request.method, request.path) == ("POST", f"{REPOSITORY}/issues/1/comments")
    assert request.body == {"body": "On it."}
    assert commented["comments"][0]["body"] == "On it."
    listed = call("github_issue", action="list_comments", issue_id="1")
    assert listed["comments"] == commented["comments"]
    assert listed["more"] is False

    closed = call("github_issue", action="close", issue_id="1")["issues"][0]
    request = server.requests[-1]
    assert (request.method, request.path) == ("PATCH", f"{REPOSITORY}/issues/1")
    assert request.body == {"state": "closed", "state_reason": "completed"}
    assert closed["state"] == "closed"
    assert call("github_issue", action="list")["issues"] == []


def test_github_issue_omits_fields_of_omitted_arguments(
    call: Call, server: Any
) -> None:
    call("github_issue", action="create", title="Short")
    assert server.requests[-1].body == {"title": "Short"}
    options = {"state_reason": "not_planned"}
    call("github_issue", action="close", issue_id="1", options=options)
    assert server.requests[-1].body["state_reason"] == "not_planned"


def test_github_issue_list_sends_filters_and_returns_issues_without_bodies(
    call: Call, server: Any, github: FakeGitHub
) -> None:
    github.add_issue("old", state="closed", labels=["bug"], body="long")
    github.issues[1]["labels"] = [{"name": "bug"}, {"name": "help wanted"}]
    github.add_issue("other")
    filters = {"state": "all", "sort": "updated", "direction": "asc"}
    filters |= {"assignee": "none", "creator": "robin"}
    options = {**filters, "since": "2026-03-01T12:00+02:00"}
    labels = ["bug", "help wanted"]
    result = call("github_issue", action="list", labels=labels, options=options)
    expected = {"labels": "bug,help wanted", "since": "2026-03-01T10:00:00Z"}
    page = {"per_page": "30", "page": "1"}
    assert server.requests[-1].query == {**filters, **expected, **page}
    assert [issue["title"] for issue in result["issues"]] == ["old"]
    assert "body" not in result["issues"][0]


def test_github_issue_list_skips_pull_requests_and_reads_more_pages_up_to_the_limit(
    call: Call, server: Any, github: FakeGitHub
) -> None:
    for number in range(70):
        extra_fields = {"pull_request": {"url": "x"}} if number % 7 else {}
        github.add_issue(f"item {number}", **extra_fields)
    result = call("github_issue", action="list", options={"limit": 10})
    assert len(result["issues"]) == 10
    assert result["more"] is False
    assert [request.query["page"] for request in server.requests] == ["1", "2", "3"]
    limited = call("github_issue", action="list", options={"limit": 3})
    assert [issue["number"] for issue in limited["issues"]] == [64, 57, 50]
    assert limited["more"] is True


def test_github_list_reads_at_most_5_pages(
    call: Call, server: Any, github: FakeGitHub
) -> None:
    for number in range(200):
        github.add_issue(f"change {number}", pull_request={"url": "x"})
    result = call("github_issue", action="list")
    assert (result["issues"], result["more"]) == ([], True)
    assert len(server.requests) == 5


def test_github_issue_list_comments_applies_limit_and_since(
    call: Call, server: Any, github: FakeGitHub
) -> None:
    github.add_issue("talk")
    for number in range(3):
        call("github_issue", action="comment", issue_id="1", comment_body=f"{number}")
    options = {"limit": 2, "since": "2026-01-01"}
    comments = call(
        "github_issue", action="list_comments", issue_id="1", options=options
    )
    assert [comment["body"] for comment in comments["comments"]] == ["0", "1"]
    assert comments["more"] is True
    assert server.requests[-1].query["since"] == "2026-01-01T00:00:00Z"


def test_github_issue_returns_a_null_author_for_deleted_users_and_accepts_string_labels(
    call: Call, server: Any, github: FakeGitHub
) -> None:
    github.add_issue("orphan", user=None, labels=["bare"])
    issue = call("github_issue", action="view", issue_id="1")["issues"][0]
    assert (issue["author"], issue["labels"]) == (None, ["bare"])
    assert server.requests


@pytest.mark.parametrize(
    ("action", "options", "message"),
    [
        ("list", {"milestone": 1}, "`options` of `list` does not support milestone"),
        ("close", {"limit": 1}, "use state_reason"),
    ],
)
def test_github_issue_rejects_options_for_other_actions_before_any_request(
    call: Call, server: Any, action: str, options: Any, message: str
) -> None:
    issue = {"issue_id": "1"} if action == "close" else {}
    with pytest.raises(ToolError, match=message):
        call("github_issue", action=action, options=options, **issue)
    assert server.requests == []


def test_github_issue_lists_without_a_token_and_requires_one_for_create(
    call: Call, server: Any, github: FakeGitHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_TOKEN")
    github.add_issue("public")
    assert len(call("github_issue", action="list")["issues"]) == 1
    assert "authorization" not in server.requests[-1].headers
    with pytest.raises(ToolError, match="GITHUB_TOKEN is unset"):
        call("github_issue", action="create", title="x")
    assert len(server.requests) == 1


def test_github_api_url_path_precedes_the_request_paths(
    call: Call, serve: Any, configure_github: Any, reply: Any
) -> None:
    server = serve(lambda _: reply(200, []))
    configure_github(f"{server.url}/api/v3/")
    call("github_issue", action="list")
    assert server.requests[-1].path == f"/api/v3{REPOSITORY}/issues"
