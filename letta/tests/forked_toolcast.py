"""A `toolcast` program for shells that forks the test's process to save imports.

The program sends its folder, environment, arguments and streams to the test's process.
Other tests start the real `toolcast`.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

from tests.forked_servers import start

__all__ = ["forked_toolcast"]

_LOADED = (
    "toolcast.commands.command_group",
    "toolcast.commands.generate.generate",
    "toolcast.commands.check",
    "toolcast.pipeline",
    "toolcast_letta.commands.operations",
    "toolcast_letta.plan.applying",
    "toolcast_letta.target",
    "toolcast_letta.v1.rollback",
    "toolcast_letta.v1.server_backend",
    "letta_client",
    "letta_client.types",
)
_PROGRAM = """\
#!{python} -IS
import json, os, socket, sys
asking = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
asking.connect({address!r})
asked = {{"folder": os.getcwd(), "args": sys.argv[1:], "env": dict(os.environ)}}
socket.send_fds(asking, [json.dumps(asked).encode()], [0, 1, 2])
sys.exit(int(asking.recv(16)))
"""
_MAX_MESSAGE_BYTES = 1 << 16
# Addresses are not reused, because a fork may still hold the previous one.
_NUMBERS = count()
# A fork inherits these variables from its parent; the shell does not have them.
_PYTHON_ENVIRONMENT = {k: v for k, v in os.environ.items() if k.startswith("PYTHON")}


@contextmanager
def forked_toolcast(program: Path) -> Iterator[None]:
    """Write the program and serve its requests until the end of the block."""
    # An abstract address has no path, which a deep test folder would make too long.
    address = f"\0toolcast-{os.getpid()}-{next(_NUMBERS)}"
    with closing(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)) as door:
        door.bind(address)
        door.listen()
        program.write_text(_PROGRAM.format(python=sys.executable, address=address))
        program.chmod(0o755)
        threading.Thread(target=_serve, args=(door,), daemon=True).start()
        try:
            yield
        finally:
            door.shutdown(socket.SHUT_RDWR)


def _serve(door: socket.socket) -> None:
    while True:
        try:
            asking, _ = door.accept()
        except OSError:
            return
        with asking:
            message, files, _, _ = socket.recv_fds(asking, _MAX_MESSAGE_BYTES, 3)
            asked = json.loads(message)
            process = start(
                Path(asked["folder"]),
                "toolcast",
                *asked["args"],
                env={**_PYTHON_ENVIRONMENT, **asked["env"]},
                stdin=files[0],
                stdout=files[1],
                stderr=files[2],
                loaded=_LOADED,
            )
            for file in files:
                os.close(file)
            asking.sendall(b"%d" % process.wait())
