"""Registration and look-up of patients."""

from __future__ import annotations

from datetime import date
from uuid import UUID, uuid4

from sqlalchemy import Connection, Engine, insert, select

from toolcast_runtime import ToolError, current_call

from .tables import PATIENTS

__all__ = ["known_patient", "register_patient"]

_INSURANCE = {
    "type": "object",
    "properties": {
        "insurance": {"type": "string", "enum": ["public", "private", "none"]}
    },
    "required": ["insurance"],
}


def known_patient(connection: Connection, patient_id: UUID) -> str:
    """Return the patient's name.

    Raises:
        ToolError: the patient does not exist.
    """
    name = connection.scalar(select(PATIENTS.c.name).where(PATIENTS.c.id == patient_id))
    if name is None:
        raise ToolError(f"There is no patient {patient_id}.")
    return str(name)


async def register_patient(
    *, name: str, birthday: date, db: Engine
) -> dict[str, object]:
    if birthday > date.today():
        raise ToolError("The birthday is still to come.")
    form = await current_call().ask(_INSURANCE, f"How is {name} insured?")
    number = uuid4()
    with db.begin() as connection:
        connection.execute(
            insert(PATIENTS).values(
                id=number,
                name=name,
                birthday=birthday.isoformat(),
                insurance=form["insurance"],
            )
        )
    return {"patient_id": number, "insurance": form["insurance"]}
