"""Build metadata of `toolcast`: the requirement for the runtime."""

from __future__ import annotations

from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """Pins the runtime to the version that is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `dependencies` of the project."""
        # The generator uses runtime modules that are not public.
        runtime = f"toolcast-runtime=={metadata['version']}"
        metadata["dependencies"] = [*self.config["dependencies"], runtime]
