"""Build metadata of `toolcast-letta`: the requirements for the runtime and the generator."""

from __future__ import annotations

from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """Pins the runtime and the generator to the version that is built."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set `dependencies` and `optional-dependencies` of the project."""
        # The extension uses modules of both that are not public.
        pin = f"=={metadata['version']}"
        runtime = f"toolcast-runtime[mcp]{pin}"  # the server whose tools are attached
        metadata["dependencies"] = [*self.config["dependencies"], runtime]
        # Production runs the extension without the generator.
        metadata["optional-dependencies"] = {"generator": [f"toolcast{pin}"]}
