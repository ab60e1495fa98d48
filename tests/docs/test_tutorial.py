"""The tutorial, walked: its files are written and its commands run as they stand there."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/tutorial.md"
_STEP = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*) -->\n)?(?:`(?P<file>[^`\n]+)`:\n\n)?"
    r"```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.M | re.S,
)


@pytest.mark.slow
def test_every_step(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    page = PAGE.read_text("utf-8").replace("8123", port)
    folder, said, walked = tmp_path, "", 0
    for step in _STEP.finditer(page):
        if step["note"] is not None:
            continue
        if step["file"] is not None:
            path = folder / step["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"], "utf-8")
        elif step["kind"] == "sh":
            said, folder = run(step["text"], folder)
            walked += 1
        elif step["kind"] == "text":
            assert step["text"] in said, said
    assert walked == len(re.findall(r"^```sh$", page, re.M)) - 1


def run(commands: str, folder: Path) -> tuple[str, Path]:
    """What commands print, and the folder that they end in."""
    here = os.path.dirname(sys.executable)
    done = subprocess.run(
        ["bash", "-euc", f"{commands}\nprintf '\\n%s' \"$PWD\""],
        cwd=folder,
        env={**os.environ, "PATH": f"{here}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=100,
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout}\n{done.stderr}"
    said, _, ended_in = done.stdout.rpartition("\n")
    return said, Path(ended_in)
