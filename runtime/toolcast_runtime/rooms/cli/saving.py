"""What an answer holds that is no text becomes files, none of which was there before."""

from __future__ import annotations

import base64
import binascii
import mimetypes
import re
from collections.abc import Mapping
from itertools import count
from typing import Any

from ...core.files.folder import Folder

# Without the tables of the system, which differ.
_TYPES = mimetypes.MimeTypes(filenames=())
# Which the module does not know in every version of Python.
for _kind, _ending in (("audio/wav", ".wav"), ("image/webp", ".webp")):
    _TYPES.add_type(_kind, _ending)
_LONGEST_NAME = 64


class NoBytes(ValueError):
    """The block does not hold what its kind says."""


def save(block: Mapping[str, Any], tool: str, folder: str) -> tuple[str, int]:
    """Writes an image, sound or file to a new file of the folder, named by the tool.

    No word of the answer becomes part of a name: only its type chooses the ending.

    Gives:
        the file's name, and its size.

    Raises:
        NoBytes: there are none, or they are no base64.
        OSError: the file cannot be written.
    """
    held = block.get("resource", block)
    held = held if isinstance(held, Mapping) else {}
    text = held.get("blob", held.get("data"))
    if not isinstance(text, str):
        raise NoBytes("holds no data")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise NoBytes("is not base64") from None
    kind = str(held.get("mimeType", "")).partition(";")[0].strip()
    ending = _TYPES.guess_extension(kind) or ".bin"
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", tool)[:_LONGEST_NAME]
    with Folder.at(folder) as opened:
        for number in count(1):
            name = f"{stem}-{number}{ending}"
            try:
                opened.write(name, data, is_new=True)
            except FileExistsError:
                continue
            return name, len(data)
    raise AssertionError
