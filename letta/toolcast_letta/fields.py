"""The fields that the extension adds to the spec language."""

from __future__ import annotations

import json
from importlib.resources import files

from toolcast.extensions import Fields

__all__ = ["FIELDS"]

_AGENT = ("letta", "agents", "*")
FIELDS = Fields(
    **json.loads(
        files(__package__).joinpath("fields.json").read_text(encoding="utf-8")
    ),
    tool_names=(
        (*_AGENT, "expects", "*"),
        (*_AGENT, "ends_turn", "*"),
        (*_AGENT, "forbids", "*", "name"),
    ),
)
