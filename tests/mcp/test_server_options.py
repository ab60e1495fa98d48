"""Wrong options of a server are told in a line, without a traceback."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from generated.molecule.mcp_server import SERVER
from toolcast_runtime.http import runner
from toolcast_runtime.mcp.server_options import main


@pytest.fixture(autouse=True)
def logs_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """How this process logs is not the server's here."""
    monkeypatch.setattr(runner, "write_logs", lambda *_: None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--port", "99999"], "--port must be a number from 0 to 65535"),
        (["--path", "mcp"], "--path must begin with /"),
        (["--workers", "0"], "--workers must be at least 1"),
        (["--grace", "-1"], "--grace must not be negative"),
        (["--host", "0.0.0.0"], "every client needs a token: set MOLECULE_TOKEN"),
        (["--host", "192.0.2.1"], "every client needs a token: set MOLECULE_TOKEN"),
        (["--host", "0.0.0.0"], "set MOLECULE_ALLOWED_HOSTS"),
        (["--client", "somebody"], "the toolset has no client `somebody`"),
    ],
)
def test_wrong_options_are_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(SERVER, ["--http", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--port", "8000"],
        ["--host", "::1"],
        ["--workers", "2"],
        ["--path", "/x"],
        ["--replica"],
    ],
)
def test_what_is_for_http_is_not_taken_over_stdio(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(SERVER, words)
    assert ended.value.code == 2
    assert f"{words[0]} requires --http" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "package"), [([], "mcp"), (["--http"], "mcp"), (["--http"], "uvicorn")]
)
def test_what_is_not_installed_is_said_in_one_sentence(
    words: list[str],
    package: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda n: None if n == package else there(n)
    )
    with pytest.raises(SystemExit) as ended:
        main(SERVER, words)
    assert ended.value.code == 2
    says = f"error: the package {package} is not installed; help: pip install 'toolcast-runtime[mcp]'\n"
    assert capsys.readouterr().err.endswith(says)


async def test_an_application_without_its_packages_does_not_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    await SERVER.asgi_app()({"type": "lifespan"}, receive, send)
    says = "the package mcp is not installed; help: pip install 'toolcast-runtime[mcp]'"
    assert sent == [{"type": "lifespan.startup.failed", "message": says}]


def test_help_says_how_it_is_started_and_what_holds_without_an_option(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(SERVER, ["--help"])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    shown = " ".join(out.split())
    assert shown.startswith("usage: python -m generated.molecule.mcp_server [options]")
    assert "default: 127.0.0.1" in shown
    assert "default: 8000" in shown
    assert "when the server stops (default: 10)" in shown
