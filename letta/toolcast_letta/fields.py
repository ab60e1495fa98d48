"""The fields that the extension adds to the spec language."""

from __future__ import annotations

from importlib.resources import files

import yaml

from toolcast.extension_api import Fields

FIELDS = Fields(
    **yaml.safe_load(files(__package__).joinpath("fields.language.yaml").read_bytes())
)
