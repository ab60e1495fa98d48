"""The clinic's servers with the official SDK's client, in all protocol versions."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import mcp_types as types
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests.http.serving import run_server
from tests.platform.clinic_runs import MONDAY, PATIENT, PNG, Clinic

Mode = Literal["auto", "legacy"]
SLOW = pytest.mark.slow
EACH_TRANSPORT_AND_MODE = pytest.mark.parametrize(
    ("transport", "mode"),
    [
        ("stdio", "auto"),
        pytest.param("stdio", "legacy", marks=SLOW),
        pytest.param("http", "auto", marks=SLOW),
        pytest.param("http", "legacy", marks=SLOW),
    ],
)
LINGERS = ("http", "legacy")
STOPPED = "export stopped after 0 visits"


@dataclass
class AutomaticUser:
    """A user who accepts each question and fills in forms."""

    action: Literal["accept", "decline"] = "accept"
    asked: int = 0

    async def __call__(self, context: Any, params: Any) -> types.ElicitResult:
        self.asked += 1
        forms = {"approve": True, "insurance": "private"}
        wanted = params.requested_schema["properties"]
        return types.ElicitResult(
            action=self.action, content={name: forms[name] for name in wanted}
        )


@asynccontextmanager
async def connect_client(
    clinic: Clinic,
    toolset: str,
    transport: str,
    mode: Mode,
    person: AutomaticUser | None,
) -> AsyncIterator[Client]:
    """Connect the client `desk` to a toolset's server."""
    if transport == "stdio":
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", f"clinic_tools.{toolset}.mcp_server"],
            env={**os.environ, **clinic.environment},
            cwd=clinic.project,
        )
        async with Client(server, mode=mode, elicitation_callback=person) as client:
            yield client
        return
    package = f"clinic_tools.{toolset}"
    with run_server(
        package=package, root=clinic.project, env=clinic.environment
    ) as running:
        url = f"http://127.0.0.1:{running.port}/mcp/"
        async with Client(url, mode=mode, elicitation_callback=person) as client:
            yield client
        assert running.stop() == 0


def get_text(result: types.CallToolResult) -> str:
    first, *_ = result.content
    assert isinstance(first, types.TextContent), first
    return first.text


@EACH_TRANSPORT_AND_MODE
def test_mcp_sdk_client_uses_tools_resources_and_prompts_over_each_transport(
    clinic: Clinic, transport: str, mode: Mode
) -> None:
    """In each protocol version, with confirmations that the user answers."""
    person = AutomaticUser()
    asyncio.run(run_reception_day(clinic, transport, mode, person))
    assert clinic.events == ["opened", "closed, 0 in use"]
    assert clinic.cents_left() == 3000
    assert person.asked == 3


async def run_reception_day(
    clinic: Clinic, transport: str, mode: Mode, person: AutomaticUser
) -> None:
    async with connect_client(clinic, "reception", transport, mode, person) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert len(names) == 7 and "refund_visit" in names

        async def call(tool: str, **arguments: object) -> types.CallToolResult:
            return await client.call_tool(tool, arguments)

        born = {"name": "Grace", "birthday": "1986-12-09"}
        registered = await call("register_patient", **born)
        assert registered.structured_content is not None
        assert registered.structured_content["insurance"] == "private"
        whose = registered.structured_content["patient_id"]
        start = f"{MONDAY}T10:30:00+01:00"
        booked = await call("book_visit", patient_id=whose, start=start, minutes=45)
        visit = {"visit_id": 2, "start": start, "ends": f"{MONDAY}T11:15:00+01:00"}
        assert booked.structured_content == visit
        refused = await call("book_visit", patient_id=whose, start=MONDAY)
        assert refused.is_error and "date-time" in get_text(refused)
        refused = await call("book_visit", patient_id=whose, start=start, db="mine")
        assert "`db` is not a parameter" in get_text(refused)
        price = {"cents": 12_000, "currency": "EUR"}
        charged = await call("charge_visit", visit_id=2, price=price)
        assert get_text(charged) == "Visit 2 costs 120.00 EUR."
        amount = {"cents": 5_000, "currency": "EUR"}
        back = await call("refund_visit", visit_id=1, amount=amount)
        cancelled = await call("cancel_visit", visit_id=2, notify=False)
        left = {"cents": 3_000, "currency": "EUR"}
        assert back.structured_content == {"refunded": amount, "left": left}
        assert get_text(cancelled) == "Visit 2 is cancelled."
        approved = ("register_patient", "refund_visit", "cancel_visit")
        assert clinic.approvals == [(tool, "accept") for tool in approved]
        found = await call("search_visits", day=MONDAY)
        visits = json.loads(get_text(found))
        statuses = [(visit["visit_id"], visit["status"]) for visit in visits]
        assert statuses == [(1, "booked"), (2, "cancelled")]
        await read_resources_and_prompts(client)


async def read_resources_and_prompts(client: Client) -> None:
    hours = (await client.read_resource("clinic://hours")).contents[0]
    assert isinstance(hours, types.TextResourceContents)
    assert hours.text == "Monday to Friday, 8:00 to 17:00."
    plan = (await client.read_resource(f"clinic://plans/{MONDAY}")).contents[0]
    assert isinstance(plan, types.TextResourceContents)
    assert plan.text == f"day,open,visits\n{MONDAY},yes,2\n"
    arguments = {"visit_id": "2", "tone": "warm"}
    prompt = await client.get_prompt("remind_patient", arguments)
    content = prompt.messages[0].content
    assert isinstance(content, types.TextContent)
    assert content.text == "Write a warm reminder of visit 2."
    named = types.PromptReference(type="ref/prompt", name="remind_patient")
    completed = await client.complete(named, {"name": "tone", "value": "w"})
    assert completed.completion.values == ["warm"]


@pytest.mark.slow
@EACH_TRANSPORT_AND_MODE
def test_mcp_sdk_client_receives_images_progress_and_links_and_cancels_a_call(
    clinic: Clinic, transport: str, mode: Mode
) -> None:
    slow = replace(clinic, pace=0.05)

    async def run() -> None:
        async with connect_client(slow, "records", transport, mode, None) as client:
            data = base64.b64encode(PNG).decode()
            arguments = {"patient_id": str(PATIENT), "name": "hand.png", "data": data}
            shown = await client.call_tool("upload_scan", arguments)
            assert get_text(shown) == f"Picture 1 of Ada: hand.png, {len(PNG)} bytes."
            picture = shown.content[1]
            assert isinstance(picture, types.ImageContent)
            assert (picture.data, picture.mime_type) == (data, "image/png")
            wrong = await client.call_tool("upload_scan", {**arguments, "data": "AAAA"})
            assert wrong.is_error and get_text(wrong) == "This is no PNG."
            reports: list[tuple[float, float | None, str | None]] = []

            async def progress(done: float, total: float | None, what: Any) -> None:
                reports.append((done, total, what))

            days = {"first": MONDAY, "last": "2026-11-25"}
            table = await client.call_tool(
                "export_visits", days, progress_callback=progress
            )
            assert get_text(table) == "1 visits of 3 days."
            # Of reports in quick succession, only the latest is sent.
            assert reports[-1] == (3, 3, "2026-11-25")
            link = table.content[1]
            assert isinstance(link, types.ResourceLink)
            assert link.name == "visits-2026-11-23-2026-11-25.csv"
            kept = (await client.read_resource(str(link.uri))).contents[0]
            assert isinstance(kept, types.TextResourceContents)
            assert kept.text.splitlines()[1] == f"1,{MONDAY}T09:00:00+00:00,15,booked"
            begun = asyncio.Event()

            async def set_begun(*report: object) -> None:
                begun.set()

            year = {"first": "2026-01-01", "last": "2026-12-31"}
            call = asyncio.create_task(
                client.call_tool("export_visits", year, progress_callback=set_begun)
            )
            await asyncio.wait_for(begun.wait(), 30)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            # In legacy mode, the SDK keeps the HTTP request open until it disconnects.
            while STOPPED not in clinic.events and (transport, mode) != LINGERS:
                await asyncio.sleep(0.02)

    asyncio.run(asyncio.wait_for(run(), 60))
    begun_calls = ["export begun", "export begun", STOPPED]
    assert clinic.events == ["opened", *begun_calls, "closed, 0 in use"]
