"""Two releases of a public MCP server, as specs that can be compared.

`SERVER/old.json` and `SERVER/new.json` are the server's answers to `tools/list`; `about` has their
source. `toolcast import` turns them into specs.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.corpus.imported import import_lists
from toolcast.findings import has_errors
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace

__all__ = ["HISTORIES", "load_release"]

FOLDER = Path(__file__).parent
HISTORIES = sorted(folder.parent.name for folder in FOLDER.glob("*/old.json"))


def load_release(server: str, version: str, root: Path) -> Workspace:
    """Import one release into a project at `root`, and load it."""
    text = (FOLDER / server / f"{version}.json").read_text(encoding="utf-8")
    name = server.replace("-", "_")
    import_lists(root, {name: text})
    for spec in (root / "specs" / name).glob("*.yaml"):
        _remove_derived_values(spec)
    loaded = load_workspace(str(root))
    assert loaded.workspace is not None
    assert not has_errors(loaded.findings), loaded.findings
    return loaded.workspace


def _remove_derived_values(spec: Path) -> None:
    """Remove values that the import derives, so that no difference is reported twice.

    The summary is derived from the description, and the order from the list.
    """
    text = spec.read_text("utf-8")
    if spec.name == "toolset.yaml":
        return
    text = re.sub(r"(?m)^order: .*\n", "", text)
    if re.search(r"(?m)^(description:|  omit: \[description\])", text):
        text = re.sub(r"(?m)^summary:.*\n(?:  .*\n)*", "", text)
    # The import writes a short description only as the summary.
    text = re.sub(r"(?m)^summary:", "description:", text)
    spec.write_text(f"{text}summary: A tool.\n", "utf-8")
