"""A tool is announced to go: by which day, and what to use instead."""

from __future__ import annotations

import datetime
from typing import Any, NamedTuple

from ..model.model import Workspace
from .after_edit import specs_after
from .project_edit import Editing, Owned, ProjectEdit, Refusal

__all__ = ["Announcement", "deprecate"]

_MAY_FOLLOW = ("since", "renamed_from", "timeout", "handler", "name")
_KEYS = ("since", "removal", "replacement", "reason", "show")


class Announcement(NamedTuple):
    """What a deprecation says; None keeps what is there."""

    since: str | None = None
    removal: str | None = None
    replacement: str | None = None
    reason: str | None = None
    show: bool | None = None


def deprecate(workspace: Workspace, owned: Owned, told: Announcement) -> ProjectEdit:
    """Writes `deprecated` into a tool's spec, or changes what it says.

    Raises:
        Refusal: the day is none or lies before the announcement, or the replacement is
            not there.
        CannotEdit: the spec has a layout that is not edited.
    """
    tool = owned.tool
    today = datetime.date.today().isoformat()
    if told.removal is not None and told.removal <= today:
        raise Refusal(
            f"the removal has to be after today, {today}",
            f"`toolcast remove {tool.name} --now` removes it at once",
            is_usage=True,
        )
    if told.replacement == tool.name:
        raise Refusal(f"`{tool.name}` cannot replace itself", is_usage=True)
    editing = Editing()
    text = editing.text(tool.source)
    given: dict[str, Any] = {
        key: value for key, value in told._asdict().items() if value is not None
    }
    there: dict[str, Any] = dict(tool.deprecated or {})
    if not there:
        given.setdefault("since", today)
        ordered = {key: given[key] for key in _KEYS if key in given}
        before = next(key for key in _MAY_FOLLOW if key in tool.fields)
        text.insert_key((before,), "deprecated", ordered)
    else:
        if not given:
            raise Refusal(
                f"`{tool.name}` is deprecated already",
                "say what is to change: `--removal`, `--replacement`, `--reason`",
                is_usage=True,
            )
        last = next(reversed(there))
        for key, value in given.items():
            if key in there:
                text.set_value(("deprecated", key), value)
        for key in reversed(
            [key for key in _KEYS if key in given and key not in there]
        ):
            text.insert_key(("deprecated", last), key, given[key])
    files_before, files_after = editing.files()
    specs_after(workspace, files_after)
    removal = given.get("removal", there.get("removal"))
    until = f", to be removed on {removal}" if removal else ""
    steps = ["toolcast generate"]
    if removal is None:
        steps.insert(
            0,
            f"say by which day it goes: `toolcast deprecate {tool.name} --removal DATE`",
        )
    return ProjectEdit(
        f"`{tool.name}` is deprecated{until}",
        files_before,
        files_after,
        (),
        tuple(steps),
    )
