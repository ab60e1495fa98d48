"""A stateful server that speaks GitHub's REST API, as far as issues go."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
