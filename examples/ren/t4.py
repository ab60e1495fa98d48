"""Entries of projects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from toolcast_runtime import ToolError

from .arguments import clean_text, now, optional_text, row_number
from .confirmations import check_confirmed, offer, redeem
from .main_tables import t4_entries
from .pools import main_pool
from .searching import count_of_words

__all__ = [
    "append_t4_entry",
    "delete_t4_entry",
    "get_t4_entry",
    "search_t4",
    "write_t4_entry",
]

EntryType = Literal[
    "phase",
    "deliverable",
    "slice",
    "discovery_brief",
    "brainstorm",
    "tech_context",
    "data_mapping",
    "design_identity",
    "as_is_map",
    "to_be_map",
    "sprint_screen",
    "research_gaps",
    "deferred_decisions",
    "handoff",
    "decisions_log",
    "current_phase",
    "metrics",
    "retro",
]


def write_t4_entry(
    *,
    project_slug: str,
    entry_type: EntryType,
    content: str | None = None,
    entry_id: str | None = None,
    parent_id: str | None = None,
    plain_language: str | None = None,
    technical_description: str | None = None,
    status: str | None = None,
    acceptance_criteria: Sequence[str] | None = None,
    anchor_design: str | None = None,
    anchor_data: str | None = None,
    anchor_done: str | None = None,
    anchor_process: str | None = None,
    done_criteria: Sequence[str] | None = None,
    quality_contract: str | None = None,
    dependencies: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Writes an entry, or replaces the one of an id.

    Raises:
        ToolError: the content is blank, there is no such entry or parent, or the
            database fails.
    """
    given: dict[str, str | Sequence[str] | None] = {
        "parent_id": parent_id,
        "plain_language": plain_language,
        "technical_description": technical_description,
        "status": status,
        "acceptance_criteria": acceptance_criteria,
        "anchor_design": anchor_design,
        "anchor_data": anchor_data,
        "anchor_done": anchor_done,
        "anchor_process": anchor_process,
        "done_criteria": done_criteria,
        "quality_contract": quality_contract,
        "dependencies": dependencies,
    }
    values = {
        "content": clean_text(content or "", "content"),
        "details": {k: _clean(v, k) for k, v in given.items() if v is not None},
        "updated_at": now(),
    }
    with main_pool(write=True) as connection:
        if parent_id is not None:
            _check_parent(connection, project_slug, parent_id)
        if entry_id is None:
            number = connection.execute(
                insert(t4_entries)
                .values(
                    project_slug=project_slug,
                    entry_type=entry_type,
                    created_at=values["updated_at"],
                    **values,
                )
                .returning(t4_entries.c.id)
            ).scalar_one()
        else:
            number = _existing(connection, project_slug, entry_type, entry_id).id
            connection.execute(
                update(t4_entries).where(t4_entries.c.id == number).values(values)
            )
    return {
        "project_slug": project_slug,
        "entry_type": entry_type,
        "entry_id": str(number),
        "replaced": entry_id is not None,
        "updated_at": values["updated_at"],
    }


def get_t4_entry(
    *, project_slug: str, entry_type: str, entry_id: str | None = None
) -> dict[str, Any]:
    """One entry, or all of a type.

    Raises:
        ToolError: there is no such entry, or the database fails.
    """
    with main_pool() as connection:
        if entry_id is not None:
            rows = [_existing(connection, project_slug, entry_type, entry_id)]
        else:
            rows = _of_type(connection, project_slug, entry_type)
    return {"entries": [_entry(row) for row in rows]}


def search_t4(
    *,
    project_slug: str,
    query: str,
    entry_type: str | None = None,
    limit: int = 10,
) -> dict[str, Any]:
    """The entries that have most of the words.

    Raises:
        ToolError: the query is blank, or the database fails.
    """
    matched = count_of_words(t4_entries.c.content, query).label("matched")
    wanted = select(t4_entries, matched).where(
        t4_entries.c.project_slug == optional_text(project_slug, "project_slug"),
        matched > 0,
    )
    if entry_type is not None:
        wanted = wanted.where(
            t4_entries.c.entry_type == optional_text(entry_type, "entry_type")
        )
    ordered = wanted.order_by(
        matched.desc(), t4_entries.c.updated_at.desc(), t4_entries.c.id.desc()
    )
    with main_pool() as connection:
        rows = connection.execute(ordered.limit(int(limit))).all()
    return {
        "entries": [
            {
                "entry_id": str(row.id),
                "entry_type": row.entry_type,
                "content": row.content,
                "matched": row.matched,
                "updated_at": row.updated_at,
            }
            for row in rows
        ]
    }


def delete_t4_entry(
    *,
    project_slug: str,
    entry_type: str,
    entry_id: str | None = None,
    confirmed: bool = False,
    confirmation: str | None = None,
) -> dict[str, Any]:
    """Shows which entries would go and offers a confirmation; with one, deletes them.

    Raises:
        ToolError: there is no such entry, the confirmation is not good, or the database
            fails.
    """
    check_confirmed(confirmed, confirmation)
    with main_pool(write=True) as connection:
        if entry_id is not None:
            rows = [_existing(connection, project_slug, entry_type, entry_id)]
        else:
            rows = _of_type(connection, project_slug, entry_type)
        if not rows:
            raise ToolError(
                f"The project `{project_slug}` has no entry of the type `{entry_type}`."
            )
        numbers = [row.id for row in rows]
        subject = f"t4 entries {numbers}"
        state = [_entry(row) for row in rows]
        answer = {"entry_ids": [str(number) for number in numbers]}
        if not confirmed:
            offered = offer(connection, subject, state)
            return {
                "deleted": False,
                **answer,
                "confirmation": offered.confirmation,
                "expires_at": offered.expires_at,
            }
        redeem(connection, confirmation, subject, state)
        connection.execute(delete(t4_entries).where(t4_entries.c.id.in_(numbers)))
    return {"deleted": True, **answer, "confirmation": None, "expires_at": None}


def append_t4_entry(
    *, project_slug: str, entry_type: str, entry_id: str, content: str
) -> dict[str, Any]:
    """Appends a paragraph.

    Raises:
        ToolError: the text is blank, there is no such entry, or the database fails.
    """
    text = clean_text(content, "content")
    moment = now()
    with main_pool(write=True) as connection:
        row = _existing(connection, project_slug, entry_type, entry_id)
        # In the database, so that two that append at once both stay.
        new = connection.execute(
            update(t4_entries)
            .where(t4_entries.c.id == row.id)
            .values(content=t4_entries.c.content + f"\n\n{text}", updated_at=moment)
            .returning(t4_entries.c.content)
        ).scalar_one()
    return {"entry_id": str(row.id), "characters": len(new), "updated_at": moment}


def _of_type(
    connection: Connection, project_slug: str, entry_type: str
) -> list[Row[Any]]:
    wanted = select(t4_entries).where(*_is_meant(project_slug, entry_type))
    return list(connection.execute(wanted.order_by(t4_entries.c.id.desc())))


def _existing(
    connection: Connection, project_slug: str, entry_type: str, entry_id: str
) -> Row[Any]:
    row = connection.execute(
        select(t4_entries).where(
            *_is_meant(project_slug, entry_type),
            t4_entries.c.id == row_number(entry_id),
        )
    ).one_or_none()
    if row is None:
        raise ToolError(
            f"The project `{project_slug}` has no entry {entry_id} of the type "
            f"`{entry_type}`."
        )
    return row


def _is_meant(project_slug: str, entry_type: str) -> tuple[ColumnElement[bool], ...]:
    return (
        t4_entries.c.project_slug == optional_text(project_slug, "project_slug"),
        t4_entries.c.entry_type == optional_text(entry_type, "entry_type"),
    )


def _check_parent(connection: Connection, project_slug: str, parent_id: str) -> None:
    found = connection.execute(
        select(t4_entries.c.id).where(
            t4_entries.c.project_slug == project_slug,
            t4_entries.c.id == row_number(parent_id),
        )
    ).one_or_none()
    if found is None:
        raise ToolError(
            f"The project `{project_slug}` has no entry {parent_id} to be the parent."
        )


def _clean(value: str | Sequence[str], parameter: str) -> str | list[str]:
    if isinstance(value, str):
        return optional_text(value, parameter)
    return [optional_text(one, parameter) for one in value]


def _entry(row: Row[Any]) -> dict[str, Any]:
    return {
        "entry_id": str(row.id),
        "project_slug": row.project_slug,
        "entry_type": row.entry_type,
        "content": row.content,
        **row.details,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
