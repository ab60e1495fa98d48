"""A program `toolcast` for shells whose starts are forks: each saves a second of imports.

What a shell starts is a small program that hands its folder, environment, words and streams
to the test's process. The real start of `toolcast` is shown by other tests.
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
asked = {{"folder": os.getcwd(), "words": sys.argv[1:], "env": dict(os.environ)}}
socket.send_fds(asking, [json.dumps(asked).encode()], [0, 1, 2])
sys.exit(int(asking.recv(16)))
"""
_LARGEST = 1 << 16
# No address comes again: a fork may still hold the last one.
_NUMBERS = count()
# The shell knows none of it, and a fork is what its parent is.
_OF_PYTHON = {k: v for k, v in os.environ.items() if k.startswith("PYTHON")}


@contextmanager
def forked_toolcast(program: Path) -> Iterator[None]:
    """Writes the program, and serves it until the end of the block."""
    # The path of a socket is short, and a test's folder may be deep.
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
            message, files, _, _ = socket.recv_fds(asking, _LARGEST, 3)
            asked = json.loads(message)
            process = start(
                Path(asked["folder"]),
                "toolcast",
                *asked["words"],
                env={**_OF_PYTHON, **asked["env"]},
                stdin=files[0],
                stdout=files[1],
                stderr=files[2],
                loaded=_LOADED,
            )
            for file in files:
                os.close(file)
            asking.sendall(b"%d" % process.wait())
