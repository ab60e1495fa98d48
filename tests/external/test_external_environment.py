"""Environment variables of external servers: only declared ones, with hidden values."""

from __future__ import annotations

import logging
import os

import pytest

from tests.external.conftest import Open, call_tool, odd_server


async def test_external_server_environment_secret_is_hidden_in_results_and_logs(
    open_tools: Open, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is hidden in `repr` texts, too."""
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ODD_TOKEN", "hunter2-hunter2")
    server = odd_server("well", env={"TOKEN": "Key ${ODD_TOKEN}"})
    tools = open_tools(server)
    response = await call_tool(tools, "secret")
    assert "Key [hidden]" in response.result
    assert "hunter2" not in f"{response}{caplog.text}{server!r}{tools!r}"


async def test_external_server_does_not_inherit_undeclared_environment_variables(
    open_tools: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNDECLARED_TOKEN", "hunter2-hunter2")
    response = await call_tool(open_tools(odd_server("well")), "secret")
    assert "PATH" in response.result and "UNDECLARED" not in response.result


async def test_unset_external_server_variable_is_logged_and_server_tools_omitted(
    open_tools: Open, caplog: pytest.LogCaptureFixture
) -> None:
    assert "ODD_TOKEN" not in os.environ
    tools = open_tools(odd_server("well", env={"TOKEN": "${ODD_TOKEN}"}))
    assert await tools.list_tools() == ()
    assert "the environment variable ODD_TOKEN is not set" in caplog.text
