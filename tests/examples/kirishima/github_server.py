"""Fake of GitHub's REST API for issues, with state."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TOKEN = "ghp_secretSecretSecret0123456789"
REPOSITORY = "/repos/robin/kirishima"


def build_user(login: str) -> dict[str, Any]:
    return {"login": login, "id": len(login), "type": "User"}


@dataclass
class FakeGitHub:
    """Issues in memory, with the paths and responses of the real API."""

    reply: Any
    url: str = ""
    issues: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, list[dict[str, Any]]] = field(default_factory=dict)

    def add_issue(self, title: str, **fields: Any) -> int:
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
            "user": build_user("robin"),
            "labels": [],
            "assignees": [],
            "comments": 0,
            "created_at": stamp,
            "updated_at": stamp,
            **fields,
        }
        return number

    def __call__(self, request: Any) -> Any:
        path = request.path.removeprefix(REPOSITORY)
        if path == request.path:
            return self.not_found()
        if path == "/issues":
            answer = self.create_issue if request.body else self.list_issues
            return answer(request)
        _, _, number, *tail = path.split("/")
        issue = self.issues.get(int(number))
        if issue is None:
            return self.not_found()
        if tail == ["comments"]:
            return self.handle_comments(request, issue)
        if request.method == "PATCH":
            issue.update(request.body)
        return self.reply(200, issue)

    def not_found(self) -> Any:
        return self.reply(404, {"message": "Not Found", "status": "404"})

    def create_issue(self, request: Any) -> Any:
        labels = [{"id": 1, "name": name} for name in request.body.get("labels", [])]
        assignees = [build_user(login) for login in request.body.get("assignees", [])]
        body = request.body.get("body")
        fields = {"body": body, "labels": labels, "assignees": assignees}
        number = self.add_issue(request.body["title"], **fields)
        return self.reply(201, self.issues[number])

    def list_issues(self, request: Any) -> Any:
        state = request.query.get("state", "open")
        labels_filter = set(filter(None, request.query.get("labels", "").split(",")))
        matching = [
            issue
            for issue in reversed(self.issues.values())
            if state in ("all", issue["state"])
            and labels_filter <= {label["name"] for label in issue["labels"]}
        ]
        return self.get_page(request, matching)

    def handle_comments(self, request: Any, issue: dict[str, Any]) -> Any:
        comments = self.comments.setdefault(issue["number"], [])
        if request.method == "GET":
            return self.get_page(request, comments)
        number, stamp = 500 + len(comments), "2026-03-02T10:00:00Z"
        comment = {"id": number, "user": build_user("robin"), **request.body}
        comment |= {"created_at": stamp, "updated_at": stamp}
        comment["html_url"] = f"{issue['html_url']}#issuecomment-{number}"
        comments.append(comment)
        issue["comments"] += 1
        return self.reply(201, comments[-1])

    def get_page(self, request: Any, items: list[Any]) -> Any:
        page_size, number = int(request.query["per_page"]), int(request.query["page"])
        assert 1 <= page_size <= 100
        remaining = items[(number - 1) * page_size :]
        link = f'<{self.url}{request.path}?page={number + 1}>; rel="next"'
        headers = {"Link": link} if len(remaining) > page_size else {}
        return self.reply(200, remaining[:page_size], headers)
