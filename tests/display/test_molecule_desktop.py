"""The desktop tools on a real X display: what they do arrives in a real window."""

from __future__ import annotations

import base64
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from examples.molecule import desktop, xserver
from toolcast_runtime import ToolError

PROGRAMS = ("Xvfb", "xdotool", "scrot", "xterm")
LACKING = [program for program in PROGRAMS if shutil.which(program) is None]
pytestmark = [
    pytest.mark.display,
    pytest.mark.skipif(bool(LACKING), reason=f"not installed: {', '.join(LACKING)}"),
]
SIZE = (640, 480)
CATCHER = ["xterm", "-geometry", "60x20+0+0", "-title", "catcher"]


def _eventually(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        if time.monotonic() > deadline:
            pytest.fail(f"not within 10 seconds: {what}")
        time.sleep(0.05)


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """The name of an X display of its own, which ends with the tests."""
    reader, writer = os.pipe()
    screen = f"{SIZE[0]}x{SIZE[1]}x24"
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(writer), "-screen", "0", screen, "-noreset"],
        pass_fds=[writer],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
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
def typed(tmp_path: Path) -> Iterator[Path]:
    """A file with all that arrives in a terminal window; the window has the focus."""
    file = tmp_path / "typed"
    window = subprocess.Popen(
        [*CATCHER, "-e", "dd", f"of={file}", "bs=1", "status=none"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    found = xserver.run_xdotool(
        "search", "--sync", "--onlyvisible", "--name", "catcher"
    )
    xserver.run_xdotool("windowfocus", "--sync", found.split()[0])
    _eventually(file.exists, "the window reads")
    yield file
    window.terminate()
    window.wait(10)


def _pointer() -> tuple[int, int]:
    words = xserver.run_xdotool("getmouselocation").split()
    return int(words[0].removeprefix("x:")), int(words[1].removeprefix("y:"))


def test_the_status_tells_the_size(display: str) -> None:
    assert desktop.desktop_status() == {
        "available": True,
        "display": display,
        "width": 640,
        "height": 480,
        "missing": [],
    }


def test_typed_text_arrives_as_it_is(typed: Path) -> None:
    text = "--help $(id) `id` 'quoted' \"a\\b\"; %s #1"
    assert desktop.desktop_type(text=text)["typed_characters"] == len(text)
    desktop.desktop_key(keys="Return")
    _eventually(lambda: typed.read_text() == f"{text}\n", typed.read_text())


def test_keys_and_chords_are_pressed_in_order(typed: Path) -> None:
    result = desktop.desktop_key(keys="a shift+b BackSpace c Return")
    assert result["pressed"] == ["a", "shift+b", "BackSpace", "c", "Return"]
    _eventually(lambda: typed.read_text() == "ac\n", typed.read_text())


def test_a_click_moves_the_pointer_to_the_pixel() -> None:
    for place in ((320, 240), (320, 240), (0, 0), (639, 479)):
        desktop.desktop_click(x=place[0], y=place[1], button=3)
        assert _pointer() == place


@pytest.mark.parametrize("place", [(640, 0), (0, 480), (-1, 0)])
def test_a_click_outside_of_the_display_is_refused(place: tuple[int, int]) -> None:
    before = _pointer()
    with pytest.raises(ToolError, match="is outside of the 640 x 480 display"):
        desktop.desktop_click(x=place[0], y=place[1])
    assert _pointer() == before


def test_a_screenshot_shows_what_has_changed(typed: Path, tmp_path: Path) -> None:
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
def test_a_screenshot_stays_in_its_folder(path: str) -> None:
    with pytest.raises(ToolError, match=r"is not a \.png file below"):
        desktop.desktop_screenshot(path=path)


def test_a_url_is_opened_by_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = tmp_path / "browser"
    browser.write_text('#!/bin/sh\nexec xterm -title "$1"\n', encoding="utf-8")
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("MOLECULE_BROWSER", str(browser))
    url = "https://example.org/?a=$(id)&b='"
    assert desktop.desktop_open_url(url=url)["opened_with"] == "browser"
    found = xserver.run_xdotool(
        "search", "--sync", "--onlyvisible", "--name", "example"
    )
    window = found.split()[0]
    assert xserver.run_xdotool("getwindowname", window).strip() == url
    xserver.run_xdotool("windowkill", window)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:alert(1)", "--help", "https://", ""]
)
def test_only_web_addresses_are_opened(url: str) -> None:
    with pytest.raises(ToolError, match="not an http or https URL"):
        desktop.desktop_open_url(url=url)


def test_a_browser_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOLECULE_BROWSER", "false")
    with pytest.raises(ToolError, match="false ended with exit code 1"):
        desktop.desktop_open_url(url="https://example.org/")
    monkeypatch.setenv("MOLECULE_BROWSER", "no-such-browser")
    with pytest.raises(ToolError, match="No browser found: no-such-browser"):
        desktop.desktop_open_url(url="https://example.org/")


@pytest.mark.parametrize("keys", ["NoSuchKey", "ctrl+NoSuchKey"])
def test_an_unknown_key_is_an_error(keys: str) -> None:
    with pytest.raises(ToolError, match="No such key name"):
        desktop.desktop_key(keys=keys)


def test_a_text_that_takes_too_long_is_refused() -> None:
    with pytest.raises(ToolError, match="would take 100 seconds"):
        desktop.desktop_type(text="x" * 100, delay_ms=1000)


def test_without_a_display_the_tools_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY")
    status = desktop.desktop_status()
    assert not status["available"]
    assert status["missing"] == ["the environment variable DISPLAY"]
    for act in (
        lambda: desktop.desktop_click(x=1, y=1),
        lambda: desktop.desktop_type(text="x"),
        lambda: desktop.desktop_key(keys="a"),
        desktop.desktop_screenshot,
        lambda: desktop.desktop_open_url(url="https://example.org/"),
    ):
        with pytest.raises(ToolError, match="missing the environment variable DISPLAY"):
            act()


def test_a_display_that_does_not_answer_is_not_available(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DISPLAY", ":64999")
    status = desktop.desktop_status()
    assert not status["available"]
    assert "a display that responds" in status["missing"][0]
