"""Handlers of skill documents."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, insert, select, update
from sqlalchemy.exc import IntegrityError

from toolcast_runtime import ToolError

from .arguments import clean_text, now
from .main_tables import skills
from .pools import main_pool

__all__ = ["get_skill", "list_skills", "write_skill"]


def get_skill(*, phase_slug: str) -> dict[str, Any]:
    """Return a document.

    Raises:
        ToolError: there is no such document, or the database fails.
    """
    slug = clean_text(phase_slug, "phase_slug")
    with main_pool() as connection:
        row = connection.execute(
            select(skills).where(skills.c.phase_slug == slug)
        ).one_or_none()
    if row is None:
        raise ToolError(f"There is no skill `{slug}`.")
    return {
        "phase_slug": row.phase_slug,
        "layer": row.layer,
        "content": row.content,
        "updated_at": row.updated_at,
    }


def write_skill(
    *, phase_slug: str, content: str, layer: str = "phase-active"
) -> dict[str, Any]:
    """Write a document, or replace the one with the same slug.

    Raises:
        ToolError: a text is blank, or the database fails.
    """
    slug = clean_text(phase_slug, "phase_slug")
    values = {
        "layer": clean_text(layer, "layer"),
        "content": clean_text(content, "content"),
        "updated_at": now(),
    }
    try:
        with main_pool(write=True) as connection:
            changed = connection.execute(
                update(skills).where(skills.c.phase_slug == slug).values(values)
            )
            is_new = changed.rowcount == 0
            if is_new:
                connection.execute(insert(skills).values(phase_slug=slug, **values))
    except IntegrityError as error:
        raise ToolError("Another call has just written it. Try again.") from error
    return {"phase_slug": slug, "layer": values["layer"], "replaced": not is_new}


def list_skills() -> dict[str, Any]:
    """Return all documents, without their content.

    Raises:
        ToolError: the database fails.
    """
    length = func.length(skills.c.content).label("characters")
    with main_pool() as connection:
        rows = connection.execute(
            select(
                skills.c.phase_slug, skills.c.layer, length, skills.c.updated_at
            ).order_by(skills.c.phase_slug)
        ).all()
    return {
        "skills": [
            {
                "phase_slug": row.phase_slug,
                "layer": row.layer,
                "characters": row.characters,
                "updated_at": row.updated_at,
            }
            for row in rows
        ]
    }
