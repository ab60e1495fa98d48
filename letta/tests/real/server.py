"""A real Letta server on a free loopback port, without access to the network."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from letta.tests.real import install
from letta.tests.real.database import LettaServerError, start_database
from tests.ports import find_free_port

__all__ = ["letta_server"]

_TABLES = Path(__file__).parent / "tables.py"
# The import takes half a minute on two idle cores and minutes on busy ones.
_STARTUP_TIMEOUT_S = 300.0


@contextmanager
def letta_server(port: int | None = None) -> Iterator[str]:
    """Start the installed server with an empty database; stop both at the end.

    Args:
        port: a port on 127.0.0.1; by default, a free one.

    Yields:
        The base URL. The server accepts any token and MCP servers on loopback.

    Raises:
        LettaServerError: the server is not installed or does not become healthy.
    """
    if not install.is_installed():
        raise LettaServerError("not installed: python letta/tests/real/install.py")
    with tempfile.TemporaryDirectory(prefix="toolcast-letta-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o711)  # the database may run under another account
        (folder / "postgres").mkdir()
        (folder / "home").mkdir()
        with start_database(install.packages(), folder / "postgres") as url:
            environment = _environment(folder / "home", url)
            tables = [str(install.python()), str(_TABLES)]
            done = subprocess.run(
                tables, env=environment, cwd=folder, capture_output=True, text=True
            )
            if done.returncode:
                raise LettaServerError(f"no tables: {done.stderr[-2000:]}")
            with _run_server(folder, environment, port or find_free_port()) as base_url:
                yield base_url


def _environment(home: Path, database_url: str) -> dict[str, str]:
    """Return the server's complete environment, without keys and telemetry."""
    return {
        "PATH": os.defpath,
        "HOME": str(home),
        "LETTA_PG_URI": f"{database_url}?sslmode=disable",
        # Without a pool, the sockets of connections and of the model's client are confused.
        "LETTA_DISABLE_SQLALCHEMY_POOLING": "false",
        "LETTA_DISABLE_TRACING": "true",
        "LETTA_LOGGING_LOG_LEVEL": "WARNING",
        "MCP_DISABLE_STDIO": "true",
        "OPENAI_API_KEY": "not-a-key",
        "OPENAI_API_BASE": "http://127.0.0.1:9/v1",
        # Other network requests, such as for a tokenizer's data, fail immediately.
        "HTTP_PROXY": "http://127.0.0.1:9",
        "HTTPS_PROXY": "http://127.0.0.1:9",
        "NO_PROXY": "127.0.0.1,localhost",
    }


@contextmanager
def _run_server(folder: Path, environment: dict[str, str], port: int) -> Iterator[str]:
    base_url = f"http://127.0.0.1:{port}"
    log = folder / "log"
    command = [str(install.python().with_name("letta")), "server"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        _wait_until_healthy(base_url, process, log)
        yield base_url
    finally:
        _stop(process)


def _wait_until_healthy(
    base_url: str, process: subprocess.Popen[bytes], log: Path
) -> None:
    end = time.monotonic() + _STARTUP_TIMEOUT_S
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{base_url}/v1/health/", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.25)
    output = log.read_text(errors="replace")[-3000:]
    raise LettaServerError(f"the server is not healthy ({process.poll()}): {output}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Terminate the server, then kill it: a hanging turn would delay its end."""
    for signal_number, timeout in ((signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0)):
        if process.poll() is None:
            os.killpg(process.pid, signal_number)
            try:
                process.wait(timeout)
            except subprocess.TimeoutExpired:
                continue
