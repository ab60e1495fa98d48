"""The registry in a FastAPI application under uvicorn, next to MCP."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import httpx
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.platform.clinic_runs import MONDAY, PATIENT, Clinic
from tests.ports import find_free_port

TOKEN = "token-of-the-portal"
START = f"{MONDAY}T10:30:00+01:00"


@pytest.fixture(autouse=True)
def _set_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECEPTION_TOKEN_DESK", "token-of-the-desk")
    monkeypatch.setenv("RECEPTION_TOKEN_PORTAL", TOKEN)
    monkeypatch.setenv("RECEPTION_ALLOWED_HOSTS", "clinic.example")


def test_rest_routes_and_mcp_in_a_fastapi_application_share_a_database_pool_closed_at_exit(
    clinic: Clinic,
) -> None:
    port = find_free_port()
    process = clinic.start("uvicorn", "clinic_app:app", "--port", str(port))
    try:
        url = f"http://127.0.0.1:{port}"
        clinic.wait_for(lambda: clinic.events == ["opened"])
        transport = httpx.HTTPTransport(retries=9)
        with httpx.Client(base_url=url, transport=transport) as rest:
            for way, hours in (("tools", "10:45"), ("plain", "11:45")):
                start = START.replace("10:", f"{hours[:2]}:")
                booking = {"patient_id": str(PATIENT), "start": start}
                booked = rest.post(f"/{way}/book_visit", json=booking)
                assert booked.json()["ends"] == f"{MONDAY}T{hours}:00+01:00"
                # The portal's client may call only the patients' tools.
                refused = rest.post(f"/{way}/refund_visit", json={})
                assert refused.status_code == 400
                assert refused.json() == {"detail": "unknown tool `refund_visit`"}
                sneaky = rest.post(f"/{way}/search_visits", json={"db": "mine"})
                assert "`db`" in sneaky.json()["detail"]

        async def visits() -> str:
            http = httpx.AsyncClient(headers={"Authorization": f"Bearer {TOKEN}"})
            portal = f"{url}/platform/mcp/portal/"
            there = streamable_http_client(portal, http_client=http)
            async with http, Client(there) as client:
                found = await client.call_tool("search_visits", {"day": MONDAY})
                return str(found.content[0])

        assert asyncio.run(visits()).count("Ada") == 3
        assert clinic.events == ["opened"]
        process.terminate()
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert clinic.events == ["opened", "closed, 0 in use"]


@pytest.mark.slow
def test_fastapi_application_exits_with_the_lifespan_error(clinic: Clinic) -> None:
    broken = replace(clinic, url="sqlite:////nowhere/at/all")
    process = broken.start("uvicorn", "clinic_app:app", "--port", "0")
    _, log = process.communicate(timeout=60)
    assert process.returncode == 3
    assert b"failed to start: " in log and b"clinic.app:lifespan" in log
