"""What of the runtime one call passes, and what a server has loaded that answered it.

`python benchmarks/call_path.py` starts a generated server of this repository for each transport
and era, traces the third call of one plain tool in it, and prints how many modules and functions
of the runtime that call went through. It counts, where bench.py measures time.

* `LISTED=1` prints the names of them, too.
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

from clients import LEGACY, MODERN, free_port, rpc_message, rpc_request

from toolcast_runtime.core.optional import MODULES

ROOT = Path(__file__).resolve().parent.parent
SERVER = "generated.molecule.mcp_server"
CALL = {"name": "goal_get", "arguments": {}}
_PACKAGE = "toolcast_runtime."
_TOKEN = "a-token-of-no-secret"
_WAIT = 30.0


def main() -> None:
    """Print a line per transport and protocol era, and the modules that stdio loads."""
    loaded: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for transport, call in (("stdio", _over_stdio), ("HTTP", _over_http)):
            for revision in (LEGACY, MODERN):
                told = Path(folder, f"{transport}-{revision}.json")
                call(revision, told)
                seen = json.loads(told.read_text("utf-8"))
                passed = sorted({name.partition(":")[0] for name in seen["functions"]})
                print(
                    f"{transport} {revision}: a call passes {len(passed)} modules and"
                    f" {len(seen['functions'])} functions"
                )
                _list(seen["functions"])
                if transport == "stdio":
                    loaded = seen["loaded"]
    optional = {module.path.split(".")[1] for module in MODULES.values()}
    parts = {n.split(".")[1] for n in loaded if n.startswith(_PACKAGE)} & optional
    print(
        f"a stdio server that answered loaded {len(loaded)} modules of"
        f" {sum(loaded.values()):,} lines; optional parts: {', '.join(sorted(parts)) or 'none'}"
    )
    _list(sorted(loaded))


def _list(names: list[str]) -> None:
    if os.environ.get("LISTED"):
        print("".join(f"  {name.removeprefix(_PACKAGE)}\n" for name in names), end="")


def _over_stdio(revision: str, told: Path) -> None:
    server = _started(told, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None

    def ask(method: str, params: dict[str, Any]) -> None:
        assert server.stdin is not None and server.stdout is not None
        server.stdin.write(rpc_message(method, params, revision) + b"\n")
        server.stdin.flush()
        answer = server.stdout.readline()
        assert b'"result"' in answer, answer

    if revision == LEGACY:
        hello = {"protocolVersion": LEGACY, "capabilities": {}}
        ask("initialize", {**hello, "clientInfo": {"name": "trace", "version": "1"}})
    _third_call(server, told, lambda: ask("tools/call", CALL))
    server.stdin.close()
    server.wait(_WAIT)


def _over_http(revision: str, told: Path) -> None:
    port = free_port()
    server = _started(told, "--http", "--port", str(port))
    deadline = time.monotonic() + _WAIT
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
            rpc_request(port, "/mcp/", "tools/call", CALL, revision, bearer)
        )
        answer = b""
        while b'"result"' not in answer:
            part = connection.recv(65536)
            assert part, answer
            answer += part
        time.sleep(0.2)

    with connection:
        connection.settimeout(_WAIT)
        _third_call(server, told, call)
    server.terminate()
    server.wait(_WAIT)


def _third_call(
    server: subprocess.Popen[bytes], told: Path, call: Callable[[], None]
) -> None:
    """Make three calls; the first ones import modules, the third is a typical call."""
    call()
    call()
    server.send_signal(signal.SIGUSR1)
    _until(told.with_suffix(".begun"))
    call()
    server.send_signal(signal.SIGUSR2)
    _until(told)


def _until(file: Path) -> None:
    deadline = time.monotonic() + _WAIT
    while not file.exists():
        assert time.monotonic() < deadline, f"{file.name} is not written"
        time.sleep(0.02)


def _started(told: Path, *options: str, **pipes: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, __file__, "--traced", str(told), *options]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "MOLECULE_TOKEN": _TOKEN}
    return subprocess.Popen(
        command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL, **pipes
    )


def traced(told: Path, options: list[str]) -> None:
    """Run the server; SIGUSR1 starts a trace, SIGUSR2 writes it to the file."""
    functions: list[str] | None = None

    def profile(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and functions is not None:
            module = frame.f_globals.get("__name__", "")
            name = f"{module}:{frame.f_code.co_qualname}"
            if module.startswith(_PACKAGE) and name not in functions:
                functions.append(name)

    def begin(*_: object) -> None:
        nonlocal functions
        functions = []
        told.with_suffix(".begun").touch()

    def write(*_: object) -> None:
        nonlocal functions
        seen, functions = functions, None
        text = json.dumps({"functions": seen, "loaded": _loaded()})
        part = told.with_suffix(".part")
        part.write_text(text, "utf-8")
        part.rename(told)

    signal.signal(signal.SIGUSR1, begin)
    signal.signal(signal.SIGUSR2, write)
    threading.setprofile(profile)
    sys.setprofile(profile)
    sys.argv = [SERVER, *options]
    with contextlib.suppress(SystemExit):
        runpy.run_module(SERVER, run_name="__main__", alter_sys=True)


def _loaded() -> dict[str, int]:
    """Return the imported modules of the runtime with their line counts."""
    found = {}
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if file and f"{name}.".startswith(_PACKAGE):
            found[name] = len(Path(file).read_text("utf-8").splitlines())
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["--traced"]:
        traced(Path(sys.argv[2]), sys.argv[3:])
    else:
        main()
