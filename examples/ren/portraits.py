"""Handlers of portraits of people, each with a forming and a trusted layer."""

from __future__ import annotations

from typing import Any, Literal

from sqlalchemy import insert, select, update
from sqlalchemy.exc import IntegrityError

from toolcast_runtime import ToolError

from .agent_loop import ask_ren
from .arguments import clean_text, now
from .main_tables import portrait_signals, portraits
from .pools import main_pool

__all__ = [
    "add_portrait_signal",
    "read_all_portraits",
    "read_portrait",
    "write_portrait",
]

Person = Literal["scott", "ted", "ren"]
Layer = Literal["forming", "trusted"]
PEOPLE: tuple[Person, ...] = ("scott", "ted", "ren")


def read_portrait(*, person: Person, layer: Layer) -> dict[str, Any]:
    """Return a layer of a portrait; an unwritten layer is empty.

    Raises:
        ToolError: the database fails.
    """
    with main_pool() as connection:
        row = connection.execute(
            select(portraits).where(
                portraits.c.person == person, portraits.c.layer == layer
            )
        ).one_or_none()
    return {
        "person": person,
        "layer": layer,
        "content": "" if row is None else row.content,
        "updated_at": None if row is None else row.updated_at,
    }


def write_portrait(*, person: Person, layer: Layer, content: str) -> dict[str, Any]:
    """Replace a layer of a portrait; return its previous text.

    Raises:
        ToolError: the text is blank, or the database fails.
    """
    text = clean_text(content, "content")
    moment = now()
    conditions = (portraits.c.person == person, portraits.c.layer == layer)
    values = {"content": text, "updated_at": moment}
    try:
        with main_pool(write=True) as connection:
            old = connection.execute(
                select(portraits.c.content).where(*conditions).with_for_update()
            ).scalar_one_or_none()
            if old is None:
                connection.execute(
                    insert(portraits).values(person=person, layer=layer, **values)
                )
            else:
                connection.execute(update(portraits).where(*conditions).values(values))
    except IntegrityError as error:
        raise ToolError("Another call has just written it. Try again.") from error
    return {
        "person": person,
        "layer": layer,
        "former_content": old or "",
        "updated_at": moment,
    }


def add_portrait_signal(*, person: Person, signal: str) -> dict[str, Any]:
    """Store an observation and send it to Ren.

    Raises:
        ToolError: the text is blank, or Letta or the database fails. The observation is
            stored even if Letta fails.
    """
    text = clean_text(signal, "signal")
    with main_pool(write=True) as connection:
        number = connection.execute(
            insert(portrait_signals)
            .values(person=person, signal=text, created_at=now())
            .returning(portrait_signals.c.id)
        ).scalar_one()
    answer = ask_ren(
        f"New observation about {person}:\n{text}\n"
        "Does it change the forming layer of the portrait? Answer in one sentence."
    )
    return {"signal_id": number, "reply": answer.text}


def read_all_portraits() -> dict[str, Any]:
    """Return all layers of all portraits.

    Raises:
        ToolError: the database fails.
    """
    with main_pool() as connection:
        rows = connection.execute(select(portraits)).all()
    texts = {(row.person, row.layer): row.content for row in rows}
    return {
        "portraits": [
            {
                "person": person,
                "forming": texts.get((person, "forming"), ""),
                "trusted": texts.get((person, "trusted"), ""),
            }
            for person in PEOPLE
        ]
    }
