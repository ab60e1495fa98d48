"""Command-line options that a worker process passes to its application."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolcast_runtime.http import SettingsError, runner


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the recorded arguments that a worker's application is built from."""
    received: dict[str, Any] = {}

    def listening(server: Any, settings: Any, host: str, *, several: bool) -> str:
        received.update(server=server, settings=settings, host=host, several=several)
        return "listening"

    def app(server: Any, listening: Any, *, is_one_of_several: bool) -> str:
        received.update(listening=listening, is_one_of_several=is_one_of_several)
        return "app"

    def ending(app: Any, ending: Any, registry: Any) -> str:
        received.update(ending=vars(ending), app=app)
        return "ending app"

    monkeypatch.setattr(runner, "resolve_listen_settings", listening)
    monkeypatch.setattr(runner, "build_http_app", app)
    monkeypatch.setattr(runner, "wrap_lifespan", ending)
    monkeypatch.setattr(
        runner, "write_logs", lambda *arguments: received.update(logs=arguments)
    )
    return received


def build_worker(monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    """Build the application as a worker process with these options does."""
    server = "generated.kirishima.mcp_server"
    text = json.dumps({"server": server, **options})
    monkeypatch.setenv("TOOLCAST_HTTP_WORKER", text)
    assert runner.worker_app() == "ending app"


@pytest.mark.parametrize(
    ("options", "several"),
    [
        ({}, False),
        ({"workers": 1}, False),
        ({"workers": 2}, True),
        ({"replica": True}, True),
        ({"workers": 2, "replica": True}, True),
    ],
)
def test_http_worker_app_has_others_next_to_it_with_two_workers_or_replica_option(
    used: Any, monkeypatch: pytest.MonkeyPatch, options: Any, several: bool
) -> None:
    """With one worker process it is the only one."""
    build_worker(monkeypatch, **options)
    assert used["several"] is used["is_one_of_several"] is several


def test_http_worker_applies_host_log_client_path_and_grace_options(
    used: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    build_worker(monkeypatch)
    assert (used["host"], used["logs"]) == ("127.0.0.1", ("text", "info"))
    assert used["server"].external is True
    assert used["settings"] is used["server"].http
    build_worker(
        monkeypatch,
        host="::1",
        grace=7,
        log_format="json",
        log_level="error",
        local_tools=True,
        client="copilot",
        path="/own/",
    )
    assert used["host"] == "::1"
    assert {7, True} <= {*used["ending"].values()}
    assert used["logs"] == ("json", "error")
    assert used["server"].external is False
    (endpoint,) = used["settings"].endpoints
    assert (endpoint.client, endpoint.path) == ("copilot", "/own/")
    build_worker(monkeypatch, client="copilot")
    assert [endpoint.path for endpoint in used["settings"].endpoints] == ["/mcp/"]


def test_http_worker_option_client_without_endpoint_is_refused(
    used: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="the client `nobody` has no endpoint"):
        build_worker(monkeypatch, client="nobody")
