"""Takes away what earlier runs wrote, without deleting it.

ext4 does not give an inode to a new file while it was freed a short time ago, minutes even,
and looks at each of them anew for every file that is made. A run that writes 6,000 files
right after 6,000 were deleted takes three times the processor time for that alone, which is
not what anybody's generator costs. What is only moved frees nothing.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

__all__ = ["set_aside"]

_NUMBERS = count()


def set_aside(path: Path, below: Path) -> None:
    """Moves a file or folder, if there is one, to a folder of the same disk.

    Args:
        path: what is in the way of the next run.
        below: the folder that goes when all is measured.
    """
    if path.exists():
        away = below / "set-aside"
        away.mkdir(exist_ok=True)
        path.rename(away / str(next(_NUMBERS)))
