"""The naive pipeline, to measure against: `toolcast generate`, then black over each file.

Black finds nothing to change in what Toolcast writes, and stops when it does: for black that is
the quick case, about half of what it takes for text that it has to lay out anew.
"""

from __future__ import annotations

import gc
from pathlib import Path

import black

from toolcast.commands.start import main


def run() -> None:
    """Generates in the current folder with the arguments given, then formats.

    Raises:
        SystemExit: generating failed, or black would change a file.
    """
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    gc.unfreeze()
    gc.enable()
    mode = black.Mode(target_versions={black.TargetVersion.PY311})
    for path in sorted(Path("generated").rglob("*.py")):
        text = path.read_text("utf-8")
        if black.format_str(text, mode=mode) != text:
            raise SystemExit(f"black would change {path}")


if __name__ == "__main__":
    run()
