"""Handlers that see and drive the desktop: desktop_*."""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from examples.molecule import config, store, xserver
from toolcast_runtime import ToolError, ToolResponse

__all__ = [
    "desktop_click",
    "desktop_key",
    "desktop_open_url",
    "desktop_screenshot",
    "desktop_status",
    "desktop_type",
]

KEYS = re.compile(r"[A-Za-z0-9_]+(\+[A-Za-z0-9_]+)*", re.ASCII)
MAX_TYPING_SECONDS = 60.0
BROWSERS = ("xdg-open", "x-www-browser", "firefox", "chromium")
START_SECONDS = 1.0


def desktop_status() -> dict[str, Any]:
    """Says whether there is a desktop, how large it is, and what is missing."""
    lacks = xserver.missing("xdotool", "scrot")
    facts: dict[str, Any] = {"display": os.environ.get("DISPLAY"), "missing": lacks}
    if lacks:
        return facts | {"available": False, "width": None, "height": None}
    try:
        width, height = xserver.geometry()
    except ToolError as error:
        facts["missing"] = [f"a display that answers ({error})"]
        return facts | {"available": False, "width": None, "height": None}
    return facts | {"available": True, "width": width, "height": height}


def desktop_screenshot(*, path: str | None = None) -> ToolResponse:
    """Takes a picture of the whole display, saves it and gives it as an image."""
    file = _picture_file(path or f"{store.new_id('screen')}.png")
    if file.exists():
        raise ToolError(f"{file} exists already; choose another name.")
    image = xserver.screenshot()
    width, height = xserver.size_of_png(image)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("xb") as stream:
        stream.write(image)
    return ToolResponse(
        result={"path": str(file), "width": width, "height": height},
        content=[
            {
                "type": "image",
                "data": base64.b64encode(image).decode(),
                "mimeType": "image/png",
            },
            {"type": "text", "text": f"{width} x {height} pixels, saved as {file}"},
        ],
    )


def desktop_click(*, x: int, y: int, button: int = 1) -> dict[str, Any]:
    """Moves the pointer to a pixel of the display and clicks once."""
    width, height = xserver.geometry()
    if not (0 <= x < width and 0 <= y < height):
        raise ToolError(f"({x}, {y}) lies outside of the {width} x {height} display.")
    place = (str(int(x)), str(int(y)))
    xserver.xdotool("mousemove", *place, "click", str(int(button)))
    return {"x": int(x), "y": int(y), "button": int(button)}


def desktop_type(*, text: str, delay_ms: int = 20) -> dict[str, Any]:
    """Types the text into the window that has the focus."""
    seconds = len(text) * delay_ms / 1000
    if seconds > MAX_TYPING_SECONDS:
        raise ToolError(
            f"Typing this would take {seconds:.0f} seconds, more than "
            f"{MAX_TYPING_SECONDS:.0f}; type it in parts or with a shorter delay_ms."
        )
    # On standard input the text is in nobody's process list and is never an option.
    delay = str(int(delay_ms))
    xserver.xdotool(
        "type", "--delay", delay, "--file", "-", text=text, seconds=2 * seconds + 10
    )
    return {"typed_characters": len(text)}


def desktop_key(*, keys: str) -> dict[str, Any]:
    """Presses keys or chords one after the other, such as `ctrl+l Return`."""
    chords = keys.split()
    if not chords or not all(KEYS.fullmatch(chord) for chord in chords):
        raise ToolError(
            f"`{keys}` is not a list of keys; write X key names, chords with a plus, "
            "such as `Return` or `ctrl+shift+t`."
        )
    xserver.xdotool("key", "--", *chords)
    return {"pressed": chords}


def desktop_open_url(*, url: str) -> dict[str, Any]:
    """Opens a web address in the desktop's browser, which goes on running."""
    xserver.require()
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ToolError(f"`{url}` is no http or https address.")
    browser = _browser()
    process = subprocess.Popen(
        [browser, url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(START_SECONDS)
    except subprocess.TimeoutExpired:
        # It runs; somebody has to be there when it ends.
        threading.Thread(target=process.wait, daemon=True).start()
    else:
        if code != 0:
            raise ToolError(f"{Path(browser).name} ended with exit code {code}.")
    return {"url": url, "opened_with": Path(browser).name}


def _picture_file(path: str) -> Path:
    """The place of a picture; pictures are saved in one folder only."""
    folder = (config.home() / "screenshots").resolve()
    if "\0" not in path:
        file = (folder / path).resolve()
        if file.is_relative_to(folder) and file.suffix == ".png":
            return file
    raise ToolError(f"`{path}` is not a .png file below {folder}.")


def _browser() -> str:
    chosen = os.environ.get("MOLECULE_BROWSER")
    for name in (chosen,) if chosen else BROWSERS:
        program = shutil.which(name)
        if program is not None:
            return program
    raise ToolError(f"No browser found: {chosen or ', '.join(BROWSERS)}.")
