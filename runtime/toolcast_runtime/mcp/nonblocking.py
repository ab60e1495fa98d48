"""Writes to a pipe or socket what it takes at once, without changing it for others.

`O_NONBLOCK` belongs to the open file, which the process may share with its parent and with
stderr, so it is left as it is.
"""

from __future__ import annotations

import os
import select
import socket
import stat
from collections.abc import Callable

__all__ = ["writer_of"]


def writer_of(number: int) -> Callable[[memoryview], int]:
    """A function that writes bytes to a descriptor and gives how many it could.

    It raises OSError when the other side is gone.
    """
    if stat.S_ISSOCK(os.fstat(number).st_mode):
        return _to_socket(number)
    return _to_pipe(number)


def _to_pipe(number: int) -> Callable[[memoryview], int]:
    # A pipe that is ready takes this much without blocking; more may block.
    most = select.PIPE_BUF
    poll = select.poll()
    poll.register(number, select.POLLOUT)

    def write(data: memoryview) -> int:
        sent = 0
        while sent < len(data) and poll.poll(0):
            sent += os.write(number, data[sent : sent + most])
        return sent

    return write


def _to_socket(number: int) -> Callable[[memoryview], int]:
    connection = socket.socket(fileno=os.dup(number))

    def write(data: memoryview) -> int:
        try:
            return connection.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0

    return write
