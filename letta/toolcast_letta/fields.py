"""The fields that the extension adds to the spec language."""

from __future__ import annotations

import json
from importlib.resources import files

from toolcast.extensions import Fields

__all__ = ["FIELDS"]

FIELDS = Fields(
    **json.loads(files(__package__).joinpath("fields.json").read_text(encoding="utf-8"))
)
