"""Images of patients."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import Engine, delete, func, insert, select

from toolcast_runtime import ToolError, ToolResponse, image, text

from .patients import known_patient
from .tables import SCANS

__all__ = ["delete_scan", "list_scans", "upload_scan"]


def upload_scan(
    *, patient_id: UUID, name: str, data: bytes, db: Engine
) -> ToolResponse:
    if not data.startswith(b"\x89PNG\r\n\x1a\n"):
        raise ToolError("This is no PNG.")
    with db.begin() as connection:
        patient = known_patient(connection, patient_id)
        row = insert(SCANS).values(patient_id=patient_id, name=name, data=data)
        number = connection.scalar(row.returning(SCANS.c.id))
    message = text(f"Picture {number} of {patient}: {name}, {len(data)} bytes.")
    return ToolResponse(content=[message, image(data, "image/png")])


def list_scans(*, patient_id: UUID, db: Engine) -> list[dict[str, object]]:
    rows = (
        select(SCANS.c.id, SCANS.c.name, func.length(SCANS.c.data).label("bytes"))
        .where(SCANS.c.patient_id == patient_id)
        .order_by(SCANS.c.id)
    )
    with db.connect() as connection:
        return [
            {"scan_id": row.id, "name": row.name, "bytes": row.bytes}
            for row in connection.execute(rows)
        ]


def delete_scan(*, scan_id: int, db: Engine) -> str:
    with db.begin() as connection:
        if not connection.execute(delete(SCANS).where(SCANS.c.id == scan_id)).rowcount:
            raise ToolError(f"There is no picture {scan_id}.")
    return f"Picture {scan_id} is deleted."
