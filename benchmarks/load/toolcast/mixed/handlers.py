"""Toolcast handlers of the mixed tools."""

from __future__ import annotations

import work

from toolcast_runtime import ToolError


def get_visit(*, visit_id: int) -> str:
    return work.get_visit(visit_id)


async def find_visits(*, day: str, limit: int = 20) -> list[dict[str, object]]:
    return await work.find_visits(day, limit)


async def wait_for_room(*, room: str) -> str:
    return await work.wait_for_room(room)


def print_label(*, visit_id: int) -> str:
    return work.print_label(visit_id)


def add_note(*, visit_id: int, text: str) -> str:
    return work.add_note(visit_id, text)


def export_visits(*, days: int) -> str:
    return work.export_visits(days)


def cancel_visit(*, visit_id: int) -> str:
    try:
        return work.cancel_visit(visit_id)
    except work.NoSuchVisitError as error:
        raise ToolError(str(error)) from None


def delete_visits(*, sure: bool) -> str:
    raise AssertionError("the client of the load may not call this")
