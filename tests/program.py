"""The `toolcast` command without a process of its own, which takes a third of a second."""

from __future__ import annotations

import contextlib
import gc
import io
import subprocess
import sys
from pathlib import Path
from unittest import mock

from toolcast.commands.main import main

__all__ = ["toolcast"]


def toolcast(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What `toolcast WORDS` does and prints in a folder, as a process would tell it."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    code: object = 0
    threshold = gc.get_threshold()
    with (
        contextlib.chdir(folder),
        mock.patch.object(sys, "argv", ["toolcast", *words]),
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
    said = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]
    assert isinstance(code, int), code
    return subprocess.CompletedProcess(["toolcast", *words], code, *said)
