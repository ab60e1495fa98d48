"""Access to the X display with the programs xdotool and scrot.

Programs are started with argument lists, not with a shell.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

from toolcast_runtime import ToolError

__all__ = [
    "get_display_size",
    "list_missing",
    "require_programs",
    "take_screenshot",
    "read_png_size",
    "run_xdotool",
]

COMMAND_TIMEOUT_S = 10.0
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"


def list_missing(*programs: str) -> list[str]:
    """Return descriptions of what is missing: the display and programs."""
    missing = []
    if not os.environ.get("DISPLAY"):
        missing.append("the environment variable DISPLAY")
    missing += [
        f"the program {program}"
        for program in programs
        if shutil.which(program) is None
    ]
    return missing


def require_programs(*programs: str) -> None:
    """Raise a ToolError if the display or one of the programs is missing."""
    missing = list_missing(*programs)
    if missing:
        raise ToolError(f"There is no desktop: missing {', '.join(missing)}.")


def run_xdotool(
    *arguments: str, text: str | None = None, seconds: float = COMMAND_TIMEOUT_S
) -> str:
    """Run xdotool and return its output; `text` is its standard input."""
    return _run(["xdotool", *arguments], text=text, seconds=seconds)


def get_display_size() -> tuple[int, int]:
    """Return the width and height of the display in pixels."""
    width, height = run_xdotool("getdisplaygeometry").split()
    return int(width), int(height)


def take_screenshot() -> bytes:
    """Return an image of the whole display as PNG."""
    with tempfile.TemporaryDirectory(prefix="screen-") as folder:
        # scrot expands % and $ in file names, so use a fixed name.
        _run(["scrot", "--silent", "screen.png"], folder=folder)
        return (Path(folder) / "screen.png").read_bytes()


def read_png_size(image: bytes) -> tuple[int, int]:
    """Return the width and height from a PNG's header."""
    if not image.startswith(PNG_SIGNATURE):
        raise ValueError("not a PNG")
    width, height = struct.unpack(">II", image[16:24])
    return width, height


def _run(
    command: list[str],
    *,
    text: str | None = None,
    folder: str | None = None,
    seconds: float = COMMAND_TIMEOUT_S,
) -> str:
    require_programs(command[0])
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
        reason = done.stderr.strip() or f"exit code {done.returncode}"
        raise ToolError(f"{command[0]} failed: {reason}")
    return done.stdout
