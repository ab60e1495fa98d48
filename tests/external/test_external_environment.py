"""What a server is given of the environment: the variables that are named, shown nowhere."""

from __future__ import annotations

import logging
import os

import pytest

from tests.external.conftest import (
    Open,
    call,
    odd,
)


async def test_a_secret_of_the_environment_is_shown_nowhere(
    opened: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ODD_TOKEN", "hunter2-hunter2")
    server = odd("well", env={"TOKEN": "Key ${ODD_TOKEN}"})
    tools = opened(server)
    answer = await call(tools, "secret")
    assert "Key [hidden]" in answer.result
    assert "hunter2" not in f"{answer}{caplog.text}{server!r}{tools!r}"


async def test_a_server_sees_no_variable_that_it_was_not_given(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMEBODY_ELSES_TOKEN", "hunter2-hunter2")
    answer = await call(opened(odd("well")), "secret")
    assert "PATH" in answer.result and "SOMEBODY" not in answer.result


async def test_a_variable_that_is_not_set_is_named(
    opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    assert "ODD_TOKEN" not in os.environ
    tools = opened(odd("well", env={"TOKEN": "${ODD_TOKEN}"}))
    assert await tools.list_tools() == ()
    assert "the environment variable ODD_TOKEN is not set" in caplog.text
