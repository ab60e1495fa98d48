"""In an application of one process people are asked in both eras, without a key."""

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

from tests.consent.counters import YES, HttpCounter, Shop, said
from toolcast_runtime.http import SettingsError

ORDER = {"order_id": "A-1", "amount": 25}
OPEN = {
    "SHOP_TOKEN_DESK": "token-of-the-desk",
    "SHOP_TOKEN_OTHER": "token-of-the-other",
    "SHOP_TOKEN_PHONE": "token-of-the-phone",
    "SHOP_ALLOWED_HOSTS": "shop.example",
}
DESK = {"Authorization": f"Bearer {OPEN['SHOP_TOKEN_DESK']}"}


@contextmanager
def application(shop: Shop, name: str) -> Iterator[str]:
    """Where it answers; uvicorn runs it, and no key is set."""
    words = ["-m", "uvicorn", name, "--port", "0", "--no-access-log"]
    process = subprocess.Popen(
        [sys.executable, *words],
        cwd=shop.root,
        env={**os.environ, **shop.environment, **OPEN, "SHOP_STATE_KEY": ""},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        told = ""
        for line in process.stderr:
            told += line
            if found := re.search(r"running on (http://[0-9.:]+)", line):
                yield found[1]
                return
        raise AssertionError(told)
    finally:
        process.kill()
        process.communicate()


def test_a_client_of_the_older_era_is_asked_in_a_session(shop: Shop) -> None:
    with application(shop, "one_process:app") as at:
        counter = HttpCounter(f"{at}/platform/mcp/", headers=DESK)
        assert counter.session is not None
        number = counter.begin("refund_order", ORDER)
        counter.answer(counter.question(), YES)
        assert said(counter.end(number)) == "refunded A-1 25"
    assert shop.done == ["refunded A-1 25"]


@pytest.mark.slow
def test_the_generated_application_stays_one_of_several(shop: Shop) -> None:
    with (
        pytest.raises(
            AssertionError, match="several processes can ask the user only if"
        ),
        application(shop, "generated.shop.mcp_server:app"),
    ):
        pass


@pytest.mark.usefixtures("registry")
def test_all_that_is_missing_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Mounted in another application, it is the last one of the traceback that Starlette tells."""
    for variable in (*OPEN, "SHOP_STATE_KEY"):
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
    traceback, alone = (message["message"] for message in sent)
    assert "\n" not in alone
    assert all(each in alone for each in (*OPEN, "SHOP_STATE_KEY"))
    assert traceback.splitlines()[-1].endswith(f"SettingsError: {alone}")
