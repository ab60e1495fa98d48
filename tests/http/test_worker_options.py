"""What the command line says reaches the application of each process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from toolcast_runtime.http import SettingsError, runner


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the application is made of, instead of the application."""
    given: dict[str, Any] = {}

    def listening(server: Any, settings: Any, host: str, *, several: bool) -> str:
        given.update(server=server, settings=settings, host=host, several=several)
        return "listening"

    def app(server: Any, listening: Any, *, is_one_of_several: bool) -> str:
        given.update(listening=listening, is_one_of_several=is_one_of_several)
        return "app"

    def ending(app: Any, ending: Any, registry: Any) -> str:
        given.update(ending=vars(ending), app=app)
        return "ending app"

    monkeypatch.setattr(runner, "resolve_listen_settings", listening)
    monkeypatch.setattr(runner, "build_http_app", app)
    monkeypatch.setattr(runner, "wrap_lifespan", ending)
    monkeypatch.setattr(runner, "write_logs", lambda *words: given.update(logs=words))
    return given


def worker(monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    server = "generated.kirishima.mcp_server"
    given = json.dumps({"server": server, **options})
    monkeypatch.setenv("TOOLCAST_HTTP_WORKER", given)
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
def test_one_process_alone_is_none_of_several(
    made: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
    several: bool,
) -> None:
    worker(monkeypatch, **options)
    assert made["several"] is made["is_one_of_several"] is several


def test_options_are_handed_on(
    made: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker(monkeypatch)
    assert (made["host"], made["logs"]) == ("127.0.0.1", ("text", "info"))
    assert made["server"].external is True
    assert made["settings"] is made["server"].http
    worker(
        monkeypatch,
        host="::1",
        grace=7,
        log_format="json",
        log_level="error",
        local_tools=True,
        client="copilot",
        path="/own/",
    )
    assert made["host"] == "::1"
    assert {7, True} <= {*made["ending"].values()}
    assert made["logs"] == ("json", "error")
    assert made["server"].external is False
    (endpoint,) = made["settings"].endpoints
    assert (endpoint.client, endpoint.path) == ("copilot", "/own/")
    worker(monkeypatch, client="copilot")
    assert [one.path for one in made["settings"].endpoints] == ["/mcp/"]


def test_a_client_that_is_not_there_is_refused(
    made: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SettingsError, match="the client `nobody` has no endpoint"):
        worker(monkeypatch, client="nobody")
