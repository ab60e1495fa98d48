"""The X display behind the desktop tools, driven through xdotool and scrot.

Programs are started with argument lists, never through a shell.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

from toolcast_runtime import ToolError

__all__ = ["geometry", "missing", "require", "screenshot", "size_of_png", "xdotool"]

COMMAND_SECONDS = 10.0
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def missing(*programs: str) -> list[str]:
    """What of a display and the programs this machine lacks, in words."""
    lacks = []
    if not os.environ.get("DISPLAY"):
        lacks.append("the variable DISPLAY, which names the X display")
    lacks += [
        f"the program {program}"
        for program in programs
        if shutil.which(program) is None
    ]
    return lacks


def require(*programs: str) -> None:
    """Raises ToolError, which says what is missing, unless everything is there."""
    lacks = missing(*programs)
    if lacks:
        raise ToolError(f"There is no desktop to drive: missing {', '.join(lacks)}.")


def xdotool(
    *arguments: str, text: str | None = None, seconds: float = COMMAND_SECONDS
) -> str:
    """Runs xdotool and gives what it prints; `text` is its standard input."""
    return _run(["xdotool", *arguments], text=text, seconds=seconds)


def geometry() -> tuple[int, int]:
    """Width and height of the display in pixels."""
    width, height = xdotool("getdisplaygeometry").split()
    return int(width), int(height)


def screenshot() -> bytes:
    """The whole display as PNG."""
    with tempfile.TemporaryDirectory(prefix="screen-") as folder:
        # scrot expands % and $ in file names, so it only ever sees this one.
        _run(["scrot", "--silent", "screen.png"], folder=folder)
        return (Path(folder) / "screen.png").read_bytes()


def size_of_png(image: bytes) -> tuple[int, int]:
    """Width and height that a PNG's header declares."""
    if not image.startswith(PNG_SIGNATURE):
        raise ValueError("not a PNG")
    width, height = struct.unpack(">II", image[16:24])
    return width, height


def _run(
    command: list[str],
    *,
    text: str | None = None,
    folder: str | None = None,
    seconds: float = COMMAND_SECONDS,
) -> str:
    require(command[0])
    try:
        done = subprocess.run(
            command,
            input=text or "",
            cwd=folder,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise ToolError(
            f"{command[0]} did not finish within {seconds:.0f} seconds."
        ) from error
    # xdotool reports an unknown key on standard error and exits with 0.
    if done.returncode != 0 or "No such key name" in done.stderr:
        said = done.stderr.strip() or f"exit code {done.returncode}"
        raise ToolError(f"{command[0]} failed: {said}")
    return done.stdout
