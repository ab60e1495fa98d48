"""Handler of github_issue: the issues of a GitHub repository."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from toolcast_runtime import ToolError

from .arguments import clean_text, require
from .github_api import Repository, open_repository
from .github_shapes import format_comment, format_issue, format_listed_issue, is_issue
from .moments import parse_moment

__all__ = ["github_issue"]

Action = Literal["create", "list", "view", "comment", "close", "list_comments"]
READ_ACTIONS = ("list", "view", "list_comments")
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "create": ("milestone",),
    "list": ("state", "assignee", "creator", "since", "sort", "direction", "limit"),
    "close": ("state_reason",),
    "list_comments": ("since", "limit"),
}
DEFAULT_LIMIT = 30
# Pages also contain pull requests, so small pages could have no issues.
MIN_PAGE_SIZE = 30
MAX_PAGES = 5


async def github_issue(
    *,
    action: Action,
    issue_id: str | None = None,
    title: str | None = None,
    body: str | None = None,
    assignees: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    comment_body: str | None = None,
) -> dict[str, Any]:
    """Create, list, view, comment on or close issues of the configured repository.

    Return the affected issues or comments, and whether the list continues.

    Raises:
        ToolError: the configuration is incomplete, an option is not valid for the
            action, or the request to GitHub fails. The message never contains the
            token.
    """
    chosen = _validate_options(action, options or {})
    async with open_repository(write=action not in READ_ACTIONS) as repository:
        if action == "list":
            query = _build_query(chosen, _clean_texts(labels, "labels"))
            found, more = await _collect(
                repository, "/issues", query, _get_limit(chosen), is_issue
            )
            return _build_result(
                action, issues=map(format_listed_issue, found), more=more
            )
        if action == "create":
            content = {
                "title": clean_text(require(title, "title"), "title"),
                "body": body and clean_text(body, "body"),
                "assignees": _clean_texts(assignees, "assignees"),
                "labels": _clean_texts(labels, "labels"),
                "milestone": chosen.get("milestone"),
            }
            body_fields = {
                key: value for key, value in content.items() if value is not None
            }
            created = await repository.post("/issues", body_fields)
            return _build_result(action, issues=[format_issue(created)])

        path = f"/issues/{_parse_number(require(issue_id, 'issue_id'))}"
        if action == "view":
            return _build_result(
                action, issues=[format_issue(await repository.get(path))]
            )
        if action == "comment":
            text = clean_text(require(comment_body, "comment_body"), "comment_body")
            created = await repository.post(f"{path}/comments", {"body": text})
            return _build_result(action, comments=[format_comment(created)])
        if action == "close":
            reason = chosen.get("state_reason", "completed")
            closed = await repository.patch(
                path, {"state": "closed", "state_reason": reason}
            )
            return _build_result(action, issues=[format_issue(closed)])
        found, more = await _collect(
            repository, f"{path}/comments", _build_query(chosen), _get_limit(chosen)
        )
        return _build_result(action, comments=map(format_comment, found), more=more)


def _validate_options(action: Action, options: Mapping[str, Any]) -> Mapping[str, Any]:
    supported = OPTIONS.get(action, ())
    unknown = sorted(set(options) - set(supported))
    if unknown:
        allowed = ", ".join(supported) or "none"
        raise ToolError(
            f"`options` of `{action}` does not support {', '.join(unknown)}; use "
            f"{allowed}."
        )
    return options


def _build_query(
    options: Mapping[str, Any], labels: Sequence[str] | None = None
) -> dict[str, str]:
    """Return the options as GitHub's query parameters."""
    query = {key: str(value) for key, value in options.items() if key != "limit"}
    if "since" in query:
        since = parse_moment(query["since"], "options.since")
        query["since"] = since.to_instant().format_iso(unit="second")
    if labels:
        query["labels"] = ",".join(labels)
    return query


def _get_limit(options: Mapping[str, Any]) -> int:
    return int(options.get("limit", DEFAULT_LIMIT))


def _clean_texts(values: Sequence[str] | None, parameter: str) -> list[str] | None:
    if values is None:
        return None
    return [clean_text(value, parameter) for value in values]


def _parse_number(issue_id: str) -> int:
    digits = issue_id.removeprefix("#")
    if not (digits.isascii() and digits.isdigit()):
        raise ToolError(f"`issue_id` must be an issue's number, not {issue_id!r}.")
    return int(digits)


async def _collect(
    repository: Repository,
    tail: str,
    query: Mapping[str, str],
    limit: int,
    keep: Callable[[Any], bool] = lambda _: True,
) -> tuple[list[Any], bool]:
    """Return up to `limit` items that `keep` accepts, and whether there may be more."""
    size = max(limit, MIN_PAGE_SIZE)
    found: list[Any] = []
    for number in range(1, MAX_PAGES + 1):
        items, more = await repository.get_page(tail, query, number=number, size=size)
        found += filter(keep, items)
        if len(found) >= limit or not more:
            break
    return found[:limit], more or len(found) > limit


def _build_result(
    action: Action,
    *,
    issues: Iterable[dict[str, Any]] = (),
    comments: Iterable[dict[str, Any]] = (),
    more: bool = False,
) -> dict[str, Any]:
    return {
        "action": action,
        "issues": list(issues),
        "comments": list(comments),
        "more": more,
    }
