"""Changes of the texts of a tool that models read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...facts.costs.client_kinds import Limited
from ...model.model import ToolSpec
from ...wording import dotted
from ..change import Both, Change, raw
from ..json_values import said
from .text_change import Owner, TextSides, naming_changes, text_changes

__all__ = ["compare"]


def compare(both: Both) -> Iterator[Change]:
    """The changes of every text of a tool beside its schemas'."""
    owner = Owner(
        both.files,
        (both.toolset_before, both.toolset_after),
        (both.workspace_before, both.workspace_after),
        (both.before, both.after),
    )
    for text in _texts(both):
        yield from text_changes(text, owner)
    # How the texts of schemas were edited is told with their schemas.
    for text in _schema_texts(both):
        yield from naming_changes(text, owner)


def _texts(both: Both) -> Iterator[TextSides]:
    before, after = both.before, both.after
    is_description = before.description is None and after.description is None
    limited = Limited.DESCRIPTION if is_description else None
    yield TextSides(("summary",), "the summary", before.summary, after.summary, limited)
    if not is_description:
        yield TextSides(
            ("description",),
            "the description",
            before.model_description,
            after.model_description,
            Limited.DESCRIPTION,
            (raw(before, "description"), raw(after, "description")),
        )
    for field in ("when_to_use", "guidance"):
        old, new = getattr(before, field), getattr(after, field)
        yield TextSides((field,), f"`{field}`", old, new)
    yield from _actions(before, after)
    if before.cli is not None and after.cli is not None:
        comments = before.cli.comment, after.cli.comment
        # Without a comment the summary stands there, whose changes are its own.
        if comments != (None, None) and before.cli.keyword and after.cli.keyword:
            yield TextSides(
                ("cli", "comment"),
                "the comment in the CLI block",
                before.summary if comments[0] is None else comments[0],
                after.summary if comments[1] is None else comments[1],
                is_caption=True,
            )
    if before.deprecated is not None and after.deprecated is not None:
        old, new = (
            side.get("reason") for side in (before.deprecated, after.deprecated)
        )
        path = ("deprecated", "reason")
        yield TextSides(path, "the reason of the deprecation", old, new)


def _schema_texts(both: Both) -> Iterator[TextSides]:
    """The descriptions in a tool's schemas that differ."""
    for field in ("parameters", "returns"):
        if getattr(both.before, field) == getattr(both.after, field):
            continue
        old, new = (
            {} if schema is None else schema.subschemas
            for schema in (
                both.before.schemas.get(field),
                both.after.schemas.get(field),
            )
        )
        for path in dict.fromkeys((*new, *old)):
            before, after = (_description(side.get(path)) for side in (old, new))
            if before != after:
                where = (field, *path, "description")
                subject = f"the description at {said(dotted((field, *path)))}"
                yield TextSides(where, subject, before, after)


def _description(schema: Mapping[str, Any] | None) -> str | None:
    text = schema.get("description") if schema is not None else None
    return text if isinstance(text, str) else None


def _actions(before: ToolSpec, after: ToolSpec) -> Iterator[TextSides]:
    """The summaries of the actions that both sides have."""
    if before.actions is None or after.actions is None:
        return
    known = {action.name: action for action in before.actions.values}
    for action in after.actions.values:
        old = known.get(action.name)
        if old is not None:
            path = ("actions", "values", action.name, "summary")
            subject = f"the summary of the action `{action.name}`"
            yield TextSides(path, subject, old.summary, action.summary)
