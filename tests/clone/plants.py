"""What somebody can put into a project that others clone, unpack or are sent."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Callable
from pathlib import Path

__all__ = ["PLANTS", "Plant", "clear"]

Plant = Callable[[Path, Path], None]
"""Makes something at a place; the second path is a folder outside of the project."""

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


def file_outside(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "bashrc")


def folder_outside(place: Path, outside: Path) -> None:
    place.symlink_to(outside)


def way_back(place: Path, outside: Path) -> None:
    above = "/".join([".."] * (len(place.parts) - 1))
    place.symlink_to(f"{above}{outside}/bashrc")


def dangling(place: Path, outside: Path) -> None:
    place.symlink_to(outside / "not-there-yet")


def loop(place: Path, outside: Path) -> None:
    place.symlink_to(place.name)


def above(place: Path, outside: Path) -> None:
    place.symlink_to("..")


def endless(place: Path, outside: Path) -> None:
    place.symlink_to("/dev/zero")


def own_memory(place: Path, outside: Path) -> None:
    place.symlink_to("/proc/self/mem")


def processes(place: Path, outside: Path) -> None:
    place.symlink_to("/proc/self")


def terminal(place: Path, outside: Path) -> None:
    place.symlink_to("/dev/tty")


def pipe(place: Path, outside: Path) -> None:
    os.mkfifo(place)


def pipe_by_a_link(place: Path, outside: Path) -> None:
    os.mkfifo(place.with_name(f"{place.name}.pipe"))
    place.symlink_to(f"{place.name}.pipe")


def listening(place: Path, outside: Path) -> None:
    before = os.getcwd()
    os.chdir(place.parent)  # A socket's path may have 107 bytes.
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(place.name)
    finally:
        os.chdir(before)


def device(place: Path, outside: Path) -> None:
    try:
        os.mknod(place, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        os.mkfifo(place)  # Only root can make a device.


def folder(place: Path, outside: Path) -> None:
    place.mkdir()


def large(place: Path, outside: Path) -> None:
    with place.open("wb") as stream:
        stream.truncate(1 << 40)


def deep(place: Path, outside: Path) -> None:
    place.write_text('{"a":' * 100_000 + "[" * 100_000, encoding="utf-8")


def escapes(place: Path, outside: Path) -> None:
    place.write_text(f"{ESCAPES}: '{ESCAPES}'\n", encoding="utf-8")


def no_text(place: Path, outside: Path) -> None:
    place.write_bytes(b"\xff\xfe\x00\x80" * 100)


PLANTS: tuple[Plant, ...] = (
    file_outside,
    folder_outside,
    way_back,
    dangling,
    loop,
    above,
    endless,
    own_memory,
    processes,
    terminal,
    pipe,
    pipe_by_a_link,
    listening,
    device,
    folder,
    large,
    deep,
    escapes,
    no_text,
)


def clear(place: Path) -> None:
    """Makes room at a place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)
