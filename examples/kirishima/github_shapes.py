"""What the tool tells of GitHub's issues and comments."""

from __future__ import annotations

from typing import Any

from toolcast_runtime import ToolError

__all__ = ["comment_json", "is_issue", "issue_json", "listed_json"]


def is_issue(item: Any) -> bool:
    """False for pull requests, which GitHub lists among the issues."""
    return isinstance(item, dict) and "pull_request" not in item


def issue_json(item: Any) -> dict[str, Any]:
    """An issue with its text.

    Raises:
        ToolError: GitHub sent something else.
    """
    return {**listed_json(item), "body": item.get("body")}


def listed_json(item: Any) -> dict[str, Any]:
    """An issue without its text.

    Raises:
        ToolError: GitHub sent something else.
    """
    try:
        return {
            "number": item["number"],
            "title": item["title"],
            "state": item["state"],
            "url": item["html_url"],
            "author": _login(item["user"]),
            "labels": [_label(label) for label in item["labels"]],
            "assignees": [person["login"] for person in item["assignees"]],
            "comments": item["comments"],
            "created_at": item["created_at"],
            "updated_at": item["updated_at"],
        }
    except (KeyError, TypeError) as error:
        raise ToolError("GitHub answered with something that is no issue.") from error


def comment_json(item: Any) -> dict[str, Any]:
    """A comment.

    Raises:
        ToolError: GitHub sent something else.
    """
    try:
        return {
            "comment_id": item["id"],
            "author": _login(item["user"]),
            "body": item["body"],
            "created_at": item["created_at"],
            "url": item["html_url"],
        }
    except (KeyError, TypeError) as error:
        raise ToolError("GitHub answered with something that is no comment.") from error


def _login(user: Any) -> Any:
    """The login; None for an account that is gone."""
    return None if user is None else user["login"]


def _label(label: Any) -> Any:
    """The label's name; old issues may have bare names."""
    return label if isinstance(label, str) else label["name"]
