"""Confirmation in an ASGI application that runs in one process, without a state key."""

from __future__ import annotations

import asyncio
import importlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.consent.shop_clients import YES, HttpHandshakeClient, Shop
from toolcast_runtime.http import SettingsError

ORDER = {"order_id": "A-1", "amount": 25}
SETTINGS = {
    "SHOP_TOKEN_DESK": "token-of-the-desk",
    "SHOP_TOKEN_OTHER": "token-of-the-other",
    "SHOP_TOKEN_PHONE": "token-of-the-phone",
    "SHOP_ALLOWED_HOSTS": "shop.example",
}
DESK = {"Authorization": f"Bearer {SETTINGS['SHOP_TOKEN_DESK']}"}


@contextmanager
def run_application(shop: Shop, name: str) -> Iterator[str]:
    """Run an ASGI application with uvicorn, without a state key; yield its URL."""
    arguments = ["-m", "uvicorn", name, "--port", "0", "--no-access-log"]
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=shop.root,
        env={**os.environ, **shop.environment, **SETTINGS, "SHOP_STATE_KEY": ""},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        log = ""
        for line in process.stderr:
            log += line
            if match := re.search(r"running on (http://[0-9.:]+)", line):
                yield match[1]
                return
        raise AssertionError(log)
    finally:
        process.kill()
        process.communicate()


def test_single_process_asgi_application_elicits_confirmation_in_a_session(
    shop: Shop,
) -> None:
    with run_application(shop, "one_process:app") as url:
        client = HttpHandshakeClient(f"{url}/platform/mcp/", headers=DESK)
        assert client.session is not None
        number = client.start_call("refund_order", ORDER)
        client.answer(client.read_question(), YES)
        assert client.read_text(number) == "refunded A-1 25"
    assert shop.side_effects == ["refunded A-1 25"]


@pytest.mark.usefixtures("registry")
def test_asgi_startup_error_lists_all_missing_settings_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In a mounted application it is the last line of Starlette's traceback."""
    variables = (*SETTINGS, "SHOP_STATE_KEY")
    for variable in variables:
        monkeypatch.delenv(variable, raising=False)
    app = importlib.import_module("generated.shop.mcp_server").app
    outer = Starlette(routes=[Mount("/platform", app)], lifespan=app.lifespan)
    sent: list[Mapping[str, Any]] = []

    async def run() -> None:
        async def receive() -> dict[str, str]:
            return {"type": "lifespan.startup"}

        async def send(message: Any) -> None:
            sent.append(message)

        with pytest.raises(SettingsError):
            await outer({"type": "lifespan", "app": outer}, receive, send)
        await app({"type": "lifespan"}, receive, send)

    asyncio.run(run())
    traceback, failure = (message["message"] for message in sent)
    assert "\n" not in failure
    assert "several processes can ask the user only if" in failure
    assert all(variable in failure for variable in variables)
    assert traceback.splitlines()[-1].endswith(f"SettingsError: {failure}")
