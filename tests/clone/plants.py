"""Planted files: malicious files and links in a project that others clone."""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Callable
from pathlib import Path

Plant = Callable[[Path, Path], None]
"""Creates a file at a path; the second path is a folder outside of the project."""

ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e"


def make_link(name: str, target: str) -> Plant:
    """Return a plant with a name that links a path to a target.

    The target can contain `{path}`, `{root}` and `{outside}`: the name of the link, the
    relative path of the root folder, and the folder outside of the project.
    """

    def plant(path: Path, outside: Path) -> None:
        root = "/".join([".."] * (len(path.parts) - 1))
        path.symlink_to(target.format(path=path.name, root=root, outside=outside))

    plant.__name__ = name
    return plant


link_to_outside_file = make_link("link_to_outside_file", "{outside}/bashrc")
link_to_outside_folder = make_link("link_to_outside_folder", "{outside}")
relative_link_to_outside_file = make_link("relative_link", "{root}{outside}/bashrc")
link_to_missing_outside_file = make_link("dangling_link", "{outside}/not-there-yet")
link_to_itself = make_link("link_to_itself", "{path}")
link_to_parent_folder = make_link("link_to_parent_folder", "..")
link_to_dev_zero = make_link("link_to_dev_zero", "/dev/zero")
link_to_process_memory = make_link("link_to_process_memory", "/proc/self/mem")
link_to_process_folder = make_link("link_to_process_folder", "/proc/self")
link_to_terminal = make_link("link_to_terminal", "/dev/tty")


def named_pipe(path: Path, outside: Path) -> None:
    os.mkfifo(path)


def link_to_named_pipe(path: Path, outside: Path) -> None:
    os.mkfifo(path.with_name(f"{path.name}.pipe"))
    path.symlink_to(f"{path.name}.pipe")


def unix_socket(path: Path, outside: Path) -> None:
    working_folder = os.getcwd()
    os.chdir(path.parent)  # A socket's path has at most 107 bytes.
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(working_folder)


def character_device(path: Path, outside: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # /dev/zero
    except PermissionError:
        os.mkfifo(path)  # Only root can create a device.


def empty_folder(path: Path, outside: Path) -> None:
    path.mkdir()


def sparse_terabyte(path: Path, outside: Path) -> None:
    with path.open("wb") as stream:
        stream.truncate(1 << 40)


def deeply_nested_json(path: Path, outside: Path) -> None:
    path.write_text('{"a":' * 100_000 + "[" * 100_000, encoding="utf-8")


def control_characters(path: Path, outside: Path) -> None:
    path.write_text(f"{ESCAPES}: '{ESCAPES}'\n", encoding="utf-8")


def invalid_utf8(path: Path, outside: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00\x80" * 100)


PLANTS: tuple[Plant, ...] = (
    link_to_outside_file,
    link_to_outside_folder,
    relative_link_to_outside_file,
    link_to_missing_outside_file,
    link_to_itself,
    link_to_parent_folder,
    link_to_dev_zero,
    link_to_process_memory,
    link_to_process_folder,
    link_to_terminal,
    named_pipe,
    link_to_named_pipe,
    unix_socket,
    character_device,
    empty_folder,
    sparse_terabyte,
    deeply_nested_json,
    control_characters,
    invalid_utf8,
)


def clear_path(path: Path) -> None:
    """Remove the file or folder at a path, and create its parent folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
