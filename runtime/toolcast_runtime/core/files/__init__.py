"""The ways to a file: regular ones are read within bounds, private ones and folders' are made."""

from __future__ import annotations

from .private_file import append_to, make_private
from .regular_file import NoRegularFile, read_regular

__all__ = ["NoRegularFile", "append_to", "make_private", "read_regular"]
