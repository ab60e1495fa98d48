"""Server command line: wrong options, missing packages and help."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from generated.molecule.mcp_server import SERVER
from toolcast_runtime.http import runner
from toolcast_runtime.mcp.server_options import main


@pytest.fixture(autouse=True)
def keep_log_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the server from configuring the logging of the test process."""
    monkeypatch.setattr(runner, "write_logs", lambda *_: None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "65536"], "--port must be a number from 0 to 65535"),
        (["--port", "-1"], "--port must be a number from 0 to 65535"),
        (["--path", "mcp"], "--path must begin with /"),
        (["--workers", "0"], "--workers must be at least 1"),
        (["--grace", "-1"], "--grace must not be negative"),
        (["--host", "192.0.2.1"], "every client needs a token: set MOLECULE_TOKEN"),
        (["--host", "0.0.0.0"], "set MOLECULE_ALLOWED_HOSTS"),
        (["--client", "unknown"], "the toolset has no client `unknown`"),
    ],
)
def test_wrong_mcp_server_http_options_exit_with_code_2_and_a_message(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as error:
        main(SERVER, ["--http", *options])
    assert error.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "option", ["--port 8000", "--host ::1", "--workers 2", "--path /x", "--replica"]
)
def test_mcp_server_http_option_without_the_http_flag_is_refused(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as error:
        main(SERVER, option.split())
    assert error.value.code == 2
    assert f"{option.split()[0]} requires --http" in capsys.readouterr().err


def test_mcp_stdio_server_for_an_unknown_client_exits_with_code_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as error:
        main(SERVER, ["--client", "x"])
    assert error.value.code == 2 and "no client `x`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "package"), [([], "mcp"), (["--http"], "mcp"), (["--http"], "uvicorn")]
)
def test_mcp_server_without_a_required_package_exits_with_the_install_command(
    options: list[str],
    package: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda n: None if n == package else find_spec(n)
    )
    with pytest.raises(SystemExit) as error:
        main(SERVER, options)
    assert error.value.code == 2
    message = f"error: the package {package} is not installed; help: pip install 'toolcast-runtime[mcp]'\n"
    assert capsys.readouterr().err.endswith(message)


async def test_asgi_app_without_mcp_package_reports_startup_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    await SERVER.asgi_app()({"type": "lifespan"}, receive, send)
    text = "the package mcp is not installed; help: pip install 'toolcast-runtime[mcp]'"
    assert sent == [{"type": "lifespan.startup.failed", "message": text}]


def test_generated_mcp_server_help_option_shows_usage_and_defaults(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(SERVER, ["--help"])
    output = capsys.readouterr().out
    assert max(map(len, output.splitlines())) <= 80
    text = " ".join(output.split())
    assert text.startswith("usage: python -m generated.molecule.mcp_server [options]")
    assert "default: 127.0.0.1" in text
    assert "default: 8000" in text
    assert "when the server stops (default: 10)" in text
