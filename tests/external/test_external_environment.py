"""Environment variables of external servers: only declared ones, with hidden values."""

from __future__ import annotations

import logging
import os

import pytest

from tests.external.conftest import Open, call_tool, odd_server


async def test_external_server_gets_only_declared_variables_and_their_values_are_hidden(
    open_tools: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """They are hidden in results, logs and `repr` texts."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ODD_TOKEN", "hunter2-hunter2")
    monkeypatch.setenv("UNDECLARED_TOKEN", "another-secret")
    server = odd_server("well", env={"TOKEN": "Key ${ODD_TOKEN}"})
    tools = open_tools(server)
    response = await call_tool(tools, "secret")
    assert "Key [hidden]" in response.result and "PATH" in response.result
    assert "UNDECLARED" not in response.result
    assert "hunter2" not in f"{response}{caplog.text}{server!r}{tools!r}"


async def test_unset_external_server_variable_is_logged_and_server_tools_omitted(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    assert "ODD_TOKEN" not in os.environ
    tools = open_tools(odd_server("well", env={"TOKEN": "${ODD_TOKEN}"}))
    assert await tools.list_tools() == ()
    assert "the environment variable ODD_TOKEN is not set" in caplog.text
