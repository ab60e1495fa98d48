"""Count the runtime modules and functions that a tool call runs through.

`python benchmarks/call_path.py` starts a generated server of this repository for each transport
and protocol version, traces the third call of a plain tool, and prints the number of runtime
modules and functions in the trace, and of modules that the server loaded.

* `LISTED=1` also prints their names.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from clients import LEGACY, MODERN, encode_http_request, encode_message, free_port

from toolcast_runtime.core.optional import MODULES

ROOT = Path(__file__).resolve().parent.parent
SERVER = "generated.molecule.mcp_server"
CALL = {"name": "goal_get", "arguments": {}}
_PACKAGE = "toolcast_runtime."
_TOKEN = "a-token-of-no-secret"
_TIMEOUT_S = 30.0


def main() -> None:
    """Print a line per transport and protocol version, and the modules loaded on stdio."""
    loaded: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for transport, call in (("stdio", _trace_stdio), ("HTTP", _trace_http)):
            for revision in (LEGACY, MODERN):
                report = Path(folder, f"{transport}-{revision}.json")
                call(revision, report)
                trace = json.loads(report.read_text("utf-8"))
                passed = sorted({name.partition(":")[0] for name in trace["functions"]})
                print(
                    f"{transport} {revision}: a call passes {len(passed)} modules and"
                    f" {len(trace['functions'])} functions"
                )
                _print_names(trace["functions"])
                if transport == "stdio":
                    loaded = trace["loaded"]
    optional = {module.path.split(".")[1] for module in MODULES.values()}
    parts = {n.split(".")[1] for n in loaded if n.startswith(_PACKAGE)} & optional
    print(
        f"a stdio server that answered loaded {len(loaded)} modules of"
        f" {sum(loaded.values()):,} lines; optional parts: {', '.join(sorted(parts)) or 'none'}"
    )
    _print_names(sorted(loaded))


def _print_names(names: list[str]) -> None:
    if os.environ.get("LISTED"):
        print("".join(f"  {name.removeprefix(_PACKAGE)}\n" for name in names), end="")


def _trace_stdio(revision: str, report: Path) -> None:
    server = _start_server(report, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None

    def send(method: str, params: dict[str, Any]) -> None:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(encode_message(method, params, revision) + b"\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        assert b'"result"' in answer, answer

    if revision == LEGACY:
        params = {"protocolVersion": LEGACY, "capabilities": {}}
        send("initialize", {**params, "clientInfo": {"name": "trace", "version": "1"}})
    _trace_third_call(server, report, lambda: send("tools/call", CALL))
    server.stdin.close()
    server.wait(_TIMEOUT_S)


def _trace_http(revision: str, report: Path) -> None:
    port = free_port()
    server = _start_server(report, "--http", "--port", str(port))
    deadline = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            connection = socket.create_connection(("127.0.0.1", port))
            break
        except OSError:
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.1)

    bearer = f"Authorization: Bearer {_TOKEN}\r\n"

    def call() -> None:
        connection.sendall(
            encode_http_request(port, "/mcp/", "tools/call", CALL, revision, bearer)
        )
        answer = b""
        while b'"result"' not in answer:
            part = connection.recv(65536)
            assert part, answer
            answer += part
        time.sleep(0.2)

    with connection:
        connection.settimeout(_TIMEOUT_S)
        _trace_third_call(server, report, call)
    server.terminate()
    server.wait(_TIMEOUT_S)


def _trace_third_call(
    server: subprocess.Popen[bytes], report: Path, call: Callable[[], None]
) -> None:
    """Trace the third call: the first calls also load modules and fill caches."""
    call()
    call()
    server.send_signal(signal.SIGUSR1)
    _wait_for_file(report.with_suffix(".started"))
    call()
    server.send_signal(signal.SIGUSR2)
    _wait_for_file(report)


def _wait_for_file(file: Path) -> None:
    deadline = time.monotonic() + _TIMEOUT_S
    while not file.exists():
        assert time.monotonic() < deadline, f"{file.name} is not written"
        time.sleep(0.02)


def _start_server(report: Path, *options: str, **pipes: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--traced", str(report), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MOLECULE_TOKEN": _TOKEN}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL, **pipes
    )


def run_traced(report: Path, options: list[str]) -> None:
    """Run the server; SIGUSR1 starts a trace, SIGUSR2 writes it to `report`."""
    functions: list[str] | None = None

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and functions is not None:
            module = frame.f_globals.get("__name__", "")
            name = f"{module}:{frame.f_code.co_qualname}"
            if module.startswith(_PACKAGE) and name not in functions:
                functions.append(name)

    def start(*_: object) -> None:
        nonlocal functions
        functions = []
        report.with_suffix(".started").touch()

    def write(*_: object) -> None:
        nonlocal functions
        traced, functions = functions, None
        text = json.dumps({"functions": traced, "loaded": _count_loaded_lines()})
        part = report.with_suffix(".part")
        part.write_text(text, "utf-8")
        part.rename(report)

    signal.signal(signal.SIGUSR1, start)
    signal.signal(signal.SIGUSR2, write)
    threading.setprofile(profile)
    sys.setprofile(profile)
    sys.argv = [SERVER, *options]
    with contextlib.suppress(SystemExit):
        runpy.run_module(SERVER, run_name="__main__", alter_sys=True)


def _count_loaded_lines() -> dict[str, int]:
    """Return the line count of each loaded runtime module."""
    lines = {}
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and f"{name}.".startswith(_PACKAGE):
            lines[name] = len(Path(file).read_text("utf-8").splitlines())
    return lines


if __name__ == "__main__":
    if sys.argv[1:2] == ["--traced"]:
        run_traced(Path(sys.argv[2]), sys.argv[3:])
    else:
        main()
