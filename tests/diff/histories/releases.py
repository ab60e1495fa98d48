"""Two releases of a public MCP server, as specs that can be compared.

`<server>/old.json` and `new.json` are what the server answered to `tools/list`; `about` says where
it is from. `toolcast import` makes specs of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from tests.corpus.imported import import_lists
from toolcast.findings import has_errors
from toolcast.model.loading import load_workspace
from toolcast.model.model import Workspace

__all__ = ["HISTORIES", "release"]

FOLDER = Path(__file__).parent
HISTORIES = sorted(folder.parent.name for folder in FOLDER.glob("*/old.json"))


def release(server: str, side: str, root: Path) -> Workspace:
    """The workspace of one release, laid out below `root`."""
    text = (FOLDER / server / f"{side}.json").read_text(encoding="utf-8")
    name = server.replace("-", "_")
    import_lists(root, {name: text})
    for spec in (root / "specs" / name).glob("*.yaml"):
        _without_what_was_made_up(spec)
    loaded = load_workspace(str(root))
    assert loaded.workspace is not None
    assert not has_errors(loaded.findings), loaded.findings
    return loaded.workspace


def _without_what_was_made_up(spec: Path) -> None:
    """Takes out what a list does not say, and its differences would be said twice.

    A summary is required, and made of the description; the order is that of the list.
    """
    text = spec.read_text("utf-8")
    if spec.name == "toolset.yaml":
        return
    text = re.sub(r"(?m)^order: .*\n", "", text)
    if re.search(r"(?m)^(description:|  omit: \[description\])", text):
        text = re.sub(r"(?m)^summary:.*\n(?:  .*\n)*", "", text)
    # One short line that says it all is the summary, and the description.
    text = re.sub(r"(?m)^summary:", "description:", text)
    spec.write_text(f"{text}summary: A tool.\n", "utf-8")
