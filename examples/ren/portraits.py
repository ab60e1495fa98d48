"""Portraits of people, in a forming and a trusted layer."""

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
    """One layer; empty when it is unwritten.

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
    """Replaces a layer; the answer has its old text.

    Raises:
        ToolError: the text is blank, or the database fails.
    """
    text = clean_text(content, "content")
    moment = now()
    is_meant = (portraits.c.person == person, portraits.c.layer == layer)
    values = {"content": text, "updated_at": moment}
    try:
        with main_pool(write=True) as connection:
            old = connection.execute(
                select(portraits.c.content).where(*is_meant).with_for_update()
            ).scalar_one_or_none()
            if old is None:
                connection.execute(
                    insert(portraits).values(person=person, layer=layer, **values)
                )
            else:
                connection.execute(update(portraits).where(*is_meant).values(values))
    except IntegrityError as error:
        raise ToolError("Somebody else has just written it. Try again.") from error
    return {
        "person": person,
        "layer": layer,
        "former_content": old or "",
        "updated_at": moment,
    }


def add_portrait_signal(*, person: Person, signal: str) -> dict[str, Any]:
    """Keeps an observation and tells Ren.

    Raises:
        ToolError: the text is blank, or Letta or the database fails; the observation is
            kept when Letta fails.
    """
    text = clean_text(signal, "signal")
    with main_pool(write=True) as connection:
        number = connection.execute(
            insert(portrait_signals)
            .values(person=person, signal=text, created_at=now())
            .returning(portrait_signals.c.id)
        ).scalar_one()
    answer = ask_ren(
        f"Somebody observed about {person}:\n{text}\n"
        "Does it change the forming layer of the portrait? Say so in a sentence."
    )
    return {"signal_id": number, "reply": answer.text}


def read_all_portraits() -> dict[str, Any]:
    """Every layer of every portrait.

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
