"""Handlers of a project's phases and their required artifacts."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update
from sqlalchemy.exc import IntegrityError

from toolcast_runtime import ToolError

from .arguments import clean_text, now
from .main_tables import phase_artifacts, project_phases
from .pools import main_pool

__all__ = ["advance_phase", "check_phase_gate", "get_project_state", "record_artifact"]

Phase = Literal[
    "discover",
    "tech_context",
    "shape",
    "prd_to_plan",
    "build_slice_1",
    "build_next",
    "deploy",
]

# Phases in order, each with the artifacts that it requires.
REQUIRED_ARTIFACTS: dict[str, tuple[str, ...]] = {
    "discover": (),
    "tech_context": ("discovery_brief",),
    "shape": ("discovery_brief", "tech_context"),
    "prd_to_plan": ("shape_document",),
    "build_slice_1": ("prd", "plan"),
    "build_next": ("slice_1_accepted",),
    "deploy": ("release_checklist",),
}
_ORDER = tuple(REQUIRED_ARTIFACTS)


def get_project_state() -> dict[str, Any]:
    """Return the current phase, its history, the artifacts and the next phase.

    Raises:
        ToolError: the database fails.
    """
    with main_pool() as connection:
        phase = _get_phase(connection)
        history = connection.execute(
            select(project_phases).order_by(project_phases.c.id)
        ).all()
        artifacts = connection.execute(
            select(phase_artifacts).order_by(
                phase_artifacts.c.recorded_at, phase_artifacts.c.artifact_key
            )
        ).all()
        next_phase = _get_next_phase(phase)
        missing = (
            []
            if next_phase is None
            else _list_missing_artifacts(connection, next_phase)
        )
    return {
        "phase": phase,
        "history": [
            {"phase": row.phase, "entered_at": row.entered_at} for row in history
        ],
        "artifacts": [
            {
                "artifact_key": row.artifact_key,
                "description": row.description,
                "phase": row.phase,
                "recorded_at": row.recorded_at,
            }
            for row in artifacts
        ],
        "next_phase": next_phase,
        "missing": missing,
    }


def check_phase_gate(*, target_phase: Phase) -> dict[str, Any]:
    """Return whether a phase can be entered, and which artifacts are missing.

    Raises:
        ToolError: the database fails.
    """
    with main_pool() as connection:
        is_next = _get_next_phase(_get_phase(connection)) == target_phase
        missing = _list_missing_artifacts(connection, target_phase)
    return {
        "target_phase": target_phase,
        "is_open": is_next and not missing,
        "is_next": is_next,
        "missing": missing,
    }


def advance_phase(*, target_phase: Phase) -> dict[str, Any]:
    """Enter the next phase.

    Raises:
        ToolError: the phase is not the next one, an artifact is missing, or the
            database fails.
    """
    moment = now()
    try:
        with main_pool(write=True) as connection:
            previous = _get_phase(connection)
            next_phase = _get_next_phase(previous)
            if next_phase != target_phase:
                following = "no phase" if next_phase is None else f"`{next_phase}`"
                raise ToolError(
                    f"`{target_phase}` is not the next phase: the project is in "
                    f"`{previous}`, and {following} comes next."
                )
            missing = _list_missing_artifacts(connection, target_phase)
            if missing:
                raise ToolError(
                    f"`{target_phase}` requires artifacts that are not recorded: "
                    f"{', '.join(missing)}."
                )
            connection.execute(
                insert(project_phases).values(phase=target_phase, entered_at=moment)
            )
    except IntegrityError as error:
        raise ToolError("Another call has just entered this phase.") from error
    return {"phase": target_phase, "former_phase": previous, "entered_at": moment}


def record_artifact(*, artifact_key: str, description: str) -> dict[str, Any]:
    """Record an artifact, or replace the one with the same key.

    Raises:
        ToolError: a text is blank, or the database fails.
    """
    key = clean_text(artifact_key, "artifact_key")
    text = clean_text(description, "description")
    artifacts = phase_artifacts
    try:
        with main_pool(write=True) as connection:
            phase = _get_phase(connection)
            values = {"description": text, "phase": phase, "recorded_at": now()}
            changed = connection.execute(
                update(artifacts).where(artifacts.c.artifact_key == key).values(values)
            )
            is_new = changed.rowcount == 0
            if is_new:
                connection.execute(insert(artifacts).values(artifact_key=key, **values))
    except IntegrityError as error:
        raise ToolError("Another call has just recorded it. Try again.") from error
    return {"artifact_key": key, "phase": phase, "replaced": not is_new}


def _get_phase(connection: Connection) -> str:
    row = connection.execute(
        select(project_phases.c.phase).order_by(project_phases.c.id.desc()).limit(1)
    ).one_or_none()
    return _ORDER[0] if row is None else str(row.phase)


def _get_next_phase(phase: str) -> str | None:
    index = _ORDER.index(phase) + 1
    return _ORDER[index] if index < len(_ORDER) else None


def _list_missing_artifacts(connection: Connection, phase: str) -> list[str]:
    required = REQUIRED_ARTIFACTS[phase]
    rows = connection.execute(
        select(phase_artifacts.c.artifact_key).where(
            phase_artifacts.c.artifact_key.in_(required)
        )
    )
    recorded = set(rows.scalars())
    return [key for key in required if key not in recorded]
