"""Handlers of T4 entries: documents of a project."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from toolcast_runtime import ToolError

from .arguments import clean_optional_text, clean_text, now, parse_row_number
from .confirmations import (
    check_confirmation_arguments,
    create_confirmation,
    use_confirmation,
)
from .main_tables import t4_entries
from .pools import main_pool
from .searching import count_matching_words

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
    """Insert an entry, or replace the one with `entry_id`.

    Raises:
        ToolError: the content is blank, the entry or its parent does not exist, or the
            database fails.
    """
    details: dict[str, str | Sequence[str] | None] = {
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
        "details": {k: _clean_value(v, k) for k, v in details.items() if v is not None},
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
            number = _get_entry(connection, project_slug, entry_type, entry_id).id
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
    """Return an entry, or all entries of a type.

    Raises:
        ToolError: there is no such entry, or the database fails.
    """
    with main_pool() as connection:
        if entry_id is not None:
            rows = [_get_entry(connection, project_slug, entry_type, entry_id)]
        else:
            rows = _list_entries(connection, project_slug, entry_type)
    return {"entries": [_format_entry(row) for row in rows]}


def search_t4(
    *,
    project_slug: str,
    query: str,
    entry_type: str | None = None,
    limit: int = 10,
) -> dict[str, Any]:
    """Return the entries that contain the most words of the query.

    Raises:
        ToolError: the query is blank, or the database fails.
    """
    matched = count_matching_words(t4_entries.c.content, query).label("matched")
    statement = select(t4_entries, matched).where(
        t4_entries.c.project_slug == clean_optional_text(project_slug, "project_slug"),
        matched > 0,
    )
    if entry_type is not None:
        statement = statement.where(
            t4_entries.c.entry_type == clean_optional_text(entry_type, "entry_type")
        )
    ordered = statement.order_by(
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
    """Return the entries with a confirmation code; with the code, delete them.

    Raises:
        ToolError: there is no such entry, the code is not valid, or the database fails.
    """
    check_confirmation_arguments(confirmed, confirmation)
    with main_pool(write=True) as connection:
        if entry_id is not None:
            rows = [_get_entry(connection, project_slug, entry_type, entry_id)]
        else:
            rows = _list_entries(connection, project_slug, entry_type)
        if not rows:
            raise ToolError(
                f"The project `{project_slug}` has no entry of the type `{entry_type}`."
            )
        numbers = [row.id for row in rows]
        subject = f"t4 entries {numbers}"
        state = [_format_entry(row) for row in rows]
        answer = {"entry_ids": [str(number) for number in numbers]}
        if not confirmed:
            created = create_confirmation(connection, subject, state)
            return {
                "deleted": False,
                **answer,
                "confirmation": created.confirmation,
                "expires_at": created.expires_at,
            }
        use_confirmation(connection, confirmation, subject, state)
        connection.execute(delete(t4_entries).where(t4_entries.c.id.in_(numbers)))
    return {"deleted": True, **answer, "confirmation": None, "expires_at": None}


def append_t4_entry(
    *, project_slug: str, entry_type: str, entry_id: str, content: str
) -> dict[str, Any]:
    """Append a paragraph to an entry.

    Raises:
        ToolError: the text is blank, there is no such entry, or the database fails.
    """
    text = clean_text(content, "content")
    moment = now()
    with main_pool(write=True) as connection:
        row = _get_entry(connection, project_slug, entry_type, entry_id)
        # Append in the database, so that concurrent calls do not overwrite each other.
        new = connection.execute(
            update(t4_entries)
            .where(t4_entries.c.id == row.id)
            .values(content=t4_entries.c.content + f"\n\n{text}", updated_at=moment)
            .returning(t4_entries.c.content)
        ).scalar_one()
    return {"entry_id": str(row.id), "characters": len(new), "updated_at": moment}


def _list_entries(
    connection: Connection, project_slug: str, entry_type: str
) -> list[Row[Any]]:
    statement = select(t4_entries).where(*_build_conditions(project_slug, entry_type))
    return list(connection.execute(statement.order_by(t4_entries.c.id.desc())))


def _get_entry(
    connection: Connection, project_slug: str, entry_type: str, entry_id: str
) -> Row[Any]:
    row = connection.execute(
        select(t4_entries).where(
            *_build_conditions(project_slug, entry_type),
            t4_entries.c.id == parse_row_number(entry_id),
        )
    ).one_or_none()
    if row is None:
        raise ToolError(
            f"The project `{project_slug}` has no entry {entry_id} of the type "
            f"`{entry_type}`."
        )
    return row


def _build_conditions(
    project_slug: str, entry_type: str
) -> tuple[ColumnElement[bool], ...]:
    return (
        t4_entries.c.project_slug == clean_optional_text(project_slug, "project_slug"),
        t4_entries.c.entry_type == clean_optional_text(entry_type, "entry_type"),
    )


def _check_parent(connection: Connection, project_slug: str, parent_id: str) -> None:
    found = connection.execute(
        select(t4_entries.c.id).where(
            t4_entries.c.project_slug == project_slug,
            t4_entries.c.id == parse_row_number(parent_id),
        )
    ).one_or_none()
    if found is None:
        raise ToolError(
            f"The project `{project_slug}` has no entry {parent_id} for `parent_id`."
        )


def _clean_value(value: str | Sequence[str], parameter: str) -> str | list[str]:
    if isinstance(value, str):
        return clean_optional_text(value, parameter)
    return [clean_optional_text(item, parameter) for item in value]


def _format_entry(row: Row[Any]) -> dict[str, Any]:
    return {
        "entry_id": str(row.id),
        "project_slug": row.project_slug,
        "entry_type": row.entry_type,
        "content": row.content,
        **row.details,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
