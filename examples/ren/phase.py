"""The project's phases, their gates and artifacts."""

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

# In their order, each with the artifacts that it asks for.
GATES: dict[str, tuple[str, ...]] = {
    "discover": (),
    "tech_context": ("discovery_brief",),
    "shape": ("discovery_brief", "tech_context"),
    "prd_to_plan": ("shape_document",),
    "build_slice_1": ("prd", "plan"),
    "build_next": ("slice_1_accepted",),
    "deploy": ("release_checklist",),
}
_ORDER = tuple(GATES)


def get_project_state() -> dict[str, Any]:
    """Where the project is.

    Raises:
        ToolError: the database fails.
    """
    with main_pool() as connection:
        phase = _phase(connection)
        history = connection.execute(
            select(project_phases).order_by(project_phases.c.id)
        ).all()
        artifacts = connection.execute(
            select(phase_artifacts).order_by(
                phase_artifacts.c.recorded_at, phase_artifacts.c.artifact_key
            )
        ).all()
        following = _following(phase)
        missing = [] if following is None else _missing(connection, following)
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
        "next_phase": following,
        "missing": missing,
    }


def check_phase_gate(*, target_phase: Phase) -> dict[str, Any]:
    """Whether a phase may be entered.

    Raises:
        ToolError: the database fails.
    """
    with main_pool() as connection:
        is_next = _following(_phase(connection)) == target_phase
        missing = _missing(connection, target_phase)
    return {
        "target_phase": target_phase,
        "is_open": is_next and not missing,
        "is_next": is_next,
        "missing": missing,
    }


def advance_phase(*, target_phase: Phase) -> dict[str, Any]:
    """Enters the next phase.

    Raises:
        ToolError: it does not come next, an artifact is missing, or the database fails.
    """
    moment = now()
    try:
        with main_pool(write=True) as connection:
            former = _phase(connection)
            following = _following(former)
            if following != target_phase:
                after = "nothing" if following is None else f"`{following}`"
                raise ToolError(
                    f"`{target_phase}` does not come next: the project is in "
                    f"`{former}`, and {after} comes next."
                )
            missing = _missing(connection, target_phase)
            if missing:
                raise ToolError(
                    f"`{target_phase}` asks for artifacts that are not recorded: "
                    f"{', '.join(missing)}."
                )
            connection.execute(
                insert(project_phases).values(phase=target_phase, entered_at=moment)
            )
    except IntegrityError as error:
        raise ToolError("Somebody else has just entered this phase.") from error
    return {"phase": target_phase, "former_phase": former, "entered_at": moment}


def record_artifact(*, artifact_key: str, description: str) -> dict[str, Any]:
    """Records an artifact, in the place of one with the same key.

    Raises:
        ToolError: a text is blank, or the database fails.
    """
    key = clean_text(artifact_key, "artifact_key")
    text = clean_text(description, "description")
    artifacts = phase_artifacts
    try:
        with main_pool(write=True) as connection:
            phase = _phase(connection)
            values = {"description": text, "phase": phase, "recorded_at": now()}
            changed = connection.execute(
                update(artifacts).where(artifacts.c.artifact_key == key).values(values)
            )
            is_new = changed.rowcount == 0
            if is_new:
                connection.execute(insert(artifacts).values(artifact_key=key, **values))
    except IntegrityError as error:
        raise ToolError("Somebody else has just recorded it. Try again.") from error
    return {"artifact_key": key, "phase": phase, "replaced": not is_new}


def _phase(connection: Connection) -> str:
    row = connection.execute(
        select(project_phases.c.phase).order_by(project_phases.c.id.desc()).limit(1)
    ).one_or_none()
    return _ORDER[0] if row is None else str(row.phase)


def _following(phase: str) -> str | None:
    place = _ORDER.index(phase) + 1
    return _ORDER[place] if place < len(_ORDER) else None


def _missing(connection: Connection, phase: str) -> list[str]:
    asked = GATES[phase]
    rows = connection.execute(
        select(phase_artifacts.c.artifact_key).where(
            phase_artifacts.c.artifact_key.in_(asked)
        )
    )
    there = set(rows.scalars())
    return [key for key in asked if key not in there]
