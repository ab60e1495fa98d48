"""Conversion of GitHub's issues and comments into the tool's result."""

from __future__ import annotations

from typing import Any

from toolcast_runtime import ToolError

__all__ = ["format_comment", "is_issue", "format_issue", "format_listed_issue"]


def is_issue(item: Any) -> bool:
    """Return False for pull requests, which GitHub includes in lists of issues."""
    return isinstance(item, dict) and "pull_request" not in item


def format_issue(item: Any) -> dict[str, Any]:
    """Return an issue with its body.

    Raises:
        ToolError: the value is not an issue.
    """
    return {**format_listed_issue(item), "body": item.get("body")}


def format_listed_issue(item: Any) -> dict[str, Any]:
    """Return an issue without its body.

    Raises:
        ToolError: the value is not an issue.
    """
    try:
        return {
            "number": item["number"],
            "title": item["title"],
            "state": item["state"],
            "url": item["html_url"],
            "author": _get_login(item["user"]),
            "labels": [_get_label_name(label) for label in item["labels"]],
            "assignees": [user["login"] for user in item["assignees"]],
            "comments": item["comments"],
            "created_at": item["created_at"],
            "updated_at": item["updated_at"],
        }
    except (KeyError, TypeError) as error:
        raise ToolError("GitHub's response is not an issue.") from error


def format_comment(item: Any) -> dict[str, Any]:
    """Return a comment.

    Raises:
        ToolError: the value is not a comment.
    """
    try:
        return {
            "comment_id": item["id"],
            "author": _get_login(item["user"]),
            "body": item["body"],
            "created_at": item["created_at"],
            "url": item["html_url"],
        }
    except (KeyError, TypeError) as error:
        raise ToolError("GitHub's response is not a comment.") from error


def _get_login(user: Any) -> Any:
    """Return the login, or None for a deleted account."""
    return None if user is None else user["login"]


def _get_label_name(label: Any) -> Any:
    """Return the label's name; labels can be strings or objects."""
    return label if isinstance(label, str) else label["name"]
