"""The `github_issue` tool: the issues of one GitHub repository."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from toolcast_runtime import ToolError

from .arguments import clean_text, needed
from .github_api import Repository, open_repository
from .github_shapes import comment_json, is_issue, issue_json, listed_json
from .moments import parse_moment

__all__ = ["github_issue"]

Action = Literal["create", "list", "view", "comment", "close", "list_comments"]
READERS = ("list", "view", "list_comments")
OPTIONS: Mapping[str, tuple[str, ...]] = {
    "create": ("milestone",),
    "list": ("state", "assignee", "creator", "since", "sort", "direction", "limit"),
    "close": ("state_reason",),
    "list_comments": ("since", "limit"),
}
DEFAULT_LIMIT = 30
SMALLEST_PAGE = 30  # smaller ones would be emptied by the pull requests among them
MOST_PAGES = 5


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

    Answers with the issues and comments concerned and whether a list goes on.

    Raises:
        ToolError: the configuration is missing, an option does not belong to the
            action, or GitHub refuses or cannot be reached. It never holds the token.
    """
    chosen = _checked_options(action, options or {})
    async with open_repository(write=action not in READERS) as repository:
        if action == "list":
            query = _query(chosen, _cleaned(labels, "labels"))
            found, more = await _collect(
                repository, "/issues", query, _limit(chosen), is_issue
            )
            return _answer(action, issues=map(listed_json, found), more=more)
        if action == "create":
            content = {
                "title": clean_text(needed(title, "title"), "title"),
                "body": body and clean_text(body, "body"),
                "assignees": _cleaned(assignees, "assignees"),
                "labels": _cleaned(labels, "labels"),
                "milestone": chosen.get("milestone"),
            }
            sent = {key: value for key, value in content.items() if value is not None}
            made = await repository.post("/issues", sent)
            return _answer(action, issues=[issue_json(made)])

        path = f"/issues/{_number(needed(issue_id, 'issue_id'))}"
        if action == "view":
            return _answer(action, issues=[issue_json(await repository.get(path))])
        if action == "comment":
            words = clean_text(needed(comment_body, "comment_body"), "comment_body")
            made = await repository.post(f"{path}/comments", {"body": words})
            return _answer(action, comments=[comment_json(made)])
        if action == "close":
            reason = chosen.get("state_reason", "completed")
            closed = await repository.patch(
                path, {"state": "closed", "state_reason": reason}
            )
            return _answer(action, issues=[issue_json(closed)])
        found, more = await _collect(
            repository, f"{path}/comments", _query(chosen), _limit(chosen)
        )
        return _answer(action, comments=map(comment_json, found), more=more)


def _checked_options(action: Action, options: Mapping[str, Any]) -> Mapping[str, Any]:
    known = OPTIONS.get(action, ())
    strange = sorted(set(options) - set(known))
    if strange:
        allowed = ", ".join(known) or "none"
        raise ToolError(
            f"`options` of `{action}` has no {', '.join(strange)}; it reads: {allowed}."
        )
    return options


def _query(
    options: Mapping[str, Any], labels: Sequence[str] | None = None
) -> dict[str, str]:
    """The options as GitHub's query parameters."""
    query = {key: str(value) for key, value in options.items() if key != "limit"}
    if "since" in query:
        since = parse_moment(query["since"], "options.since")
        query["since"] = since.to_instant().format_iso(unit="second")
    if labels:
        query["labels"] = ",".join(labels)
    return query


def _limit(options: Mapping[str, Any]) -> int:
    return int(options.get("limit", DEFAULT_LIMIT))


def _cleaned(values: Sequence[str] | None, parameter: str) -> list[str] | None:
    if values is None:
        return None
    return [clean_text(value, parameter) for value in values]


def _number(issue_id: str) -> int:
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
    """The first items worth keeping, and whether there may be more."""
    size = max(limit, SMALLEST_PAGE)
    found: list[Any] = []
    for number in range(1, MOST_PAGES + 1):
        items, more = await repository.page(tail, query, number=number, size=size)
        found += filter(keep, items)
        if len(found) >= limit or not more:
            break
    return found[:limit], more or len(found) > limit


def _answer(
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
