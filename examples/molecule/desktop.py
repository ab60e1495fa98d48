"""Handlers of the desktop_* tools, which view and control an X desktop."""

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
MAX_TYPING_S = 60.0
BROWSERS = ("xdg-open", "x-www-browser", "firefox", "chromium")
BROWSER_START_TIMEOUT_S = 1.0


def desktop_status() -> dict[str, Any]:
    """Return whether a desktop is available, its size, and what is missing."""
    missing = xserver.list_missing("xdotool", "scrot")
    facts: dict[str, Any] = {"display": os.environ.get("DISPLAY"), "missing": missing}
    if missing:
        return facts | {"available": False, "width": None, "height": None}
    try:
        width, height = xserver.get_display_size()
    except ToolError as error:
        facts["missing"] = [f"a display that responds ({error})"]
        return facts | {"available": False, "width": None, "height": None}
    return facts | {"available": True, "width": width, "height": height}


def desktop_screenshot(*, path: str | None = None) -> ToolResponse:
    """Capture the whole display, save the image and return it."""
    file = _resolve_screenshot_path(path or f"{store.new_id('screen')}.png")
    if file.exists():
        raise ToolError(f"{file} already exists; choose another name.")
    image = xserver.take_screenshot()
    width, height = xserver.read_png_size(image)
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
    """Move the pointer to a pixel and click once."""
    width, height = xserver.get_display_size()
    if not (0 <= x < width and 0 <= y < height):
        raise ToolError(f"({x}, {y}) is outside of the {width} x {height} display.")
    position = (str(int(x)), str(int(y)))
    xserver.run_xdotool("mousemove", *position, "click", str(int(button)))
    return {"x": int(x), "y": int(y), "button": int(button)}


def desktop_type(*, text: str, delay_ms: int = 20) -> dict[str, Any]:
    """Type the text into the focused window."""
    seconds = len(text) * delay_ms / 1000
    if seconds > MAX_TYPING_S:
        raise ToolError(
            f"Typing this would take {seconds:.0f} seconds, more than "
            f"{MAX_TYPING_S:.0f}; type it in parts or with a shorter delay_ms."
        )
    # Standard input hides the text from process lists, and is not parsed as an option.
    delay = str(int(delay_ms))
    xserver.run_xdotool(
        "type", "--delay", delay, "--file", "-", text=text, seconds=2 * seconds + 10
    )
    return {"typed_characters": len(text)}


def desktop_key(*, keys: str) -> dict[str, Any]:
    """Press keys or key combinations one after the other, such as `ctrl+l Return`."""
    chords = keys.split()
    if not chords or not all(KEYS.fullmatch(chord) for chord in chords):
        raise ToolError(
            f"`{keys}` is not a list of keys; use X key names, combined with a plus, "
            "such as `Return` or `ctrl+shift+t`."
        )
    xserver.run_xdotool("key", "--", *chords)
    return {"pressed": chords}


def desktop_open_url(*, url: str) -> dict[str, Any]:
    """Open a URL in the desktop's browser; the browser keeps running."""
    xserver.require_programs()
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ToolError(f"`{url}` is not an http or https URL.")
    browser = _find_browser()
    process = subprocess.Popen(
        [browser, url],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        code = process.wait(BROWSER_START_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        # The browser runs; wait for its exit, so that it does not stay a zombie process.
        threading.Thread(target=process.wait, daemon=True).start()
    else:
        if code != 0:
            raise ToolError(f"{Path(browser).name} ended with exit code {code}.")
    return {"url": url, "opened_with": Path(browser).name}


def _resolve_screenshot_path(path: str) -> Path:
    """Return the path of a screenshot; it must be in the screenshot folder."""
    folder = (config.get_home() / "screenshots").resolve()
    if "\0" not in path:
        file = (folder / path).resolve()
        if file.is_relative_to(folder) and file.suffix == ".png":
            return file
    raise ToolError(f"`{path}` is not a .png file below {folder}.")


def _find_browser() -> str:
    configured = os.environ.get("MOLECULE_BROWSER")
    for name in (configured,) if configured else BROWSERS:
        program = shutil.which(name)
        if program is not None:
            return program
    raise ToolError(f"No browser found: {configured or ', '.join(BROWSERS)}.")
