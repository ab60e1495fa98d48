"""Generated packages of a test's own, written as the generator lays them out."""

from __future__ import annotations

import importlib
import itertools
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from toolcast_runtime.core.definitions.tool import module_name

_numbers = itertools.count(1)


def definition(name: str, **more: Any) -> dict[str, Any]:
    """The least definition of a tool, with what a test adds."""
    mcp = {
        "name": name,
        "description": f"Does {name}.",
        "inputSchema": {"type": "object"},
    }
    return {
        "generated": f"by Toolcast from specs/demo/{name}.yaml. DO NOT EDIT.",
        "mcp": mcp,
        "summary": f"Does {name}.",
        "timeout": 60,
        **more,
    }


class Package:
    """A package `tools` in a folder of a test's own."""

    def __init__(self, folder: Path, *definitions: dict[str, Any]) -> None:
        # Every package has a name of its own, because Python remembers modules.
        self.name = f"package_{next(_numbers)}"
        self.folder = folder / self.name / "tools"
        self.folder.mkdir(parents=True)
        (folder / self.name / "__init__.py").touch()
        (self.folder / "__init__.py").touch()
        for each in definitions:
            self.write(each)

    def write(self, definition: dict[str, Any]) -> None:
        """Writes both halves of a tool."""
        stem = module_name(definition["mcp"]["name"])
        text = json.dumps(definition, indent=2, ensure_ascii=False)
        (self.folder / f"{stem}.json").write_text(f"{text}\n", encoding="utf-8")
        (self.folder / f"{stem}.py").touch()

    def load(self) -> ModuleType:
        """Imports it."""
        root = str(self.folder.parent.parent)
        sys.path.insert(0, root)
        try:
            return importlib.import_module(f"{self.name}.tools")
        finally:
            sys.path.remove(root)
