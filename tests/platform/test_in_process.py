"""Calls of the clinic's tools in this process."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from importlib import import_module
from uuid import UUID

import pytest

from tests.platform.clinic_runs import MONDAY, PATIENT, Clinic
from toolcast_runtime import Registry, ToolError


async def test_two_registries_share_one_database_pool_that_is_closed_with_them(
    clinic: Clinic, reception: Registry, records: Registry
) -> None:
    async with reception, records:
        found = await reception.call_tool("search_visits", {"day": MONDAY}, "desk")
        assert found.error is None
        assert [visit["patient"] for visit in found.result] == ["Ada"]
        arguments = {"patient_id": str(PATIENT), "text": "Rest.", "follow_up": "P14D"}
        noted = await records.call_tool("add_note", arguments, "desk")
        assert noted.result is not None and noted.result.startswith("Noted for Ada")
        # Both registries use the same pool.
        assert clinic.events == ["opened"]
        if "postgresql" in clinic.url:
            assert clinic.connections > 0
    assert clinic.events == ["opened", "closed, 0 in use"]
    if "postgresql" in clinic.url:
        clinic.wait_for(lambda: clinic.connections == 0)


async def test_generated_typed_call_function_passes_a_dataclass_to_the_handler(
    clinic: Clinic, records: Registry
) -> None:
    add_note = import_module("clinic_tools.records.tools.add_note")
    async with records:
        arguments = {"text": "Rest.", "follow_up": "P2W"}
        noted = await add_note.call("desk", patient_id=str(PATIENT), **arguments)
        assert noted == "Noted for Ada, to be looked at in 14 days."
        with pytest.raises(ToolError, match="There is no patient"):
            await add_note.call("desk", patient_id=str(UUID(int=1)), text="Rest.")
        with pytest.raises(ToolError, match="without years and months"):
            arguments["follow_up"] = "P1Y"
            await add_note.call("desk", patient_id=str(PATIENT), **arguments)


def test_handler_in_a_thread_stops_after_its_call_is_cancelled_and_the_registry_is_closed(
    clinic: Clinic, records: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in replace(clinic, pace=0.05).environment.items():
        monkeypatch.setenv(name, value)

    async def run() -> None:
        async with records:
            year = {"first": "2026-01-01", "last": "2026-12-31"}
            call = asyncio.create_task(records.call_tool("export_visits", year, "desk"))
            await asyncio.to_thread(
                clinic.wait_for, lambda: "export begun" in clinic.events
            )
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            # The export is stopped only when the registry is closed.

    asyncio.run(run())
    stopped = ["export begun", "export stopped after 0 visits"]
    assert clinic.events == ["opened", *stopped, "closed, 0 in use"]
