"""Files of the projects that tests write."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_files", "write_toolset"]


def write_files(root: Path, files: Mapping[str, object]) -> Path:
    """Write files by their path below `root`, and return `root`.

    Strings are dedented, bytes are written unchanged, and other values as JSON, which is
    valid YAML.
    """
    for path, content in files.items():
        if not isinstance(content, str | bytes):
            content = json.dumps(content, ensure_ascii=False)
        if isinstance(content, str):
            content = textwrap.dedent(content).encode()
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    return root


def write_toolset(
    root: Path, name: str, specs: Mapping[str, object], **workspace: object
) -> Path:
    """Write a project with the toolset `specs/NAME`, and return `root`.

    Args:
        specs: `toolset` and the tools, by file name without `.yaml`.
        workspace: More keys of toolcast.yaml.
    """
    files = {f"specs/{name}/{stem}.yaml": spec for stem, spec in specs.items()}
    settings = {"version": 1, "toolsets": [f"specs/{name}"], **workspace}
    return write_files(root, {"toolcast.yaml": settings, **files})
