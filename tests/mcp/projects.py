"""Generates a project for a test, whatever the rules would say about its specs."""

from __future__ import annotations

from pathlib import Path

from toolcast.findings import has_errors
from toolcast.model.loading import load_workspace
from toolcast.targets.render_workspace import render_workspace

__all__ = ["generate_project"]


def generate_project(root: Path) -> None:
    """Writes what the workspace at `root` gives.

    The specs must be readable; rules are left out, because servers are shown here to hold up
    against tools that a rule would refuse.
    """
    loaded = load_workspace(str(root))
    assert loaded.workspace is not None and not has_errors(loaded.findings), loaded
    for path, data in render_workspace(loaded.workspace).items():
        target = root / "generated" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
