"""Desktop tools of molecule on a real X display with real windows."""

from __future__ import annotations

import base64
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from examples.molecule import desktop, xserver
from tests.waiting import wait_until
from toolcast_runtime import ToolError

PROGRAMS = ("Xvfb", "xdotool", "scrot", "xterm")
MISSING = [program for program in PROGRAMS if shutil.which(program) is None]
pytestmark = [
    pytest.mark.display,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
]
SIZE = (640, 480)
SILENT: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
TERMINAL_COMMAND = ["xterm", "-geometry", "60x20+0+0", "-title", "catcher"]


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """Start a virtual X display; yield its name."""
    reader, writer = os.pipe()
    screen = f"{SIZE[0]}x{SIZE[1]}x24"
    command = ["Xvfb", "-displayfd", str(writer), "-screen", "0", screen, "-noreset"]
    server = subprocess.Popen(command, pass_fds=[writer], **SILENT)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        number = pipe.readline().strip()
    assert number, "Xvfb did not start"
    yield f":{number}"
    server.terminate()
    server.wait(10)


@pytest.fixture(autouse=True)
def environment(display: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.setenv("MOLECULE_HOME", str(tmp_path / "home"))


@pytest.fixture
def window_input(tmp_path: Path) -> Iterator[Path]:
    """Focus a terminal window; yield the file that receives its input."""
    file = tmp_path / "typed"
    copy_input = ["-e", "dd", f"of={file}", "bs=1", "status=none"]
    window = subprocess.Popen([*TERMINAL_COMMAND, *copy_input], **SILENT)
    xserver.run_xdotool("windowfocus", "--sync", _find_window("catcher"))
    wait_until(file.exists)
    yield file
    window.terminate()
    window.wait(10)


def _find_window(title: str) -> str:
    """Wait for a window with a title; return its number."""
    options = ("--sync", "--onlyvisible", "--name", title)
    return xserver.run_xdotool("search", *options).split()[0]


def _read_pointer_position() -> tuple[int, int]:
    fields = xserver.run_xdotool("getmouselocation").split()
    return int(fields[0].removeprefix("x:")), int(fields[1].removeprefix("y:"))


def test_desktop_status_returns_the_display_name_and_size(display: str) -> None:
    assert desktop.desktop_status() == {
        "available": True,
        "display": display,
        "width": 640,
        "height": 480,
        "missing": [],
    }


def test_desktop_type_types_shell_characters_unchanged(window_input: Path) -> None:
    text = "--help $(id) `id` 'quoted' \"a\\b\"; %s #1"
    assert desktop.desktop_type(text=text)["typed_characters"] == len(text)
    desktop.desktop_key(keys="Return")
    wait_until(lambda: window_input.read_text() == f"{text}\n", window_input.read_text)


def test_desktop_key_presses_keys_and_chords_in_order(window_input: Path) -> None:
    result = desktop.desktop_key(keys="a shift+b BackSpace c Return")
    assert result["pressed"] == ["a", "shift+b", "BackSpace", "c", "Return"]
    wait_until(lambda: window_input.read_text() == "ac\n", window_input.read_text)


def test_desktop_click_moves_the_pointer_to_the_exact_pixel() -> None:
    for position in ((320, 240), (320, 240), (0, 0), (639, 479)):
        desktop.desktop_click(x=position[0], y=position[1], button=3)
        assert _read_pointer_position() == position


@pytest.mark.parametrize("position", [(640, 0), (0, 480), (-1, 0)])
def test_click_outside_the_display_raises(position: tuple[int, int]) -> None:
    before = _read_pointer_position()
    with pytest.raises(ToolError, match="is outside of the 640 x 480 display"):
        desktop.desktop_click(x=position[0], y=position[1])
    assert _read_pointer_position() == before


def test_desktop_screenshot_shows_changes_and_is_saved_without_overwriting(
    window_input: Path, tmp_path: Path
) -> None:
    before = desktop.desktop_screenshot()
    desktop.desktop_type(text="something to see")
    changed = desktop.desktop_screenshot(path="after/typing 100%.png")
    assert before.content is not None
    assert changed.content is not None
    image = base64.b64decode(changed.content[0]["data"])
    assert changed.content[0]["mimeType"] == "image/png"
    assert xserver.read_png_size(image) == SIZE
    assert image != base64.b64decode(before.content[0]["data"])
    saved = tmp_path / "home" / "screenshots" / "after" / "typing 100%.png"
    assert changed.result == {"path": str(saved), "width": 640, "height": 480}
    assert saved.read_bytes() == image
    with pytest.raises(ToolError, match="already exists"):
        desktop.desktop_screenshot(path="after/typing 100%.png")


@pytest.mark.parametrize(
    "path", ["../out.png", "/tmp/out.png", "picture.txt", ".", "a\0.png"]
)
def test_desktop_screenshot_path_must_be_a_png_in_the_folder(path: str) -> None:
    with pytest.raises(ToolError, match=r"is not a \.png file below"):
        desktop.desktop_screenshot(path=path)


def test_desktop_open_url_starts_the_configured_browser_with_the_exact_url(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\nexec xterm -title "$1"\n', encoding="utf-8")
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("MOLECULE_BROWSER", str(browser))
    url = "https://example.org/?a=$(id)&b='"
    assert desktop.desktop_open_url(url=url)["opened_with"] == "browser"
    window = _find_window("example")
    assert xserver.run_xdotool("getwindowname", window).strip() == url
    xserver.run_xdotool("windowkill", window)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "--help", "https://", ""]
)
def test_desktop_open_url_raises_for_urls_that_are_not_http_or_https(url: str) -> None:
    with pytest.raises(ToolError, match="not an http or https URL"):
        desktop.desktop_open_url(url=url)


def test_desktop_open_url_raises_if_the_browser_fails_or_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MOLECULE_BROWSER", "false")
    with pytest.raises(ToolError, match="false ended with exit code 1"):
        desktop.desktop_open_url(url="https://example.org/")
    monkeypatch.setenv("MOLECULE_BROWSER", "no-such-browser")
    with pytest.raises(ToolError, match="No browser found: no-such-browser"):
        desktop.desktop_open_url(url="https://example.org/")


@pytest.mark.parametrize("keys", ["NoSuchKey", "ctrl+NoSuchKey"])
def test_desktop_key_raises_for_an_unknown_key_name(keys: str) -> None:
    with pytest.raises(ToolError, match="No such key name"):
        desktop.desktop_key(keys=keys)


def test_desktop_type_refuses_text_that_would_take_100_seconds_to_type() -> None:
    with pytest.raises(ToolError, match="would take 100 seconds"):
        desktop.desktop_type(text="x" * 100, delay_ms=1000)


def test_desktop_tools_raise_without_the_environment_variable_display(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("DISPLAY")
    status = desktop.desktop_status()
    assert not status["available"]
    assert status["missing"] == ["the environment variable DISPLAY"]
    for call_tool in (
        lambda: desktop.desktop_click(x=1, y=1),
        lambda: desktop.desktop_type(text="x"),
        lambda: desktop.desktop_key(keys="a"),
        desktop.desktop_screenshot,
        lambda: desktop.desktop_open_url(url="https://example.org/"),
    ):
        with pytest.raises(ToolError, match="missing the environment variable DISPLAY"):
            call_tool()


def test_status_of_an_unresponsive_display_is_unavailable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DISPLAY", ":64999")
    status = desktop.desktop_status()
    assert not status["available"]
    assert "a display that responds" in status["missing"][0]
