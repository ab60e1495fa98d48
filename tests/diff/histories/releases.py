"""Two releases of a public MCP server, as specs that can be compared.

`<server>/old.json` and `new.json` are what the server answered to `tools/list`; `about` says where
it is from. What makes specs of a list is `tests/corpus/specs_from_list.py`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.corpus.specs_from_list import write_workspace
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
    write_workspace(root, {name: text})
    for spec in (root / "specs" / name).glob("*.yaml"):
        _without_what_was_made_up(spec)
    listed: dict[str, Any] = json.loads(text)
    if listed.get("instructions"):
        with (root / "specs" / name / "toolset.yaml").open(
            "a", encoding="utf-8"
        ) as file:
            file.write(f"instructions: {json.dumps(listed['instructions'])}\n")
    loaded = load_workspace(str(root))
    assert loaded.workspace is not None
    assert not has_errors(loaded.findings), loaded.findings
    return loaded.workspace


def _without_what_was_made_up(spec: Path) -> None:
    """Takes out what a list does not say, and its differences would be said twice.

    A summary is required, and made of the description; the order is that of the list.
    """
    lines = spec.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(("summary: ", "order: "))]
    if kept != lines:
        kept.append("summary: A tool.\n")
    spec.write_text("".join(kept), encoding="utf-8")
