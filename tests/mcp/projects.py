"""Generated output of a test project, without a check of its specs."""

from __future__ import annotations

from pathlib import Path

from tests.project_files import write_files
from toolcast.findings import has_errors
from toolcast.model.loading import load_workspace
from toolcast.targets.render_workspace import render_workspace

__all__ = ["generate_project"]


def generate_project(root: Path) -> None:
    """Write the generated files of the workspace at `root`.

    The specs must parse. Rules are skipped because tests use tools that a rule would refuse.
    """
    loaded = load_workspace(str(root))
    assert loaded.workspace is not None and not has_errors(loaded.findings), loaded
    write_files(root / "generated", render_workspace(loaded.workspace))
