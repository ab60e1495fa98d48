"""The `toolcast` command in this process, a third of a second faster than a new one."""

from __future__ import annotations

import contextlib
import gc
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

from toolcast.commands.main import main

__all__ = ["run_toolcast", "toolcast"]


def toolcast(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run `toolcast ARGS` in a folder; return its exit code and output."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code: object = 0
    threshold = gc.get_threshold()
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["toolcast", *args]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        finally:
            gc.set_threshold(*threshold)
        out.flush()
        err.flush()
    output = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]
    assert isinstance(code, int), code
    return subprocess.CompletedProcess(["toolcast", *args], code, *output)


def run_toolcast(folder: Path, *args: str, code: int = 0) -> str:
    """Run `toolcast ARGS`, check its exit code, and return its output and errors."""
    result = toolcast(folder, *args)
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout + result.stderr
