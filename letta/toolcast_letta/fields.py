"""The fields that the extension adds to the spec language."""

from __future__ import annotations

from importlib.resources import files

import yaml

from toolcast.extensions import Fields

__all__ = ["FIELDS"]

_AGENT = ("letta", "agents", "*")
FIELDS = Fields(
    **yaml.safe_load(files(__package__).joinpath("fields.language.yaml").read_bytes()),
    tool_names=(
        (*_AGENT, "expects", "*"),
        (*_AGENT, "ends_turn", "*"),
        (*_AGENT, "forbids", "*", "name"),
    ),
)
