"""Packages of tool definitions in the generator's layout."""

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


def definition(name: str, **fields: Any) -> dict[str, Any]:
    """Return a minimal tool definition with further fields."""
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
        **fields,
    }


class Package:
    """Generated package `tools` with definitions, in a folder."""

    def __init__(self, folder: Path, *definitions: dict[str, Any]) -> None:
        # Each package has a unique name because Python caches imported modules.
        self.name = f"package_{next(_numbers)}"
        self.folder = folder / self.name / "tools"
        self.folder.mkdir(parents=True)
        (folder / self.name / "__init__.py").touch()
        (self.folder / "__init__.py").touch()
        for tool in definitions:
            self.write(tool)

    def write(self, definition: dict[str, Any]) -> None:
        """Write the JSON file and the Python file of a tool."""
        stem = module_name(definition["mcp"]["name"])
        text = json.dumps(definition, indent=2, ensure_ascii=False)
        (self.folder / f"{stem}.json").write_text(f"{text}\n", encoding="utf-8")
        (self.folder / f"{stem}.py").touch()

    def load(self) -> ModuleType:
        """Import the package."""
        root = str(self.folder.parent.parent)
        sys.path.insert(0, root)
        try:
            return importlib.import_module(f"{self.name}.tools")
        finally:
            sys.path.remove(root)
