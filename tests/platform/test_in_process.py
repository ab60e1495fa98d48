"""The clinic's tools in a script, an application and an agent."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from importlib import import_module
from typing import Any
from uuid import UUID

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from tests.langchain.test_langchain_agent import ScriptedModel, tool_calls
from tests.platform.clinic_runs import MONDAY, PATIENT, Clinic
from toolcast_runtime import Registry, ToolError

START = f"{MONDAY}T10:30:00+01:00"
REFUND: dict[str, Any] = {"visit_id": 1, "amount": {"cents": 5_000, "currency": "EUR"}}


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


def test_langgraph_agent_is_interrupted_for_a_confirmation_and_the_call_runs_after_resume(
    clinic: Clinic, reception: Registry
) -> None:
    tools = import_module("clinic_tools.reception.langchain_tools")
    booking = ("book_visit", {"patient_id": str(PATIENT), "start": START})
    messages = [
        tool_calls(booking),
        tool_calls(("refund_visit", REFUND)),
        AIMessage("done"),
    ]
    agent = create_agent(
        ScriptedModel(messages=iter(messages), disable_streaming=True),
        tools.get_langchain_tools("desk"),
        checkpointer=InMemorySaver(),
    )
    thread: Any = {"configurable": {"thread_id": "1"}}
    state = agent.invoke({"messages": [HumanMessage("go")]}, thread)
    (stopped,) = state["__interrupt__"]
    assert stopped.value["message"].startswith("Pay this back to the patient?")
    assert clinic.cents_left() == 8_000
    answer = {
        "question": stopped.value["question"],
        "action": "accept",
        "content": {"approve": True},
    }
    state = agent.invoke(Command(resume=answer), thread)
    read = [m.content for m in state["messages"] if isinstance(m, ToolMessage)]
    assert '"visit_id":2' in read[0].replace(" ", "")
    assert '"left"' in read[1] and clinic.cents_left() == 3_000
    asyncio.run(reception.close())
    assert clinic.events == ["opened", "closed, 0 in use"]


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
    assert clinic.events == [
        "opened",
        "export begun",
        "export stopped after 0 visits",
        "closed, 0 in use",
    ]
